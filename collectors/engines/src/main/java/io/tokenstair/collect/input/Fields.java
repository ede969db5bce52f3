package io.tokenstair.collect.input;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.Utf8;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object read strictly: each accessor says what it takes and refuses the record, naming the field, when the value is
 * something else. JSON null counts as absent. Fields that nobody asks for are passed over, so newer writers may add some.
 */
public final class Fields {
    /** Deepest nesting of a JSON record. */
    public static final int MAX_DEPTH = 64;

    /** Most objects in one array. */
    public static final int MAX_OBJECTS = 1 << 16;

    private static final String CUT = "not valid JSON: it ends inside a value (cut?)";

    private static final ObjectReader JSON = new ObjectMapper(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxNumberLength(64)
                            .maxStringLength(64 << 20)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .reader()
            .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private final JsonNode object;
    private final String path;

    private Fields(JsonNode object, String path) {
        this.object = object;
        this.path = path;
    }

    /** The JSON object that these bytes hold. */
    public static Fields parse(byte[] bytes, int length) throws RejectedRecordException {
        JsonNode node = tree(bytes, length);
        if (!node.isObject()) {
            throw new RejectedRecordException("not a JSON object");
        }
        return new Fields(node, "");
    }

    /** The objects of the JSON array that these bytes hold. */
    public static List<Fields> parseArray(byte[] bytes, int length) throws RejectedRecordException {
        JsonNode node = tree(bytes, length);
        if (!node.isArray()) {
            throw new RejectedRecordException("not a JSON array");
        }
        if (node.size() > MAX_OBJECTS) {
            throw new RejectedRecordException(node.size() + " objects, at most " + MAX_OBJECTS);
        }
        List<Fields> objects = new ArrayList<>(node.size());
        for (JsonNode element : node) {
            objects.add(of(element));
        }
        return objects;
    }

    private static JsonNode tree(byte[] bytes, int length) throws RejectedRecordException {
        JsonNode node;
        try {
            node = JSON.readTree(bytes, 0, length);
        } catch (JsonEOFException e) {
            throw new RejectedRecordException(CUT);
        } catch (StreamConstraintsException e) {
            String problem = String.valueOf(e.getOriginalMessage());
            throw new RejectedRecordException(
                    problem.contains("nesting depth")
                            ? "JSON nested deeper than " + MAX_DEPTH
                            : "JSON with a number or name too long");
        } catch (JsonProcessingException e) {
            // The parser's own message quotes the input, which may be text.
            String problem = String.valueOf(e.getOriginalMessage());
            if (problem.startsWith("Unexpected end-of-input")
                    || (e.getLocation() != null && e.getLocation().getColumnNr() > length)) {
                throw new RejectedRecordException(CUT);
            }
            throw new RejectedRecordException(
                    problem.startsWith("Duplicate")
                            ? "a JSON object with one field twice"
                            : "not valid JSON" + place(e));
        } catch (IOException e) {
            throw new RejectedRecordException("not valid JSON: not UTF-8");
        }
        return node;
    }

    /** An object that was read already. */
    public static Fields of(JsonNode node) throws RejectedRecordException {
        if (!node.isObject()) {
            throw new RejectedRecordException("not a JSON object");
        }
        return new Fields(node, "");
    }

    private static String place(JsonProcessingException e) {
        return e.getLocation() == null ? "" : " at column " + e.getLocation().getColumnNr();
    }

    /** A refusal of this record for a field of this object. */
    public RejectedRecordException refuse(String name, String problem) {
        return new RejectedRecordException("field " + path + name + ": " + problem);
    }

    private @Nullable JsonNode value(String name) {
        JsonNode node = object.get(name);
        return node == null || node.isNull() ? null : node;
    }

    /** True when the field has a value. */
    public boolean has(String name) {
        return value(name) != null;
    }

    /** The names in this object, in order. */
    public List<String> names() {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private <T> T required(@Nullable T value, String name) throws RejectedRecordException {
        if (value == null) {
            throw refuse(name, "missing");
        }
        return value;
    }

    /** A stamp in ns, not negative; null when absent. */
    public @Nullable Long optionalStamp(String name) throws RejectedRecordException {
        Long stamp = optionalLong(name);
        if (stamp != null && stamp < 0) {
            throw refuse(name, "a negative stamp, " + stamp);
        }
        return stamp;
    }

    /** A stamp in ns, not negative. */
    public long stamp(String name) throws RejectedRecordException {
        return required(optionalStamp(name), name);
    }

    /** A whole number of 64 bits; null when absent. */
    public @Nullable Long optionalLong(String name) throws RejectedRecordException {
        JsonNode node = value(name);
        if (node == null) {
            return null;
        }
        if (!node.isIntegralNumber() || !node.canConvertToLong()) {
            throw refuse(name, "not a whole number of 64 bits");
        }
        return node.longValue();
    }

    /** A count from 0 to 2^31 - 1; null when absent. */
    public @Nullable Integer optionalCount(String name) throws RejectedRecordException {
        Long count = optionalLong(name);
        if (count == null) {
            return null;
        }
        if (count < 0 || count > Integer.MAX_VALUE) {
            throw refuse(name, "a count must lie between 0 and " + Integer.MAX_VALUE + ", not " + count);
        }
        return count.intValue();
    }

    /** A count from 0 to 2^31 - 1. */
    public int count(String name) throws RejectedRecordException {
        return required(optionalCount(name), name);
    }

    /** A count as a long; null when absent. */
    public @Nullable Long optionalLongCount(String name) throws RejectedRecordException {
        Integer count = optionalCount(name);
        return count == null ? null : Long.valueOf(count);
    }

    /** A running number from 0. */
    public long ordinal(String name) throws RejectedRecordException {
        long number = required(optionalLong(name), name);
        if (number < 0) {
            throw refuse(name, "negative, " + number);
        }
        return number;
    }

    /** A whole number of 32 bits, any sign; null when absent. */
    public @Nullable Integer optionalInt(String name) throws RejectedRecordException {
        Long number = optionalLong(name);
        if (number == null) {
            return null;
        }
        if (number.intValue() != number) {
            throw refuse(name, "not a whole number of 32 bits");
        }
        return number.intValue();
    }

    /** True or false; null when absent. */
    public @Nullable Boolean optionalBoolean(String name) throws RejectedRecordException {
        JsonNode node = value(name);
        if (node == null) {
            return null;
        }
        if (!node.isBoolean()) {
            throw refuse(name, "neither true nor false");
        }
        return node.booleanValue();
    }

    /** Text of at most 256 bytes of UTF-8; null when absent. Ids and short names are read by this. */
    public @Nullable String optionalText(String name) throws RejectedRecordException {
        JsonNode node = value(name);
        if (node == null) {
            return null;
        }
        if (!node.isTextual()) {
            throw refuse(name, "not text");
        }
        return bounded(node.textValue(), path + name);
    }

    /** Text of at most 256 bytes of UTF-8. */
    public String text(String name) throws RejectedRecordException {
        return required(optionalText(name), name);
    }

    /** An id: text of 1 to 256 bytes of UTF-8. */
    public String id(String name) throws RejectedRecordException {
        String id = text(name);
        if (id.isEmpty()) {
            throw refuse(name, "empty");
        }
        return id;
    }

    /** An id; null when absent. */
    public @Nullable String optionalId(String name) throws RejectedRecordException {
        return has(name) ? id(name) : null;
    }

    /** A trace or span id of this many lower-case hex digits; null when absent. */
    public @Nullable String optionalHex(String name, int digits) throws RejectedRecordException {
        String text = optionalText(name);
        if (text == null) {
            return null;
        }
        if (text.length() != digits || !text.matches("[0-9a-f]+")) {
            throw refuse(name, "not " + digits + " lower-case hex digits");
        }
        return text;
    }

    /** Refuses text that is longer than an id may be or that UTF-8 cannot hold. */
    public static String bounded(String text, String field) throws RejectedRecordException {
        long bytes = Utf8.bytes(text);
        if (bytes < 0) {
            throw new RejectedRecordException("field " + field + ": half of a surrogate pair");
        }
        if (bytes > EventCodec.MAX_ID_BYTES) {
            throw new RejectedRecordException(
                    "field " + field + ": " + bytes + " bytes, at most " + EventCodec.MAX_ID_BYTES);
        }
        return text;
    }

    /** An object; null when absent. */
    public @Nullable Fields optionalObject(String name) throws RejectedRecordException {
        JsonNode node = value(name);
        if (node == null) {
            return null;
        }
        if (!node.isObject()) {
            throw refuse(name, "not an object");
        }
        return new Fields(node, path + name + ".");
    }

    /** An array of objects; empty when absent. */
    public List<Fields> optionalObjects(String name) throws RejectedRecordException {
        JsonNode node = value(name);
        if (node == null) {
            return List.of();
        }
        if (!node.isArray()) {
            throw refuse(name, "not an array");
        }
        if (node.size() > MAX_OBJECTS) {
            throw refuse(name, node.size() + " entries, at most " + MAX_OBJECTS);
        }
        List<Fields> objects = new ArrayList<>(node.size());
        for (JsonNode element : node) {
            String place = name + "[" + objects.size() + "]";
            if (!element.isObject()) {
                throw refuse(place, "not an object");
            }
            objects.add(new Fields(element, path + place + "."));
        }
        return objects;
    }

    /** An array of objects, which must be there. */
    public List<Fields> objects(String name) throws RejectedRecordException {
        if (!has(name)) {
            throw refuse(name, "missing");
        }
        return optionalObjects(name);
    }

    /** An array of texts of any length; empty when absent. */
    public List<String> texts(String name) throws RejectedRecordException {
        JsonNode node = value(name);
        if (node == null) {
            return List.of();
        }
        if (!node.isArray()) {
            throw refuse(name, "not an array");
        }
        List<String> texts = new ArrayList<>(node.size());
        for (JsonNode element : node) {
            if (!element.isTextual()) {
                throw refuse(name + "[" + texts.size() + "]", "not text");
            }
            texts.add(element.textValue());
        }
        return texts;
    }

    /** An array of running totals, each not negative; null when absent. */
    public long @Nullable [] optionalTotals(String name) throws RejectedRecordException {
        JsonNode node = value(name);
        if (node == null) {
            return null;
        }
        if (!node.isArray()) {
            throw refuse(name, "not an array");
        }
        long[] totals = new long[node.size()];
        for (int i = 0; i < totals.length; i++) {
            JsonNode element = node.get(i);
            if (!element.isIntegralNumber() || !element.canConvertToLong() || element.longValue() < 0) {
                throw refuse(name + "[" + i + "]", "not a total of at least 0");
            }
            totals[i] = element.longValue();
        }
        return totals;
    }

    /** The sum of an object's counts; null when the object is absent. */
    public @Nullable Long optionalSumOfCounts(String name) throws RejectedRecordException {
        Fields counts = optionalObject(name);
        if (counts == null) {
            return null;
        }
        long sum = 0;
        for (Map.Entry<String, JsonNode> entry : counts.object.properties()) {
            JsonNode count = entry.getValue();
            if (!count.isIntegralNumber()
                    || !count.canConvertToLong()
                    || count.longValue() < 0
                    || count.longValue() > Integer.MAX_VALUE) {
                throw refuse(name, "holds a value that is no count");
            }
            sum += count.longValue();
        }
        return sum;
    }

    /** The raw JSON of a field, for formats that have their own reader; null when absent. */
    public @Nullable JsonNode raw(String name) {
        return value(name);
    }
}
