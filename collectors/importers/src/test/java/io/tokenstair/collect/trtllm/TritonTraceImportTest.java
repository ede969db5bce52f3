package io.tokenstair.collect.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.engine.trtllm.TritonTraces;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.event.Event;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces by the schema that the documentation of Triton publishes; no server of it can run here. */
class TritonTraceImportTest {
    private static final long T = 2_356_425_054_000_000L;

    @TempDir
    Path folder;

    private int files;

    private static String stamp(long id, String name, long nanos) {
        return "{\"id\":" + id + ",\"timestamps\":[{\"name\":\"" + name + "\",\"ns\":" + nanos + "}]}";
    }

    private static String model(long id, String rest) {
        return "{\"id\":" + id + rest + "}";
    }

    private Imported.Told told(String text) throws Exception {
        return told(text.getBytes(StandardCharsets.UTF_8), "trace.json", LineSource.Limits.DEFAULT);
    }

    private Imported.Told told(byte[] bytes, String name, LineSource.Limits limits) throws Exception {
        Path own = Files.createDirectory(folder.resolve("f" + files++));
        Path file = own.resolve(name);
        Files.write(file, bytes);
        return Imported.file(listener -> new TritonTraceImport(null, null, limits, listener), file, own.resolve("log"));
    }

    private static double value(Imported imported, String name, String labels) {
        List<MetricSampled> found = imported.all(MetricSampled.class).stream()
                .filter(sample -> sample.name().equals("triton:" + name)
                        && sample.labels().equals(labels))
                .toList();
        assertThat(found)
                .as(name + "{" + labels + "} of " + imported.all(MetricSampled.class))
                .hasSize(1);
        return found.get(0).sampledValue();
    }

    /** The example of the documentation, whose stamps are in another order than they were taken. */
    private static String documented(String separator) {
        return "[" + model(1, ",\"model_name\":\"simple\",\"model_version\":1,\"request_id\":\"job-42\"") + ","
                + separator
                + String.join(
                        "," + separator,
                        stamp(1, "HTTP_RECV_START", 2356425054587444L),
                        stamp(1, "HTTP_RECV_END", 2356425054632308L),
                        stamp(1, "REQUEST_START", 2356425054785863L),
                        stamp(1, "QUEUE_START", 2356425054791517L),
                        stamp(1, "INFER_RESPONSE_COMPLETE", 2356425057587919L),
                        stamp(1, "COMPUTE_START", 2356425054887198L),
                        stamp(1, "COMPUTE_INPUT_END", 2356425057152908L),
                        stamp(1, "COMPUTE_OUTPUT_START", 2356425057497763L),
                        stamp(1, "COMPUTE_END", 2356425057540989L),
                        stamp(1, "REQUEST_END", 2356425057643164L),
                        stamp(1, "HTTP_SEND_START", 2356425057681578L),
                        stamp(1, "HTTP_SEND_END", 2356425057712991L))
                + "]";
    }

    private static void isTheDocumentedOne(Imported imported) {
        assertThat(imported.summary().line()).isEqualTo("read 13, accepted 13, rejected 0");
        String request = "engine=\"triton\",request_id=\"job-42\"";
        String model = "engine=\"triton\",model=\"simple\",request_id=\"job-42\",version=\"1\"";
        assertThat(value(imported, "request_queue_seconds", request)).isEqualTo(95_681e-9);
        assertThat(value(imported, "model_queue_seconds", model)).isEqualTo(95_681e-9);
        assertThat(value(imported, "model_input_seconds", model)).isEqualTo(2_265_710e-9);
        assertThat(value(imported, "model_infer_seconds", model)).isEqualTo(344_855e-9);
        assertThat(value(imported, "model_output_seconds", model)).isEqualTo(43_226e-9);
        assertThat(value(imported, "request_receive_seconds", request)).isEqualTo(44_864e-9);
        assertThat(value(imported, "request_send_seconds", request)).isEqualTo(31_413e-9);
        assertThat(value(imported, "request_seconds", request)).isEqualTo(2_857_301e-9);
        assertThat(value(imported, "request_responses", request)).isEqualTo(1);
        LoggedEvent queued = imported.events().stream()
                .filter(event -> event.event() instanceof RequestQueued)
                .findFirst()
                .orElseThrow();
        assertThat(Imported.clockNanos(queued)).isEqualTo(2356425054791517L);
        assertThat(queued.header().coarseEpochMillis()).isNull();
        assertThat(queued.header().clockId()).startsWith("monotonic@trace.json");
        assertThat(imported.only(RequestQueued.class).engineRequestId()).isEqualTo("job-42");
        assertThat(imported.only(RequestFinished.class).endReason()).isEqualTo("unknown");
    }

