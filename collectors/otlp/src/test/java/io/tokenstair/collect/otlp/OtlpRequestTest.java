package io.tokenstair.collect.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.proto.metrics.v1.Gauge;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OtlpRequestTest {
    private static OtlpRequest json(String json) throws OtlpException {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        return OtlpRequest.json(bytes, bytes.length, OtlpLimits.DEFAULT);
    }

    private static void refused(String json, String reason) {
        assertThatThrownBy(() -> json(json)).isInstanceOf(OtlpException.class).hasMessageContaining(reason);
    }

    @Test
    void anEnumIsANumberInQuotesOrNotOrAName_andOneThatIsNotKnownIsAbsent() throws OtlpException {
        String span = "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":["
                + "{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"spanId\":\"00f067aa0ba902b7\",\"name\":\"llm_request\","
                + "\"kind\":%s,\"startTimeUnixNano\":\"1790000000000000000\",\"endTimeUnixNano\":\"1790000001000000000\"}]}]}]}";
        for (String server : List.of("2", "\"2\"", "\"SPAN_KIND_SERVER\"")) {
            assertThat(kind(String.format(span, server))).as(server).isEqualTo("SPAN_KIND_SERVER");
        }
        for (String unknown : List.of("99", "\"99\"", "\"SPAN_KIND_LATER\"", "\"\"", "null")) {
            assertThat(kind(String.format(span, unknown))).as(unknown).isNull();
        }
    }

    private static @Nullable String kind(String json) throws OtlpException {
        OtlpRequest request = json(json);
        return OtlpDecoder.spans(request).get(0).spanKind();
    }

    @Test
    void recordedRequestsAreTheSameInBothForms() throws IOException, OtlpException {
        int spans = 0;
        for (Path file : Otlp.recorded(".pb")) {
            OtlpRequest binary = OtlpRequest.protobuf(Files.readAllBytes(file), OtlpLimits.DEFAULT);
            Path beside = Path.of(file.toString().replace(".pb", ".json"));
            byte[] text = Files.readAllBytes(beside);
            OtlpRequest json = OtlpRequest.json(text, text.length, OtlpLimits.DEFAULT);
            assertThat(json.signal()).isEqualTo(OtlpSignal.TRACES);
            assertThat(OtlpDecoder.spans(json)).as(file.toString()).isEqualTo(OtlpDecoder.spans(binary));
            spans += OtlpDecoder.spans(json).size();
        }
        assertThat(spans).isGreaterThan(100);
    }

    @Test
    void jsonTakesNumbersInQuotesNamesOfEnumsAndUnknownFields() throws OtlpException {
        OtlpRequest request = json("{\"resourceSpans\":[{\"new\":{\"a\":[1]},\"scopeSpans\":[{\"spans\":[{"
                + "\"traceId\":\"4BF92F3577B34DA6A3CE929D0E0E4736\",\"spanId\":\"00f067aa0ba902b7\",\"name\":\"n\","
                + "\"kind\":\"SPAN_KIND_SERVER\",\"startTimeUnixNano\":1790000000000000000,"
                + "\"endTimeUnixNano\":\"1790000004200000000\",\"flags\":1.0,\"attributes\":["
                + "{\"key\":\"gen_ai.latency.e2e\",\"value\":{\"doubleValue\":\"4.2\"}},"
                + "{\"key\":\"gen_ai.request.id\",\"value\":{\"stringValue\":\"a\"}}]}]}]}]}");
        assertThat(OtlpDecoder.spans(request).get(0).spanKind()).isEqualTo("SPAN_KIND_SERVER");
        assertThat(OtlpDecoder.spans(request).get(0).endEpochNanos()).isEqualTo(1_790_000_004_200_000_000L);
        assertThat(OtlpDecoder.spans(request).get(0).attributes())
                .containsExactly("gen_ai.latency.e2e", "4.2", "gen_ai.request.id", "a");
    }

    @Test
    void badJsonIsRefusedWithItsReason() {
        refused("[]", "not a JSON object");
        refused("{}", "none of resourceSpans");
        refused("{\"resourceSpans\":{}}", "field resourceSpans: not an array");
        refused("{\"resourceSpans\":[1]}", "field resourceSpans: holds what is not an object");
        refused("{\"resourceSpans\":[],\"resourceLogs\":[]}", "several signals");
        refused("{\"resourceSpans\":[]} {}", "something after");
        refused("{\"resourceSpans\":[", "not valid JSON");
        String deep = "{\"arrayValue\":{\"values\":[".repeat(1000);
        refused("{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"a\",\"value\":" + deep, "JSON too deep");
        refused("{\"resourceSpans\":[{\"x\":" + "[".repeat(100_000), "JSON too deep");
        String span = "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{%s}]}]}]}";
        refused(String.format(span, "\"traceId\":\"xyz\""), "field traceId: not hex");
        refused(String.format(span, "\"startTimeUnixNano\":\"-1\""), "field startTimeUnixNano: out of range");
        refused(
                String.format(span, "\"startTimeUnixNano\":1e999999999"),
                "field startTimeUnixNano: not a whole number");
        refused(String.format(span, "\"startTimeUnixNano\":1.5"), "field startTimeUnixNano: not a whole number");
        refused(String.format(span, "\"name\":\"\\ud800\""), "half of a surrogate pair");
    }

    @Test
    void theSignalOfAProtobufRequestIsTold() throws OtlpException {
        Metric.Builder metric = Metric.newBuilder()
                .setName("vllm:num_requests_running")
                .setDescription("Number of requests.")
                .setUnit("1")
                .setGauge(Gauge.newBuilder()
                        .addDataPoints(NumberDataPoint.newBuilder()
                                .setTimeUnixNano(Otlp.START)
                                .setAsDouble(3)));
        byte[] metrics = Otlp.metrics("vllm", metric).toByteArray();
        assertThat(OtlpRequest.protobuf(metrics, OtlpLimits.DEFAULT).signal()).isEqualTo(OtlpSignal.METRICS);
        byte[] logs = Otlp.logs(
                        "vllm",
                        io.opentelemetry.proto.logs.v1.LogRecord.newBuilder()
                                .setEventName("gen_ai.token.generated")
                                .setTimeUnixNano(Otlp.START)
                                .setTraceId(Otlp.id(Otlp.TRACE))
                                .setSpanId(Otlp.id("00f067aa0ba902b7")))
                .toByteArray();
        assertThat(OtlpRequest.protobuf(logs, OtlpLimits.DEFAULT).signal()).isEqualTo(OtlpSignal.LOGS);
        byte[] traces =
                Otlp.traces("vllm", "s", Otlp.vllm("a", "00f067aa0ba902b7")).toByteArray();
        assertThat(OtlpRequest.protobuf(traces, OtlpLimits.DEFAULT).signal()).isEqualTo(OtlpSignal.TRACES);
    }

    @Test
    void messagesAreCountedBeforeAnyIsMade() {
        byte[] empty = new byte[2 * 600_000];
        for (int i = 0; i < empty.length; i += 2) {
            empty[i] = 0x0a;
        }
        assertThatThrownBy(() -> OtlpRequest.protobuf(OtlpSignal.TRACES, empty, OtlpLimits.DEFAULT))
                .hasMessage("too many messages in one request");
        refused("{\"resourceSpans\":[" + "{},".repeat(600_000) + "{}]}", "too many messages in one request");
        byte[] deep = new byte[4000];
        Arrays.fill(deep, (byte) 0x0a);
        assertThatThrownBy(() -> OtlpRequest.protobuf(OtlpSignal.TRACES, deep, OtlpLimits.DEFAULT))
                .isInstanceOf(OtlpException.class);
    }

    @Test
    void aZipBombIsCutAtTheLimit() throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
            byte[] zeros = new byte[1 << 20];
            for (int i = 0; i < 256; i++) {
                out.write(zeros);
            }
        }
        assertThat(zipped.size()).isLessThan(1 << 20);
        assertThatThrownBy(() -> OtlpRequest.unzipped(zipped.toByteArray(), OtlpLimits.DEFAULT))
                .hasMessage("more than 16777216 bytes come out of the gzip");
        assertThatThrownBy(() -> OtlpRequest.unzipped(new byte[] {1, 2, 3}, OtlpLimits.DEFAULT))
                .hasMessage("not gzip, or cut");
    }
}
