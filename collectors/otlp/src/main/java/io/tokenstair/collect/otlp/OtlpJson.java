package io.tokenstair.collect.otlp;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.tokenstair.event.wire.Utf8;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * OTLP's JSON form to the protobuf message: protobuf's own mapping, but trace and span ids are hex and enums are numbers (names are taken
 * too). Unknown fields and unknown names of enums are passed over, as the specification asks. Depth, text, numbers and the count of
 * messages are bounded.
 */
final class OtlpJson {
    static final int MAX_DEPTH = 64;
    private static final int MAX_TEXT = 8 << 20;
    private static final BigInteger MAX_UNSIGNED = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    private static final BigInteger MIN_SIGNED = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger MAX_SIGNED = BigInteger.valueOf(Long.MAX_VALUE);
    private static final int MAX_NUMBER = 40;
    private static final Set<String> HEX_FIELDS = Set.of("trace_id", "span_id", "parent_span_id");

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNumberLength(64)
                    .maxStringLength(MAX_TEXT)
                    .maxNameLength(1 << 10)
                    .build())
            .build();

    private static final Map<Descriptor, Map<String, FieldDescriptor>> FIELDS = new ConcurrentHashMap<>();

    private final JsonParser parser;
    private int messagesLeft;

    private OtlpJson(JsonParser parser, int messagesLeft) {
        this.parser = parser;
        this.messagesLeft = messagesLeft;
    }

    /** Reads one JSON object into a message. */
    static Message read(byte[] json, int from, int length, Message prototype, int mostMessages) throws OtlpException {
        try (JsonParser parser = FACTORY.createParser(json, from, length)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new OtlpException("not a JSON object");
            }
            Message.Builder builder = prototype.newBuilderForType();
            new OtlpJson(parser, mostMessages).object(builder);
            if (parser.nextToken() != null) {
                throw new OtlpException("something after the JSON object");
            }
            return builder.build();
        } catch (StreamConstraintsException e) {
            throw new OtlpException("JSON too deep, or with a name, number or text too long");
        } catch (IOException e) {
            throw new OtlpException("not valid JSON");
        }
    }

    /** Reads one JSON object of whatever signal it is, or the {@code body} of one that holds it. */
    static OtlpRequest readAny(byte[] json, int from, int length, int mostMessages) throws OtlpException {
        try (JsonParser parser = FACTORY.createParser(json, from, length)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new OtlpException("not a JSON object");
            }
            OtlpRequest request = new OtlpJson(parser, mostMessages).any(true);
            if (parser.nextToken() != null) {
                throw new OtlpException("something after the JSON object");
            }
            if (request == null) {
                throw new OtlpException("none of resourceSpans, resourceMetrics and resourceLogs in it");
            }
            return request;
        } catch (StreamConstraintsException e) {
            throw new OtlpException("JSON too deep, or with a name, number or text too long");
        } catch (IOException e) {
            throw new OtlpException("not valid JSON");
        }
    }

    private @Nullable OtlpRequest any(boolean outermost) throws IOException, OtlpException {
        OtlpSignal signal = null;
        Message.Builder builder = null;
        OtlpRequest inBody = null;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            JsonToken token = parser.nextToken();
            OtlpSignal found = ofRoot(name);
            if (found != null && token != JsonToken.VALUE_NULL) {
                if (builder == null || signal == null) {
                    signal = found;
                    builder = found.prototype().newBuilderForType();
                } else if (found != signal) {
                    throw new OtlpException("several signals in one object");
                }
                elements(builder, builder.getDescriptorForType().findFieldByNumber(1), token);
            } else if (outermost && name.equals("body") && token == JsonToken.START_OBJECT) {
                inBody = any(false);
            } else {
                parser.skipChildren();
            }
        }
        return signal == null || builder == null ? inBody : new OtlpRequest(signal, builder.build());
    }

    private static @Nullable OtlpSignal ofRoot(String name) {
        for (OtlpSignal signal : OtlpSignal.values()) {
            if (signal.rootField().equals(name)) {
                return signal;
            }
        }
        return null;
    }

    private void object(Message.Builder builder) throws IOException, OtlpException {
        if (--messagesLeft < 0) {
            throw OtlpException.tooLarge("too many messages in one request");
        }
        Map<String, FieldDescriptor> fields = fields(builder.getDescriptorForType());
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            FieldDescriptor field = fields.get(parser.currentName());
            JsonToken token = parser.nextToken();
            if (field == null) {
                parser.skipChildren();
            } else if (token == JsonToken.VALUE_NULL) {
                continue;
            } else if (field.isRepeated()) {
                elements(builder, field, token);
            } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                demand(token == JsonToken.START_OBJECT, field, "not an object");
                Message.Builder inner = builder.newBuilderForField(field);
                object(inner);
                builder.setField(field, inner.build());
            } else {
                builder.setField(field, scalar(field, token));
            }
        }
    }

    private void elements(Message.Builder builder, FieldDescriptor field, JsonToken token)
            throws IOException, OtlpException {
        demand(token == JsonToken.START_ARRAY, field, "not an array");
        for (JsonToken element = parser.nextToken(); element != JsonToken.END_ARRAY; element = parser.nextToken()) {
            if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                demand(element == JsonToken.START_OBJECT, field, "holds what is not an object");
                Message.Builder inner = builder.newBuilderForField(field);
                object(inner);
                builder.addRepeatedField(field, inner.build());
            } else {
                builder.addRepeatedField(field, scalar(field, element));
            }
        }
    }

    private Object scalar(FieldDescriptor field, @Nullable JsonToken token) throws IOException, OtlpException {
        switch (field.getJavaType()) {
            case STRING:
                demand(token == JsonToken.VALUE_STRING, field, "not text");
                String text = parser.getText();
                demand(Utf8.bytes(text) >= 0, field, "half of a surrogate pair");
                return text;
            case BOOLEAN:
                demand(
                        token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE,
                        field,
                        "neither true nor false");
                return token == JsonToken.VALUE_TRUE;
            case BYTE_STRING:
                demand(token == JsonToken.VALUE_STRING, field, "not text");
                return bytes(field, parser.getText());
            case ENUM:
                return enumValue(field, token);
            case INT:
                return (int) whole(field, token, 32);
            case LONG:
                return whole(field, token, 64);
            case DOUBLE:
                return number(field, token);
            case FLOAT:
                return (float) number(field, token);
            default:
                throw new OtlpException("field " + field.getJsonName() + ": not a value");
        }
    }

    private static ByteString bytes(FieldDescriptor field, String text) throws OtlpException {
        try {
            return ByteString.copyFrom(
                    HEX_FIELDS.contains(field.getName())
                            ? HexFormat.of().parseHex(text)
                            : Base64.getDecoder().decode(text));
        } catch (IllegalArgumentException e) {
            throw new OtlpException("field " + field.getJsonName() + ": not "
                    + (HEX_FIELDS.contains(field.getName()) ? "hex" : "base64"));
        }
    }

    private Object enumValue(FieldDescriptor field, @Nullable JsonToken token) throws IOException, OtlpException {
        if (token == JsonToken.VALUE_STRING) {
            String text = parser.getText();
            EnumValueDescriptor named = field.getEnumType().findValueByName(text);
            if (named != null) {
                return named;
            }
            if (text.isEmpty() || !(Character.isDigit(text.charAt(0)) || text.charAt(0) == '-')) {
                return field.getDefaultValue();
            }
        }
        return field.getEnumType().findValueByNumberCreatingIfUnknown((int) whole(field, token, 32));
    }

    private long whole(FieldDescriptor field, @Nullable JsonToken token, int bits) throws IOException, OtlpException {
        demand(
                token == JsonToken.VALUE_NUMBER_INT
                        || token == JsonToken.VALUE_NUMBER_FLOAT
                        || token == JsonToken.VALUE_STRING,
                field,
                "not a whole number");
        // JSON writers put 64-bit numbers in quotes.
        String text = parser.getText();
        BigInteger value;
        try {
            if (text.length() > MAX_NUMBER) {
                throw new NumberFormatException("too long");
            }
            BigDecimal decimal = new BigDecimal(text);
            if (Math.abs((long) decimal.scale()) > MAX_NUMBER) {
                throw new NumberFormatException("too large");
            }
            value = decimal.toBigIntegerExact();
        } catch (ArithmeticException | NumberFormatException e) {
            throw new OtlpException("field " + field.getJsonName() + ": not a whole number");
        }
        boolean unsigned = field.getType() == FieldDescriptor.Type.FIXED64
                || field.getType() == FieldDescriptor.Type.UINT64
                || field.getType() == FieldDescriptor.Type.FIXED32
                || field.getType() == FieldDescriptor.Type.UINT32;
        boolean fits = bits == 32
                ? value.bitLength() <= (unsigned ? 32 : 31) && (!unsigned || value.signum() >= 0)
                : unsigned
                        ? value.signum() >= 0 && value.compareTo(MAX_UNSIGNED) <= 0
                        : value.compareTo(MIN_SIGNED) >= 0 && value.compareTo(MAX_SIGNED) <= 0;
        demand(fits, field, "out of range");
        return value.longValue();
    }

    private double number(FieldDescriptor field, @Nullable JsonToken token) throws IOException, OtlpException {
        if (token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT) {
            return Double.parseDouble(parser.getText());
        }
        demand(token == JsonToken.VALUE_STRING, field, "not a number");
        String text = parser.getText();
        switch (text) {
            case "NaN":
                return Double.NaN;
            case "Infinity":
                return Double.POSITIVE_INFINITY;
            case "-Infinity":
                return Double.NEGATIVE_INFINITY;
            default:
                break;
        }
        try {
            if (text.length() > MAX_NUMBER || text.isEmpty() || "+-.0123456789".indexOf(text.charAt(0)) < 0) {
                throw new NumberFormatException("no number");
            }
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw new OtlpException("field " + field.getJsonName() + ": not a number");
        }
    }

    private static void demand(boolean holds, FieldDescriptor field, String problem) throws OtlpException {
        if (!holds) {
            throw new OtlpException("field " + field.getJsonName() + ": " + problem);
        }
    }

    private static Map<String, FieldDescriptor> fields(Descriptor type) {
        return FIELDS.computeIfAbsent(type, descriptor -> {
            Map<String, FieldDescriptor> byName = new HashMap<>();
            for (FieldDescriptor field : descriptor.getFields()) {
                byName.put(field.getName(), field);
                byName.put(field.getJsonName(), field);
            }
            return Map.copyOf(byName);
        });
    }
}
