package io.tokenstair.look;

import io.tokenstair.look.archive.UnusableInputException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads {@code --since}: a moment, or a span back from the newest record of the archive, so that the answer never depends on now. */
final class Since {
    private static final Pattern SPAN = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

    private Since() {}

    /**
     * The moment meant.
     *
     * @param text {@code 2026-11-29}, {@code 2026-11-29T10:00:00Z} or {@code 15m}
     * @param newestEpochNanos the newest record of the archive; absent where none is dated
     */
    static long epochNanos(String text, @Nullable Long newestEpochNanos) {
        Matcher span = SPAN.matcher(text);
        if (span.matches()) {
            if (newestEpochNanos == null) {
                throw new UnusableInputException(
                        "Cannot use --since " + text + ": no record of the archive has a time. Leave --since out");
            }
            long amount = Long.parseLong(span.group(1));
            Duration back = switch (span.group(2)) {
                case "ms" -> Duration.ofMillis(amount);
                case "s" -> Duration.ofSeconds(amount);
                case "m" -> Duration.ofMinutes(amount);
                case "h" -> Duration.ofHours(amount);
                default -> Duration.ofDays(amount);
            };
            return nanosOf(Instant.ofEpochSecond(0, newestEpochNanos).minus(back), text);
        }
        try {
            if (text.length() == 10) {
                return nanosOf(LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC), text);
            }
            return nanosOf(OffsetDateTime.parse(text).toInstant(), text);
        } catch (DateTimeParseException unreadable) {
            throw refused(text, unreadable);
        }
    }

    private static long nanosOf(Instant instant, String text) {
        try {
            return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano());
        } catch (ArithmeticException overflow) {
            throw refused(text, overflow);
        }
    }

    private static UnusableInputException refused(String text, Exception cause) {
        return new UnusableInputException(
                "Cannot read --since: " + text
                        + ". Use 2026-11-29, 2026-11-29T10:00:00Z, or a span such as 15m, 2h, 1d",
                cause);
    }
}
