package io.tokenstair.collect.vllm;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** OTLP JSON to the protobuf message, as far as spans need it. Ids are hex, unlike in protobuf's own JSON form. */
final class OtlpJson {
    private OtlpJson() {}

    /** The request in the field {@code body} of a received request's JSON, or in the object itself. */
    static ExportTraceServiceRequest request(@Nullable Fields received) throws RejectedRecordException {
        Fields body = received == null ? null : received.optionalObject("body");
        JsonNode resources = null;
        if (body != null) {
            resources = body.raw("resourceSpans");
        } else if (received != null) {
            resources = received.raw("resourceSpans");
        }
        if (resources == null || !resources.isArray()) {
            throw new RejectedRecordException("field resourceSpans: missing");
        }
        ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
        for (JsonNode resource : resources) {
            ResourceSpans.Builder spans = request.addResourceSpansBuilder();
            Resource.Builder attributes = spans.getResourceBuilder();
            for (JsonNode attribute : resource.path("resource").path("attributes")) {
                attributes.addAttributes(attribute(attribute));
            }
            for (JsonNode scope : resource.path("scopeSpans")) {
                ScopeSpans.Builder scopeSpans = spans.addScopeSpansBuilder();
                for (JsonNode span : scope.path("spans")) {
                    scopeSpans.addSpans(span(span));
                }
            }
        }
        return request.build();
    }

    private static Span span(JsonNode json) throws RejectedRecordException {
        Span.Builder span = Span.newBuilder()
                .setTraceId(id(json, "traceId"))
                .setSpanId(id(json, "spanId"))
                .setParentSpanId(id(json, "parentSpanId"))
                .setName(json.path("name").asText(""))
                .setStartTimeUnixNano(stamp(json, "startTimeUnixNano"))
                .setEndTimeUnixNano(stamp(json, "endTimeUnixNano"));
        JsonNode kind = json.path("kind");
        if (kind.isInt()) {
            span.setKindValue(kind.intValue());
        } else if (kind.isTextual()) {
            for (Span.SpanKind known : Span.SpanKind.values()) {
                if (known.name().equals(kind.textValue())) {
                    span.setKind(known);
                }
            }
        }
        for (JsonNode attribute : json.path("attributes")) {
            span.addAttributes(attribute(attribute));
        }
        return span.build();
    }

    private static ByteString id(JsonNode span, String name) throws RejectedRecordException {
        String hex = span.path(name).asText("");
        try {
            return ByteString.copyFrom(HexFormat.of().parseHex(hex));
        } catch (IllegalArgumentException e) {
            throw new RejectedRecordException("field " + name + ": not hex");
        }
    }

    private static long stamp(JsonNode span, String name) throws RejectedRecordException {
        JsonNode stamp = span.path(name);
        if (stamp.isMissingNode() || stamp.isNull()) {
            return 0;
        }
        if (stamp.isIntegralNumber() && stamp.canConvertToLong()) {
            return stamp.longValue();
        }
        // JSON writers put 64-bit numbers in quotes.
        if (stamp.isTextual() && stamp.textValue().matches("\\d{1,18}|[0-8]\\d{18}")) {
            return Long.parseLong(stamp.textValue());
        }
        throw new RejectedRecordException("field " + name + ": no stamp in ns");
    }

    private static KeyValue attribute(JsonNode json) {
        KeyValue.Builder attribute =
                KeyValue.newBuilder().setKey(json.path("key").asText(""));
        JsonNode value = json.path("value");
        AnyValue.Builder any = attribute.getValueBuilder();
        if (value.path("stringValue").isTextual()) {
            any.setStringValue(value.path("stringValue").textValue());
        } else if (value.path("boolValue").isBoolean()) {
            any.setBoolValue(value.path("boolValue").booleanValue());
        } else if (value.has("intValue")) {
            any.setIntValue(value.path("intValue").asLong());
        } else if (value.has("doubleValue")) {
            any.setDoubleValue(value.path("doubleValue").asDouble());
        } else if (value.has("arrayValue")) {
            for (int i = value.path("arrayValue").path("values").size(); i > 0; i--) {
                any.getArrayValueBuilder().addValuesBuilder();
            }
        }
        return attribute.build();
    }
}
