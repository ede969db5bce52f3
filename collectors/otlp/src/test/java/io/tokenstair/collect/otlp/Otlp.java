package io.tokenstair.collect.otlp;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors;
import com.google.protobuf.Message;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.logs.v1.ResourceLogs;
import io.opentelemetry.proto.logs.v1.ScopeLogs;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.event.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Requests in tests, made by hand or recorded of a real engine. */
public final class Otlp {
    /** A moment of the recorded runs. */
    public static final long START = 1_790_000_000_000_000_000L;

    public static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

    private Otlp() {}

    public static KeyValue text(String key, String value) {
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder().setStringValue(value))
                .build();
    }

    public static KeyValue whole(String key, long value) {
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder().setIntValue(value))
                .build();
    }

    public static KeyValue number(String key, double value) {
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder().setDoubleValue(value))
                .build();
    }

    public static KeyValue numbers(String key, double... values) {
        ArrayValue.Builder array = ArrayValue.newBuilder();
        Arrays.stream(values)
                .forEach(value -> array.addValues(AnyValue.newBuilder().setDoubleValue(value)));
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder().setArrayValue(array))
                .build();
    }

    public static ByteString id(String hex) {
        return ByteString.copyFrom(HexFormat.of().parseHex(hex));
    }

    /** A span of 4.2 s. */
    public static Span.Builder span(String name, String spanId) {
        return Span.newBuilder()
                .setTraceId(id(TRACE))
                .setSpanId(id(spanId))
                .setName(name)
                .setStartTimeUnixNano(START)
                .setEndTimeUnixNano(START + 4_200_000_000L);
    }

    /** The span that vLLM writes of a request. */
    public static Span.Builder vllm(String id, String spanId) {
        return span("llm_request", spanId)
                .setKind(Span.SpanKind.SPAN_KIND_SERVER)
                .addAttributes(text("gen_ai.request.id", id))
                .addAttributes(whole("gen_ai.usage.prompt_tokens", 8192))
                .addAttributes(whole("gen_ai.usage.completion_tokens", 128))
                .addAttributes(number("gen_ai.latency.time_in_queue", 0.41))
                .addAttributes(number("gen_ai.latency.time_to_first_token", 1.62))
                .addAttributes(number("gen_ai.latency.time_in_model_prefill", 1.2))
                .addAttributes(number("gen_ai.latency.time_in_model_decode", 2.54))
                .addAttributes(number("gen_ai.latency.e2e", 4.2));
    }

    public static ExportTraceServiceRequest traces(String service, String scope, Span.Builder... spans) {
        ScopeSpans.Builder scopeSpans = ScopeSpans.newBuilder()
                .setScope(InstrumentationScope.newBuilder().setName(scope));
        for (Span.Builder span : spans) {
            scopeSpans.addSpans(span);
        }
        return ExportTraceServiceRequest.newBuilder()
                .addResourceSpans(ResourceSpans.newBuilder()
                        .setResource(Resource.newBuilder().addAttributes(text("service.name", service)))
                        .addScopeSpans(scopeSpans))
                .build();
    }

    public static ExportMetricsServiceRequest metrics(String service, Metric.Builder... metrics) {
        ScopeMetrics.Builder scope = ScopeMetrics.newBuilder();
        for (Metric.Builder metric : metrics) {
            scope.addMetrics(metric);
        }
        return ExportMetricsServiceRequest.newBuilder()
                .addResourceMetrics(ResourceMetrics.newBuilder()
                        .setResource(Resource.newBuilder().addAttributes(text("service.name", service)))
                        .addScopeMetrics(scope))
                .build();
    }

    public static ExportLogsServiceRequest logs(String service, LogRecord.Builder... logs) {
        ScopeLogs.Builder scope = ScopeLogs.newBuilder();
        for (LogRecord.Builder log : logs) {
            scope.addLogRecords(log);
        }
        return ExportLogsServiceRequest.newBuilder()
                .addResourceLogs(ResourceLogs.newBuilder()
                        .setResource(Resource.newBuilder().addAttributes(text("service.name", service)))
                        .addScopeLogs(scope))
                .build();
    }

    /** A request as the JSON of OTLP: bytes in hex, 64-bit numbers in quotes, enums as numbers. */
    public static String json(Message message) {
        StringBuilder json = new StringBuilder("{");
        message.getAllFields().forEach((field, value) -> {
            json.append(json.length() == 1 ? "" : ",")
                    .append(quoted(field.getJsonName()))
                    .append(':');
            if (value instanceof List<?> values) {
                json.append(values.stream().map(Otlp::jsonValue).collect(Collectors.joining(",", "[", "]")));
            } else {
                json.append(jsonValue(value));
            }
        });
        return json.append('}').toString();
    }

    private static String jsonValue(Object value) {
        if (value instanceof Message message) {
            return json(message);
        }
        if (value instanceof Descriptors.EnumValueDescriptor name) {
            return String.valueOf(name.getNumber());
        }
        if (value instanceof ByteString bytes) {
            return quoted(HexFormat.of().formatHex(bytes.toByteArray()));
        }
        return value instanceof Long || value instanceof String ? quoted(value.toString()) : value.toString();
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    /** What a request becomes. */
    public static OtlpBatch decoded(OtlpDecoder decoder, Message message) {
        OtlpSignal signal = message instanceof ExportTraceServiceRequest
                ? OtlpSignal.TRACES
                : message instanceof ExportMetricsServiceRequest ? OtlpSignal.METRICS : OtlpSignal.LOGS;
        try {
            return decoder.decode(OtlpRequest.protobuf(signal, message.toByteArray(), OtlpLimits.DEFAULT));
        } catch (OtlpException e) {
            throw new AssertionError(e);
        }
    }

    /** The events of one kind. */
    public static <T extends Event> List<T> events(OtlpBatch batch, Class<T> kind) {
        List<T> events = new ArrayList<>();
        for (TimedEvent timed : batch.events()) {
            if (kind.isInstance(timed.event())) {
                events.add(kind.cast(timed.event()));
            }
        }
        return events;
    }

    /** Recorded requests of a real vLLM, with this ending. */
    public static List<Path> recorded(String ending) {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve("captures"))) {
            folder = folder.getParent();
        }
        try (Stream<Path> files = Files.walk(folder.resolve("captures"))) {
            return files.filter(file -> String.valueOf(file.getParent()).endsWith("otlp_spans")
                            && file.toString().endsWith(ending))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
