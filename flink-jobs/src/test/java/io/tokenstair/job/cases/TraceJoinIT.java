package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.collect.ImportMain;
import io.tokenstair.job.ToldInChinese;
import io.tokenstair.job.capture.Logs;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A trace of a GPU profiler beside the steps of an engine: imported with {@code --engine} and {@code --clock} its kernels fall into the
 * steps by time, and a token of a step whose attention took longer says so. Without the two nothing joins them, and nothing is said.
 */
class TraceJoinIT {
    private static final long MS = EventText.MS;
    private static final int SLOW = 180;
    private static final String CLOCK = "host/wall";

    @TempDir
    Path folder;

    private final EventText steps = new EventText("trace");
    private final List<String> kernels = new ArrayList<>();

    /** Steps of 11 ms, and what the profiler saw of each: a gemm of 3 ms and attention of 6; in one of them 14 ms more. */
    private void record() {
        steps.clockId = CLOCK;
        steps.nowNanos = 1_790_000_000_000_000_000L;
        steps.epochMillisAtZero = 0L;
        steps.queued("R", 64).queued("S", 64);
        steps.step(30 * MS, List.of(steps.prompt("R", 64), steps.prompt("S", 64)));
        for (int i = 0; i < 220; i++) {
            long more = i == SLOW ? 14 * MS : 0;
            long start = steps.nowNanos;
            steps.step(EventText.about(11 * MS, i) + more, steps.decodes("R", "S"));
            kernel("cublas_gemm", MS / 2, start + MS, 3 * MS);
            // The slow one was launched long before: the device was behind.
            kernel("flash_attn_splitkv", i == SLOW ? 3 * MS : MS / 2, start + 4 * MS, 6 * MS + more);
        }
        steps.finished("R", "length").finished("S", "length");
    }

    private void kernel(String name, long waitNanos, long startNanos, long nanos) {
        int correlation = kernels.size() / 2 + 1;
        kernels.add("{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":7,\"tid\":7,\"ts\":"
                + micros(startNanos - waitNanos) + ",\"dur\":4,\"args\":{\"correlation\":" + correlation + "}}");
        kernels.add("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" + name + "\",\"pid\":0,\"tid\":7,\"ts\":"
                + micros(startNanos) + ",\"dur\":" + micros(nanos)
                + ",\"args\":{\"device\":0,\"stream\":7,\"grid\":[2,1,1],\"correlation\":" + correlation + "}}");
    }

    private static String micros(long nanos) {
        return BigDecimal.valueOf(nanos, 3).toPlainString();
    }

    private Path imported(String name, String... command) {
        Path log = folder.resolve(name);
        List<String> arguments = new ArrayList<>(Arrays.asList(command));
        arguments.addAll(List.of("--log", log.toString(), "--strict"));
        StringWriter errors = new StringWriter();
        int code = ImportMain.run(
                new PrintWriter(new StringWriter()),
                new PrintWriter(errors, true),
                false,
                arguments.toArray(String[]::new));
        assertThat(code).as(errors.toString()).isZero();
        return log;
    }

    private CaseResults analysed(String... joining) throws Exception {
        record();
        Path lines = Files.writeString(folder.resolve("steps.jsonl"), steps.lines);
        Path trace = Files.writeString(
                folder.resolve("trace.json"), "{\"traceEvents\":[\n" + String.join(",\n", kernels) + "\n]}");
        List<String> ofTrace = new ArrayList<>(List.of("kineto", trace.toString()));
        ofTrace.addAll(Arrays.asList(joining));
        Path log = Logs.together(
                folder.resolve("log"),
                imported("log of steps", "events", lines.toString()),
                imported("log of trace", ofTrace.toArray(String[]::new)));
        CaseResults all = CaseResults.ofLog(log, folder.resolve("results"));
        all.sums();
        return all.of("trace");
    }

    @Test
    void theKernelPartOfASlowTokenComesFromTheTraceThatSharesItsClock() throws Exception {
        CaseResults results = analysed("--engine", "trace", "--clock", CLOCK);

        TokenAnalysis slow = results.token("R", SLOW + 1);
        assertThat(slow.cause()).isEqualTo("KERNEL_SLOW");
        assertThat(slow.partKernelNanos()).isBetween(7 * MS, 14 * MS);
        assertThat(slow.chain()).anyMatch(sentence -> sentence.contains("flash_attn_splitkv"));
        assertThat(slow.chain())
                .anyMatch(
                        sentence -> sentence.contains(
                                "flash_attn_splitkv waited longest from its launch to its start: 3.0 ms, where 0.5 ms are usual. ["));
        ToldInChinese.token(slow);
        assertThat(slow.culpritRequestId()).as("the device").isEqualTo("0");
        assertThat(results.of("R", 100, 220))
                .filteredOn(token -> token.cause() != null)
                .extracting(TokenAnalysis::tokenIndex)
                .containsExactly(SLOW + 1);
    }

    @Test
    void aTraceOfAnUnknownClockIsJoinedWithNothing() throws Exception {
        CaseResults results = analysed();

        TokenAnalysis slow = results.token("R", SLOW + 1);
        assertThat(slow.cause()).isEqualTo("UNRESOLVED_STALL");
        assertThat(slow.partKernelNanos()).isNull();
    }
}
