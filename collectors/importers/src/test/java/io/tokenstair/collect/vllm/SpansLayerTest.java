package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.collect.otlp.RequestIds;
import io.tokenstair.collect.otlp.SpanReader;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.SpanRecorded;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpansLayerTest {
    private static final String JSON = """
            {"recv_mono_ns":1910912649683,"recv_wall_ns":1795967276920661292,"body":{"resourceSpans":[{"resource":
            {"attributes":[{"key":"service.name","value":{"stringValue":"vllm-cpu"}}]},"scopeSpans":[{"spans":[
            {"traceId":"9259e44fc4cd32ae1381676a71064cde","spanId":"4e147dfdc83d08ff","parentSpanId":"ad4ea308511d3237",
            "name":"llm_request","kind":"SPAN_KIND_SERVER","startTimeUnixNano":"1795967246354052073",
            "endTimeUnixNano":"1795967275864168571","attributes":[
            {"key":"gen_ai.request.id","value":{"stringValue":"cmpl-two-0"}},
            {"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"80"}},
            {"key":"gen_ai.latency.time_in_queue","value":{"doubleValue":0.25}}]}]}]}]}}
            """;

    @TempDir
    Path folder;

    private static Span.Builder span() {
        return Span.newBuilder()
                .setTraceId(ByteString.fromHex("9259e44fc4cd32ae1381676a71064cde"))
                .setSpanId(ByteString.fromHex("4e147dfdc83d08ff"))
                .setName("llm_request")
                .setKind(Span.SpanKind.SPAN_KIND_SERVER)
                .setStartTimeUnixNano(1_795_967_246_354_052_073L)
                .setEndTimeUnixNano(1_795_967_275_864_168_571L);
    }

    private static KeyValue attribute(String key, String value) {
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder().setStringValue(value))
                .build();
    }

    private static byte[] request(Span.Builder span) {
        return ExportTraceServiceRequest.newBuilder()
                .addResourceSpans(ResourceSpans.newBuilder()
                        .addScopeSpans(ScopeSpans.newBuilder().addSpans(span)))
                .build()
                .toByteArray();
    }

    private Imported read(String name, byte[] bytes) throws IOException {
        Path spans = Files.createDirectories(folder.resolve("run/otlp_spans"));
        Files.write(spans.resolve(name), bytes);
        return Imported.of(folder.resolve("run"), folder.resolve("log"));
    }

    @Test
    void jsonServesWhereTheProtobufIsMissing() throws IOException {
        Imported imported = read("req_0000.json", JSON.getBytes(StandardCharsets.UTF_8));
        SpanRecorded span = imported.only(SpanRecorded.class);
        assertThat(span.traceId()).isEqualTo("9259e44fc4cd32ae1381676a71064cde");
        assertThat(span.parentSpanId()).isEqualTo("ad4ea308511d3237");
        assertThat(span.spanKind()).isEqualTo("SPAN_KIND_SERVER");
        assertThat(span.serviceName()).isEqualTo("vllm-cpu");
        assertThat(span.startEpochNanos()).isEqualTo(1_795_967_246_354_052_073L);
        assertThat(span.attributes())
                .containsExactly(
                        "gen_ai.request.id",
                        "cmpl-two-0",
                        "gen_ai.usage.prompt_tokens",
                        "80",
                        "gen_ai.latency.time_in_queue",
                        "0.25");
        assertThat(imported.only(IdAliased.class)).isEqualTo(new IdAliased("two", "cmpl-two-0", "otlp-span"));
        assertThat(imported.events().get(0).header().clockNanos()).isEqualTo(1_910_912_649_683L);
        assertThat(imported.events().get(0).header().coarseEpochMillis()).isEqualTo(1_795_967_276_920L);
    }

    @Test
    void protobufWithoutStampsIsDatedByItsLastSpan() throws IOException {
        Imported imported = read("req_0000.pb", request(span()));
        assertThat(imported.only(SpanRecorded.class).parentSpanId()).isNull();
        assertThat(imported.events().get(0).header().clockNanos()).isNull();
        assertThat(imported.events().get(0).header().coarseEpochMillis()).isEqualTo(1_795_967_275_864L);
        assertThat(imported.all(IdAliased.class)).isEmpty();
    }

    @Test
    void attributesAreBoundedAndContentIsLeftOut() throws IOException {
        Span.Builder span = span();
        span.addAttributes(attribute("gen_ai.prompt.0.content", "secret"));
        span.addAttributes(attribute("gen_ai.output.messages", "secret"));
        span.addAttributes(attribute("note", "secret"));
        span.addAttributes(attribute("vllm." + "k".repeat(500), "é".repeat(600)));
        for (int i = 0; i < 100; i++) {
            span.addAttributes(attribute("vllm.a" + i, "v"));
        }
        SpanRecorded recorded = read("req_0000.pb", request(span)).only(SpanRecorded.class);
        assertThat(recorded.attributes()).hasSize(2 * SpanReader.MAX_ATTRIBUTES);
        assertThat(recorded.attributes().toString()).doesNotContain("secret");
        assertThat(recorded.attributes().get(0)).hasSize(128);
        assertThat(recorded.attributes().get(1).getBytes(StandardCharsets.UTF_8))
                .hasSize(512);
    }

    @Test
    void aHugeRequestIdIsRefused() throws IOException {
        Imported imported =
                read("req_0000.pb", request(span().addAttributes(attribute("gen_ai.request.id", "x".repeat(1 << 20)))));
        assertThat(imported.reasons()).containsExactly("field gen_ai.request.id: 1048576 bytes, at most 256");
        assertThat(imported.layer("spans")).isEqualTo(new LayerCount("spans", 1, 0, 1, false));
    }

    @Test
    void otherBytesAreRefused() throws IOException {
        Path spans = Files.createDirectories(folder.resolve("run/otlp_spans"));
        byte[] whole = request(span());
        Files.write(spans.resolve("a.pb"), "this is text, no protobuf".getBytes(StandardCharsets.UTF_8));
        Files.write(spans.resolve("b.pb"), Arrays.copyOf(whole, whole.length - 5));
        Files.write(spans.resolve("c.pb"), new byte[0]);
        Files.write(spans.resolve("d.pb"), request(span().setSpanId(ByteString.fromHex("00"))));
        Files.write(spans.resolve("e.json"), "{\"body\":{}}".getBytes(StandardCharsets.UTF_8));
        Files.write(spans.resolve("f.pb"), whole);
        Imported imported = Imported.of(folder.resolve("run"), folder.resolve("log"));
        assertThat(imported.layer("spans")).isEqualTo(new LayerCount("spans", 6, 1, 5, false));
        assertThat(imported.reasons())
                .containsExactlyInAnyOrder(
                        "not an ExportTraceServiceRequest: wrong or cut protobuf",
                        "not an ExportTraceServiceRequest: wrong or cut protobuf",
                        "not an ExportTraceServiceRequest: no span in it",
                        "field spanId: 1 bytes, not 8",
                        "none of resourceSpans, resourceMetrics and resourceLogs in it");
    }

    @Test
    void idsOfTheApiServerAreStripped() {
        assertThat(RequestIds.wrappedId("cmpl-press-0-0")).isEqualTo("press-0");
        assertThat(RequestIds.wrappedId("chatcmpl-abc")).isEqualTo("abc");
        assertThat(RequestIds.wrappedId("resp_0a1b_0")).isEqualTo("resp_0a1b");
        assertThat(RequestIds.wrappedId("generate-tokens-abc")).isEqualTo("abc");
        assertThat(RequestIds.wrappedId("embd-1")).isNull();
    }
}