    @Test
    void theDocumentedTraceAsTritonWritesItOverLinesWithAMarkAndZipped() throws Exception {
        isTheDocumentedOne(told(documented("")).imported());
        isTheDocumentedOne(told(documented("\r\n  ")).imported());
        isTheDocumentedOne(told("\ufeff" + documented("\n")).imported());
        // Its array is closed when the server ends, so a file that is copied before is not.
        String open = documented("");
        isTheDocumentedOne(told(open.substring(0, open.length() - 1)).imported());
        Path zipped = folder.resolve("trace.json.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(zipped))) {
            out.write(open.getBytes(StandardCharsets.UTF_8));
        }
        isTheDocumentedOne(told(Files.readAllBytes(zipped), "trace.json.gz", LineSource.Limits.DEFAULT)
                .imported());
        // By another tool: other fields first, spaces, all stamps of a trace in one record.
        Imported rewritten = told("[ {\n\"model_name\" : \"simple\", \"model_version\": 1, \"id\": 1, \"parent_id\": 0,"
                        + " \"request_id\": \"job-42\",\n \"timestamps\": [{\"ns\": 2356425054791517, \"name\": \"QUEUE_START\"},"
                        + " {\"name\": \"COMPUTE_START\", \"ns\": 2356425054887198},"
                        + " {\"name\": \"A_NEWER_ONE\", \"ns\": 2356425054887199}]}\n]\n")
                .imported();
        assertThat(value(rewritten, "request_queue_seconds", "engine=\"triton\",request_id=\"job-42\""))
                .isEqualTo(95_681e-9);
    }

    @Test
    void theWaitsOfAnEnsemblesModelsAreOneWaitOfTheirRequest() throws Exception {
        // The server writes the traces of a request in no order of theirs.
        Imported imported = told("["
                        + String.join(
                                ",",
                                model(
                                        8,
                                        ",\"model_name\":\"pre\",\"model_version\":1,\"request_id\":\"r\",\"parent_id\":7"),
                                stamp(8, "QUEUE_START", T + 1_000),
                                stamp(8, "COMPUTE_START", T + 5_000),
                                model(
                                        9,
                                        ",\"model_name\":\"llm\",\"model_version\":2,\"request_id\":\"r\",\"parent_id\":7"),
                                stamp(9, "QUEUE_START", T + 3_000),
                                stamp(9, "COMPUTE_START", T + 8_000),
                                model(10, ",\"model_name\":\"bls\",\"model_version\":-1,\"parent_id\":9"),
                                stamp(10, "QUEUE_START", T + 20_000),
                                stamp(10, "COMPUTE_START", T + 20_500),
                                stamp(10, "REQUEST_END", T + 30_000),
                                model(7, ",\"model_name\":\"all\",\"model_version\":1,\"request_id\":\"r\""),
                                stamp(7, "GRPC_WAITREAD_START", T - 900_000),
                                stamp(7, "REQUEST_START", T),
                                stamp(7, "QUEUE_START", T + 10),
                                stamp(7, "GRPC_SEND_START", T + 10_000),
                                stamp(7, "INFER_RESPONSE_COMPLETE", T + 10_100),
                                stamp(7, "GRPC_SEND_END", T + 10_200),
                                stamp(7, "INFER_RESPONSE_COMPLETE", T + 40_000),
                                stamp(7, "REQUEST_END", T + 41_000),
                                stamp(7, "GRPC_SEND_START", T + 41_500),
                                stamp(7, "GRPC_SEND_END", T + 42_000))
                        + "]")
                .imported();
        String request = "engine=\"triton\",request_id=\"r\"";
        // 1000 to 8000, though two of them waited for a part of it, and 500.
        assertThat(value(imported, "request_queue_seconds", request)).isEqualTo(7_500e-9);
        assertThat(value(
                        imported,
                        "model_queue_seconds",
                        "engine=\"triton\",model=\"bls\",request_id=\"r\",version=\"-1\""))
                .isEqualTo(500e-9);
        assertThat(value(imported, "request_responses", request)).isEqualTo(2);
        assertThat(value(imported, "request_send_seconds", request)).isEqualTo(32_000e-9);
        assertThat(imported.all(RequestQueued.class)).hasSize(1);
        assertThat(imported.all(RequestFinished.class)).hasSize(1);
        assertThat(imported.all(MetricSampled.class))
                .noneMatch(sample -> sample.name().equals("triton:request_receive_seconds"));
    }

