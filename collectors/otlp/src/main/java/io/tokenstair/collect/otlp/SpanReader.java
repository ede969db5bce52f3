package io.tokenstair.collect.otlp;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.Utf8;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One OTLP span to an event, bounded: at most {@value #MAX_ATTRIBUTES} attributes a span and {@value #MAX_EVENTS} events of it, keys and values cut to
 * {@value #MAX_KEY_BYTES} and {@value #MAX_VALUE_BYTES} bytes. Text is kept only under names that never hold what was asked or answered. A span's
 * events follow its attributes, as {@code event.N.name}, {@code event.N.time_unix_nano} and {@code event.N.KEY}.
 */
public final class SpanReader {
    /** Most attributes that are kept of a span, those of its events apart. */
    public static final int MAX_ATTRIBUTES = 64;
    /** Most events that are kept of a span. */
    public static final int MAX_EVENTS = 16;

    static final int MAX_EVENT_ATTRIBUTES = 8;
    static final int MAX_KEY_BYTES = 128;
    static final int MAX_VALUE_BYTES = 512;
    /** Most characters of all attributes together: what does not fit is left out, so that no span is large. */
    static final int MAX_CHARACTERS = 8 << 10;

    private static final int TRACE_ID_BYTES = 16;
    private static final int SPAN_ID_BYTES = 8;
    private static final int MAX_ARRAY = 16;

    /** 2000-01-01: what lies before is no time since 1970, but a reading of some other clock. */
    static final long EARLIEST_NANOS = 946_684_800_000_000_000L;
    /** 2100-01-01. */
    static final long LATEST_NANOS = 4_102_444_800_000_000_000L;

    private SpanReader() {}

    /**
     * Reads a span.
     *
     * @param span the span
     * @param service resource attribute service.name; absent when not sent
     * @param latestNanos what lies later, in ns since 1970, cannot have happened yet
     */
    static SpanRecorded read(Span span, @Nullable String service, long latestNanos) throws OtlpException {
        Long start = stamp(span.getStartTimeUnixNano(), "startTimeUnixNano", latestNanos);
        Long end = stamp(span.getEndTimeUnixNano(), "endTimeUnixNano", latestNanos);
        if (start != null && end != null && end < start) {
            throw new OtlpException("field endTimeUnixNano: before the start");
        }
        return new SpanRecorded(
                hex(span.getTraceId(), TRACE_ID_BYTES, "traceId"),
                hex(span.getSpanId(), SPAN_ID_BYTES, "spanId"),
                span.getParentSpanId().isEmpty() ? null : hex(span.getParentSpanId(), SPAN_ID_BYTES, "parentSpanId"),
                Utf8.cut(span.getName(), MAX_VALUE_BYTES),
                kind(span),
                start,
                end,
                service,
                attributes(span));
    }

    /** The resource attribute service.name, and the instance behind it where there is one; null when not sent. */
    static @Nullable String service(Resource resource) {
        for (KeyValue attribute : resource.getAttributesList()) {
            if (attribute.getKey().equals("service.name")) {
                return Utf8.cut(text(attribute.getValue()), MAX_VALUE_BYTES);
            }
        }
        return null;
    }

    /** An id in lower-case hex. One of zeros only is none. */
    static String hex(ByteString id, int bytes, String field) throws OtlpException {
        if (id.size() != bytes) {
            throw new OtlpException("field " + field + ": " + id.size() + " bytes, not " + bytes);
        }
        String hex = HexFormat.of().formatHex(id.toByteArray());
        if (hex.chars().allMatch(digit -> digit == '0')) {
            throw new OtlpException("field " + field + ": all zeros");
        }
        return hex;
    }

    private static @Nullable String kind(Span span) {
        Span.SpanKind kind = span.getKind();
        return kind == Span.SpanKind.UNRECOGNIZED || kind == Span.SpanKind.SPAN_KIND_UNSPECIFIED ? null : kind.name();
    }

    /** A stamp in ns since 1970; null when it was not sent. */
    static @Nullable Long stamp(long nanos, String field, long latestNanos) throws OtlpException {
        if (nanos == 0) {
            return null;
        }
        if (nanos < 0 || nanos > LATEST_NANOS) {
            throw new OtlpException("field " + field + ": later than the year 2100");
        }
        if (nanos < EARLIEST_NANOS) {
            throw new OtlpException("field " + field + ": no time since 1970, but a reading of another clock");
        }
        if (nanos > latestNanos) {
            throw new OtlpException("field " + field + ": in the future");
        }
        return nanos;
    }

    private static List<String> attributes(Span span) throws OtlpException {
        List<String> kept = new ArrayList<>();
        add(span.getAttributesList(), "", MAX_ATTRIBUTES, kept);
        if (span.getStatus().getCode() == Status.StatusCode.STATUS_CODE_ERROR && kept.size() < 2 * MAX_ATTRIBUTES) {
            kept.add("otel.status_code");
            kept.add("ERROR");
        }
        int events = Math.min(MAX_EVENTS, span.getEventsCount());
        for (int i = 0; i < events; i++) {
            Span.Event event = span.getEvents(i);
            String prefix = "event." + i + '.';
            kept.add(prefix + "name");
            kept.add(Utf8.cut(event.getName(), MAX_KEY_BYTES));
            if (event.getTimeUnixNano() > 0) {
                kept.add(prefix + "time_unix_nano");
                kept.add(String.valueOf(event.getTimeUnixNano()));
            }
            add(event.getAttributesList(), prefix, MAX_EVENT_ATTRIBUTES, kept);
        }
        return kept;
    }

    /** What may be kept of attributes: those that tell of requests first where there are more than fit. */
    private static void add(List<KeyValue> attributes, String prefix, int most, List<String> kept)
            throws OtlpException {
        int room = most;
        boolean crowded = attributes.size() > most;
        for (int pass = crowded ? 0 : 1; pass < 2; pass++) {
            for (KeyValue attribute : attributes) {
                String key = attribute.getKey();
                boolean first = crowded && GenAiNames.tellsOfRequests(key);
                if (room == 0 || first != (pass == 0) || GenAiNames.isContent(key)) {
                    continue;
                }
                boolean textKept = GenAiNames.textIsKept(key);
                String value = value(attribute.getValue(), textKept);
                if (value == null) {
                    continue;
                }
                if (isId(key)) {
                    bounded(value, key);
                }
                String name = prefix + Utf8.cut(key, MAX_KEY_BYTES);
                String text = Utf8.cut(value, MAX_VALUE_BYTES);
                if (characters(kept) + name.length() + text.length() <= MAX_CHARACTERS) {
                    kept.add(name);
                    kept.add(text);
                    room--;
                }
            }
        }
    }

    private static int characters(List<String> kept) {
        int characters = 0;
        for (String text : kept) {
            characters += text.length();
        }
        return characters;
    }

    private static boolean isId(String key) {
        return GenAiNames.REQUEST_ID.contains(key)
                || GenAiNames.RESPONSE_ID.contains(key)
                || GenAiNames.CLIENT_REQUEST_ID.contains(key);
    }

    /** Refuses an id that is longer than ids may be. */
    private static void bounded(String id, String field) throws OtlpException {
        long bytes = Utf8.bytes(id);
        if (bytes < 0) {
            throw new OtlpException("field " + field + ": half of a surrogate pair");
        }
        if (bytes > EventCodec.MAX_ID_BYTES) {
            throw new OtlpException("field " + field + ": " + bytes + " bytes, at most " + EventCodec.MAX_ID_BYTES);
        }
    }

    /** A value as text; null where it may not be kept. */
    private static @Nullable String value(AnyValue value, boolean textKept) {
        return switch (value.getValueCase()) {
            case BOOL_VALUE, INT_VALUE, DOUBLE_VALUE -> text(value);
            case STRING_VALUE -> textKept ? value.getStringValue() : null;
            case ARRAY_VALUE -> textKept ? array(value) : value.getArrayValue().getValuesCount() + " values";
            default -> text(value);
        };
    }

    /** A short array of scalars, comma-separated; a long one by its count. */
    private static String array(AnyValue value) {
        List<AnyValue> values = value.getArrayValue().getValuesList();
        if (values.size() > MAX_ARRAY) {
            return values.size() + " values";
        }
        StringBuilder joined = new StringBuilder();
        for (AnyValue element : values) {
            joined.append(joined.isEmpty() ? "" : ",").append(text(element));
        }
        return joined.toString();
    }

    static String text(AnyValue value) {
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

    /** The value of an attribute of a recorded span; null when it has none of this name. */
    public static @Nullable String attribute(SpanRecorded span, String key) {
        List<String> attributes = span.attributes();
        for (int i = 0; i < attributes.size(); i += 2) {
            if (attributes.get(i).equals(key)) {
                return attributes.get(i + 1);
            }
        }
        return null;
    }

    /** The value of the first of these names that is there and not empty; null when none is. */
    static @Nullable String attribute(SpanRecorded span, List<String> names) {
        for (String name : names) {
            String value = attribute(span, name);
            if (value != null && !value.isEmpty()) {
                return value;
            }
        }
        return null;
    }

    /** A count under one of these names; null when there is none, or it is none. */
    static @Nullable Long count(SpanRecorded span, List<String> names) {
        String text = attribute(span, names);
        return text != null && text.matches("\\d{1,9}") ? Long.valueOf(text) : null;
    }

    /**
     * Prompt tokens found in the cache. They are part of the prompt's; a span that says more of them than of the prompt counts the prompt
     * without them, or is wrong: both are then unknown.
     */
    static @Nullable Long cachedTokens(SpanRecorded span) {
        return contradicts(span) ? null : count(span, GenAiNames.CACHED_TOKENS);
    }

    /** Tokens of the prompt, those found in the cache among them; null where the span does not say, or contradicts itself. */
    static @Nullable Long promptTokens(SpanRecorded span) {
        return contradicts(span) ? null : count(span, GenAiNames.PROMPT_TOKENS);
    }

    private static boolean contradicts(SpanRecorded span) {
        Long prompt = count(span, GenAiNames.PROMPT_TOKENS);
        Long cached = count(span, GenAiNames.CACHED_TOKENS);
        return prompt != null && cached != null && cached > prompt;
    }

    /** A duration in seconds under one of these names as ns; null when there is none, or it is none. At most a year. */
    static @Nullable Long nanos(SpanRecorded span, List<String> names) {
        Double seconds = seconds(span, names);
        return seconds == null ? null : Long.valueOf(Math.round(seconds * 1e9));
    }

    /** A duration in seconds; null when there is none, or it is none. At most a year. */
    static @Nullable Double seconds(SpanRecorded span, List<String> names) {
        String text = attribute(span, names);
        if (text == null || text.length() > 32) {
            return null;
        }
        try {
            double seconds = Double.parseDouble(text);
            return seconds >= 0 && seconds < 3.2e7 ? Double.valueOf(seconds) : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
