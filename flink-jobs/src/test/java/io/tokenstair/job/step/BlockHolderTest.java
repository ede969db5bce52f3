package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Who is to blame where a request waited for blocks: the largest holder during the wait, not the one there is at its end. */
class BlockHolderTest {
    private final EngineState state = new EngineState();

    @Test
    void theLargestHolderForMostOfTheWaitIsNamed() {
        state.shortOfBlocks(50, "early");
        long queued = state.blocksShortNanos;
        state.shortOfBlocks(20, "long");
        state.shortOfBlocks(10, "other");
        state.shortOfBlocks(15, "long");
        state.shortOfBlocks(30, "last");

        assertThat(state.blocksShortNanos).isEqualTo(125);
        assertThat(state.blockHolderSince(queued, "waits")).isEqualTo("long");
        assertThat(state.blockHolderSince(0, "waits")).isEqualTo("early");
        assertThat(state.blockHolderSince(queued, "long")).isEqualTo("last");
    }

    @Test
    void whereOnlyItselfOrNobodyKnownHeldBlocksNobodyIs() {
        state.shortOfBlocks(20, "waits");
        state.shortOfBlocks(30, "");

        assertThat(state.blockHolderSince(0, "waits")).isNull();
        assertThat(state.blockHolderSince(state.blocksShortNanos, "other")).isNull();
    }

    @Test
    void ofEqualOnesTheIdThatSortsFirst() {
        state.shortOfBlocks(20, "b");
        state.shortOfBlocks(20, "a");

        assertThat(state.blockHolderSince(0, "waits")).isEqualTo("a");
    }

    @Test
    void aWaitWithMoreHoldersThanAreRememberedIsToldByTheLast() {
        for (int i = 0; i < 3 * EngineState.BLOCK_HOLDERS; i++) {
            state.shortOfBlocks(i, "holder-" + i);
        }

        assertThat(state.blockHolders).hasSize(EngineState.BLOCK_HOLDERS);
        assertThat(state.blockHolderSince(0, "waits")).isEqualTo("holder-" + (3 * EngineState.BLOCK_HOLDERS - 1));
    }
}
