package io.tokenstair.collect.stream;

import io.tokenstair.foreign.LlamaCppNames;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The names that an answer of llama.cpp has in common with a task of the server's log. */
final class LlamaCppAnswer {
    private LlamaCppAnswer() {}

    /** The names of an answer, with who uses them. */
    static Map<String, String> names(Answer answer, StreamChunk.@Nullable Failure refusal) {
        Integer prompt = answer.promptTokens();
        Integer cached = answer.cachedTokens();
        Double millis = answer.promptMillis();
        if (refusal != null && refusal.promptTokens() != null) {
            return Map.of(LlamaCppNames.refused(refusal.promptTokens()), LlamaCppNames.ORIGIN);
        }
        if (prompt == null || cached == null || millis == null || cached > prompt) {
            return Map.of();
        }
        String byPrompt = LlamaCppNames.prompt(prompt - cached, millis);
        Integer output = answer.outputTokens();
        return answer.failure() == null || output == null
                ? Map.of(byPrompt, LlamaCppNames.ORIGIN)
                : Map.of(
                        byPrompt,
                        LlamaCppNames.ORIGIN,
                        LlamaCppNames.broken((long) prompt + output),
                        LlamaCppNames.ORIGIN);
    }
}
