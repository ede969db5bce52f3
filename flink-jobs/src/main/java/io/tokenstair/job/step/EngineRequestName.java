package io.tokenstair.job.step;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an engine's own request id says. vLLM wraps the client's id as {@code cmpl-<id>-<prompt index>-<8 hex>} or
 * {@code chatcmpl-<id>-<8 hex>} (or {@code generate-tokens-}) and puts {@code <choice>_} before the children of n above 1 (vLLM 0.32, input processor and
 * parallel sampling); the turns of a response, which no client names, are {@code resp_<id>_<turn>-<8 hex>}. What does not look like that is its own request id.
 *
 * @param requestId the client's own id
 * @param promptIndex which prompt of the request, from 0
 * @param choice which of the n sequences of that prompt, from 0
 * @param unique what tells two uses of one id apart; the whole id where the engine adds nothing
 */
public record EngineRequestName(String requestId, int promptIndex, int choice, String unique) {
    private static final Pattern COMPLETION =
            Pattern.compile("(?:(\\d{1,6})_)?cmpl-(.+)-(\\d{1,6})-([0-9a-f]{8})", Pattern.DOTALL);
    private static final Pattern CHAT =
            Pattern.compile("(?:(\\d{1,6})_)?(?:chatcmpl|generate-tokens)-(.+)-([0-9a-f]{8})", Pattern.DOTALL);

    private static final Pattern RESPONSE = Pattern.compile("(resp_[0-9A-Za-z]+)_(\\d{1,6})-([0-9a-f]{8})");

    /** Reads an engine's id. */
    public static EngineRequestName of(String engineRequestId) {
        Matcher completion = COMPLETION.matcher(engineRequestId);
        if (completion.matches()) {
            return new EngineRequestName(
                    completion.group(2),
                    Integer.parseInt(completion.group(3)),
                    choice(completion.group(1)),
                    completion.group(4));
        }
        Matcher chat = CHAT.matcher(engineRequestId);
        if (chat.matches()) {
            return new EngineRequestName(chat.group(2), 0, choice(chat.group(1)), chat.group(3));
        }
        Matcher response = RESPONSE.matcher(engineRequestId);
        if (response.matches()) {
            return new EngineRequestName(response.group(1), Integer.parseInt(response.group(2)), 0, response.group(3));
        }
        return new EngineRequestName(engineRequestId, 0, 0, engineRequestId);
    }

    private static int choice(@org.jspecify.annotations.Nullable String digits) {
        return digits == null ? 0 : Integer.parseInt(digits);
    }
}
