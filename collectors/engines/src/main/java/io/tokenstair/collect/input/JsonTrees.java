package io.tokenstair.collect.input;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;

/**
 * One value of a large JSON document as a tree of bounded size: at most {@value #MAX_VALUES} values; a text longer than
 * {@value #MAX_TEXT} characters is kept as its start.
 */
public final class JsonTrees {
    static final int MAX_VALUES = 1 << 18;
    static final int MAX_TEXT = 4_096;

    private static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);

    private final JsonParser parser;
    private int values;

    private JsonTrees(JsonParser parser) {
        this.parser = parser;
    }

    /** The value that the parser stands on, whose last token it then stands on. */
    public static JsonNode read(JsonParser parser) throws IOException, RejectedRecordException {
        try {
            JsonToken token = parser.currentToken();
            if (token == null) {
                throw new RejectedRecordException("not valid JSON: it ends inside a value (cut?)");
            }
            return new JsonTrees(parser).value(token);
        } catch (IOException e) {
            throw JsonObjects.reason(e);
        }
    }

    private JsonNode value(JsonToken token) throws IOException, RejectedRecordException {
        if (++values > MAX_VALUES) {
            throw new RejectedRecordException("a record of more than " + MAX_VALUES + " values");
        }
        switch (token) {
            case START_OBJECT -> {
                ObjectNode object = NODES.objectNode();
                for (JsonToken next = next(); next != JsonToken.END_OBJECT; next = next()) {
                    String name = parser.currentName();
                    object.set(name, value(next()));
                }
                return object;
            }
            case START_ARRAY -> {
                ArrayNode array = NODES.arrayNode();
                for (JsonToken next = next(); next != JsonToken.END_ARRAY; next = next()) {
                    array.add(value(next));
                }
                return array;
            }
            case VALUE_STRING -> {
                // A surrogate pair may be cut: such texts are looked at for being there only.
                String text = parser.getText();
                return NODES.textNode(text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text);
            }
            case VALUE_NUMBER_INT -> {
                return NODES.numberNode(parser.getBigIntegerValue()).canConvertToLong()
                        ? NODES.numberNode(parser.getLongValue())
                        : NODES.numberNode(parser.getBigIntegerValue());
            }
            case VALUE_NUMBER_FLOAT -> {
                return NODES.numberNode(parser.getDoubleValue());
            }
            case VALUE_TRUE -> {
                return NODES.booleanNode(true);
            }
            case VALUE_FALSE -> {
                return NODES.booleanNode(false);
            }
            case VALUE_NULL -> {
                return NullNode.getInstance();
            }
            default -> throw new RejectedRecordException("not valid JSON");
        }
    }

    private JsonToken next() throws IOException, RejectedRecordException {
        JsonToken token = parser.nextToken();
        if (token == null) {
            throw new RejectedRecordException("not valid JSON: it ends inside a value (cut?)");
        }
        return token;
    }
}
