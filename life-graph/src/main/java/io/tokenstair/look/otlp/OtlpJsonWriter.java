package io.tokenstair.look.otlp;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.io.IOException;
import java.io.StringWriter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** OTLP's JSON form of a message: protobuf's own, but trace and span ids are hex and enums are numbers. */
final class OtlpJsonWriter {
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final Set<String> HEX_FIELDS = Set.of("trace_id", "span_id", "parent_span_id");

    private OtlpJsonWriter() {}

    /** The message on one line, without its end. */
    static String line(Message message) throws IOException {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(text)) {
            object(json, message);
        }
        return text.toString();
    }

    private static void object(JsonGenerator json, Message message) throws IOException {
        json.writeStartObject();
        for (Map.Entry<FieldDescriptor, Object> field : message.getAllFields().entrySet()) {
            json.writeFieldName(field.getKey().getJsonName());
            if (field.getKey().isRepeated()) {
                json.writeStartArray();
                for (Object element : (List<?>) field.getValue()) {
                    value(json, field.getKey(), element);
                }
                json.writeEndArray();
            } else {
                value(json, field.getKey(), field.getValue());
            }
        }
        json.writeEndObject();
    }

    private static void value(JsonGenerator json, FieldDescriptor field, Object value) throws IOException {
        switch (field.getJavaType()) {
            case MESSAGE -> object(json, (Message) value);
            case ENUM -> json.writeNumber(((EnumValueDescriptor) value).getNumber());
            case BYTE_STRING -> {
                byte[] bytes = ((ByteString) value).toByteArray();
                json.writeString(
                        HEX_FIELDS.contains(field.getName())
                                ? HexFormat.of().formatHex(bytes)
                                : Base64.getEncoder().encodeToString(bytes));
            }
            // JSON readers may hold numbers as doubles: 64-bit ones go in quotes.
            case LONG ->
                json.writeString(
                        field.getType() == FieldDescriptor.Type.FIXED64
                                        || field.getType() == FieldDescriptor.Type.UINT64
                                ? Long.toUnsignedString((Long) value)
                                : value.toString());
            case INT -> json.writeNumber((Integer) value);
            case DOUBLE -> json.writeNumber((Double) value);
            case FLOAT -> json.writeNumber((Float) value);
            case BOOLEAN -> json.writeBoolean((Boolean) value);
            case STRING -> json.writeString((String) value);
        }
    }
}
