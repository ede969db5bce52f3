package io.tokenstair.collect.workload;

import java.util.Arrays;
import java.util.Locale;

/**
 * How much of the prompts earlier prompts began with, block by block from the first on: what a prefix cache that forgets nothing could
 * find at most. At most {@value #MOST_BLOCKS} different blocks are remembered (64 MiB); beyond them nothing is said.
 */
final class SharedPrefixes {
    static final int MOST_BLOCKS = 1 << 22;

    private long[] seen = new long[1 << 12];
    private boolean zeroSeen;
    private int size;
    private boolean whole = true;
    private long requests;
    private long blocks;
    private long seenBefore;
    private long halfSeenBefore;

    void accept(long[] hashes) {
        requests++;
        blocks += hashes.length;
        int found = 0;
        while (found < hashes.length && contains(hashes[found])) {
            found++;
        }
        seenBefore += found;
        halfSeenBefore += hashes.length > 0 && 2L * found >= hashes.length ? 1 : 0;
        for (int i = found; i < hashes.length && whole; i++) {
            add(hashes[i]);
        }
    }

    private boolean contains(long hash) {
        if (hash == 0) {
            return zeroSeen;
        }
        int at = slot(hash);
        while (seen[at] != 0) {
            if (seen[at] == hash) {
                return true;
            }
            at = at + 1 & seen.length - 1;
        }
        return false;
    }

    private int slot(long hash) {
        long mixed = hash * 0x9E3779B97F4A7C15L;
        return (int) (mixed ^ mixed >>> 32) & seen.length - 1;
    }

    private void add(long hash) {
        if (contains(hash)) {
            return;
        }
        if (size == MOST_BLOCKS) {
            whole = false;
            seen = new long[1];
            return;
        }
        size++;
        if (hash == 0) {
            zeroSeen = true;
            return;
        }
        if (2L * size > seen.length) {
            long[] before = seen;
            seen = new long[before.length * 2];
            Arrays.stream(before).filter(kept -> kept != 0).forEach(this::put);
        }
        put(hash);
    }

    private void put(long hash) {
        int at = slot(hash);
        while (seen[at] != 0) {
            at = at + 1 & seen.length - 1;
        }
        seen[at] = hash;
    }

    /** False when there were more different blocks than are remembered. */
    boolean isWhole() {
        return whole;
    }

    long blocks() {
        return blocks;
    }

    /** Leading blocks that an earlier prompt had. */
    long seenBefore() {
        return seenBefore;
    }

    long distinct() {
        return size;
    }

    /** Requests of which at least half of the blocks were seen before. */
    long halfSeenBefore() {
        return halfSeenBefore;
    }

    String sentence() {
        return String.format(
                Locale.ROOT,
                "%.1f %% of %d prompt blocks begin like an earlier prompt, at least half of the prompt in %.1f %% of requests:"
                        + " the most that a prefix cache without a limit could find, not what one found",
                100.0 * seenBefore / blocks,
                blocks,
                100.0 * halfSeenBefore / requests);
    }
}
