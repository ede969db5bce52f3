package io.tokenstair.gateway;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The id of a request, by one rule: exactly one value of X-Request-Id (or several that are the same), 1 to {@value #MAX_BYTES} visible
 * ASCII characters, used by no other open request of this gateway. Anything else is replaced by an id that the gateway makes, in the
 * request that goes to the engine too, so that all layers speak of one id.
 *
 * @param id the id to use
 * @param sendNew true when the engine is to be sent {@code id} in place of what the client sent
 * @param refusal why what the client sent was not used; absent when it was used, or nothing was sent
 */
record RequestIdentity(String id, boolean sendNew, @Nullable String refusal) {
    static final String HEADER = "x-request-id";
    static final int MAX_BYTES = 256;

    /** Which ids are in use. */
    interface OpenIds {
        /** Takes an id; false where an open request has it. */
        boolean take(String id);
    }

    /** Sixteen random bytes, new at each call. */
    interface Randomness {
        /** The bytes. */
        byte[] sixteen();
    }

    static RequestIdentity of(List<String> sent, OpenIds open, Randomness randomness) {
        String refusal = null;
        if (!sent.isEmpty()) {
            String first = sent.get(0);
            refusal = refusal(sent);
            if (refusal == null) {
                if (open.take(first)) {
                    return new RequestIdentity(first, false, null);
                }
                refusal = "X-Request-Id is in use by an open request";
            }
        }
        while (true) {
            String made = "gw-" + HexFormat.of().formatHex(randomness.sixteen());
            if (open.take(made)) {
                return new RequestIdentity(made, true, refusal);
            }
        }
    }

    private static @Nullable String refusal(List<String> sent) {
        String first = sent.get(0);
        for (String other : sent) {
            if (!other.equals(first)) {
                return "X-Request-Id has " + sent.size() + " values that differ";
            }
        }
        if (first.isEmpty()) {
            return "X-Request-Id is empty";
        }
        int bytes = first.length() > MAX_BYTES ? first.length() : first.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            return "X-Request-Id is longer than " + MAX_BYTES + " bytes: " + bytes;
        }
        for (int i = 0; i < first.length(); i++) {
            if (first.charAt(i) <= ' ' || first.charAt(i) > '~') {
                return "X-Request-Id has a character that is no visible ASCII one, at " + i;
            }
        }
        return null;
    }
}
