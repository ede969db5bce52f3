package io.tokenstair.collect.importer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tokenstair.collect.Imported;
import io.tokenstair.collect.aiperf.AiperfImport;
import io.tokenstair.collect.dynamo.DynamoTraceImport;
import io.tokenstair.collect.dynamo.ForwardPassImport;
import io.tokenstair.collect.events.EventsImport;
import io.tokenstair.collect.events.LogImport;
import io.tokenstair.collect.guidellm.GuideLlmImport;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.kv.KvEventsImport;
import io.tokenstair.collect.llamacpp.LlamaCppLogImport;
import io.tokenstair.collect.stream.SseCaptureImport;
import io.tokenstair.collect.trtllm.IterationsImport;
import io.tokenstair.collect.trtllm.TritonTraceImport;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.fuzz.Mutations;
import io.tokenstair.log.FolderLogWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Outputs of real tools that something happened to, {@value #INPUTS} of each format: read or refused with a reason, each record counted
 * once, nothing else thrown, in bounded time and memory.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class MutatedToolOutputsTest {
    private static final String ONE_RECORD = "profile_export_aiperf.json";

    private static final int INPUTS = 10_000;
    private static final int ZIPPED = 1_000;
    private static final LineSource.Limits LIMITS = LineSource.Limits.DEFAULT;

    @TempDir
    Path folder;

    private static byte[] real(String name) throws IOException {
        byte[] bytes = Files.readAllBytes(Imported.real().resolve(name));
        if (!name.endsWith(".gz")) {
            return bytes;
        }
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return in.readAllBytes();
        }
    }

    /** Some lines of a file, those that hold one of these texts, each at most so long. */
    private static byte[] lines(String name, int most, int longest, String... holding) throws IOException {
        StringBuilder lines = new StringBuilder();
        int taken = 0;
        for (String line : new String(real(name), StandardCharsets.UTF_8).split("\n", -1)) {
            if (taken < most
                    && !line.isEmpty()
                    && line.length() <= longest
                    && (holding.length == 0 || Arrays.stream(holding).anyMatch(line::contains))) {
                lines.append(line).append('\n');
                taken++;
            }
        }
        assertThat(taken).as(name).isPositive();
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] zipped(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(bytes);
        }
        return out.toByteArray();
    }

    private void readsOrRefuses(String name, long seed, Supplier<FileImport> importer, List<byte[]> originals)
            throws IOException {
        feed(name, seed, importer, originals, INPUTS);
        List<byte[]> zips = new ArrayList<>();
        for (byte[] original : originals) {
            zips.add(zipped(original));
        }
        feed(name + ".gz", seed + 1, importer, zips, ZIPPED);
    }

    private void feed(String name, long seed, Supplier<FileImport> importer, List<byte[]> originals, int inputs)
            throws IOException {
        Path file = folder.resolve(name);
        DamagedFile damaged = new DamagedFile(file, folder.resolve("log"));
        Mutations mutations = new Mutations(seed, originals);
        for (int i = 0; i < inputs; i++) {
            byte[] input = mutations.next();
            Files.write(file, input);
            try {
                damaged.read(importer.get());
            } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
                throw new AssertionError(
                        name + ", input " + i + " of seed " + seed + ": "
                                + new String(input, 0, Math.min(2_000, input.length), StandardCharsets.ISO_8859_1),
                        e);
            }
        }
        System.out.println("mutated " + name + ": " + inputs + " inputs, " + damaged.read() + " records read, "
                + (damaged.read() - damaged.rejected()) + " accepted, " + damaged.rejected() + " rejected; "
                + damaged.refused() + " files refused");
        assertThat(damaged.rejected() + damaged.refused()).isPositive();
        if (!name.endsWith(".gz")) {
            // A document that is one record is refused whole wherever it is broken.
            assertThat(damaged.read()).isGreaterThan(name.equals(ONE_RECORD) ? inputs / 20 : inputs / 2);
            assertThat(damaged.read() - damaged.rejected()).isPositive();
        }
    }

    @Test
    void streamsOfClients() throws IOException {
        readsOrRefuses(
                "sse.jsonl",
                21,
                () -> new SseCaptureImport(LIMITS, DamagedFile.SILENT),
                List.of(
                        lines("llamacpp/main_sse_capture.jsonl.gz", 14, 1_500, "\"warm\"", "\"r6\"", "\"r4\""),
                        lines("llamacpp/kvfull_sse_capture.jsonl.gz", 12, 1_200, "error", "closed", "status"),
                        lines("dynamo_mocker/sse_capture.jsonl.gz", 14, 1_500, "\"a6\""),
                        lines("llmd_inference_sim/sse_capture.jsonl.gz", 12, 1_500, "\"m6\"", "\"m2\"")));
    }

    @Test
    void messagesOfKvEvents() throws IOException {
        readsOrRefuses(
                "kv.jsonl",
                31,
                () -> new KvEventsImport(null, LIMITS, DamagedFile.SILENT),
                List.of(
                        lines("dynamo_mocker/kv_events_live.jsonl.gz", 6, 1_200),
                        lines("dynamo_mocker/kv_events_replay.jsonl.gz", 6, 1_200),
                        lines("llmd_inference_sim/kv_events_live.jsonl", 3, 4_000)));
    }

    @Test
    void tracesOfDynamo() throws IOException {
        readsOrRefuses(
                "trace.jsonl",
                41,
                () -> new DynamoTraceImport(LIMITS, DamagedFile.SILENT),
                List.of(lines("dynamo_mocker/request_trace.000000.jsonl.gz", 3, 4_000)));
    }

    @Test
    void forwardPasses() throws IOException {
        readsOrRefuses(
                "fpm.jsonl",
                51,
                () -> new ForwardPassImport(LIMITS, DamagedFile.SILENT),
                List.of(
                        lines("dynamo_mocker/fpm.9035572966219299194.000000.jsonl.gz", 4, 2_000, "\"counter_id\":2"),
                        lines("dynamo_mocker/fpm_recv.jsonl.gz", 4, 2_000)));
    }

    @Test
    void logsOfLlamaCpp() throws IOException {
        readsOrRefuses(
                "server.log",
                61,
                () -> new LlamaCppLogImport(null, LIMITS, DamagedFile.SILENT),
                List.of(real("llamacpp/main_server.log"), real("llamacpp/kvfull_server.log")));
    }

    @Test
    void exportsOfAiperf() throws IOException {
        readsOrRefuses(
                "profile_export.jsonl",
                71,
                () -> new AiperfImport(LIMITS, DamagedFile.SILENT),
                List.of(
                        lines("aiperf/llamacpp_profile_export.jsonl.gz", 2, 5_000),
                        lines("aiperf/mocker_profile_export.jsonl.gz", 1, 6_000),
                        lines("aiperf/mocker_server_metrics_export.jsonl.gz", 1, 100_000)));
        readsOrRefuses(
                ONE_RECORD,
                73,
                () -> new AiperfImport(LIMITS, DamagedFile.SILENT),
                List.of(real("aiperf/mocker_profile_export_aiperf.json.gz")));
    }

    @Test
    void packetsOfAiperf() throws IOException {
        JsonNode raw = new ObjectMapper()
                .readTree(new String(real("aiperf/mocker_profile_export_raw.jsonl.gz"), StandardCharsets.UTF_8)
                        .split("\n")[0]);
        ArrayNode responses = (ArrayNode) raw.get("responses");
        while (responses.size() > 6) {
            responses.remove(3);
        }
        readsOrRefuses(
                "profile_export_raw.jsonl",
                75,
                () -> new AiperfImport(LIMITS, DamagedFile.SILENT),
                List.of((raw + "\n" + raw + "\n").getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void reportsOfGuideLlm() throws IOException {
        ObjectNode report = (ObjectNode) new ObjectMapper().readTree(real("guidellm/benchmarks.json.gz"));
        ObjectNode benchmark = (ObjectNode) report.get("benchmarks").get(0);
        ArrayNode requests = (ArrayNode) benchmark.get("requests").get("successful");
        while (requests.size() > 3) {
            requests.remove(0);
        }
        benchmark.remove(List.of("metrics", "config", "scheduler_state", "scheduler_metrics"));
        report.remove("config");
        requests.forEach(request -> ((ObjectNode) request).remove(List.of("request_args", "output")));
        feed(
                "benchmarks.json",
                81,
                () -> new GuideLlmImport(LIMITS, DamagedFile.SILENT),
                List.of(report.toString().getBytes(StandardCharsets.UTF_8)),
                INPUTS);
    }

    @Test
    void iterationsOfTensorRtLlm() throws IOException {
        String withRequests = "[{\"timestamp\":\"11-29-2026 13:00:00.000100\",\"iter\":154,\"iterLatencyMS\":21.4,"
                + "\"numActiveRequests\":3,\"numQueuedRequests\":1,\"kvCacheStats\":{\"usedNumBlocks\":960,"
                + "\"maxNumBlocks\":1024,\"tokensPerBlock\":32},\"inflightBatchingStats\":{\"numScheduledRequests\":3,"
                + "\"numContextRequests\":0,\"numGenRequests\":3,\"numPausedRequests\":1},\"requestStats\":[{\"id\":7,"
                + "\"stage\":\"GENERATION_IN_PROGRESS\",\"contextPrefillPosition\":8192,\"numGeneratedTokens\":17,"
                + "\"scheduled\":true,\"paused\":false,\"reusedBlocksPerRequest\":40}]},\n"
                + "{\"timestamp\":\"11-29-2026 13:00:00.021600\",\"iter\":155,\"iterLatencyMS\":21.4,"
                + "\"requestStats\":[{\"id\":7,\"stage\":\"GENERATION_COMPLETE\",\"contextPrefillPosition\":8192,"
                + "\"numGeneratedTokens\":18,\"scheduled\":true,\"paused\":false}]}]\n";
        String lines = "{\"iter\":1,\"iterLatencyMS\":67526.5,\"inflightBatchingStats\":{\"numContextRequests\":1,"
                + "\"numCtxTokens\":13}}\n{\"iter\":2,\"iterLatencyMS\":7.5,\"numActiveRequests\":1}\n"
                + "{\"iter\":3,\"iterLatencyMS\":7.25}\n";
        readsOrRefuses(
                "iterations.json",
                91,
                () -> new IterationsImport(null, LIMITS, DamagedFile.SILENT),
                List.of(
                        real("trtllm/trtllm_serve_metrics_iter154.json"),
                        withRequests.getBytes(StandardCharsets.UTF_8),
                        lines.getBytes(StandardCharsets.UTF_8),
                        lines.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void tracesOfTriton() throws IOException {
        // By its published schema: no server of it can run here.
        String written =
                "[{\"id\":8,\"model_name\":\"pre\",\"model_version\":1,\"request_id\":\"job-42\",\"parent_id\":7},"
                        + "{\"id\":8,\"timestamps\":[{\"name\":\"QUEUE_START\",\"ns\":2356425054791517}]},"
                        + "{\"id\":8,\"timestamps\":[{\"name\":\"COMPUTE_START\",\"ns\":2356425054887198}]},"
                        + "{\"id\":7,\"timestamps\":[{\"name\":\"HTTP_RECV_START\",\"ns\":2356425054587444}]},"
                        + "{\"id\":7,\"model_name\":\"all\",\"model_version\":-1,\"request_id\":\"job-42\"},"
                        + "{\"id\":7,\"timestamps\":[{\"name\":\"REQUEST_START\",\"ns\":2356425054785863}]},"
                        + "{\"id\":7,\"activity\":\"TENSOR_QUEUE_INPUT\",\"tensor\":{\"name\":\"t\",\"data\":\"1,2\"}},"
                        + "{\"id\":7,\"timestamps\":[{\"name\":\"REQUEST_END\",\"ns\":2356425057643164}]}]";
        String rewritten =
                "[\n{\"model_name\": \"m\", \"id\": 1, \"timestamps\": [{\"name\": \"QUEUE_START\", \"ns\": 5},"
                        + " {\"name\": \"COMPUTE_START\", \"ns\": 9}]},\n{\"model_name\": \"n\", \"parent_id\": 1, \"id\": 2}\n]";
        readsOrRefuses(
                "trace.json",
                121,
                () -> new TritonTraceImport(null, null, LIMITS, DamagedFile.SILENT),
                List.of(
                        written.getBytes(StandardCharsets.UTF_8),
                        written.getBytes(StandardCharsets.UTF_8),
                        rewritten.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void eventsWrittenByHand() throws IOException {
        String lines = "{\"defaults\": {\"engineId\": \"e\", \"epochMillisAtClockZero\": 1790000000000}}\n"
                + "{\"kind\": \"RequestQueued\", \"engineRequestId\": \"a\", \"clockNanos\": \"5ms\"}\n"
                + "{\"kind\": \"StepCompleted\", \"stepId\": 0, \"updateEndNanos\": \"25ms\","
                + " \"rows\": [{\"engineRequestId\": \"a\", \"contextTokens\": 33}]}\n";
        readsOrRefuses(
                "events.jsonl",
                101,
                () -> new EventsImport(LIMITS, DamagedFile.SILENT),
                List.of(lines.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void logsOfOurOwn() throws IOException {
        Path log = folder.resolve("own");
        try (FolderLogWriter writer = new FolderLogWriter(log, 0)) {
            for (int i = 0; i < 12; i++) {
                writer.append(EventCodec.encode(new LoggedEvent(
                        new EventHeader("c", 1, i, "clock", 5L + i, 1_790_000_000_000L),
                        new RequestReceived("client", "r" + i, null, null, "m", "/v1", null, 7L, 8L, 1, false))));
            }
        }
        Path segment;
        try (Stream<Path> files = Files.walk(log)) {
            segment = files.filter(Files::isRegularFile)
                    .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
                    .orElseThrow();
        }
        Mutations mutations = new Mutations(111, List.of(Files.readAllBytes(segment)));
        long read = 0;
        long rejected = 0;
        Path out = folder.resolve("out");
        for (int i = 0; i < INPUTS; i++) {
            Files.write(segment, mutations.next());
            try {
                ImportSummary summary =
                        new LogImport(DamagedFile.SILENT).run(List.of(log), out.resolve(String.valueOf(i % 2)));
                assertThat(summary.read()).isEqualTo(summary.accepted() + summary.rejected());
                read += summary.read();
                rejected += summary.rejected();
            } catch (ImportException | IOException e) {
                assertThat(String.valueOf(e.getMessage())).doesNotContain("\n");
            }
            try (Stream<Path> files = Files.walk(out)) {
                for (Path old : (Iterable<Path>) files.sorted((a, b) -> b.compareTo(a))::iterator) {
                    Files.delete(old);
                }
            } catch (java.nio.file.NoSuchFileException e) {
                continue;
            }
        }
        System.out.println("mutated logs: " + INPUTS + " inputs, " + read + " records read, " + (read - rejected)
                + " accepted, " + rejected + " rejected");
        assertThat(read).isGreaterThan(INPUTS);
        assertThat(rejected).isPositive();
    }
}
