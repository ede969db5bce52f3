package io.tokenstair.collect.importer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.aiperf.AiperfImport;
import io.tokenstair.collect.bench.BenchImport;
import io.tokenstair.collect.dynamo.DynamoTraceImport;
import io.tokenstair.collect.dynamo.ForwardPassImport;
import io.tokenstair.collect.guidellm.GuideLlmImport;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.kineto.KinetoImport;
import io.tokenstair.collect.llamacpp.LlamaCppLogImport;
import io.tokenstair.collect.prometheus.PrometheusImport;
import io.tokenstair.collect.stream.SseCaptureImport;
import io.tokenstair.collect.table.CsvImport;
import io.tokenstair.collect.table.CsvMap;
import io.tokenstair.collect.telemetry.OtlpImport;
import io.tokenstair.collect.trtllm.IterationsImport;
import io.tokenstair.collect.trtllm.TritonTraceImport;
import io.tokenstair.collect.workload.MooncakeImport;
import io.tokenstair.event.LoggedEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files imported together or one by one, in any order: an event of a file has the same id every time, so that what was imported before counts
 * once; events of two files never share one.
 */
class GroupingTest {
    private static final LineSource.Limits LIMITS = LineSource.Limits.DEFAULT;

    @TempDir
    Path folder;

    private int logs;

    private Map<String, LoggedEvent> events(Imported.Format format, Path... files) throws Exception {
        Map<String, LoggedEvent> events = new TreeMap<>();
        Path log = folder.resolve("log" + logs++);
        for (LoggedEvent event : Imported.files(format, List.of(files), log).events()) {
            assertThat(events.put(event.header().eventId(), event))
                    .as(event.header().eventId())
                    .isNull();
        }
        return events;
    }

    private void areTheSameInAnyGrouping(Imported.Format format, String one, String other) throws Exception {
        areTheSameInAnyGrouping(
                format, Imported.real().resolve(one), Imported.real().resolve(other));
    }

    private void areTheSameInAnyGrouping(Imported.Format format, Path one, Path other) throws Exception {
        Map<String, LoggedEvent> first = events(format, one);
        Map<String, LoggedEvent> second = events(format, other);
        assertThat(first).as(one.toString()).isNotEmpty();
        assertThat(second).as(other.toString()).isNotEmpty();
        Set<String> shared = new HashSet<>(first.keySet());
        shared.retainAll(second.keySet());
        assertThat(shared).as(one + " and " + other).isEmpty();
        Map<String, LoggedEvent> both = new TreeMap<>(first);
        both.putAll(second);
        assertThat(events(format, one, other).keySet()).as(one.toString()).isEqualTo(both.keySet());
        Map<String, LoggedEvent> turned = events(format, other, one);
        assertThat(turned.keySet()).isEqualTo(both.keySet());
        turned.forEach((id, event) ->
                assertThat(event.event()).as(id).isEqualTo(both.get(id).event()));
    }

