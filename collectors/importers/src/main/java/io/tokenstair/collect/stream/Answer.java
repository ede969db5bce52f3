package io.tokenstair.collect.stream;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Finish;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of one answer as they came, and how many tokens each held: by its own count, else by the answer's running count, else one for a
 * chunk with text; chunks without text hold one where only that adds up to the answer's total. At most {@value #MOST_CHUNKS} chunks are kept.
 */
public final class Answer {
    /** Most chunks of one answer. */
    public static final int MOST_CHUNKS = 1 << 20;

    private static final long MAX_RECORD_NANOS = 100_000_000L;
    private static final byte TEXT = 1;
    private static final byte EMPTY = 2;

    private long[] arrivedNanos = new long[64];
    private int[] sizes = new int[64];
    private int[] choices = new int[64];
    private int[] counts = new int[64];
    private byte[] kinds = new byte[64];
    private byte[] finishes = new byte[64];
    private int size;
    private int events;
    private int[] madeByChoice = new int[1];
    private boolean severalChoices;
    private boolean runningCount;
    private int empties;
    private boolean anyUncounted;
    private @Nullable String id;
    private @Nullable Integer promptTokens;
    private @Nullable Integer cachedTokens;
    private @Nullable Integer outputTokens;
    private @Nullable Integer closingTokens;
    private long closingSum;
    private int closings;
    private @Nullable Double promptMillis;
    private @Nullable Double predictedMillis;
    private @Nullable Integer draftTokens;
    private @Nullable Integer draftAcceptedTokens;
    private boolean truncated;
    private StreamChunk.@Nullable Failure failure;

    /** Takes a chunk. Returns false where there are too many. */
    public boolean accept(StreamChunk chunk, int sizeBytes, long arrived) {
        if (size + chunk.parts().size() > MOST_CHUNKS) {
            return false;
        }
        events++;
        id = id == null ? chunk.id() : id;
        failure = failure == null ? chunk.error() : failure;
        StreamChunk.Usage usage = chunk.usage();
        promptTokens = usage.promptTokens() == null ? promptTokens : usage.promptTokens();
        cachedTokens = usage.cachedTokens() == null ? cachedTokens : usage.cachedTokens();
        outputTokens = usage.outputTokens() == null ? outputTokens : usage.outputTokens();
        promptMillis = usage.promptMillis() == null || usage.promptMillis() == 0 ? promptMillis : usage.promptMillis();
        predictedMillis = usage.predictedMillis() == null ? predictedMillis : usage.predictedMillis();
        draftTokens = usage.draftTokens() == null ? draftTokens : usage.draftTokens();
        draftAcceptedTokens = usage.draftAcceptedTokens() == null ? draftAcceptedTokens : usage.draftAcceptedTokens();
        truncated |= usage.truncated();
        boolean closing = usage.closing() || ends(chunk);
        if (usage.outputTokens() != null && closing) {
            closingTokens = usage.outputTokens();
            closingSum += usage.outputTokens();
            closings++;
        }
        runningCount |= usage.outputTokens() != null && !closing;
        for (StreamChunk.Part part : chunk.parts()) {
            // A total that comes with the last word alone says nothing of which chunk held what.
            boolean running = runningCount && chunk.parts().size() == 1;
            add(part, running ? usage.outputTokens() : null, sizeBytes, arrived);
        }
        return true;
    }

    private static boolean ends(StreamChunk chunk) {
        return chunk.parts().stream().anyMatch(part -> part.finish() != Finish.NONE);
    }

    private void add(StreamChunk.Part part, @Nullable Integer runningTotal, int sizeBytes, long arrived) {
        if (size == arrivedNanos.length) {
            grow();
        }
        if (part.choice() >= madeByChoice.length) {
            madeByChoice = Arrays.copyOf(madeByChoice, part.choice() + 1);
        }
        severalChoices |= part.choice() > 0;
        int made = madeByChoice[part.choice()];
        int count = 0;
        byte kind = 0;
        switch (part.tokens()) {
            case COUNTED -> count = part.count();
            case NONE, TEXT, EMPTY -> {
                // A running total of several choices says nothing of one.
                boolean running = runningTotal != null && !severalChoices && runningTotal >= made;
                if (running && runningTotal != null && (part.tokens() != StreamChunk.Tokens.NONE || made > 0)) {
                    count = runningTotal - made;
                } else if (part.tokens() == StreamChunk.Tokens.TEXT) {
                    count = 1;
                    kind = TEXT;
                    anyUncounted = true;
                } else if (part.tokens() == StreamChunk.Tokens.EMPTY) {
                    kind = EMPTY;
                    empties++;
                    anyUncounted = true;
                }
            }
        }
        count = Math.min(count, Integer.MAX_VALUE / 2 - made);
        madeByChoice[part.choice()] = made + count;
        arrivedNanos[size] = arrived;
        sizes[size] = sizeBytes;
        choices[size] = part.choice();
        counts[size] = count;
        kinds[size] = kind;
        finishes[size] = (byte) part.finish().ordinal();
        size++;
    }

