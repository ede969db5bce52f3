package io.tokenstair.job.step;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which KV blocks were cached and then evicted, by their chained content hash: the same hash stored again means that the same
 * prefix was computed again. KV events carry no request id; the step that published a message is known by its number, and inside
 * the step sequences are matched to stored runs by how many blocks each of them filled, in schedule order.
 *
 * <p>Bounded: the last {@value #EVICTED} stored and as many evicted hashes, the last {@value #STEPS} steps, the last {@value #MESSAGES} early events,
 * the last {@value #REPLAYED} messages.
 */
public class PrefixBlocks {
    static final int EVICTED = 65_536;
    static final int STEPS = 512;
    static final int MESSAGES = 4_096;
    static final int REPLAYED = 16_384;

    /** A block is stored at most this often at once. */
    private static final long COPIES = 1_024;

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

        /** True when a sequence that is still to be matched filled this many blocks. */
        boolean fits(int blocks) {
            for (int i = cursor; i < fullBlocks.size(); i++) {
                if (fullBlocks.get(i) == blocks) {
                    return true;
                }
            }
            return false;
        }
    }

    /** One eviction message. */
    public static class Eviction {
        public String eventId = "";
        public long batchSequence = -1;
        /** Share of the KV pool in use then; absent where it is not known. */
        public @Nullable Integer usedPercent;
        /** True when the whole cache was cleared: nobody needed the room. */
        public boolean cleared;

        /** For Flink's serializer. */
        public Eviction() {}
    }

    /** Blocks in the cache: how often each was stored, and in which of the engine's steps last, {@code step * COPIES + count}. */
    public Map<Long, Long> stored = new HashMap<>();

    /** The rings are as long as they had to be so far: most engines report no KV events, and full ones take a megabyte each. */
    public long[] storedRing = new long[0];

    public int storedNext;
    public int storedCount;
    /** True once a step said under which number it published its events. */
    public boolean numbered;

    public @Nullable StepFill latest;

    /** One that may be used again; not kept in snapshots. */
    transient @Nullable StepFill spare;

    public Map<Long, Eviction> evicted = new HashMap<>();
    public long[] evictedRing = new long[0];
    public int evictedNext;
    public int evictedCount;
    public Map<Long, StepFill> steps = new HashMap<>();
    public long[] stepRing = new long[0];
    public int stepNext;
    public int stepCount;
    /** Stored events that came before their step, as wire bytes. */
    public List<byte[]> early = new ArrayList<>();

    public long unattributedBlocks;

    /** What the last messages held, by number, place and kind: a replay may bring them again. */
    public Map<Long, Integer> messages = new HashMap<>();

    /** Numbers of the messages that came, and of those that did not. */
    public MessageNumbers numbers = new MessageNumbers();

    public long[] messageRing = new long[0];
    public int messageNext;
    public int messageCount;

    /** For Flink's serializer. */
    public PrefixBlocks() {}

    /** A ring that has a place of this number, of at most so many: itself, or a longer copy. Places are filled one after the other. */
    private static long[] reaching(long[] ring, int place, int most) {
        return place < ring.length ? ring : Arrays.copyOf(ring, Math.min(most, Math.max(16, 2 * ring.length)));
    }

    /** True when a message with this number was taken before: a replay brought it again. Remembers it otherwise. */
    boolean isRepeated(@Nullable Long batchSequence, int eventIndex, boolean stored, List<Long> hashes) {
        if (batchSequence == null) {
            return false;
        }
        numbers.accept(batchSequence);
        long key = 31 * (31 * batchSequence + eventIndex) * 2 + (stored ? 1 : 0);
        Integer before = messages.put(key, hashes.hashCode());
        if (before != null) {
            return before == hashes.hashCode();
        }
        if (messageCount == REPLAYED) {
            messages.remove(messageRing[messageNext]);
        } else {
            messageCount++;
        }
        messageRing = reaching(messageRing, messageNext, REPLAYED);
        messageRing[messageNext] = key;
        messageNext = (messageNext + 1) % REPLAYED;
        return false;
    }

    private void forgetMessages() {
        messages.clear();
        messageCount = 0;
        messageNext = 0;
    }

    /** A fill with nothing in it. */
    StepFill emptyFill() {
        StepFill fill = spare;
        if (fill == null) {
            return new StepFill();
        }
        spare = null;
        fill.handles.clear();
        fill.fullBlocks.clear();
        fill.prefill.clear();
        fill.cursor = 0;
        fill.largestPrefill = null;
        return fill;
    }

    /** Remembers what a step filled. */
    public void step(StepFill fill) {
        if (latest != null && fill.batchSequence >= 0 && fill.batchSequence < latest.batchSequence) {
            // The engine counts anew: the same number is another message.
            forgetMessages();
            numbers.restart();
        }
        // Of a fill without a number nobody but this has heard.
        spare = latest != null && latest.batchSequence < 0 ? latest : null;
        latest = fill;
        if (fill.batchSequence < 0) {
            // No message can ask for it by number.
            return;
        }
        if (stepCount == STEPS) {
            steps.remove(stepRing[stepNext]);
        } else {
            stepCount++;
        }
        stepRing = reaching(stepRing, stepNext, STEPS);
        stepRing[stepNext] = fill.batchSequence;
        stepNext = (stepNext + 1) % STEPS;
        steps.put(fill.batchSequence, fill);
    }

    /** The step that published a message; where messages carry no number, or steps do not say theirs, the latest one. */
    @Nullable
    StepFill fillOf(@Nullable Long batchSequence) {
        return batchSequence == null || !numbered ? latest : steps.get(batchSequence);
    }

    /** Remembers that a block is in the cache since one of the engine's steps. */
    void store(long hash, long step) {
        Long before = stored.get(hash);
        long copies = before == null ? 1 : Math.min(before % COPIES + 1, COPIES - 1);
        stored.put(hash, step * COPIES + copies);
        if (before != null) {
            return;
        }
        if (storedCount == EVICTED) {
            stored.remove(storedRing[storedNext]);
        } else {
            storedCount++;
        }
        storedRing = reaching(storedRing, storedNext, EVICTED);
        storedRing[storedNext] = hash;
        storedNext = (storedNext + 1) % EVICTED;
    }

    /** True when a block was in the cache, as far as is known, before one of the engine's steps. */
    boolean wasStoredBefore(long hash, long step) {
        Long at = stored.get(hash);
        return at != null && at / COPIES < step;
    }

    /** Remembers that every block left the cache. */
    void evictAll(Eviction eviction) {
        long[] hashes =
                stored.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
        stored.clear();
        storedCount = 0;
        for (long hash : hashes) {
            evict(hash, eviction);
        }
    }

    /** Remembers that a block left the cache. */
    public void evict(long hash, Eviction eviction) {
        Long at = stored.get(hash);
        if (at != null && at % COPIES > 1) {
            // Another copy of it is still there.
            stored.put(hash, at - 1);
            return;
        }
        stored.remove(hash);
        if (evicted.put(hash, eviction) != null) {
            return;
        }
        if (evictedCount == EVICTED) {
            evicted.remove(evictedRing[evictedNext]);
        } else {
            evictedCount++;
        }
        evictedRing = reaching(evictedRing, evictedNext, EVICTED);
        evictedRing[evictedNext] = hash;
        evictedNext = (evictedNext + 1) % EVICTED;
    }

    /** The eviction of a block that is stored again, or null when it had never been evicted; it counts once. */
    public @Nullable Eviction storedAgain(long hash) {
        return evicted.remove(hash);
    }

    /**
     * The sequence that stored a run of this many blocks, moving on in the step's schedule order; null when none fits. Where only one
     * sequence filled blocks in the step, a shorter run is of it too: some engines keep a prefix up to a grid that is coarser than a block.
     */
    public @Nullable Integer attribute(StepFill fill, int blocks) {
        if (fill.handles.size() == 1 && fill.cursor == 0 && blocks < fill.fullBlocks.get(0)) {
            return fill.prefill.get(0) ? fill.handles.get(0) : Integer.valueOf(-1);
        }
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
