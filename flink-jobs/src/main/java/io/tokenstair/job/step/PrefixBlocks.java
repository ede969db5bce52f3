package io.tokenstair.job.step;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which KV blocks were cached and then evicted, by their chained content hash: the same hash stored again means that the same
 * prefix was computed again. KV events carry no request id; the step that published a message is known by its number, and inside
 * the step sequences are matched to stored runs by how many blocks each of them filled, in schedule order.
 *
 * <p>Bounded: the last {@value #EVICTED} evicted hashes, the last {@value #STEPS} steps, the last {@value #MESSAGES} early events.
 */
public class PrefixBlocks {
    static final int EVICTED = 65_536;
    static final int STEPS = 512;
    static final int MESSAGES = 4_096;

    /** Blocks that a step's sequences filled, in schedule order. */
    public static class StepFill {
        public long batchSequence;
        public long stepId;
        public String stepEventId = "";
        public List<Integer> handles = new ArrayList<>();
        public List<Integer> fullBlocks = new ArrayList<>();
        public List<Boolean> prefill = new ArrayList<>();
        public int cursor;
        public @Nullable String largestPrefill;

        /** For Flink's serializer. */
        public StepFill() {}
    }

    /** One eviction message. */
    public static class Eviction {
        public String eventId = "";
        public long batchSequence = -1;

        /** For Flink's serializer. */
        public Eviction() {}
    }

    public Map<Long, Eviction> evicted = new HashMap<>();
    public long[] evictedRing = new long[EVICTED];
    public int evictedNext;
    public int evictedCount;
    public Map<Long, StepFill> steps = new HashMap<>();
    public long[] stepRing = new long[STEPS];
    public int stepNext;
    public int stepCount;
    /** Stored events that came before their step, as wire bytes. */
    public List<byte[]> early = new ArrayList<>();

    public long unattributedBlocks;

    /** For Flink's serializer. */
    public PrefixBlocks() {}

    /** Remembers what a step filled. */
    public void step(StepFill fill) {
        if (stepCount == STEPS) {
            steps.remove(stepRing[stepNext]);
        } else {
            stepCount++;
        }
        stepRing[stepNext] = fill.batchSequence;
        stepNext = (stepNext + 1) % STEPS;
        steps.put(fill.batchSequence, fill);
    }

    /** Remembers that a block left the cache. */
    public void evict(long hash, Eviction eviction) {
        if (evicted.put(hash, eviction) != null) {
            return;
        }
        if (evictedCount == EVICTED) {
            evicted.remove(evictedRing[evictedNext]);
        } else {
            evictedCount++;
        }
        evictedRing[evictedNext] = hash;
        evictedNext = (evictedNext + 1) % EVICTED;
    }

    /** The eviction of a block that is stored again, or null when it had never been evicted; it counts once. */
    public @Nullable Eviction storedAgain(long hash) {
        return evicted.remove(hash);
    }

    /** The sequence that stored a run of this many blocks, moving on in the step's schedule order; null when none fits. */
    public @Nullable Integer attribute(StepFill fill, int blocks) {
        for (int i = fill.cursor; i < fill.handles.size(); i++) {
            if (fill.fullBlocks.get(i) == blocks) {
                fill.cursor = i + 1;
                return fill.prefill.get(i) ? fill.handles.get(i) : Integer.valueOf(-1);
            }
        }
        unattributedBlocks += blocks;
        return null;
    }
}
