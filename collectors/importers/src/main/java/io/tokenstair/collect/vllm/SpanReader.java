package io.tokenstair.collect.vllm;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.event.SpanRecorded;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * OTLP spans to events, bounded: at most {@value #MAX_ATTRIBUTES} attributes a span, keys and values cut to
 * {@value #MAX_KEY_BYTES} and {@value #MAX_VALUE_BYTES} bytes. Attributes that carry messages, prompts or completions are left out.
 */
final class SpanReader {
    static final int MAX_ATTRIBUTES = 64;
    static final int MAX_KEY_BYTES = 128;
    static final int MAX_VALUE_BYTES = 512;
    static final String REQUEST_ID = "gen_ai.request.id";

    private static final int TRACE_ID_BYTES = 16;
    private static final int SPAN_ID_BYTES = 8;

    /** Begins of the attribute names under which instrumentations record content. */
    private static final List<String> CONTENT = List.of(
            "gen_ai.prompt",
            "gen_ai.completion",
            "gen_ai.input.messages",
            "gen_ai.output.messages",
            "gen_ai.system_instructions",
            "gen_ai.content",
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result",
            "llm.prompts",
            "llm.completions",
            "llm.input_messages",
            "llm.output_messages",
            "input.value",
            "output.value",
            "http.request.body",
            "http.response.body");

    private SpanReader() {}

    static List<SpanRecorded> spans(ExportTraceServiceRequest request) throws RejectedRecordException {
        List<SpanRecorded> spans = new ArrayList<>();
        for (ResourceSpans resource : request.getResourceSpansList()) {
            String service = null;
            for (KeyValue attribute : resource.getResource().getAttributesList()) {
                if (attribute.getKey().equals("service.name")) {
                    service = cut(text(attribute.getValue()), MAX_VALUE_BYTES);
                }
            }
            for (ScopeSpans scope : resource.getScopeSpansList()) {
                for (Span span : scope.getSpansList()) {
                    spans.add(span(span, service));
                }
            }
        }
        return spans;
    }

    private static SpanRecorded span(Span span, @Nullable String service) throws RejectedRecordException {
        return new SpanRecorded(
                hex(span.getTraceId(), TRACE_ID_BYTES, "traceId"),
                hex(span.getSpanId(), SPAN_ID_BYTES, "spanId"),
                span.getParentSpanId().isEmpty() ? null : hex(span.getParentSpanId(), SPAN_ID_BYTES, "parentSpanId"),
                cut(span.getName(), MAX_VALUE_BYTES),
                kind(span),
                stamp(span.getStartTimeUnixNano(), "startTimeUnixNano"),
                stamp(span.getEndTimeUnixNano(), "endTimeUnixNano"),
                service,
                attributes(span));
    }

    private static String hex(ByteString id, int bytes, String field) throws RejectedRecordException {
        if (id.size() != bytes) {
            throw new RejectedRecordException("field " + field + ": " + id.size() + " bytes, not " + bytes);
        }
        return HexFormat.of().formatHex(id.toByteArray());
    }

    private static @Nullable String kind(Span span) {
        Span.SpanKind kind = span.getKind();
        return kind == Span.SpanKind.UNRECOGNIZED || kind == Span.SpanKind.SPAN_KIND_UNSPECIFIED ? null : kind.name();
    }

    private static @Nullable Long stamp(long nanos, String field) throws RejectedRecordException {
        if (nanos < 0) {
            throw new RejectedRecordException("field " + field + ": later than the year 2262");
        }
        return nanos == 0 ? null : Long.valueOf(nanos);
    }

    private static List<String> attributes(Span span) throws RejectedRecordException {
        List<String> attributes = new ArrayList<>();
        for (KeyValue attribute : span.getAttributesList()) {
            if (attributes.size() >= 2 * MAX_ATTRIBUTES) {
                break;
            }
            String key = attribute.getKey();
            if (content(key)) {
                continue;
            }
            if (key.equals(REQUEST_ID)) {
                Fields.bounded(text(attribute.getValue()), key);
            }
            attributes.add(cut(key, MAX_KEY_BYTES));
            attributes.add(cut(text(attribute.getValue()), MAX_VALUE_BYTES));
        }
        return attributes;
    }

    private static boolean content(String key) {
        String name = key.toLowerCase(Locale.ROOT);
        return CONTENT.stream().anyMatch(begin -> name.equals(begin) || name.startsWith(begin + "."));
    }

    /** The value of an attribute of a recorded span; null when it has none of this name. */
    static @Nullable String attribute(SpanRecorded span, String key) {
        List<String> attributes = span.attributes();
        for (int i = 0; i < attributes.size(); i += 2) {
            if (attributes.get(i).equals(key)) {
                return attributes.get(i + 1);
            }
        }
        return null;
    }

    private static String text(AnyValue value) {
        return switch (value.getValueCase()) {
            case STRING_VALUE -> value.getStringValue();
            case BOOL_VALUE -> String.valueOf(value.getBoolValue());
            case INT_VALUE -> String.valueOf(value.getIntValue());
            case DOUBLE_VALUE -> String.valueOf(value.getDoubleValue());
            case BYTES_VALUE -> value.getBytesValue().size() + " bytes";
            case ARRAY_VALUE -> value.getArrayValue().getValuesCount() + " values";
            case KVLIST_VALUE -> value.getKvlistValue().getValuesCount() + " entries";
            default -> "";
        };
    }

    /** The longest start of a text that fits in so many bytes of UTF-8. */
    static String cut(String text, int maxBytes) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= maxBytes) {
            return text;
        }
        int end = maxBytes;
        while (end > 0 && (bytes[end] & 0xc0) == 0x80) {
            end--;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }
}
