package io.tokenstair.collect.input;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/** Numbers of a JSON record that carry a unit: durations, wall readings, shares, unsigned names. Each is checked for what it can be. */
public final class Quantities {
    /** Longest duration that is taken for one: ten years. */
    private static final BigDecimal LONGEST_SECONDS = BigDecimal.valueOf(315_576_000L);

    private static final BigDecimal FIRST_SECOND = BigDecimal.valueOf(1_000_000_000L);
    private static final BigDecimal LAST_SECOND = BigDecimal.valueOf(4_102_444_800L);
    private static final BigInteger UNSIGNED_END = BigInteger.ONE.shiftLeft(Long.SIZE);
    private static final int LONGEST_NUMBER = 64;

    private Quantities() {}

    /** The number of a field; null when absent. */
    private static @Nullable BigDecimal number(Fields record, String name) throws RejectedRecordException {
        JsonNode node = record.raw(name);
        if (node == null) {
            return null;
        }
        if (!node.isNumber()) {
            throw record.refuse(name, "not a number");
        }
        if (node.isFloatingPointNumber() && !Double.isFinite(node.doubleValue())) {
            throw record.refuse(name, "not a finite number");
        }
        BigDecimal value = node.decimalValue();
        if (value.precision() - value.scale() > LONGEST_NUMBER || value.scale() > 400) {
            throw record.refuse(name, "not a number of a sensible size");
        }
        return value;
    }

    /** A duration in ns; null when absent. */
    public static @Nullable Long optionalNanos(Fields record, String name, long nanosPerUnit)
            throws RejectedRecordException {
        BigDecimal value = number(record, name);
        if (value == null) {
            return null;
        }
        BigDecimal nanos = value.multiply(BigDecimal.valueOf(nanosPerUnit));
        if (nanos.signum() < 0 || nanos.movePointLeft(9).compareTo(LONGEST_SECONDS) > 0) {
            throw record.refuse(name, "not a duration");
        }
        return nanos.setScale(0, RoundingMode.HALF_EVEN).longValueExact();
    }

    /** How long after a start that the record does not tell, which may be 1970, in ns: at most 130 years. */
    public static long offsetNanos(Fields record, String name, long nanosPerUnit) throws RejectedRecordException {
        BigDecimal value = number(record, name);
        if (value == null) {
            throw record.refuse(name, "missing");
        }
        BigDecimal nanos = value.multiply(BigDecimal.valueOf(nanosPerUnit));
        if (nanos.signum() < 0) {
            throw record.refuse(name, "negative, " + value.toPlainString());
        }
        if (nanos.movePointLeft(9).compareTo(LAST_SECOND) > 0) {
            throw record.refuse(name, "more than a hundred years");
        }
        return nanos.setScale(0, RoundingMode.HALF_EVEN).longValueExact();
    }

    /** A wall reading of the years 2001 to 2100, in ns since 1970; null when absent. */
    public static @Nullable Long optionalEpochNanos(Fields record, String name, long nanosPerUnit)
            throws RejectedRecordException {
        BigDecimal value = number(record, name);
        if (value == null) {
            return null;
        }
        BigDecimal nanos = value.multiply(BigDecimal.valueOf(nanosPerUnit));
        BigDecimal seconds = nanos.movePointLeft(9);
        if (seconds.compareTo(FIRST_SECOND) < 0 || seconds.compareTo(LAST_SECOND) > 0) {
            throw record.refuse(name, "no wall reading of the years 2001 to 2100: another unit, or another clock");
        }
        return nanos.setScale(0, RoundingMode.HALF_EVEN).longValueExact();
    }

    /** A wall reading of the years 2001 to 2100, in ns since 1970. */
    public static long epochNanos(Fields record, String name, long nanosPerUnit) throws RejectedRecordException {
        Long nanos = optionalEpochNanos(record, name, nanosPerUnit);
        if (nanos == null) {
            throw record.refuse(name, "missing");
        }
        return nanos;
    }

    /** A number of any sign; null when absent. */
    public static @Nullable Double optionalNumber(Fields record, String name) throws RejectedRecordException {
        BigDecimal value = number(record, name);
        return value == null ? null : Double.valueOf(value.doubleValue());
    }

    /** A name that is a number of 64 bits without a sign, or text; null when absent. */
    public static @Nullable String optionalName(Fields record, String name) throws RejectedRecordException {
        JsonNode node = record.raw(name);
        if (node == null) {
            return null;
        }
        if (node.isIntegralNumber()) {
            BigInteger number = node.bigIntegerValue();
            if (number.signum() < 0 || number.compareTo(UNSIGNED_END) >= 0) {
                throw record.refuse(name, "no number of 64 bits without a sign");
            }
            return number.toString();
        }
        String text = record.optionalText(name);
        return text == null || text.isEmpty() ? null : text;
    }
}
