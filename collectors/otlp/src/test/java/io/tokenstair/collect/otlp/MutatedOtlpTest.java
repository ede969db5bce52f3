package io.tokenstair.collect.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.Gauge;
import io.opentelemetry.proto.metrics.v1.Histogram;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.fuzz.Mutations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Recorded requests of a real engine that something happened to, {@value #INPUTS} in each form: whatever comes is taken or refused with a reason, every
 * item of it counted, every event of it can be written and read back, and nothing else is thrown.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class MutatedOtlpTest {
    private static final int INPUTS = 10_000;
    private static final int MAX_BYTES = 20_000;
    private static final OtlpLimits LIMITS = new OtlpLimits(1 << 20, 20_000);

    private static final String[] PIECES = {
        "\"traceId\":",
        "\"NaN\"",
        "\"Infinity\"",
        "1e999999999",
        "{\"arrayValue\":{\"values\":[",
        "\"resourceMetrics\":[{}],",
        "\"resourceSpans\":[",
        "\"\""
    };

    private final OtlpDecoder decoder = new OtlpDecoder(true);
    private final EngineRequests requests = new EngineRequests();
    private long accepted;
    private long rejected;
    private long refused;

    private static List<byte[]> recorded(String ending) {
        List<byte[]> files = new ArrayList<>();
        for (Path file : Otlp.recorded(ending)) {
            try {
                byte[] bytes = Files.readAllBytes(file);
                if (bytes.length <= MAX_BYTES) {
                    files.add(bytes);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        assertThat(files).hasSizeGreaterThan(10);
        return files;
    }

    private interface Reader {
        OtlpRequest read(byte[] bytes) throws OtlpException;
    }

    private void run(List<byte[]> originals, long seed, boolean text, Reader reader) {
        Mutations mutations = new Mutations(seed, originals, text ? PIECES : new String[0]);
        for (int i = 0; i < INPUTS; i++) {
            byte[] input = mutations.next();
            try {
                OtlpRequest request = reader.read(input);
                OtlpBatch batch = decoder.decode(request);
                assertThat(batch.accepted() + batch.rejected()).isEqualTo(items(request));
                accepted += batch.accepted();
                rejected += batch.rejected();
                assertThat(batch.reasons().values().stream()
                                .mapToLong(Long::longValue)
                                .sum())
                        .isEqualTo(batch.rejected());
                assertThat(batch.message().length()).isLessThanOrEqualTo(1000);
                writeAndReadBack(batch.events());
                requests.accept(batch.events());
            } catch (OtlpException e) {
                refused++;
                assertThat(e.reason()).isNotBlank().doesNotContain("\n");
            } catch (RuntimeException e) {
                throw new AssertionError("input " + i + " of seed " + seed, e);
            }
        }
        List<TimedEvent> told = new ArrayList<>();
        requests.finish(told::add);
        writeAndReadBack(told);
        assertThat(accepted).isPositive();
        assertThat(refused).isPositive();
    }

    private static long items(OtlpRequest request) {
        long items = 0;
        if (request.message() instanceof ExportTraceServiceRequest traces) {
            for (var resource : traces.getResourceSpansList()) {
                for (var scope : resource.getScopeSpansList()) {
                    items += scope.getSpansCount();
                }
            }
        } else if (request.message() instanceof ExportMetricsServiceRequest metrics) {
            for (var resource : metrics.getResourceMetricsList()) {
                for (var scope : resource.getScopeMetricsList()) {
                    for (Metric metric : scope.getMetricsList()) {
                        items += metric.getGauge().getDataPointsCount()
                                + metric.getSum().getDataPointsCount()
                                + metric.getHistogram().getDataPointsCount()
                                + metric.getExponentialHistogram().getDataPointsCount()
                                + metric.getSummary().getDataPointsCount();
                    }
                }
            }
        } else if (request.message() instanceof ExportLogsServiceRequest logs) {
            for (var resource : logs.getResourceLogsList()) {
                for (var scope : resource.getScopeLogsList()) {
                    items += scope.getLogRecordsCount();
                }
            }
        }
        return items;
    }

    private static void writeAndReadBack(List<TimedEvent> events) {
        for (TimedEvent timed : events) {
            LoggedEvent logged = new LoggedEvent(
                    new EventHeader("otlp", 1, 0, "wall@x", timed.epochNanos(), 1_790_000_000_000L), timed.event());
            try {
                assertThat(EventCodec.decode(EventCodec.encode(logged)).event()).isEqualTo(timed.event());
            } catch (io.tokenstair.event.wire.WireException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void spansInProtobuf() {
        run(recorded(".pb"), 1, false, bytes -> OtlpRequest.protobuf(OtlpSignal.TRACES, bytes, LIMITS));
        assertThat(rejected).isPositive();
    }

    @Test
    void protobufOfWhateverSignal() {
        List<byte[]> originals = new ArrayList<>(recorded(".pb").subList(0, 5));
        originals.add(metrics().toByteArray());
        originals.add(logs().toByteArray());
        run(originals, 2, false, bytes -> OtlpRequest.protobuf(bytes, LIMITS));
    }

    @Test
    void metricsInProtobuf() {
        run(
                List.of(metrics().toByteArray()),
                3,
                false,
                bytes -> OtlpRequest.protobuf(OtlpSignal.METRICS, bytes, LIMITS));
        assertThat(rejected).isPositive();
    }

    @Test
    void logsInProtobuf() {
        run(List.of(logs().toByteArray()), 4, false, bytes -> OtlpRequest.protobuf(OtlpSignal.LOGS, bytes, LIMITS));
    }

    @Test
    void spansInJson() {
        run(recorded(".json"), 5, true, bytes -> OtlpRequest.json(bytes, bytes.length, LIMITS));
    }

    private static ExportMetricsServiceRequest metrics() {
        return Otlp.metrics(
                "vllm",
                Metric.newBuilder()
                        .setName("vllm:num_requests_running")
                        .setGauge(Gauge.newBuilder()
                                .addDataPoints(NumberDataPoint.newBuilder()
                                        .setTimeUnixNano(Otlp.START)
                                        .addAttributes(Otlp.text("model_name", "m"))
                                        .setAsDouble(3))),
                Metric.newBuilder()
                        .setName("vllm:time_to_first_token_seconds")
                        .setHistogram(Histogram.newBuilder()
                                .setAggregationTemporality(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE)
                                .addDataPoints(HistogramDataPoint.newBuilder()
                                        .setTimeUnixNano(Otlp.START)
                                        .addAllExplicitBounds(List.of(0.1, 1.0, 10.0))
                                        .addAllBucketCounts(List.of(2L, 3L, 1L, 0L))
                                        .setCount(6)
                                        .setSum(4.5))));
    }

    private static ExportLogsServiceRequest logs() {
        return Otlp.logs(
                "vllm",
                LogRecord.newBuilder()
                        .setEventName("gen_ai.token.scheduled")
                        .setTraceId(Otlp.id(Otlp.TRACE))
                        .setSpanId(Otlp.id("00f067aa0ba902b7"))
                        .setTimeUnixNano(Otlp.START)
                        .addAttributes(Otlp.whole("gen_ai.iteration.batch_size", 12)));
    }
}