    @Test
    void whatIsMissingIsLeftOutAndWhatCannotBeIsRefused() throws Exception {
        Imported.Told told = told("["
                + String.join(
                        ",",
                        model(1, ",\"model_name\":\"m\",\"model_version\":1"),
                        stamp(1, "REQUEST_START", T),
                        stamp(1, "CACHE_HIT_LOOKUP_END", T + 1),
                        model(2, ",\"model_name\":\"m\",\"model_version\":1,\"request_id\":\"back\""),
                        stamp(2, "QUEUE_START", T + 9_000),
                        stamp(2, "COMPUTE_START", T + 1_000),
                        stamp(3, "HTTP_RECV_START", T),
                        stamp(4, "QUEUE_START", 0),
                        stamp(4, "QUEUE_START", 1_790_000_000_000_000_000L),
                        stamp(4, "QUEUE_START", -5),
                        model(1, ",\"model_name\":\"again\",\"model_version\":1"),
                        model(5, ",\"model_name\":\"m\",\"parent_id\":5"),
                        model(6, ",\"model_name\":\"" + "x".repeat(300) + "\""),
                        model(7, ""),
                        model(11, ",\"model_name\":\"m\",\"parent_id\":12"),
                        model(12, ",\"model_name\":\"m\",\"parent_id\":11"),
                        stamp(12, "QUEUE_START", T),
                        "{\"id\":1,\"activity\":\"TENSOR_QUEUE_INPUT\",\"tensor\":{\"name\":\"t\",\"data\":\"secret\"}}")
                + "]");
        assertThat(told.imported().summary().line()).isEqualTo("read 18, accepted 11, rejected 7");
        assertThat(told.imported().reasons())
                .satisfiesExactly(
                        reason -> assertThat(reason).contains("0: no stamp"),
                        reason -> assertThat(reason).contains("more than 400 days"),
                        reason -> assertThat(reason).contains("a negative stamp"),
                        reason -> assertThat(reason).contains("named before"),
                        reason -> assertThat(reason).contains("the trace itself"),
                        reason -> assertThat(reason).contains("300 bytes"),
                        reason -> assertThat(reason).contains("no record of a trace"));
        assertThat(told.imported().all(RequestQueued.class))
                .extracting(RequestQueued::engineRequestId)
                .containsExactlyInAnyOrder("trace.json#1", "back", "trace.json#12");
        assertThat(told.imported().all(MetricSampled.class)).isEmpty();
        assertThat(told.line("order that cannot be")).contains("1 models");
        assertThat(told.line("1 tensors passed over")).isNotEmpty();
        assertThat(told.line("without a model")).contains("2 traces");
        assertThat(told.imported().events().toString()).doesNotContain("secret");
    }

