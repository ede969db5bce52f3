package io.tokenstair.collect.kineto;

import io.tokenstair.collect.input.RejectedRecordException;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** Decimal microseconds as text to whole nanoseconds, exactly; what is finer than a nanosecond is rounded half up. */
final class Micros {
    private static final int MOST_DIGITS = 40;
    private static final int MOST_SHIFT = 40;

    private Micros() {}

    /** The nanoseconds that a JSON number of microseconds says. */
    static long toNanos(String field, String number) throws RejectedRecordException {
        int length = number.length();
        long whole = 0;
        int at = 0;
        boolean negative = length > 0 && number.charAt(0) == '-';
        if (negative) {
            at = 1;
        }
        int first = at;
        while (at < length && at - first < 15 && isDigit(number.charAt(at))) {
            whole = whole * 10 + (number.charAt(at++) - '0');
        }
        if (at == length && at > first) {
            return negative ? -whole * 1_000 : whole * 1_000;
        }
        if (at > first && at < length && number.charAt(at) == '.' && length - at <= 4) {
            long nanos = whole;
            int digits = 0;
            for (int i = at + 1; i < length; i++) {
                if (!isDigit(number.charAt(i))) {
                    return exactly(field, number);
                }
                nanos = nanos * 10 + (number.charAt(i) - '0');
                digits++;
            }
            for (; digits < 3; digits++) {
                nanos *= 10;
            }
            return negative ? -nanos : nanos;
        }
        return exactly(field, number);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static long exactly(String field, String number) throws RejectedRecordException {
        if (number.length() > MOST_DIGITS) {
            throw new RejectedRecordException(
                    "field " + field + ": a number of more than " + MOST_DIGITS + " characters");
        }
        BigDecimal micros;
        try {
            micros = new BigDecimal(number);
        } catch (NumberFormatException e) {
            throw new RejectedRecordException("field " + field + ": not a finite number");
        }
        if (micros.signum() == 0) {
            return 0;
        }
        long magnitude = (long) micros.precision() - micros.scale();
        if (magnitude > MOST_SHIFT || magnitude < -MOST_SHIFT) {
            if (magnitude < 0) {
                return 0;
            }
            throw new RejectedRecordException("field " + field + ": out of range");
        }
        try {
            return micros.movePointRight(3).setScale(0, RoundingMode.HALF_UP).longValueExact();
        } catch (ArithmeticException e) {
            throw new RejectedRecordException("field " + field + ": out of range");
        }
    }
}