    private void grow() {
        int length = size * 2;
        arrivedNanos = Arrays.copyOf(arrivedNanos, length);
        sizes = Arrays.copyOf(sizes, length);
        choices = Arrays.copyOf(choices, length);
        counts = Arrays.copyOf(counts, length);
        kinds = Arrays.copyOf(kinds, length);
        finishes = Arrays.copyOf(finishes, length);
    }

    /** Chunks that are kept. */
    int size() {
        return size;
    }

    /** Whether nothing says how many tokens the chunks held, and the answer's total is another: gaps are between chunks. */
    public boolean perChunk() {
        long made = 0;
        for (int count : madeByChoice) {
            made += count;
        }
        Integer total = closingTokens();
        return anyUncounted && total != null && made != total;
    }

    /**
     * The records of the chunks, in order of arrival: at most 16 chunks and 100 ms each.
     *
     * @param requestId whose they are
     */
    public List<ChunkDelivered> records(String observer, String requestId) {
        long made = 0;
        for (int count : madeByChoice) {
            made += count;
        }
        Integer total = closingTokens();
        if (empties > 0 && total != null && made + empties == total) {
            for (int i = 0; i < size; i++) {
                counts[i] = kinds[i] == EMPTY ? 1 : counts[i];
            }
            empties = 0;
            madeByChoice[0] = total;
        }
        List<ChunkDelivered> records = new ArrayList<>();
        List<Chunk> open = new ArrayList<>();
        int[] next = new int[madeByChoice.length];
        for (int i = 0; i < size; i++) {
            int choice = choices[i];
            Chunk chunk = new Chunk(
                    choice,
                    i,
                    counts[i] == 0 ? null : next[choice],
                    counts[i],
                    sizes[i],
                    arrivedNanos[i],
                    Finish.values()[finishes[i]]);
            next[choice] += counts[i];
            if (!open.isEmpty()
                    && (open.size() == ChunkDelivered.MAX_CHUNKS
                            || chunk.arrivedNanos() < open.get(open.size() - 1).arrivedNanos()
                            || chunk.arrivedNanos() - open.get(0).arrivedNanos() > MAX_RECORD_NANOS)) {
                records.add(new ChunkDelivered(observer, requestId, List.copyOf(open)));
                open.clear();
            }
            open.add(chunk);
        }
        if (!open.isEmpty()) {
            records.add(new ChunkDelivered(observer, requestId, List.copyOf(open)));
        }
        return records;
    }

    /** The answer's id in the stream; null where its chunks carry none. */
    public @Nullable String id() {
        return id;
    }

    /** Events with data, the end mark left out. */
    public int events() {
        return events;
    }

    /** Prompt tokens by the answer's usage. */
    public @Nullable Integer promptTokens() {
        return promptTokens;
    }

    /** Prompt tokens found cached, by the answer's usage. */
    public @Nullable Integer cachedTokens() {
        return cachedTokens;
    }

    /** Output tokens by the answer's last word; null where it gave none. */
    public @Nullable Integer closingTokens() {
        // Some servers count each choice in a last word of its own, and have none for all of them.
        return severalChoices && closings == madeByChoice.length
                ? Integer.valueOf((int) Math.min(Integer.MAX_VALUE, closingSum))
                : closingTokens;
    }

    /** The last running count of output tokens. */
    @Nullable
    Integer outputTokens() {
        return outputTokens;
    }

    @Nullable
    Double promptMillis() {
        return promptMillis;
    }

    @Nullable
    Double predictedMillis() {
        return predictedMillis;
    }

    @Nullable
    Integer draftTokens() {
        return draftTokens;
    }

    @Nullable
    Integer draftAcceptedTokens() {
        return draftAcceptedTokens;
    }

    boolean truncated() {
        return truncated;
    }

    /** The error inside the stream; null without one. */
    public StreamChunk.@Nullable Failure failure() {
        return failure;
    }
}
