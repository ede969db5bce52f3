package io.tokenstair.collect.events;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The values of a line, and behind them the defaults of earlier lines. JSON null counts as absent, and hides a default. */
final class Values {
    private static final Pattern DURATION = Pattern.compile("([+-]?\\d{1,19}(?:\\.\\d{1,9})?) ?(ns|us|ms|s|min|h)");
    private static final Map<String, BigDecimal> NANOS = Map.of(
            "ns", BigDecimal.ONE,
            "us", new BigDecimal(1_000),
            "ms", new BigDecimal(1_000_000),
            "s", new BigDecimal(1_000_000_000),
            "min", new BigDecimal(60_000_000_000L),
            "h", new BigDecimal(3_600_000_000_000L));

    private final Fields line;
    private final Map<String, JsonNode> defaults;

    Values(Fields line, Map<String, JsonNode> defaults) {
        this.line = line;
        this.defaults = defaults;
    }

    private @Nullable JsonNode node(String name) {
        JsonNode node = line.raw(name);
        if (node == null && !line.names().contains(name)) {
            node = defaults.get(name);
        }
        return node == null || node.isNull() ? null : node;
    }

    boolean has(String name) {
        return node(name) != null;
    }

    String text(String name, String otherwise) throws RejectedRecordException {
        JsonNode node = node(name);
        if (node == null) {
            return otherwise;
        }
        if (!node.isTextual()) {
            throw refuse(name, "must be a text in quotes");
        }
        return node.textValue();
    }

    boolean flag(String name) throws RejectedRecordException {
        JsonNode node = node(name);
        if (node == null || !node.isBoolean()) {
            throw refuse(name, "must be true or false");
        }
        return node.booleanValue();
    }

    double real(String name) throws RejectedRecordException {
        JsonNode node = node(name);
        if (node == null || !node.isNumber()) {
            throw refuse(name, "must be a number");
        }
        double value = node.doubleValue();
        if (!Double.isFinite(value)) {
            throw refuse(name, "must be a finite number");
        }
        return value;
    }

    long number(String name, long otherwise) throws RejectedRecordException {
        Long number = optionalNumber(name);
        return number == null ? otherwise : number;
    }

    /** A whole number; for a name that ends in Nanos also a text with a unit, such as "12.5ms". */
    @Nullable
    Long optionalNumber(String name) throws RejectedRecordException {
        JsonNode node = node(name);
        if (node == null) {
            return null;
        }
        if (node.isTextual() && name.endsWith("Nanos")) {
            return nanos(name, node.textValue());
        }
        if (!node.isIntegralNumber() || !node.canConvertToLong()) {
            throw refuse(
                    name,
                    name.endsWith("Nanos")
                            ? "must be a whole number of ns, or a text with a unit such as \"12.5ms\""
                            : "must be a whole number of 64 bits");
        }
        return node.longValue();
    }

    private static long nanos(String name, String text) throws RejectedRecordException {
        Matcher matcher = DURATION.matcher(text);
        BigDecimal unit = matcher.matches() ? NANOS.get(matcher.group(2)) : null;
        if (unit == null) {
            throw refuse(name, "must be a number with one of the units ns, us, ms, s, min, h, such as \"12.5ms\"");
        }
        try {
            return new BigDecimal(matcher.group(1)).multiply(unit).longValueExact();
        } catch (ArithmeticException e) {
            throw refuse(name, "must be a whole number of ns that fits 64 bits");
        }
    }

    List<Long> longs(String name) throws RejectedRecordException {
        List<Long> values = new ArrayList<>();
        for (JsonNode element : array(name)) {
            if (element.isIntegralNumber() && element.canConvertToLong()) {
                values.add(element.longValue());
            } else if (element.isIntegralNumber() && element.bigIntegerValue().bitLength() <= 64) {
                // An unsigned number of 64 bits: its bits are what is kept.
                values.add(element.bigIntegerValue().longValue());
            } else {
                throw refuse(name, "must hold whole numbers of 64 bits");
            }
        }
        return values;
    }

    List<String> texts(String name) throws RejectedRecordException {
        List<String> values = new ArrayList<>();
        for (JsonNode element : array(name)) {
            if (!element.isTextual()) {
                throw refuse(name, "must hold texts in quotes");
            }
            values.add(element.textValue());
        }
        return values;
    }

    private Iterable<JsonNode> array(String name) throws RejectedRecordException {
        JsonNode node = node(name);
        if (node == null) {
            return List.of();
        }
        if (!node.isArray() || node.size() > Fields.MAX_OBJECTS) {
            throw refuse(name, "must be a list of at most " + Fields.MAX_OBJECTS + " values");
        }
        return node;
    }

    List<Fields> objects(String name) throws RejectedRecordException {
        return line.optionalObjects(name);
    }

    private static RejectedRecordException refuse(String name, String problem) {
        return new RejectedRecordException("field " + name + ": " + problem);
    }
}
