package io.tokenstair.collect.kineto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.Imported.Told;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KinetoImportTest {
    private static final String EPOCH = "1790000000000";

    @TempDir
    Path folder;

    private Told imported(Path file) throws ImportException {
        return imported(file, Imported.LIMITS);
    }

    private Told imported(Path file, LineSource.Limits limits) throws ImportException {
        return Imported.file(
                listener -> new KinetoImport("e", "wall", limits, listener),
                file,
                folder.resolve("log of " + file.getFileName()));
    }

    private Told trace(String... events) throws Exception {
        return imported(text("{\"traceEvents\": [\n" + String.join(",\n", events) + "\n]}"));
    }

    private Path text(String text) throws IOException {
        return Files.writeString(folder.resolve("t.json"), text);
    }

    private static String event(String category, String name, String pid, String ts, String dur, String args) {
        return "{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name + "\", \"pid\": " + pid
                + ", \"tid\": " + pid + ", \"ts\": " + EPOCH + ts + ", \"dur\": " + dur + ", \"args\": {" + args + "}}";
    }

    private static String kernel(String ts, String correlation) {
        return event(
                "kernel",
                "k",
                "0",
                ts,
                "5.25",
                "\"device\": 0, \"stream\": 7, \"grid\": [2, 3, 4], \"shared memory\": 16"
                        + (correlation.isEmpty() ? "" : ", \"correlation\": " + correlation));
    }

    private static String call(String name, String pid, String ts, String dur, String correlation) {
        return event("cuda_runtime", name, pid, ts, dur, "\"correlation\": " + correlation);
    }

    @Test
    void aKernelIsJoinedToItsCallWhereverTheTwoStand() throws Exception {
        Told told = trace(
                kernel("500.001", "9"),
                call("cudaLaunchKernel", "77", "100.5", "3", "9"),
                call("cuLaunchKernelEx", "77", "600", "3", "10"),
                kernel("700", "10"));

        assertThat(told.imported().all(KernelRan.class))
                .extracting(ran ->
                        ran.startNanos() % 1_000_000 + " " + (ran.launchNanos() % 1_000_000) + " " + ran.correlationId()
                                + " " + ran.streamId() + " " + ran.gridCount() + " " + ran.durationNanos())
                .containsExactly("500001 100500 9 7 24 5250", "700000 600000 10 7 24 5250");
        assertThat(told.line("from launch")).contains("p50 0.100 ms");
    }

    @Test
    void aKernelWithoutCorrelationOrCallHasNoLaunch() throws Exception {
        Told told = trace(
                kernel("500", ""),
                kernel("600", "9"),
                kernel("700", "0"),
                call("cudaLaunchKernel", "1", "1", "1", "0"));

        assertThat(told.imported().all(KernelRan.class))
                .extracting(KernelRan::launchNanos)
                .containsOnlyNulls();
        assertThat(told.line("kernels,")).contains("0 joined", "3 without a launch record");
    }

    @Test
    void anIdThatCallsOfTwoProcessesHaveIsNotGuessed() throws Exception {
        Told told = trace(
                call("cudaLaunchKernel", "1", "100", "3", "9"),
                call("cudaLaunchKernel", "2", "200", "3", "9"),
                kernel("500", "9"));

        assertThat(told.imported().only(KernelRan.class).launchNanos()).isNull();
        assertThat(told.line("more than one call")).contains("1 of those without");
    }

    @Test
    void theOuterOfTwoNestedCallsLaunched() throws Exception {
        Told told = trace(
                call("cuLaunchKernel", "1", "101", "1", "9"),
                call("cudaLaunchKernel", "1", "100", "3", "9"),
                kernel("500", "9"));

        assertThat(told.imported().only(KernelRan.class).launchNanos()).isEqualTo(Long.parseLong(EPOCH + "100000"));
    }

    @Test
    void kernelsOfAGraphShareItsLaunch() throws Exception {
        Told told = trace(
                call("cudaGraphLaunch", "1", "100", "40", "9"),
                kernel("500", "9, \"graph id\": 5, \"graph node id\": 1"),
                kernel("510", "9, \"graph id\": 5, \"graph node id\": 2"),
                kernel("520", "9, \"graph id\": 0"));

        assertThat(told.imported().all(KernelRan.class))
                .extracting(ran -> ran.graphId() + " " + ran.launchNanos())
                .containsExactly("5 " + EPOCH + "100000", "5 " + EPOCH + "100000", "null " + EPOCH + "100000");
    }

    @Test
    void aStartBeforeTheLaunchIsKeptAsItIsAndCounted() throws Exception {
        Told told = trace(call("cudaLaunchKernel", "1", "600", "3", "9"), kernel("500", "9"));

        KernelRan ran = told.imported().only(KernelRan.class);
        assertThat(ran.startNanos() - ran.launchNanos()).isEqualTo(-100_000);
        assertThat(told.line("would start before the launch")).contains("1 kernel");
        assertThat(told.lines()).noneMatch(line -> line.contains("from launch to start"));
    }

    @Test
    void copiesWaitsAndMemoryAreTold() throws Exception {
        Told told = trace(
                event(
                        "gpu_memcpy",
                        "Memcpy DtoH (Device -> Pageable)",
                        "0",
                        "300",
                        "2",
                        "\"device\": 0, \"stream\": 7, \"correlation\": 8, \"memory bandwidth (GB/s)\": Infinity"),
                call("cudaMemcpyAsync", "1", "290", "1", "8"),
                call("cudaMemcpy", "1", "310", "9", "11"),
                call("cudaEventQuery", "1", "330", "9", "12"),
                event("cuda_sync", "Event Sync", "0", "331", "2", "\"correlation\": 12, \"stream\": 7"),
                event(
                        "cuda_sync",
                        "Context Sync",
                        "0",
                        "340",
                        "2",
                        "\"correlation\": 13, \"stream\": -1, \"device\": 1"),
                call("hipMallocAsync", "1", "350", "9", "14"),
                call("cudaFree", "1", "370", "9", "15"),
                "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 1, \"ts\": "
                        + EPOCH
                        + "400, \"args\": {\"Device Type\": 1, \"Device Id\": 2, \"Total Allocated\": 50, \"Total Reserved\": 70}}",
                "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 1, \"ts\": "
                        + EPOCH + "400, \"args\": {\"Device Type\": 0, \"Device Id\": -1, \"Total Allocated\": 50}}");

        assertThat(told.imported().only(KernelRan.class).kernelClass()).isEqualTo("copy");
        assertThat(told.imported().all(StreamStalled.class))
                .extracting(stall -> stall.stallKind() + " " + stall.deviceId() + " " + stall.streamId())
                .containsExactlyInAnyOrder("copy null null", "device-sync 1 null");
        assertThat(told.imported().all(MemoryChanged.class))
                .extracting(MemoryChanged::change)
                .containsExactly("alloc", "free");
        AllocatorSampled sampled = told.imported().only(AllocatorSampled.class);
        assertThat(sampled.deviceId() + " " + sampled.activeBytes() + " " + sampled.reservedBytes())
                .isEqualTo("2 50 70");
        assertThat(told.line("no GPU kernel")).contains("calls of a GPU's runtime, and none that launched one");
        assertThat(told.imported().summary().rejected()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "execute_context_1(64)_generation_4(4), mixed 64 4",
        "execute_68_context_1(sq64sk64sqsq4096sqsk4096)_generation_4(sq4sk812sqsq4sqsk812), mixed 64 4",
        "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk812sqsq4sqsk812), decode 0 4",
        // A request that is not new may still compute its prompt.
        "execute_new_0_cached_4, null null null",
        "execute_new_2_cached_0, null null null",
    })
    void everyNameThatVllmGivesItsStepsIsOne(String name, String step) throws Exception {
        Told told = trace(event("user_annotation", name, "1", "100", "50", ""));

        assertThat(told.imported().all(StepCompleted.class))
                .extracting(made -> made.forwardMode() + " " + made.prefillTokens() + " " + made.decodeTokens())
                .containsExactly(step);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "execute_model",
                "execute_new_1",
                "execute_context_1(sq)_generation_4(4)",
                "execute_new_a_cached_b"
            })
    void otherNamesAreNoSteps(String name) throws Exception {
        assertThat(trace(event("user_annotation", name, "1", "100", "50", ""))
                        .imported()
                        .all(StepCompleted.class))
                .isEmpty();
    }

    @Test
    void aKernelIsOfTheStepInWhichItWasLaunchedByItsThread() throws Exception {
        Told told = trace(
                event("user_annotation", "execute_context_0(0)_generation_4(4)", "1", "100", "50", ""),
                event("user_annotation", "execute_context_1(64)_generation_4(4)", "1", "200", "50", ""),
                event("user_annotation", "execute_context_1(64)_generation_4(4)", "2", "201", "50", ""),
                event("user_annotation", "ProfilerStep#3", "1", "90", "500", ""),
                event("user_annotation", "gpu_model_runner: forward", "1", "120", "5", ""),
                call("cudaLaunchKernel", "1", "110", "3", "1"),
                call("cudaLaunchKernel", "1", "160", "3", "2"),
                call("cudaLaunchKernel", "2", "210", "3", "3"),
                call("cudaLaunchKernel", "1", "210", "3", "4"),
                kernel("230", "1"),
                kernel("240", "2"),
                kernel("250", "3"),
                kernel("260", "4"));

        assertThat(told.imported().all(StepCompleted.class))
                .extracting(step -> step.stepId() + " " + step.forwardMode() + " " + step.prefillTokens() + " "
                        + step.decodeTokens())
                .containsExactly("0 decode 0 4", "1 mixed 64 4");
        assertThat(told.imported().all(KernelRan.class))
                .extracting(KernelRan::stepId)
                .containsExactly(0L, null, null, 1L);
        assertThat(told.line("steps")).contains("1 more threads write such ranges, not taken");
    }

    @Test
    void aDamagedEventCostsNoOther() throws Exception {
        Told told = trace(
                kernel("100", "1"),
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"no length\", \"ts\": 5}",
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": NaN, \"dur\": 1}",
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": " + EPOCH + "100, \"dur\": -Infinity}",
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": " + EPOCH + "100, \"dur\": -1}",
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": nan, \"dur\": 1}",
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"cut, \"ts\": 1, \"dur\": 1}",
                "{\"ph\": \"X\", \"name\": \"k\", \"ts\": 1, \"dur\": 1, \"a\": " + "[".repeat(100_000)
                        + "]".repeat(100_000) + "}",
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1e400, \"dur\": 1}",
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1e-400, \"dur\": 1}",
                "17",
                "[1]",
                "{\"cat\": \"kernel\"}",
                kernel("110", "99999999999999999999"),
                event("kernel", "k", "0", "100", "1", "\"grid\": [9223372036854775807, 2, 2]"),
                kernel("200", "2"));

        assertThat(told.imported().all(KernelRan.class))
                .extracting(KernelRan::correlationId)
                .containsExactly(1L, 2L);
        assertThat(told.imported().reasons())
                .containsExactly(
                        "field dur: missing",
                        "field ts: not a finite number",
                        "field dur: not a finite number",
                        "field dur: negative",
                        "not valid JSON",
                        "not valid JSON",
                        "JSON nested deeper than 64",
                        "field ts: out of range",
                        "field ts: more than 400 days from the trace's other stamps",
                        "not a JSON object",
                        "not a JSON object",
                        "field ph: missing",
                        "field correlation: not a whole number of 64 bits",
                        "field grid: not the blocks of a grid");
        assertThat(told.imported().summary().line()).isEqualTo("read 16, accepted 2, rejected 14");
        assertThat(told.imported().all(Rejected.class)).allSatisfy(rejected -> {
            assertThat(rejected.byteOffset()).isPositive();
            assertThat(rejected.lineNumber()).isNull();
            assertThat(String.valueOf(rejected.excerpt())).doesNotContain("no length");
        });
    }

    @Test
    void anEventWithoutItsLastBracketCostsNoOther() throws Exception {
        String whole = kernel("100", "1");
        Told told = trace(
                whole.substring(0, whole.length() - 1),
                kernel("110", "2"),
                "{\"ph\": \"X\", \"cat\": \"kernel\",\n  \"name\": \"k,\n  \"ts\": 1, \"args\": {\n  \"device\": 0\n  }\n}",
                kernel("120", "3"));

        assertThat(told.imported().all(KernelRan.class))
                .extracting(KernelRan::correlationId)
                .containsExactly(2L, 3L);
        assertThat(told.imported().summary().line()).isEqualTo("read 4, accepted 2, rejected 2");
    }

    @Test
    void theBaseTimeMayStandBehindTheEvents() throws Exception {
        Told told = imported(
                text("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"ts\":"
                        + " 5110307734649.883, \"dur\": 0.001}], \"baseTimeNanoseconds\": 1790857026000000000}"));

        assertThat(told.imported().only(KernelRan.class).startNanos()).isEqualTo(1_795_967_333_734_649_883L);
        assertThat(told.imported().only(KernelRan.class).durationNanos()).isEqualTo(1);
        assertThat(Imported.wallMillis(told.imported().events().get(0))).isEqualTo(1_795_967_333_734L);
    }

    @Test
    void timesThatAreNoDatesAreKeptUndated() throws Exception {
        Told told = imported(text("[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":0,\"ts\":12.5,\"dur\":1}"));

        assertThat(told.imported().only(KernelRan.class).startNanos()).isEqualTo(12_500);
        assertThat(told.imported().events().get(0).header().coarseEpochMillis()).isNull();
        // The last bracket of a bare array may be missing.
        assertThat(told.imported().summary().line()).isEqualTo("read 1, accepted 1, rejected 0");
    }

    @Test
    void aCutTraceIsTakenAsFarAsItGoes() throws Exception {
        String text =
                "{\"traceEvents\": [" + kernel("100", "1") + "," + kernel("200", "2") + "," + kernel("300", "3") + "]}";
        Told told = imported(text(text.substring(0, text.length() - 40)));

        assertThat(told.imported().summary().line()).isEqualTo("read 3, accepted 2, rejected 1");
        assertThat(told.imported().reasons()).containsExactly("the file is cut: it ends inside an event");
    }

    @Test
    void aCutGzipFileAndABombAreTakenAsFarAsTheyGo() throws Exception {
        StringBuilder events = new StringBuilder("{\"traceEvents\": [");
        for (int i = 0; i < 5_000; i++) {
            events.append(i == 0 ? "" : ",\n").append(kernel(String.valueOf(100 + i * 7 % 800), String.valueOf(i + 1)));
        }
        byte[] zipped = Imported.gzip(events.append("]}").toString().getBytes(StandardCharsets.UTF_8));
        Told cut = imported(Files.write(folder.resolve("cut.json.gz"), Arrays.copyOf(zipped, zipped.length / 2)));
        assertThat(cut.imported().summary().accepted()).isBetween(1_000L, 4_000L);
        assertThat(cut.imported().reasons()).containsExactly("the gzip file is cut: its stream ends early");

        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bomb)) {
            out.write(("{\"traceEvents\": [" + kernel("100", "1") + ",").getBytes(StandardCharsets.UTF_8));
            byte[] blanks = new byte[1 << 16];
            Arrays.fill(blanks, (byte) ' ');
            for (int i = 0; i < 1_000; i++) {
                out.write(blanks);
            }
        }
        Told bombed = imported(
                Files.write(folder.resolve("bomb.json.gz"), bomb.toByteArray()),
                new LineSource.Limits(1 << 20, 1 << 20));
        assertThat(bombed.imported().summary().line()).isEqualTo("read 2, accepted 1, rejected 1");
        assertThat(bombed.imported().reasons().get(0))
                .contains("bytes come out of the gzip file; the rest was not read");
    }

    @Test
    void anEventOfAbsurdLengthIsPassedOver() throws Exception {
        Told told = imported(
                text("{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"" + "x".repeat(5_000) + "\"}," + kernel("1", "1")
                        + "]}"),
                new LineSource.Limits(1_000, 1 << 20));

        assertThat(told.imported().all(KernelRan.class)).hasSize(1);
        assertThat(told.imported().reasons()).containsExactly("an event longer than 1000 bytes");
    }

    @Test
    void aNameOfAbsurdLengthIsShortenedAndStaysItsOwn() throws Exception {
        String name = "x".repeat(5_000);
        Told told = trace(
                event("kernel", name + "1", "0", "1", "1", ""),
                event("kernel", name + "2", "0", "2", "1", ""),
                event("kernel", "a\\ud83d", "0", "3", "1", ""));

        assertThat(told.imported().all(KernelRan.class))
                .extracting(KernelRan::kernelName)
                .doesNotHaveDuplicates();
        assertThat(told.imported().all(KernelRan.class))
                .allSatisfy(ran -> assertThat(ran.kernelName().length()).isLessThanOrEqualTo(1_024));
    }

    @Test
    void anEmptyTraceSaysThatThereIsNothing() throws Exception {
        Told told = imported(text("{\"schemaVersion\": 1, \"traceEvents\": []}"));

        assertThat(told.line("no GPU kernel in this file")).contains("nothing is known");
        assertThat(told.imported().summary().line()).isEqualTo("read 0, accepted 0, rejected 0");
    }

    @Test
    void whatIsNoTraceEndsInOneLine() throws Exception {
        refused("", "an empty file");
        refused("hello", "it does not begin as JSON does");
        refused("{\"nodes\": [1, 2], \"schema\": \"1.0.1\"}", "no traceEvents in it");
        refused("{\"schemaVersion\": 1, \"deviceProp", "the file is cut");
        refused("[[1, 2, 3]]", "an array without events");
        refused("{\"traceEvents\": [1, 2, 3]}", "an array without events");
        assertThatExceptionOfType(ImportException.class)
                .isThrownBy(() -> imported(Files.write(folder.resolve("z.gz"), new byte[] {0x1f, (byte) 0x8b, 8})))
                .withMessageContaining("the gzip file is cut in its header");
    }

    private void refused(String text, String problem) throws IOException {
        Path file = text(text);
        assertThatExceptionOfType(ImportException.class)
                .isThrownBy(() -> imported(file))
                .withMessageStartingWith(file.toString())
                .withMessageContaining(problem)
                .withMessageContaining("export_chrome_trace")
                .matches(e -> !String.valueOf(e.getMessage()).contains("\n"));
    }
}
