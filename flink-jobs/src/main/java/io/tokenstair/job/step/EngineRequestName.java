package io.tokenstair.job.step;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an engine's own request id says. vLLM wraps the client's id as {@code cmpl-<id>-<prompt index>-<8 hex>} or
 * {@code chatcmpl-<id>-<8 hex>} (or {@code generate-tokens-}) and puts {@code <choice>_} before the children of n above 1 (vLLM 0.32,
 * input processor and parallel sampling); the turns of a response, which no client names, are {@code resp_<id>_<turn>-<8 hex>}. What
 * does not look like that is its own request id.
 *
 * @param requestId the client's own id
 * @param promptIndex which prompt of the request, from 0
 * @param choice which of the n sequences of that prompt, from 0
 * @param unique what tells two uses of one id apart; the whole id where the engine adds nothing
 */
public record EngineRequestName(String requestId, int promptIndex, int choice, String unique) {
    private static final String COMPLETION = "cmpl-";
    private static final String CHAT = "chatcmpl-";
    private static final String GENERATE = "generate-tokens-";
    private static final String RESPONSE = "resp_";
    private static final Pattern TURN = Pattern.compile("(resp_[0-9A-Za-z]+)_(\\d{1,6})-([0-9a-f]{8})");
    private static final int UNIQUE_LETTERS = 8;
    private static final int MOST_DIGITS = 6;

    /** Reads an engine's id. */
    public static EngineRequestName of(String engineRequestId) {
        String id = engineRequestId;
        int digits = digitsFrom(id, 0);
        boolean child = digits > 0 && digits <= MOST_DIGITS && digits < id.length() && id.charAt(digits) == '_';
        int from = child ? digits + 1 : 0;
        boolean completion = id.startsWith(COMPLETION, from);
        int prefix = completion ? COMPLETION.length() : chatPrefix(id, from);
        int unique = id.length() - UNIQUE_LETTERS;
        // The client's own id has a letter at least, and a dash behind it.
        int name = from + prefix;
        if (prefix == 0 && id.startsWith(RESPONSE)) {
            return turn(id);
        }
        if (prefix == 0 || unique - 1 <= name || id.charAt(unique - 1) != '-' || !isHex(id, unique)) {
            return new EngineRequestName(id, 0, 0, id);
        }
        int choice = child ? Integer.parseInt(id, 0, digits, 10) : 0;
        if (!completion) {
            return new EngineRequestName(id.substring(name, unique - 1), 0, choice, id.substring(unique));
        }
        int dash = id.lastIndexOf('-', unique - 2);
        int index = unique - 1 - (dash + 1);
        if (dash <= name || index < 1 || index > MOST_DIGITS || digitsFrom(id, dash + 1) != unique - 1) {
            return new EngineRequestName(id, 0, 0, id);
        }
        return new EngineRequestName(
                id.substring(name, dash), Integer.parseInt(id, dash + 1, unique - 1, 10), choice, id.substring(unique));
    }

    private static int chatPrefix(String id, int from) {
        return id.startsWith(CHAT, from) ? CHAT.length() : id.startsWith(GENERATE, from) ? GENERATE.length() : 0;
    }

    private static EngineRequestName turn(String id) {
        Matcher turn = TURN.matcher(id);
        return turn.matches()
                ? new EngineRequestName(turn.group(1), Integer.parseInt(turn.group(2)), 0, turn.group(3))
                : new EngineRequestName(id, 0, 0, id);
    }

    /** Where the digits that begin here end. */
    private static int digitsFrom(String id, int from) {
        int at = from;
        while (at < id.length() && id.charAt(at) >= '0' && id.charAt(at) <= '9') {
            at++;
        }
        return at;
    }

    private static boolean isHex(String id, int from) {
        for (int i = from; i < id.length(); i++) {
            char letter = id.charAt(i);
            if ((letter < '0' || letter > '9') && (letter < 'a' || letter > 'f')) {
                return false;
            }
        }
        return true;
    }
}
