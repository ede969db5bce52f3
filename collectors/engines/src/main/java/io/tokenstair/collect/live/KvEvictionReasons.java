package io.tokenstair.collect.live;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the probe knows of evicted blocks of one rank, for the KV events of the same rank, which name the blocks only. Holds at most
 * {@value #MAX_BLOCKS} blocks; beyond, the oldest are forgotten.
 */
public final class KvEvictionReasons {
    private static final int MAX_BLOCKS = 65_536;

    private final Map<Long, Deque<Known>> byHash = new HashMap<>();
    private final Deque<Place> inOrder = new ArrayDeque<>();
    private long publishedSequence = -1;

    /**
     * What is known of an eviction.
     *
     * @param reason what the block made room for; absent when not known
     * @param wantedBy the sequence that got the room; absent when not known
     * @param reuseCount how often the block had been found again
     * @param idleNanos time since it was last in use; absent when not known
     */
    record Known(
            @Nullable String reason,
            @Nullable String wantedBy,
            long reuseCount,
            @Nullable Long idleNanos) {}

    private record Place(long hash, Known known) {}

    /**
     * Blocks were evicted; the lists are of equal length.
     *
     * @param hashes the blocks
     * @param reuseCounts how often each had been found again
     * @param allIdleNanos time since each was last in use; -1 where not known
     * @param wantedBy the sequence that got the room; absent when not known
     * @param reason what they made room for; absent when not known
     */
    public void evicted(
            List<Long> hashes,
            List<Long> reuseCounts,
            List<Long> allIdleNanos,
            @Nullable String wantedBy,
            @Nullable String reason) {
        for (int i = 0; i < hashes.size(); i++) {
            long hash = hashes.get(i);
            long idle = allIdleNanos.get(i);
            Known known = new Known(reason, wantedBy, reuseCounts.get(i), idle < 0 ? null : Long.valueOf(idle));
            byHash.computeIfAbsent(hash, unused -> new ArrayDeque<>()).add(known);
            inOrder.add(new Place(hash, known));
        }
        while (inOrder.size() > MAX_BLOCKS) {
            Place oldest = inOrder.remove();
            Deque<Known> left = byHash.get(oldest.hash());
            if (left != null && left.peek() == oldest.known()) {
                take(oldest.hash());
            }
        }
    }

    /** A step published its KV message: all that was evicted before is known. */
    public void published(long kvBatchSequence) {
        publishedSequence = Math.max(publishedSequence, kvBatchSequence);
    }

    /** Whether the step that published this message has been read. */
    boolean isKnown(long kvBatchSequence) {
        return kvBatchSequence <= publishedSequence;
    }

    /** What is known of the oldest eviction of a block that was not asked for yet; absent when nothing is. */
    @Nullable
    Known take(long hash) {
        Deque<Known> known = byHash.get(hash);
        if (known == null) {
            return null;
        }
        Known first = known.poll();
        if (known.isEmpty()) {
            byHash.remove(hash);
        }
        return first;
    }
}
