package io.tokenstair.collect.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.metrics.v1.Gauge;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.SpanRecorded;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtlpImportTest {
    @TempDir
    Path folder;

    private int imports;

    private static List<Path> recorded(String ending) throws IOException {
        try (var files = Files.list(Imported.captures().resolve("kv_pressure_preemption/otlp_spans"))) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList();
        }
    }

    private Imported.Told read(String name, byte[] bytes) throws IOException, ImportException {
        Path file = folder.resolve(name);
        Files.write(file, bytes);
        return Imported.file(
                listener -> new OtlpImport(true, Imported.LIMITS, listener), file, folder.resolve("log-" + imports++));
    }

    private static String line(Path json) throws IOException {
        return Files.readString(json).replace("\n", "");
    }

    @Test
    void recordedSpansAreTheSameInEveryFormOfFile() throws IOException, ImportException {
        ByteArrayOutputStream fourBytes = new ByteArrayOutputStream();
        ByteArrayOutputStream varints = new ByteArrayOutputStream();
        StringBuilder lines = new StringBuilder();
        ExportTraceServiceRequest.Builder all = ExportTraceServiceRequest.newBuilder();
        for (Path file : recorded(".pb")) {
            byte[] bytes = Files.readAllBytes(file);
            ExportTraceServiceRequest request = ExportTraceServiceRequest.parseFrom(bytes);
            all.mergeFrom(request);
            new DataOutputStream(fourBytes).writeInt(bytes.length);
            fourBytes.write(bytes);
            request.writeDelimitedTo(varints);
            lines.append(line(Path.of(file.toString().replace(".pb", ".json")))).append('\n');
        }
        Imported single = read("all.pb", all.build().toByteArray()).imported();
        List<SpanRecorded> spans = single.all(SpanRecorded.class);
        assertThat(spans).hasSizeGreaterThan(10);
        assertThat(single.summary().rejected()).isZero();
        byte[] json = lines.toString().getBytes(StandardCharsets.UTF_8);
        for (Imported other : List.of(
                read("framed.binpb", fourBytes.toByteArray()).imported(),
                read("delimited.bin", varints.toByteArray()).imported(),
                read("framed.binpb.gz", Imported.gzip(fourBytes.toByteArray())).imported(),
                read("lines.jsonl", json).imported(),
                read("lines.jsonl.gz", Imported.gzip(json)).imported())) {
            assertThat(other.all(SpanRecorded.class)).containsExactlyInAnyOrderElementsOf(spans);
            assertThat(other.summary().line()).isEqualTo(single.summary().line());
        }
        Imported pretty =
                read("one.json", Files.readAllBytes(recorded(".json").get(0))).imported();
        assertThat(pretty.all(SpanRecorded.class)).isNotEmpty();
    }

    @Test
    void requestsOfARecordedRunStandForThemselves() throws IOException, ImportException {
        StringBuilder lines = new StringBuilder();
        for (Path file : recorded(".json")) {
            lines.append(line(file)).append('\n');
        }
        Imported imported = read("lines.jsonl", lines.toString().getBytes(StandardCharsets.UTF_8))
                .imported();
        List<RequestReceived> received = imported.all(RequestReceived.class);
        assertThat(received).extracting(RequestReceived::requestId).contains("press-7");
        assertThat(imported.all(IdAliased.class)).contains(new IdAliased("press-7", "cmpl-press-7-0", "otlp-span"));
        RequestCompleted completed = imported.all(RequestCompleted.class).stream()
                .filter(event -> event.requestId().equals("press-7"))
                .findFirst()
                .orElseThrow();
        assertThat(completed.outputTokens()).isPositive();
        assertThat(completed.firstTokenNanos()).isNotNull();
        assertThat(completed.meanGapNanos()).isPositive();
        for (LoggedEvent logged : imported.events()) {
            boolean own = logged.event() instanceof RequestReceived || logged.event() instanceof RequestCompleted;
            assertThat(logged.header().clockNanos() != null).isEqualTo(own || logged.event() instanceof MetricSampled);
            assertThat(logged.header().coarseEpochMillis()).isNotNull();
        }
        Path file = folder.resolve("lines.jsonl");
        Imported spansOnly = Imported.file(
                        listener -> new OtlpImport(false, Imported.LIMITS, listener),
                        file,
                        folder.resolve("spans-only"))
                .imported();
        assertThat(spansOnly.all(RequestReceived.class)).isEmpty();
        assertThat(spansOnly.all(SpanRecorded.class)).hasSameSizeAs(imported.all(SpanRecorded.class));
    }

    @Test
    void promptsOfOneRequestAreAddedUpAndAnswersToOnePromptShareIt() throws IOException, ImportException {
        // Two prompts with two answers each: the ids of the first name another prompt than those of the second.
        String spans = String.join(
                "\n",
                answer(1, "cmpl-job-0", "100", "8"),
                answer(2, "cmpl-job-1", "50", "9"),
                answer(3, "cmpl-job-0", "100", "10"),
                answer(4, "cmpl-job-1", "50", "11"),
                answer(5, "cmpl-half-0", "7", "1"),
                answer(6, "cmpl-half-1", null, "1"),
                answer(7, "chatcmpl-one", "30", "3"));
        Imported imported =
                read("n.jsonl", spans.getBytes(StandardCharsets.UTF_8)).imported();
        assertThat(imported.all(RequestReceived.class))
                .extracting(RequestReceived::requestId, RequestReceived::promptTokens, RequestReceived::choicesCount)
                .containsExactlyInAnyOrder(tuple("job", 150L, 2), tuple("half", null, null), tuple("one", 30L, null));
        assertThat(imported.all(RequestCompleted.class))
                .extracting(RequestCompleted::requestId, RequestCompleted::promptTokens, RequestCompleted::outputTokens)
                .containsExactlyInAnyOrder(tuple("job", 150L, 38L), tuple("half", null, 2L), tuple("one", 30L, 3L));
    }

    private static String answer(int number, String id, @Nullable String promptTokens, String outputTokens) {
        return "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\","
                + "\"spanId\":\"00f067aa0ba902b" + number + "\",\"name\":\"llm_request\",\"kind\":2,"
                + "\"startTimeUnixNano\":\"1790000000000000000\",\"endTimeUnixNano\":\"1790000004200000000\",\"attributes\":["
                + "{\"key\":\"gen_ai.request.id\",\"value\":{\"stringValue\":\"" + id + "\"}},"
                + (promptTokens == null
                        ? ""
                        : "{\"key\":\"gen_ai.usage.input_tokens\",\"value\":{\"intValue\":\"" + promptTokens + "\"}},")
                + "{\"key\":\"gen_ai.usage.output_tokens\",\"value\":{\"intValue\":\"" + outputTokens + "\"}}]}]}]}]}";
    }

    @Test
    void metricsBesideTracesAreTaken() throws IOException, ImportException {
        byte[] metrics = ExportMetricsServiceRequest.newBuilder()
                .addResourceMetrics(ResourceMetrics.newBuilder()
                        .addScopeMetrics(ScopeMetrics.newBuilder()
                                .addMetrics(Metric.newBuilder()
                                        .setName("sglang:num_queue_reqs")
                                        .setGauge(Gauge.newBuilder()
                                                .addDataPoints(NumberDataPoint.newBuilder()
                                                        .setTimeUnixNano(1_790_000_000_000_000_000L)
                                                        .setAsInt(4))))))
                .build()
                .toByteArray();
        Imported imported = read("metrics.pb", metrics).imported();
        assertThat(imported.only(MetricSampled.class))
                .isEqualTo(new MetricSampled("otlp", "sglang:num_queue_reqs", "", 4));
        assertThat(imported.events().get(0).header().clockNanos()).isEqualTo(1_790_000_000_000_000_000L);
    }

    @Test
    void whatIsBadIsCountedAndTheRestIsRead() throws IOException, ImportException {
        String good = line(recorded(".json").get(recorded(".json").size() - 1));
        String otherThing = "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"" + "a".repeat(32)
                + "\",\"spanId\":\"" + "b".repeat(16) + "\",\"name\":\"SELECT\"}]}]}]}";
        String badSpan = otherThing
                .replace(
                        "SELECT\"",
                        "llm_request\",\"attributes\":[{\"key\":\"gen_ai.request.id\","
                                + "\"value\":{\"stringValue\":\"x\"}}]")
                .replace("bbbb\"", "\"");
        Imported.Told told = read(
                "bad.jsonl",
                String.join("\n", good, "{\"resourceSpans\":[", "[]", "{}", badSpan, otherThing, "x".repeat(100))
                        .getBytes(StandardCharsets.UTF_8));
        Imported imported = told.imported();
        LayerCount count = imported.layer("otlp");
        assertThat(count.rejected()).isEqualTo(5);
        assertThat(count.read()).isEqualTo(count.accepted() + count.rejected());
        assertThat(imported.reasons())
                .containsExactly(
                        "not valid JSON",
                        "not a JSON object",
                        "none of resourceSpans, resourceMetrics and resourceLogs in it",
                        "field spanId: 6 bytes, not 8",
                        "not valid JSON");
        assertThat(told.line("say nothing of requests")).startsWith("1 items");
    }

    @Test
    void framesThatAreCutEndTheFile() throws IOException, ImportException {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        byte[] request = Files.readAllBytes(recorded(".pb").get(0));
        for (int i = 0; i < 3; i++) {
            new DataOutputStream(frames).writeInt(request.length);
            frames.write(request);
        }
        byte[] whole = frames.toByteArray();
        Imported cut = read("cut.binpb", Arrays.copyOf(whole, whole.length - 7)).imported();
        assertThat(cut.reasons()).containsExactly("cut inside a request");
        assertThat(read("length.binpb", Arrays.copyOf(whole, request.length + 6))
                        .imported()
                        .reasons())
                .containsExactly("a length that is cut");
        byte[] huge = whole.clone();
        huge[request.length + 4] = 0x7f;
        assertThat(read("huge.binpb", huge).imported().reasons().get(0)).contains("or no length where one belongs");
        assertThat(read("empty.pb", new byte[0]).imported().reasons()).containsExactly("an empty file");
        assertThat(read("noise.pb", "this is text".getBytes(StandardCharsets.UTF_8))
                        .imported()
                        .reasons())
                .hasSize(1);
        List<String> cutGzip = read("cut.binpb.gz", Arrays.copyOf(Imported.gzip(whole), 200))
                .imported()
                .reasons();
        assertThat(cutGzip).containsExactly("the gzip file is cut: its stream ends early");
    }

    @Test
    void aFileOfTheZstdKindSaysWhatToDo() {
        assertThatThrownBy(() -> read("a.zst", new byte[] {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 0, 0, 0, 0}))
                .hasMessageContaining("unzip it first: zstd -d a.zst");
    }

    @Test
    void theSameFileGivesTheSameBytes() throws IOException, ImportException {
        List<List<LoggedEvent>> runs = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            runs.add(read("a.json", Files.readAllBytes(recorded(".json").get(1)))
                    .imported()
                    .events());
        }
        assertThat(runs.get(0)).isEqualTo(runs.get(1));
    }
}
