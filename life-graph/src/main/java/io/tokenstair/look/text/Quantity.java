package io.tokenstair.look.text;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Numbers as people read them: milliseconds with sensible digits, counts with separators, stamps in UTC. */
public final class Quantity {
    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private Quantity() {}

    /** Milliseconds with as many decimals as the size makes sensible, with the unit: {@code 21.4 ms}, {@code 2,134 ms}. */
    public static String milliseconds(long nanos) {
        return decimals(nanos, sensibleDecimals(nanos)) + " ms";
    }

    /** The same; {@code -} where absent. */
    public static String milliseconds(@Nullable Long nanos) {
        return nanos == null ? "-" : milliseconds(nanos.longValue());
    }

    /** Milliseconds with fixed decimals and no unit, for columns that line up. */
    public static String decimals(long nanos, int decimals) {
        BigDecimal value = BigDecimal.valueOf(nanos, 6).setScale(decimals, RoundingMode.HALF_UP);
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }

    /** The same; {@code -} where absent. */
    public static String decimals(@Nullable Long nanos, int decimals) {
        return nanos == null ? "-" : decimals(nanos.longValue(), decimals);
    }

    /** Decimals of a millisecond that show three digits or the whole number. */
    public static int sensibleDecimals(long nanos) {
        long size = Math.abs(nanos);
        if (size >= 100_000_000L) {
            return 0;
        }
        if (size >= 10_000_000L) {
            return 1;
        }
        return size >= 1_000_000L ? 2 : 3;
    }

    /** A count with separators. */
    public static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /** A count; {@code -} where absent. */
    public static String count(@Nullable Number count) {
        return count == null ? "-" : count(count.longValue());
    }

    /** A count and its noun: {@code 1 token}, {@code 2 tokens}. */
    public static String counted(long count, String noun) {
        return count(count) + " " + noun + (count == 1 ? "" : "s");
    }

    /** A share in per cent with one decimal; {@code -} of nothing. */
    public static String share(long part, long whole) {
        return whole == 0 ? "-" : String.format(Locale.ROOT, "%.1f %%", 100.0 * part / whole);
    }

    /** A stamp in UTC to the millisecond; {@code undated} where absent. */
    public static String stamp(@Nullable Long epochNanos) {
        if (epochNanos == null) {
            return "undated";
        }
        return STAMP.format(Instant.ofEpochSecond(
                Math.floorDiv(epochNanos, NANOS_PER_SECOND), Math.floorMod(epochNanos, NANOS_PER_SECOND)));
    }
}
