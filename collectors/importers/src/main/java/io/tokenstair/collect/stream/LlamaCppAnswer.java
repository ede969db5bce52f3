package io.tokenstair.collect.stream;

import io.tokenstair.foreign.LlamaCppNames;
import java.util.LinkedHashMap;
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
        Map<String, String> names = new LinkedHashMap<>();
        if (prompt != null && cached != null && millis != null && cached <= prompt) {
            names.put(LlamaCppNames.prompt(prompt - cached, millis), LlamaCppNames.ORIGIN);
        }
        Integer output = answer.outputTokens();
        // Chunks of a completion count both with or without their timings.
        StreamChunk.Failure failure = answer.failure();
        boolean ofLlamaCpp = millis != null || (failure != null && failure.contextFull());
        if (failure != null && ofLlamaCpp && prompt != null && output != null) {
            names.put(LlamaCppNames.broken((long) prompt + output), LlamaCppNames.ORIGIN);
        }
        return names;
    }
}
