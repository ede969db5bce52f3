package io.tokenstair.collect.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.Gauge;
import io.opentelemetry.proto.metrics.v1.Histogram;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.Sum;
import io.opentelemetry.proto.metrics.v1.Summary;
import io.opentelemetry.proto.metrics.v1.SummaryDataPoint;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.SpanRecorded;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OtlpDecoderTest {
    private static final String A = "00f067aa0ba902b7";
    private static final String B = "b7ad6b7169203331";

    private final OtlpDecoder decoder = new OtlpDecoder();

    private OtlpBatch traces(String service, Span.Builder... spans) {
        return Otlp.decoded(decoder, Otlp.traces(service, "scope", spans));
    }

    @Test
    void aRequestSpanOfVllmTellsItsWaitsAndItsSecondName() {
        OtlpBatch batch = traces("vllm", Otlp.vllm("cmpl-job42-0", A));
        assertThat(batch.accepted()).isEqualTo(1);
        assertThat(batch.rejected()).isZero();
        SpanRecorded span = Otlp.events(batch, SpanRecorded.class).get(0);
        assertThat(span.traceId()).isEqualTo(Otlp.TRACE);
        assertThat(span.attributes()).contains("gen_ai.latency.time_to_first_token", "1.62");
        assertThat(Otlp.events(batch, IdAliased.class))
                .containsExactly(new IdAliased("job42", "cmpl-job42-0", "otlp-span"));
        assertThat(Otlp.events(batch, MetricSampled.class))
                .containsExactly(
                        new MetricSampled(
                                "vllm",
                                "gen_ai.latency.time_in_queue",
                                "engine=\"vllm\",request_id=\"cmpl-job42-0\"",
                                0.41),
                        new MetricSampled(
                                "vllm",
                                "gen_ai.latency.time_in_model_prefill",
                                "engine=\"vllm\",request_id=\"cmpl-job42-0\"",
                                1.2),
                        new MetricSampled(
                                "vllm",
                                "gen_ai.server.time_per_output_token",
                                "engine=\"vllm\",request_id=\"cmpl-job42-0\"",
                                0.02));
        assertThat(Otlp.events(batch, RequestReceived.class)).isEmpty();
    }

    @Test
    void aClientSpanIsTheClientsViewOfTheRequestInOldAndNewNames() {
        for (boolean old : new boolean[] {false, true}) {
            OtlpBatch batch = traces(
                    "my-app",
                    Otlp.span("chat m", A)
                            .setKind(Span.SpanKind.SPAN_KIND_CLIENT)
                            .addAttributes(
                                    old
                                            ? Otlp.text("llm.request.type", "chat")
                                            : Otlp.text("gen_ai.operation.name", "chat"))
                            .addAttributes(Otlp.text(old ? "gen_ai.system" : "gen_ai.provider.name", "openai"))
                            .addAttributes(Otlp.text("gen_ai.request.model", "m"))
                            .addAttributes(Otlp.text("gen_ai.response.id", "chatcmpl-shop-7"))
                            .addAttributes(
                                    Otlp.whole(old ? "llm.usage.prompt_tokens" : "gen_ai.usage.input_tokens", 31))
                            .addAttributes(Otlp.whole(
                                    old ? "gen_ai.usage.completion_tokens" : "gen_ai.usage.output_tokens", 9))
                            .addAttributes(Otlp.whole(old ? "gen_ai.request.n" : "gen_ai.request.choice.count", 2)));
            assertThat(Otlp.events(batch, RequestReceived.class))
                    .containsExactly(new RequestReceived(
                            "client", "shop-7", Otlp.TRACE, A, "m", null, null, 31L, null, 2, false));
            assertThat(Otlp.events(batch, RequestCompleted.class))
                    .containsExactly(new RequestCompleted(
                            "client", "shop-7", "complete", null, null, null, 9L, null, null, 31L, null, null, null));
            TimedEvent received = batch.events().stream()
                    .filter(timed -> timed.event() instanceof RequestReceived)
                    .findFirst()
                    .orElseThrow();
            assertThat(received.epochNanos()).isEqualTo(Otlp.START);
        }
    }

    @Test
    void aFailedCallSaysHow() {
        OtlpBatch batch = traces(
                "my-app",
                Otlp.span("chat m", A)
                        .setKind(Span.SpanKind.SPAN_KIND_CLIENT)
                        .setStatus(Status.newBuilder()
                                .setCode(Status.StatusCode.STATUS_CODE_ERROR)
                                .setMessage("secret"))
                        .addAttributes(Otlp.text("gen_ai.operation.name", "chat"))
                        .addAttributes(Otlp.text("http.request.header.x-request-id", "shop-8"))
                        .addAttributes(Otlp.whole("http.response.status_code", 503))
                        .addAttributes(Otlp.text("error.type", "APIStatusError")));
        assertThat(Otlp.events(batch, RequestCompleted.class))
                .containsExactly(new RequestCompleted(
                        "client", "shop-8", "http-error", 503, "APIStatusError", null, null, null, null));
        assertThat(batch.events().toString()).doesNotContain("secret");
    }

    @Test
    void anEngineSpanIsJoinedToTheClientsIdByItsParentInAnyOrder() {
        Span.Builder engine = Otlp.vllm("9f0a", A).setParentSpanId(Otlp.id(B));
        Span.Builder gateway = Otlp.span("POST", B)
                .setKind(Span.SpanKind.SPAN_KIND_SERVER)
                .addAttributes(Otlp.text("http.request.header.x-request-id", "shop-9"));
        IdAliased joined = new IdAliased("shop-9", "9f0a", "otlp-parent");
        assertThat(Otlp.events(traces("vllm", gateway, engine), IdAliased.class))
                .containsExactly(joined);
        OtlpDecoder other = new OtlpDecoder();
        assertThat(Otlp.events(Otlp.decoded(other, Otlp.traces("vllm", "s", engine)), IdAliased.class))
                .isEmpty();
        assertThat(Otlp.events(Otlp.decoded(other, Otlp.traces("envoy", "s", gateway)), IdAliased.class))
                .containsExactly(joined);
    }

    @Test
    void spansThatWaitForTheirParentAreBounded() {
        for (int i = 0; i < 3 * RequestIds.MOST; i += 64) {
            Span.Builder[] spans = new Span.Builder[64];
            for (int j = 0; j < spans.length; j++) {
                spans[j] = Otlp.vllm("x" + (i + j), A).setParentSpanId(Otlp.id(String.format("%016x", i + j + 1)));
            }
            traces("vllm", spans);
        }
        Span.Builder oldest = Otlp.span("POST", "0000000000000001").addAttributes(Otlp.text("x_request_id", "client"));
        Span.Builder newest = Otlp.span("POST", String.format("%016x", 3 * RequestIds.MOST))
                .addAttributes(Otlp.text("x_request_id", "client"));
        assertThat(Otlp.events(traces("e", oldest), IdAliased.class)).isEmpty();
        assertThat(Otlp.events(traces("e", newest), IdAliased.class)).hasSize(1);
    }

    @Test
    void eventsOfASpanAreKeptBesideItsAttributes() {
        OtlpBatch batch = traces(
                "sglang",
                Otlp.span("decode_loop", A)
                        .addAttributes(Otlp.whole("decode_ct", 17))
                        .addEvents(Span.Event.newBuilder()
                                .setName("schedule")
                                .setTimeUnixNano(Otlp.START + 400_000)
                                .addAttributes(Otlp.text("bid", "a1b2c3d4"))
                                .addAttributes(Otlp.whole("batch_size", 37))
                                .addAttributes(Otlp.text("forward_mode", "decode")))
                        .addEvents(Span.Event.newBuilder().setName("retract")));
        assertThat(Otlp.events(batch, SpanRecorded.class).get(0).attributes())
                .containsExactly(
                        "decode_ct",
                        "17",
                        "event.0.name",
                        "schedule",
                        "event.0.time_unix_nano",
                        "1790000000000400000",
                        "event.0.bid",
                        "a1b2c3d4",
                        "event.0.batch_size",
                        "37",
                        "event.0.forward_mode",
                        "decode",
                        "event.1.name",
                        "retract");
    }

    @Test
    void spansOfDynamoAndTritonAreKept() {
        assertThat(Otlp.events(
                        traces(
                                "dynamo-frontend",
                                Otlp.span("http-request", A).addAttributes(Otlp.text("x_request_id", "shop-1"))),
                        SpanRecorded.class))
                .hasSize(1);
        assertThat(Otlp.events(
                        traces(
                                "inference",
                                Otlp.span("compute", A)
                                        .addAttributes(Otlp.text("triton.request_id", "cmpl-shop-1-0"))
                                        .addAttributes(Otlp.text("triton.model_name", "m"))),
                        IdAliased.class))
                .containsExactly(new IdAliased("shop-1", "cmpl-shop-1-0", "otlp-span"));
    }

    @Test
    void spansOfOtherThingsAreCountedAndNotKept() {
        OtlpBatch batch = traces(
                "shop",
                Otlp.span("SELECT orders", A).addAttributes(Otlp.text("db.system", "postgresql")),
                Otlp.span("GET /", B).addAttributes(Otlp.text("http.route", "/")),
                Otlp.span("POST", B).addAttributes(Otlp.text("url.path", "/v1/chat/completions")));
        assertThat(batch.accepted()).isEqualTo(3);
        assertThat(batch.passedOver()).isEqualTo(2);
        assertThat(Otlp.events(batch, SpanRecorded.class)).hasSize(1);
    }

    @Test
    void oneBadSpanCostsNoOther() {
        long hour = 3_600_000_000_000L;
        OtlpBatch batch = Otlp.decoded(
                decoder,
                Otlp.traces(
                        "vllm",
                        "s",
                        Otlp.vllm("cmpl-a-0", A),
                        Otlp.vllm("cmpl-b-0", A).setSpanId(Otlp.id("00")),
                        Otlp.vllm("cmpl-c-0", A).setTraceId(Otlp.id("0".repeat(32))),
                        Otlp.vllm("cmpl-d-0", A).setEndTimeUnixNano(Otlp.START - 1),
                        Otlp.vllm("cmpl-e-0", A).setStartTimeUnixNano(12_345),
                        Otlp.vllm("cmpl-f-0", A).setEndTimeUnixNano(Long.MAX_VALUE),
                        Otlp.vllm("x".repeat(257), A),
                        Otlp.vllm("cmpl-g-0", B)));
        assertThat(batch.accepted()).isEqualTo(2);
        assertThat(batch.rejected()).isEqualTo(6);
        assertThat(batch.reasons())
                .containsOnlyKeys(
                        "field spanId: 1 bytes, not 8",
                        "field traceId: all zeros",
                        "field endTimeUnixNano: before the start",
                        "field startTimeUnixNano: no time since 1970, but a reading of another clock",
                        "field endTimeUnixNano: later than the year 2100",
                        "field gen_ai.request.id: 257 bytes, at most 256");
        assertThat(batch.message()).contains("field traceId: all zeros (1)");
        OtlpBatch future = new OtlpDecoder()
                .decode(
                        new OtlpRequest(OtlpSignal.TRACES, Otlp.traces("vllm", "s", Otlp.vllm("a", A))),
                        Otlp.START - hour);
        assertThat(future.reasons()).containsOnlyKeys("field startTimeUnixNano: in the future");
    }

    @Test
    void controlCharactersInIdsAreKeptAsTheyAre() {
        OtlpBatch batch = traces("vllm", Otlp.vllm("cmpl-\u0000\u001b[31m\n-0", A));
        assertThat(Otlp.events(batch, IdAliased.class).get(0).requestId()).isEqualTo("\u0000\u001b[31m\n");
    }

    @Test
    void textIsKeptUnderKnownNamesOnly() {
        OtlpBatch batch = traces(
                "vllm",
                Otlp.vllm("a", A)
                        .addAttributes(Otlp.text("gen_ai.input.messages", "secret"))
                        .addAttributes(Otlp.text("gen_ai.prompt.0.content", "secret"))
                        .addAttributes(Otlp.text("langfuse.observation.input", "secret"))
                        .addAttributes(Otlp.text("url.query", "prompt=secret"))
                        .addAttributes(Otlp.text("gen_ai.request.stop_sequences", "secret"))
                        .addEvents(Span.Event.newBuilder()
                                .setName("gen_ai.content.completion")
                                .addAttributes(Otlp.text("gen_ai.completion", "secret"))
                                .addAttributes(Otlp.text("body", "secret"))));
        assertThat(batch.events().toString()).doesNotContain("secret");
    }

    @Test
    void hugeAttributesAreCutAndThoseOfRequestsComeFirst() {
        Span.Builder span = Otlp.span("llm_request", A);
        for (int i = 0; i < 5000; i++) {
            span.addAttributes(Otlp.whole("noise." + i, i));
        }
        span.addAttributes(Otlp.text("vllm.note", "é".repeat(1 << 20)));
        span.addAttributes(Otlp.text("gen_ai.request.id", "cmpl-late-0"));
        SpanRecorded recorded =
                Otlp.events(traces("vllm", span), SpanRecorded.class).get(0);
        assertThat(recorded.attributes()).hasSize(2 * SpanReader.MAX_ATTRIBUTES);
        assertThat(recorded.attributes()).contains("cmpl-late-0");
        assertThat(recorded.attributes().get(1).length()).isLessThanOrEqualTo(SpanReader.MAX_VALUE_BYTES);
    }

    @Test
    void perTokenTimesOfAClientBecomeItsChunks() {
        Span.Builder span = Otlp.span("chat", A)
                .setKind(Span.SpanKind.SPAN_KIND_CLIENT)
                .addAttributes(Otlp.text("gen_ai.response.id", "chatcmpl-t"))
                .addAttributes(Otlp.numbers(TokenTimes.GENERATED, 0.5, 0.52, 0.56));
        List<ChunkDelivered> chunks = Otlp.events(traces("app", span), ChunkDelivered.class);
        assertThat(chunks).hasSize(1);
        assertThat(chunks.get(0).observer()).isEqualTo("client");
        assertThat(chunks.get(0).requestId()).isEqualTo("t");
        assertThat(chunks.get(0).chunks())
                .extracting(chunk -> chunk.arrivedNanos() - Otlp.START)
                .containsExactly(500_000_000L, 520_000_000L, 560_000_000L);
        span.setKind(Span.SpanKind.SPAN_KIND_SERVER);
        assertThat(Otlp.events(traces("app", span), ChunkDelivered.class)).isEmpty();
        assertThat(Otlp.events(Otlp.decoded(new OtlpDecoder(true), Otlp.traces("app", "s", span)), ChunkDelivered.class)
                        .get(0)
                        .observer())
                .isEqualTo("gateway");
        OtlpBatch backwards = traces(
                "app",
                Otlp.span("chat", A)
                        .setKind(Span.SpanKind.SPAN_KIND_CLIENT)
                        .addAttributes(Otlp.text("gen_ai.response.id", "chatcmpl-t"))
                        .addAttributes(Otlp.numbers(TokenTimes.GENERATED, 0.5, 0.4)));
        assertThat(backwards.rejected()).isEqualTo(1);
        assertThat(backwards.events()).isEmpty();
    }

    @Test
    void dataPointsBecomeWhatAScrapeWouldShow() {
        OtlpBatch batch = Otlp.decoded(
                decoder,
                Otlp.metrics(
                        "vllm",
                        Metric.newBuilder()
                                .setName("vllm:num_requests_running")
                                .setGauge(Gauge.newBuilder()
                                        .addDataPoints(NumberDataPoint.newBuilder()
                                                .setTimeUnixNano(Otlp.START)
                                                .addAttributes(Otlp.text("model_name", "m"))
                                                .addAttributes(Otlp.text("engine", "0"))
                                                .setAsDouble(3))
                                        .addDataPoints(
                                                NumberDataPoint.newBuilder().setFlags(1))
                                        .addDataPoints(
                                                NumberDataPoint.newBuilder().setAsDouble(Double.NaN))),
                        Metric.newBuilder()
                                .setName("tokens")
                                .setSum(Sum.newBuilder()
                                        .setAggregationTemporality(AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA)
                                        .addDataPoints(
                                                NumberDataPoint.newBuilder().setAsInt(7))),
                        Metric.newBuilder()
                                .setName("ttft")
                                .setHistogram(Histogram.newBuilder()
                                        .setAggregationTemporality(
                                                AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE)
                                        .addDataPoints(HistogramDataPoint.newBuilder()
                                                .addAllExplicitBounds(List.of(0.1, 1.0))
                                                .addAllBucketCounts(List.of(2L, 3L, 1L))
                                                .setCount(6)
                                                .setSum(4.5))
                                        .addDataPoints(HistogramDataPoint.newBuilder()
                                                .addAllExplicitBounds(List.of(0.1, 1.0))
                                                .addAllBucketCounts(List.of(2L, 3L))
                                                .setCount(5))),
                        Metric.newBuilder()
                                .setName("quantiles")
                                .setSummary(Summary.newBuilder()
                                        .addDataPoints(SummaryDataPoint.newBuilder()
                                                .setCount(2)
                                                .setSum(3)
                                                .addQuantileValues(SummaryDataPoint.ValueAtQuantile.newBuilder()
                                                        .setQuantile(0.5)
                                                        .setValue(1.5))))));
        assertThat(batch.accepted()).isEqualTo(5);
        assertThat(batch.passedOver()).isEqualTo(1);
        assertThat(batch.reasons())
                .containsOnlyKeys("a value that is not a number", "field bucketCounts: 2 for 2 bounds");
        List<String> told = new ArrayList<>();
        for (MetricSampled sample : Otlp.events(batch, MetricSampled.class)) {
            told.add(sample.name() + '{' + sample.labels() + "} " + sample.sampledValue());
        }
        assertThat(told)
                .containsExactly(
                        "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3.0",
                        "tokens_delta{} 7.0",
                        "ttft_bucket{le=\"0.1\"} 2.0",
                        "ttft_bucket{le=\"1.0\"} 5.0",
                        "ttft_bucket{le=\"+Inf\"} 6.0",
                        "ttft_sum{} 4.5",
                        "ttft_count{} 6.0",
                        "quantiles{quantile=\"0.5\"} 1.5",
                        "quantiles_sum{} 3.0",
                        "quantiles_count{} 2.0");
    }

    @Test
    void logRecordsThatAreEventsOfARequestAreKeptWithoutTheirBody() {
        OtlpBatch batch = Otlp.decoded(
                decoder,
                Otlp.logs(
                        "vllm",
                        LogRecord.newBuilder()
                                .setEventName("gen_ai.token.scheduled")
                                .setTraceId(Otlp.id(Otlp.TRACE))
                                .setSpanId(Otlp.id(A))
                                .setTimeUnixNano(Otlp.START)
                                .setBody(AnyValue.newBuilder().setStringValue("secret"))
                                .addAttributes(Otlp.whole("gen_ai.iteration.batch_size", 12)),
                        LogRecord.newBuilder().setBody(AnyValue.newBuilder().setStringValue("GET /health"))));
        assertThat(batch.accepted()).isEqualTo(2);
        assertThat(batch.passedOver()).isEqualTo(1);
        SpanRecorded event = Otlp.events(batch, SpanRecorded.class).get(0);
        assertThat(event.spanKind()).isEqualTo("LOG_RECORD");
        assertThat(event.attributes()).containsExactly("gen_ai.iteration.batch_size", "12");
        assertThat(batch.events().toString()).doesNotContain("secret");
    }

    @Test
    void theSpanOfAnEngineStandsForItsRequestWhereNothingElseDoes() {
        EngineRequests requests = new EngineRequests();
        OtlpDecoder front = new OtlpDecoder(true);
        requests.accept(Otlp.decoded(
                        front,
                        Otlp.traces(
                                "vllm",
                                "s",
                                Otlp.vllm("cmpl-two-0", A),
                                Otlp.vllm("cmpl-two-0", B),
                                Otlp.vllm("cmpl-two-0", "00000000000000aa")
                                        .setStartTimeUnixNano(Otlp.START + 9_000_000_000L)
                                        .setEndTimeUnixNano(Otlp.START + 13_200_000_000L)))
                .events());
        List<TimedEvent> told = new ArrayList<>();
        requests.finish(told::add);
        List<Object> kinds = new ArrayList<>();
        told.forEach(timed -> kinds.add(timed.event().getClass().getSimpleName()));
        assertThat(kinds).containsExactly("RequestReceived", "RequestCompleted", "RequestReceived", "RequestCompleted");
        assertThat(told.get(0).event())
                .isEqualTo(new RequestReceived(
                        "gateway", "two", Otlp.TRACE, null, null, null, null, 8192L, null, 2, false));
        long first = Otlp.START + 1_620_000_000L;
        assertThat(told.get(1).event())
                .isEqualTo(new RequestCompleted(
                        "gateway", "two", "complete", null, null, null, 256L, null, null, 8192L, null, first, null));
        assertThat(told.get(3).event())
                .isEqualTo(new RequestCompleted(
                        "gateway",
                        "two",
                        "complete",
                        null,
                        null,
                        null,
                        128L,
                        null,
                        null,
                        8192L,
                        null,
                        first + 9_000_000_000L,
                        20_000_000L));
    }
}
