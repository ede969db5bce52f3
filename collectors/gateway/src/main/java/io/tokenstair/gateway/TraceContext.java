package io.tokenstair.gateway;

import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The W3C trace context of a request. One valid traceparent is kept as it is; anything else starts a new trace, as the recommendation
 * asks, and then tracestate goes too.
 *
 * @param traceparent what the engine is sent
 * @param traceId 32 hex digits
 * @param spanId 16 hex digits
 * @param sendNew true when the engine is to be sent {@code traceparent} in place of what the client sent
 * @param refusal why what the client sent was not used; absent when it was used, or nothing was sent
 */
record TraceContext(
        String traceparent,
        String traceId,
        String spanId,
        boolean sendNew,
        @Nullable String refusal) {
    static final String HEADER = "traceparent";
    static final String STATE_HEADER = "tracestate";

    private static final Pattern PARENT = Pattern.compile(
            "(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.{0,256})?");

    static TraceContext of(List<String> sent, RequestIdentity.Randomness randomness) {
        String refusal = null;
        if (sent.size() > 1) {
            refusal = "traceparent was sent " + sent.size() + " times";
        } else if (sent.size() == 1) {
            String parent = sent.get(0).strip();
            Matcher matcher = PARENT.matcher(parent);
            // Version 00 has exactly four parts; later ones may have more.
            if (parent.length() <= 512 && matcher.matches() && (matcher.group(3) == null || !parent.startsWith("00"))) {
                return new TraceContext(parent, matcher.group(1), matcher.group(2), false, null);
            }
            refusal = "traceparent is not one of W3C trace context";
        }
        HexFormat hex = HexFormat.of();
        String trace = nonZero(hex.formatHex(randomness.sixteen()));
        String span = nonZero(hex.formatHex(randomness.sixteen(), 0, 8));
        return new TraceContext("00-" + trace + "-" + span + "-01", trace, span, true, refusal);
    }

    private static String nonZero(String hex) {
        return hex.matches("0+") ? hex.substring(1) + "1" : hex;
    }
}