    /** A copy of which one text is another. */
    private Path changed(String name, String from, String to) throws IOException {
        byte[] bytes = Files.readAllBytes(Imported.real().resolve(name));
        if (name.endsWith(".gz")) {
            try (GZIPInputStream in = new GZIPInputStream(new java.io.ByteArrayInputStream(bytes))) {
                bytes = in.readAllBytes();
            }
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        assertThat(text).contains(from);
        String file = Path.of(name).getFileName().toString().replace(".gz", "");
        Path copy = folder.resolve("other-" + file);
        return Files.write(copy, text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void ofOtherToolsAndEngines() throws Exception {
        areTheSameInAnyGrouping(
                listener -> new SseCaptureImport(LIMITS, listener),
                "llamacpp/main_sse_capture.jsonl.gz",
                "dynamo_mocker/sse_capture.jsonl.gz");
        areTheSameInAnyGrouping(
                listener -> new DynamoTraceImport(LIMITS, listener),
                "dynamo_mocker/request_trace.000000.jsonl.gz",
                "aiperf/mocker_dynamo_request_trace.jsonl.gz");
        areTheSameInAnyGrouping(
                listener -> new ForwardPassImport(LIMITS, listener),
                "guidellm/dynamo_fpm.jsonl.gz",
                "sglang_bench_serving/dynamo_fpm.jsonl.gz");
        areTheSameInAnyGrouping(
                listener -> new LlamaCppLogImport(null, LIMITS, listener),
                "llamacpp/main_server.log",
                "llamacpp/kvfull_server.log");
        areTheSameInAnyGrouping(
                listener -> new AiperfImport(LIMITS, listener),
                "aiperf/llamacpp_profile_export.jsonl.gz",
                "aiperf/mocker_profile_export.jsonl.gz");
        areTheSameInAnyGrouping(
                listener -> new CsvImport(
                        CsvMap.parse(List.of("time=t:s", "running=running"), null, "csv"), null, LIMITS, listener),
                "vllm019_sharegpt_runs/RTX4090_Llama-3.1-8B/timeseries.csv",
                "vllm019_sharegpt_runs/RTXPRO6000_Llama-3.1-8B/timeseries.csv");
        areTheSameInAnyGrouping(
                listener -> new KinetoImport("e", null, LIMITS, listener),
                "kineto_hta/nccl.excerpt.json.gz",
                "kineto_hta/mtia.excerpt.json.gz");
    }

    @Test
    void ofTheSameToolInTheSameSecond() throws Exception {
        areTheSameInAnyGrouping(
                listener -> new GuideLlmImport(LIMITS, listener),
                Imported.real().resolve("guidellm/benchmarks.json.gz"),
                changed("guidellm/benchmarks.json.gz", "\"request_id\":", "\"request_id\": "));
        areTheSameInAnyGrouping(
                listener -> new DynamoTraceImport(LIMITS, listener),
                Imported.real().resolve("dynamo_mocker/request_trace.000000.jsonl.gz"),
                changed("dynamo_mocker/request_trace.000000.jsonl.gz", "\"request_id\":\"", "\"request_id\":\"x"));
        areTheSameInAnyGrouping(
                listener -> new PrometheusImport(LIMITS, listener),
                Imported.real().resolve("sglang_metrics_dump/sglang_metrics_partial.prom"),
                changed("sglang_metrics_dump/sglang_metrics_partial.prom", "sglang:", "sglang:x"));
        areTheSameInAnyGrouping(
                listener -> new MooncakeImport(LIMITS, listener),
                Imported.real().resolve("mooncake/conversation_trace.jsonl"),
                changed("mooncake/conversation_trace.jsonl", "\"timestamp\": ", "\"timestamp\": 1"));
        areTheSameInAnyGrouping(
                listener -> new BenchImport(BenchImport.Tool.VLLM, LIMITS, listener),
                Imported.real().resolve("vllm_bench_itls_qwen05b/day05_large_i2048_o256_c4.json"),
                changed("vllm_bench_itls_qwen05b/day05_large_i2048_o256_c4.json", "\"date\": \"", "\"date\": \"1"));
        areTheSameInAnyGrouping(
                listener -> new IterationsImport(null, LIMITS, listener),
                Imported.real().resolve("trtllm/trtllm_serve_metrics_iter154.json"),
                changed("trtllm/trtllm_serve_metrics_iter154.json", "154", "155"));
        Path triton = Files.writeString(
                folder.resolve("trace.json.0"),
                "[{\"id\":1,\"model_name\":\"m\",\"model_version\":1},{\"id\":1,\"timestamps\":[{\"name\":\"QUEUE_START\",\"ns\":5}]}]");
        Path next = Files.writeString(
                folder.resolve("trace.json.1"), Files.readString(triton).replace("\"id\":1", "\"id\":2"));
        areTheSameInAnyGrouping(listener -> new TritonTraceImport(null, null, LIMITS, listener), triton, next);
    }

    @Test
    void spansOfOpenTelemetry() throws Exception {
        String span =
                "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\","
                        + "\"spanId\":\"00f067aa0ba902b7\",\"name\":\"llm_request\",\"kind\":2,\"startTimeUnixNano\":\"1790000000000000000\","
                        + "\"endTimeUnixNano\":\"1790000004200000000\",\"attributes\":[{\"key\":\"gen_ai.request.id\",\"value\":"
                        + "{\"stringValue\":\"job42\"}},{\"key\":\"gen_ai.latency.e2e\",\"value\":{\"doubleValue\":4.2}}]}]}]}]}\n";
        Path one = Files.writeString(folder.resolve("a.jsonl"), span);
        Path other = Files.writeString(
                folder.resolve("b.jsonl"), span.replace("job42", "job43").replace("b7\"", "b8\""));
        Imported.Format format = listener -> new OtlpImport(true, LIMITS, listener);
        Map<String, LoggedEvent> first = events(format, one);
        Map<String, LoggedEvent> second = events(format, other);
        Map<String, LoggedEvent> both = events(format, one, other);
        Set<String> shared = new HashSet<>(first.keySet());
        shared.retainAll(second.keySet());
        assertThat(shared).isEmpty();
        // What spans of several files tell together is of those files.
        assertThat(both.keySet().stream().filter(id -> id.startsWith("otlp/")))
                .containsExactlyInAnyOrderElementsOf(concat(first, second));
        assertThat(events(format, other, one)).isEqualTo(both);
    }

    private static Set<String> concat(Map<String, LoggedEvent> first, Map<String, LoggedEvent> second) {
        Set<String> ids = new HashSet<>();
        for (Map<String, LoggedEvent> events : Arrays.asList(first, second)) {
            events.keySet().stream().filter(id -> id.startsWith("otlp/")).forEach(ids::add);
        }
        return ids;
    }

    @Test
    void aFileThatHasGrownOrWasZippedIsStillTheSame() throws Exception {
        Imported.Format format = listener -> new DynamoTraceImport(LIMITS, listener);
        String name = "dynamo_mocker/request_trace.000000.jsonl.gz";
        Path whole = changed(name, "\"request_id\":", "\"request_id\":");
        List<String> lines = Files.readAllLines(whole, StandardCharsets.ISO_8859_1);
        Path begun = Files.write(folder.resolve("begun.jsonl"), lines.subList(0, lines.size() / 2));
        Map<String, LoggedEvent> all = events(format, Imported.real().resolve(name));
        assertThat(events(format, whole).keySet()).isEqualTo(all.keySet());
        assertThat(all.keySet()).containsAll(events(format, begun).keySet());
    }
}
