package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KvCacheTest {
    private static final long[] CHAIN = {11, 12, 13};

    @Test
    void aFreedBlockKeepsItsContentUntilItIsHandedOutAgain() {
        KvCache cache = new KvCache(3, 0, true);
        List<Integer> blocks = filled(cache, CHAIN);
        cache.release(blocks);

        assertThat(cache.cachedBlocks(CHAIN, 3)).isEqualTo(3);
        assertThat(cache.freeCount()).isEqualTo(3);
        assertThat(cache.takeEvicted()).isEmpty();

        cache.allocate();

        // The end of the chain goes first: others may share its beginning.
        assertThat(cache.takeEvicted()).containsExactly(13L);
        assertThat(cache.cachedBlocks(CHAIN, 3)).isEqualTo(2);
    }

    @Test
    void aBlockThatTwoHoldIsFreeWhenBothHaveLetGo() {
        KvCache cache = new KvCache(4, 0, true);
        List<Integer> first = filled(cache, CHAIN);
        List<Integer> second = List.of(cache.takeCached(11), cache.takeCached(12));

        cache.release(first);
        assertThat(cache.usedCount()).isEqualTo(2);

        cache.release(second);
        assertThat(cache.usedCount()).isZero();
    }

    @Test
    void whatIsEvictedLiesInTheSlowerTierWhileThereIsRoom() {
        KvCache cache = new KvCache(3, 2, true);
        cache.release(filled(cache, CHAIN));
        cache.allocate();
        cache.allocate();
        cache.allocate();

        assertThat(cache.slowTierBlocks(CHAIN, 0, 3)).isEqualTo(2);
        assertThat(cache.slowTierBlocks(CHAIN, 2, 3)).isZero();
    }

    @Test
    void blocksAreNeitherLostNorMade() {
        RandomStream random = RandomStream.ofSeed(1);
        KvCache cache = new KvCache(50, 20, true);
        List<List<Integer>> holders = new ArrayList<>();
        long held = 0;
        for (int i = 0; i < 20_000; i++) {
            if (random.chance(3L * i, 0.5) && cache.freeCount() > 5) {
                List<Integer> blocks = new ArrayList<>();
                long[] chain = new long[4];
                for (int block = 0; block < 4; block++) {
                    chain[block] = 100 * random.between(3L * i + 1, 0, 9) + block;
                }
                int cached = cache.cachedBlocks(chain, 4);
                for (int block = 0; block < 4; block++) {
                    int taken = block < cached ? cache.takeCached(chain[block]) : cache.allocate();
                    cache.store(taken, chain[block]);
                    blocks.add(taken);
                }
                holders.add(blocks);
                held += 4;
            } else if (!holders.isEmpty()) {
                cache.release(holders.remove((int) random.between(3L * i + 2, 0, holders.size() - 1)));
                held -= 4;
            }
            assertThat(cache.referenceCount()).isEqualTo(held);
            assertThat(cache.usedCount() + cache.freeCount()).isEqualTo(50);
        }
    }

    private static List<Integer> filled(KvCache cache, long[] chain) {
        List<Integer> blocks = new ArrayList<>();
        for (long hash : chain) {
            int block = cache.allocate();
            cache.store(block, hash);
            blocks.add(block);
        }
        return blocks;
    }
}
