package io.tokenstair.simulate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Paged KV memory: blocks of {@value #BLOCK_TOKENS} tokens, counted references, and a prefix cache over the blocks that nobody holds.
 * A freed block keeps its hash and goes to the end of the free list; it is evicted when it is handed out again.
 */
final class KvCache {
    static final int BLOCK_TOKENS = 16;

    private final int[] references;
    private final @Nullable Long[] hashOfBlock;
    private final Map<Long, Integer> blockOfHash = new HashMap<>();
    private final LinkedHashSet<Integer> free = new LinkedHashSet<>();
    private final LinkedHashSet<Long> slowTier = new LinkedHashSet<>();
    private final int slowTierBlocks;
    private final boolean prefixCaching;
    private List<Long> evicted = new ArrayList<>();

    /**
     * An empty memory.
     *
     * @param blocks how many blocks the device holds
     * @param slowTierBlocks how many evicted blocks a slower tier keeps; 0 for none
     */
    KvCache(int blocks, int slowTierBlocks, boolean prefixCaching) {
        this.references = new int[blocks];
        this.hashOfBlock = new @Nullable Long[blocks];
        this.slowTierBlocks = slowTierBlocks;
        this.prefixCaching = prefixCaching;
        for (int block = 0; block < blocks; block++) {
            free.add(block);
        }
    }

    int totalCount() {
        return references.length;
    }

    int freeCount() {
        return free.size();
    }

    int usedCount() {
        return references.length - free.size();
    }

    /** Leading blocks of a chain that the device holds, at most {@code most}. */
    int cachedBlocks(long[] chain, int most) {
        int found = 0;
        while (prefixCaching && found < most && found < chain.length && blockOfHash.containsKey(chain[found])) {
            found++;
        }
        return found;
    }

    /** Blocks of a chain from {@code first} on that the slower tier holds without a hole, at most up to {@code most}. */
    int slowTierBlocks(long[] chain, int first, int most) {
        int found = first;
        while (found < most && found < chain.length && slowTier.contains(chain[found])) {
            found++;
        }
        return found - first;
    }

    /** Takes a reference to a cached block. */
    int takeCached(long hash) {
        Integer block = blockOfHash.get(hash);
        if (block == null) {
            throw new IllegalStateException("Cannot take a block that is not cached: " + hash);
        }
        if (references[block]++ == 0) {
            free.remove(block);
        }
        return block;
    }

    /** Takes the block that has been free longest, and evicts what it held. */
    int allocate() {
        Iterator<Integer> oldest = free.iterator();
        int block = oldest.next();
        oldest.remove();
        Long hash = hashOfBlock[block];
        if (hash != null) {
            hashOfBlock[block] = null;
            blockOfHash.remove(hash);
            evicted.add(hash);
            if (slowTierBlocks > 0) {
                slowTier.remove(hash);
                slowTier.add(hash);
                if (slowTier.size() > slowTierBlocks) {
                    Iterator<Long> first = slowTier.iterator();
                    first.next();
                    first.remove();
                }
            }
        }
        references[block] = 1;
        return block;
    }

    /** Evicts cached blocks that nobody holds, oldest first, at most this many. */
    void demote(int most) {
        int demoted = 0;
        for (Iterator<Integer> oldest = free.iterator(); oldest.hasNext() && demoted < most; ) {
            int block = oldest.next();
            Long hash = hashOfBlock[block];
            if (hash != null) {
                hashOfBlock[block] = null;
                blockOfHash.remove(hash);
                evicted.add(hash);
                demoted++;
            }
        }
    }

    /** Gives references back, the end of a chain first: it is evicted before what others may share. */
    void release(List<Integer> blocks) {
        for (int i = blocks.size() - 1; i >= 0; i--) {
            int block = blocks.get(i);
            if (--references[block] == 0) {
                free.add(block);
            }
            if (references[block] < 0) {
                throw new IllegalStateException("Cannot release a block that nobody holds: " + block);
            }
        }
    }

    /** A block is full: its content is known by its hash from now on. */
    void store(int block, long hash) {
        if (prefixCaching && hashOfBlock[block] == null && !blockOfHash.containsKey(hash)) {
            hashOfBlock[block] = hash;
            blockOfHash.put(hash, block);
        }
    }

    /** Hashes evicted since the last call. */
    List<Long> takeEvicted() {
        List<Long> taken = evicted;
        evicted = new ArrayList<>();
        return taken;
    }

    /** References to all blocks, for checks. */
    long referenceCount() {
        long sum = 0;
        for (int count : references) {
            sum += count;
        }
        return sum;
    }

    /** Blocks that hold {@code tokens}. */
    static int blocksOf(int tokens) {
        return (tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
    }
}
