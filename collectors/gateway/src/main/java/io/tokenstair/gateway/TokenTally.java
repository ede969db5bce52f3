package io.tokenstair.gateway;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.Finish;
import io.tokenstair.foreign.LlamaCppNames;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts the tokens of one answer's chunks. What counts them, best first: token ids; logprobs; the engine's running count of the
 * sequence; usage that comes with every chunk. A chunk with text that nothing counts is one token, or, where that is not wanted, not
 * told. Bounded by {@value #MAX_SEQUENCES} sequences.
 */
final class TokenTally {
    static final int MAX_SEQUENCES = 1_024;

    private final boolean uncountedIsOne;
    private final Map<Integer, Sequence> sequences = new HashMap<>();
    private boolean usageRuns;
    private boolean countRuns;
    private boolean inexact;
    private boolean failed;
    private @Nullable String errorType;
    private @Nullable String id;
    private @Nullable String work;
    private long usageOutputTokens = -1;
    private long producedTokens = -1;
    private long usagePromptTokens = -1;
    private long usageCachedTokens = -1;
    private long totalUsage = -1;
    private long sumTokens;

    private static final class Sequence {
        private int tokens;
    }

    TokenTally(boolean uncountedIsOne) {
        this.uncountedIsOne = uncountedIsOne;
    }

    /** Takes one chunk of a stream: what it says of each sequence, nothing for usage and progress. */
    List<Chunk> accept(AnswerPart part, int chunkIndex, int sizeBytes, Stamps stamps) {
        note(part);
        List<Chunk> chunks = new ArrayList<>(1);
        if (part.promptProgress) {
            return chunks;
        }
        if (part.error) {
            chunks.add(chunk(0, chunkIndex, null, 0, sizeBytes, stamps, Finish.ERROR));
            return chunks;
        }
        boolean alone = part.choices.size() == 1;
        boolean open = alone && part.choices.get(0).finish == Finish.NONE;
        usageRuns |= open && part.usageOutputTokens > 0;
        countRuns |= open && part.producedTokens > 0;
        int size = sizeBytes;
        for (AnswerPart.Choice choice : part.choices) {
            if (!sequences.containsKey(choice.index) && sequences.size() >= MAX_SEQUENCES) {
                inexact = true;
                continue;
            }
            Sequence sequence = sequences.computeIfAbsent(choice.index, index -> new Sequence());
            // A running count speaks of one sequence; where several run it is not said of which.
            boolean single = alone && sequences.size() == 1;
            int tokens =
                    tokens(choice, sequence, single ? part.producedTokens : -1, single ? part.usageOutputTokens : -1);
            if (tokens < 0) {
                continue;
            }
            Integer first = tokens == 0 ? null : Integer.valueOf(sequence.tokens);
            sequence.tokens += tokens;
            sumTokens += tokens;
            chunks.add(chunk(choice.index, chunkIndex, first, tokens, size, stamps, choice.finish));
            // The bytes are those of the whole chunk: told once.
            size = 0;
        }
        return chunks;
    }

    /**
     * Takes a whole answer that was not streamed: a chunk for each sequence whose tokens are known.
     *
     * @param maxTokens most output tokens of a sequence, as the request asked; absent when it did not
     */
    List<Chunk> acceptWhole(AnswerPart part, int sizeBytes, Stamps stamps, @Nullable Long maxTokens) {
        note(part);
        List<Chunk> chunks = new ArrayList<>(1);
        if (part.error) {
            return chunks;
        }
        long[] counts = counts(part, maxTokens);
        int size = sizeBytes;
        for (int i = 0; i < counts.length; i++) {
            AnswerPart.Choice choice = part.choices.get(i);
            long tokens = counts[i];
            if (tokens < 0 || tokens > Integer.MAX_VALUE) {
                inexact = true;
                continue;
            }
            sumTokens += tokens;
            chunks.add(chunk(choice.index, 0, tokens == 0 ? null : 0, (int) tokens, size, stamps, choice.finish));
            size = 0;
        }
        return chunks;
    }

    /**
     * Output tokens of each choice of a whole answer, -1 where not known. Usage counts all choices together: what it leaves for the last
     * one, and for several that can only have as many where each has the most that was asked for (or none).
     */
    private static long[] counts(AnswerPart part, @Nullable Long maxTokens) {
        long[] counts = new long[part.choices.size()];
        long rest = part.choices.size() == 1
                ? Math.max(part.usageOutputTokens, part.producedTokens)
                : part.usageOutputTokens;
        boolean said = rest >= 0;
        int open = 0;
        for (int i = 0; i < counts.length; i++) {
            AnswerPart.Choice choice = part.choices.get(i);
            counts[i] = choice.tokenIds >= 0 ? choice.tokenIds : choice.logprobs;
            if (counts[i] < 0) {
                open++;
            } else {
                rest -= counts[i];
            }
        }
        if (open == 0 || !said || rest < 0) {
            return counts;
        }
        boolean alike = rest == 0 || (maxTokens != null && rest % open == 0 && rest / open == maxTokens);
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] < 0 && (open == 1 || alike)) {
                counts[i] = rest / open;
            }
        }
        return counts;
    }

    /** Takes one message of which only the size is known. */
    List<Chunk> acceptUncounted(int chunkIndex, int sizeBytes, Stamps stamps) {
        inexact = true;
        if (!uncountedIsOne) {
            return List.of();
        }
        Sequence sequence = sequences.computeIfAbsent(0, index -> new Sequence());
        sumTokens++;
        return List.of(chunk(0, chunkIndex, sequence.tokens++, 1, sizeBytes, stamps, Finish.NONE));
    }

    private void note(AnswerPart part) {
        if (part.computedPromptTokens >= 0) {
            boolean whole = part.promptMillis >= 0 && part.outputMillis >= 0 && part.producedTokens > 0;
            work = whole
                    ? LlamaCppNames.work(
                            part.computedPromptTokens, part.promptMillis, part.producedTokens, part.outputMillis)
                    : null;
        }
        if (id == null) {
            id = part.id;
        }
        if (part.error) {
            failed = true;
            errorType = part.errorType;
        }
        usageOutputTokens = part.usageOutputTokens >= 0 ? part.usageOutputTokens : usageOutputTokens;
        producedTokens = Math.max(producedTokens, part.producedTokens);
        usagePromptTokens = part.usagePromptTokens >= 0 ? part.usagePromptTokens : usagePromptTokens;
        usageCachedTokens = part.usageCachedTokens >= 0 ? part.usageCachedTokens : usageCachedTokens;
        if (part.usageOutputTokens >= 0 && part.choices.isEmpty()) {
            totalUsage = part.usageOutputTokens;
        }
    }

    /** Tokens of a choice; -1 where they are not known and not to be guessed. */
    private int tokens(AnswerPart.Choice choice, Sequence sequence, long producedTokens, long usageTokens) {
        if (choice.tokenIds > 0) {
            return choice.tokenIds;
        }
        if (choice.logprobs > 0) {
            return choice.logprobs;
        }
        if (producedTokens >= 0 && countRuns) {
            return more(producedTokens, sequence);
        }
        if (choice.tokenIds == 0) {
            return 0;
        }
        if (usageTokens >= 0 && usageRuns) {
            return more(usageTokens, sequence);
        }
        if (!choice.text) {
            return 0;
        }
        inexact = true;
        return uncountedIsOne ? 1 : -1;
    }

    private int more(long produced, Sequence sequence) {
        if (produced > Integer.MAX_VALUE / 2 || produced < sequence.tokens) {
            inexact = true;
            return 0;
        }
        return (int) produced - sequence.tokens;
    }

    private static Chunk chunk(
            int sequence, int index, @Nullable Integer first, int tokens, int size, Stamps stamps, Finish finish) {
        return new Chunk(
                sequence,
                index,
                first,
                tokens,
                size,
                stamps.arrivedNanos(),
                finish,
                stamps.writeStartNanos(),
                stamps.writeEndNanos());
    }

    /** The engine's name of the request; null where the answer had none. */
    @Nullable
    String id() {
        return id;
    }

    /** The name of the work that llama.cpp says it did for the whole answer; null where another engine answers, or several sequences. */
    @Nullable
    String work() {
        return sequences.size() <= 1 && !failed ? work : null;
    }

    /** True when the answer told an error inside. */
    boolean failed() {
        return failed;
    }

    /** The error's type as the server names it; null where it has no name. */
    @Nullable
    String errorType() {
        return errorType;
    }

    /** Output tokens of all sequences; null where neither usage nor exact counts tell. */
    @Nullable
    Long outputTokens() {
        if (totalUsage >= 0) {
            return totalUsage;
        }
        if (sequences.size() <= 1 && !failed) {
            long said = Math.max(usageOutputTokens, producedTokens);
            if (said >= 0) {
                return said;
            }
        }
        return inexact ? null : Long.valueOf(sumTokens);
    }

    /** Prompt tokens as usage tells; null where it does not. */
    @Nullable
    Long promptTokens() {
        return usagePromptTokens < 0 ? null : Long.valueOf(usagePromptTokens);
    }

    /** Cached prompt tokens as usage tells; null where it does not. */
    @Nullable
    Long cachedTokens() {
        return usageCachedTokens < 0 ? null : Long.valueOf(usageCachedTokens);
    }
}
