package io.tokenstair.job.request;

/**
 * Whether chunks that came in at a cadence went out in groups. A chunk was held when the next one went out less than half of that
 * time behind it that lay between them when they came in. Only differences inside one clock are taken, so the two sides need no
 * alignment. What a client's full socket held up is taken off. State: a few numbers.
 */
public class BurstMeter {
    /** Chunks that must go out together to be a group. */
    static final int GROUP_CHUNKS = 4;

    /** Groups that show a habit; fewer may be the end of one stall. */
    static final int HABIT_GROUPS = 3;

    /** Chunks in groups that show it when nearly the whole stream is in them. */
    static final int STREAM_CHUNKS = 16;

    /** What the first chunk of a group must have waited for the last one: less is not seen. */
    static final long GROUP_HELD_NANOS = 20_000_000;

    public boolean known;
    public long lastInNanos;
    public long lastOutNanos;
    /** How long the client's full socket held the last chunk up. */
    public long lastClientNanos;

    public int runChunks;
    public long runHeldNanos;
    public int chunks;
    public int groups;
    public int groupedChunks;
    public long mostHeldNanos;

    /** For Flink's serializer. */
    public BurstMeter() {}

    /** The same of a chunk that no client held up. */
    boolean accept(long inNanos, long outNanos) {
        return accept(inNanos, outNanos, 0);
    }

    /**
     * Takes the next chunk.
     *
     * @param clientNanos how long the client's full socket held it up: those who came together by that are no group of a gateway
     * @return true when the chunk before it was held, by whomever, and came together with it
     */
    boolean accept(long inNanos, long outNanos, long clientNanos) {
        long in = inNanos - lastInNanos;
        long out = outNanos - lastOutNanos;
        boolean first = !known;
        known = true;
        lastInNanos = inNanos;
        lastOutNanos = outNanos;
        long byClient = first ? 0 : lastClientNanos - clientNanos;
        lastClientNanos = clientNanos;
        if (first) {
            chunks = 1;
            runChunks = 1;
            return false;
        }
        if (in <= 0) {
            // One step gave several chunks: they belong together.
            runHeldNanos -= out + byClient;
            return true;
        }
        boolean held = out < in - out;
        if (held) {
            runChunks++;
            runHeldNanos += in - out - byClient;
        } else {
            endRun();
            runChunks = 1;
        }
        chunks++;
        return held;
    }

    /** Ends the group at hand: no chunk follows, or not on these clocks. */
    void endRun() {
        if (runChunks >= GROUP_CHUNKS && runHeldNanos >= GROUP_HELD_NANOS) {
            groups++;
            groupedChunks += runChunks;
            mostHeldNanos = Math.max(mostHeldNanos, runHeldNanos);
        }
        runChunks = 0;
        runHeldNanos = 0;
    }

    /** Whether most chunks go out in groups, again and again. */
    boolean isHabit() {
        return groups >= HABIT_GROUPS && 2L * groupedChunks >= chunks;
    }

    /** Whether nearly the whole stream came in groups, however few: its cadence is not the one it was made at. */
    boolean isWholeStream() {
        return groupedChunks >= STREAM_CHUNKS && 4L * groupedChunks >= 3L * chunks;
    }
}
