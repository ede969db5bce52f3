package io.tokenstair.collect.device;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the name of a range says of an engine step. Only names that say so are steps.
 *
 * @param origin who writes such names
 * @param stepId the number in the name; absent when it has none
 * @param contextRequests sequences that compute prompts; absent when not said
 * @param contextTokens prompt tokens computed; absent when not said
 * @param generationRequests sequences that decode; absent when not said
 * @param generationTokens decode tokens computed; absent when not said
 */
record StepName(
        Origin origin,
        @Nullable Long stepId,
        @Nullable Long contextRequests,
        @Nullable Long contextTokens,
        @Nullable Long generationRequests,
        @Nullable Long generationTokens) {

    /** Who writes such names, the one that says most first. */
    enum Origin {
        /**
         * {@code execute_context_3(192)_generation_0(0)}: sequences and tokens, no number; with vLLM's detailed annotations
         * {@code execute_192_context_3(sq192sk192sqsq12288sqsk12288)_generation_0(sq0sk0sqsq0sqsk0)}, where {@code sq} is the tokens.
         * Releases before wrote {@code execute_new_1_cached_3}: requests that are scheduled for the first time, and others. Those may still
         * compute their prompts, so it does not say which phase they are in.
         */
        VLLM("vLLM's execute_context ranges"),
        /** {@code [Executor] _forward_step 7: 0 ctx reqs, 4 gen reqs}. */
        TENSORRT_LLM("TensorRT-LLM's _forward_step ranges"),
        /** {@code ProfilerStep#7}: whatever the profiled program calls a step. */
        PROFILER("ProfilerStep ranges");

        final String words;

        Origin(String words) {
            this.words = words;
        }
    }

    private static final Pattern VLLM =
            Pattern.compile("execute_(?:\\d{1,15}_)?context_(\\d{1,9})\\((?:sq)?(\\d{1,15})(?:sk[0-9a-z]{1,80})?\\)"
                    + "_generation_(\\d{1,9})\\((?:sq)?(\\d{1,15})(?:sk[0-9a-z]{1,80})?\\)");
    private static final Pattern VLLM_BEFORE = Pattern.compile("execute_new_\\d{1,9}_cached_\\d{1,9}");
    private static final Pattern TENSORRT_LLM = Pattern.compile("\\[Executor\\] _forward_step(?: (\\d{1,18}))?:"
            + " (\\d{1,9}) ctx reqs(?:, (\\d{1,15}) ctx tokens)?, (\\d{1,9}) gen reqs.{0,200}");
    private static final Pattern PROFILER = Pattern.compile("ProfilerStep#(\\d{1,18})");

    /** The step that a range of this name is; null where the name names none. */
    static @Nullable StepName of(String name) {
        if (name.startsWith("execute_new_")) {
            return VLLM_BEFORE.matcher(name).matches() ? new StepName(Origin.VLLM, null, null, null, null, null) : null;
        }
        if (name.startsWith("execute_")) {
            Matcher matcher = VLLM.matcher(name);
            return matcher.matches()
                    ? new StepName(
                            Origin.VLLM,
                            null,
                            number(matcher, 1),
                            number(matcher, 2),
                            number(matcher, 3),
                            number(matcher, 4))
                    : null;
        }
        if (name.startsWith("[Executor] ")) {
            Matcher matcher = TENSORRT_LLM.matcher(name);
            return matcher.matches()
                    ? new StepName(
                            Origin.TENSORRT_LLM,
                            number(matcher, 1),
                            number(matcher, 2),
                            number(matcher, 3),
                            number(matcher, 4),
                            null)
                    : null;
        }
        if (name.startsWith("ProfilerStep#")) {
            Matcher matcher = PROFILER.matcher(name);
            return matcher.matches() ? new StepName(Origin.PROFILER, number(matcher, 1), null, null, null, null) : null;
        }
        return null;
    }

    private static @Nullable Long number(Matcher matcher, int group) {
        String digits = matcher.group(group);
        return digits == null ? null : Long.valueOf(digits);
    }

    /** prefill, decode or mixed; null when the name does not say. */
    @Nullable
    String forwardMode() {
        if (contextRequests == null || generationRequests == null) {
            return null;
        }
        if (contextRequests > 0) {
            return generationRequests > 0 ? "mixed" : "prefill";
        }
        return generationRequests > 0 ? "decode" : "idle";
    }
}
