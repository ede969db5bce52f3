package io.tokenstair.rule.syntax;

import java.math.BigDecimal;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A length of time as rules write it: a number and a unit, {@code 50ms}, {@code 1.5s}, {@code 300s}, {@code 5m}. */
public final class DurationLiteral {
    /** The form of a literal: group 1 is the number, group 2 the unit. */
    public static final Pattern FORM = Pattern.compile("([0-9]{1,18}(?:\\.[0-9]{1,9})?)(ns|us|ms|s|m|h)");

    private static final Map<String, Long> UNIT_NANOS = Map.of(
            "ns", 1L,
            "us", 1_000L,
            "ms", 1_000_000L,
            "s", 1_000_000_000L,
            "m", 60_000_000_000L,
            "h", 3_600_000_000_000L);

    private DurationLiteral() {}

    /**
     * The nanoseconds of a literal; empty where the text is none, is not a whole number of nanoseconds or is longer than 292 years.
     *
     * @param text the literal, nothing around it
     */
    public static OptionalLong nanos(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            return OptionalLong.empty();
        }
        try {
            long unit = UNIT_NANOS.getOrDefault(matcher.group(2), 0L);
            return OptionalLong.of(new BigDecimal(matcher.group(1))
                    .multiply(BigDecimal.valueOf(unit))
                    .longValueExact());
        } catch (ArithmeticException e) {
            return OptionalLong.empty();
        }
    }
}