    @Test
    void aQuoteOrALineInAnIdCostsNothingButItsRecord() throws Exception {
        for (String hostile : List.of("a\"b", "a\nb", "a\u0000\u001b[31mb", "\\", "a\"}],{\"idea\":")) {
            Imported imported = told("[" + model(1, ",\"model_name\":\"m\",\"request_id\":\"" + hostile + "\"") + ","
                            + stamp(1, "QUEUE_START", T) + ","
                            + documented("").substring(1).replace("\"id\":1", "\"id\":2"))
                    .imported();
            assertThat(imported.summary().line()).as(hostile).isEqualTo("read 15, accepted 14, rejected 1");
            assertThat(imported.only(RequestQueued.class).engineRequestId()).isEqualTo("job-42");
            assertThat(imported.only(Rejected.class).byteOffset()).isEqualTo(1L);
        }
    }

    @Test
    void aFileThatIsCutOrTooLongOrOfAnotherKind() throws Exception {
        String whole = documented("");
        Imported cut = told(whole.substring(0, whole.length() - 40)).imported();
        assertThat(cut.summary().line()).isEqualTo("read 13, accepted 12, rejected 1");
        assertThat(cut.all(RequestFinished.class)).hasSize(1);
        Imported bounded = told(
                        ("[" + "{\"id\":3,\"activity\":\"" + "x".repeat(2_000) + "\"}," + whole.substring(1))
                                .getBytes(StandardCharsets.UTF_8),
                        "trace.json",
                        new LineSource.Limits(1_000, 1 << 20))
                .imported();
        assertThat(bounded.summary().line()).isEqualTo("read 14, accepted 13, rejected 1");
        assertThat(bounded.reasons()).containsExactly("a record longer than 1000 bytes");
        for (String other : List.of("", "[", "[]", "{}", "no", "[1,2]", "{\"resourceSpans\":[]}")) {
            if (other.equals("[]")) {
                assertThat(told(other).imported().all(RequestQueued.class)).isEmpty();
            } else {
                assertThatThrownBy(() -> told(other))
                        .as(other)
                        .isInstanceOf(ImportException.class)
                        .hasMessageContaining("; name the file of tritonserver");
            }
        }
    }

    @Test
    void moreTracesThanAreHeldAreToldWholeRequestByRequest() throws Exception {
        List<Event> heard = new ArrayList<>();
        TritonTraces traces =
                new TritonTraces("s", "triton", "c", (clock, order, nanos, wall, event) -> heard.add(event), 8);
        for (int request = 0; request < 50; request++) {
            long root = 1 + 3L * request;
            long at = T + 100_000L * request;
            for (String record : List.of(
                    model(root + 1, ",\"model_name\":\"a\",\"parent_id\":" + root),
                    stamp(root + 1, "QUEUE_START", at + 10),
                    stamp(root + 1, "COMPUTE_START", at + 30),
                    model(root, ",\"model_name\":\"all\",\"request_id\":\"r" + request + "\""),
                    stamp(root, "REQUEST_START", at),
                    model(root + 2, ",\"model_name\":\"b\",\"parent_id\":" + root),
                    stamp(root + 2, "QUEUE_START", at + 40),
                    stamp(root + 2, "COMPUTE_START", at + 45),
                    stamp(root, "REQUEST_END", at + 100))) {
                byte[] bytes = record.getBytes(StandardCharsets.UTF_8);
                traces.accept(Fields.parse(bytes, bytes.length));
            }
        }
        traces.end();
        assertThat(traces.requestCount()).isEqualTo(50);
        assertThat(traces.withoutModelCount()).isZero();
        assertThat(heard.stream()
                        .filter(event -> event instanceof MetricSampled sample
                                && sample.name().equals("triton:request_queue_seconds"))
                        .map(event -> ((MetricSampled) event).sampledValue()))
                .hasSize(50)
                .containsOnly(25e-9);
    }
}
