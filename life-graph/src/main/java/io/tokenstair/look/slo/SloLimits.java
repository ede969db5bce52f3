package io.tokenstair.look.slo;

import io.tokenstair.look.archive.UnusableInputException;
import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a first token and a gap may take at most.
 *
 * @param ttftNanos limit of the time from the sending of a request to its first token; absent where none is set
 * @param gapNanos limit of the time from one token to the next; absent where none is set
 */
public record SloLimits(@Nullable Long ttftNanos, @Nullable Long gapNanos) {
    private static final Pattern AMOUNT = Pattern.compile("(\\d{1,9})(?:\\.(\\d{1,9}))?");
    private static final Map<String, Long> UNIT_NANOS = Map.of("s", 1_000_000_000L, "ms", 1_000_000L, "us", 1_000L);
    private static final long MOST_NANOS = 86_400_000_000_000L;
    private static final String ALLOWED =
            "Use ttft=2s,gap=300ms: one of them or both, each a number above 0 with s, ms or us, a day at most";

    /**
     * Reads {@code ttft=2s,gap=300ms}.
     *
     * @throws UnusableInputException when it says anything else, naming the place and what is allowed
     */
    public static SloLimits parse(String text) {
        Long ttft = null;
        Long gap = null;
        int at = 0;
        while (true) {
            int comma = text.indexOf(',', at);
            int end = comma < 0 ? text.length() : comma;
            int equals = text.indexOf('=', at);
            if (equals < 0 || equals > end) {
                throw refused(text, "no limit", at);
            }
            String name = text.substring(at, equals);
            long nanos = nanos(text, equals + 1, end);
            if (name.equals("ttft") && ttft == null) {
                ttft = nanos;
            } else if (name.equals("gap") && gap == null) {
                gap = nanos;
            } else {
                boolean twice = name.equals("ttft") || name.equals("gap");
                throw refused(text, twice ? name + " a second time" : "the unknown name " + name, at);
            }
            if (comma < 0) {
                return new SloLimits(ttft, gap);
            }
            at = comma + 1;
        }
    }

    private static long nanos(String text, int from, int end) {
        Matcher amount = AMOUNT.matcher(text).region(from, end);
        if (!amount.lookingAt()) {
            throw refused(text, "no number", from);
        }
        String unit = text.substring(amount.end(), end);
        Long unitNanos = UNIT_NANOS.get(unit);
        if (unitNanos == null) {
            throw refused(text, unit.isEmpty() ? "no unit" : "the unknown unit " + unit, amount.end());
        }
        BigDecimal nanos = new BigDecimal(amount.group()).multiply(BigDecimal.valueOf(unitNanos));
        try {
            long exact = nanos.longValueExact();
            if (exact > 0 && exact <= MOST_NANOS) {
                return exact;
            }
        } catch (ArithmeticException finerThanNanos) {
            throw refused(text, "a part of a nanosecond", from);
        }
        throw refused(text, "a limit that cannot be", from);
    }

    private static UnusableInputException refused(String text, String what, int at) {
        return new UnusableInputException(
                "Cannot read --slo: " + text + ": " + what + " at character " + (at + 1) + ". " + ALLOWED);
    }
}
