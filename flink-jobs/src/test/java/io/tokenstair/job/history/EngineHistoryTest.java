package io.tokenstair.job.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import org.junit.jupiter.api.Test;

class EngineHistoryTest {
    private final EngineHistory history = new EngineHistory();

    @Test
    void aChainWalksFromTheFallbackOverTheEvictionAndTheContextToTheBatch() {
        for (int i = 0; i < 20; i++) {
            history.decoded(100 + i, i, "s" + i, "full", i < 6 ? 8 : i < 12 ? 24 : 8);
        }
        history.joined(125, 1, "joined", "long", 60_000, 20_000, 16, 0);
        history.evicted(126, 2, "evicted-1", 300);
        history.evicted(127, 3, "evicted-2", 200);
        history.decoded(128, 4, "eager", "eager", 40);

        assertThat(history.before(Cause.KERNEL_FALLBACK, null, 130))
                .extracting(note -> note.kind() + " " + note.eventId + " " + note.amount)
                .containsExactly(
                        "FELL_BACK eager 40",
                        "EVICTED evicted-1 500",
                        "CONTEXT_JUMPED joined 60000",
                        "BATCH_SWUNG s12 8");
    }

    @Test
    void whatIsTooLongAgoOrTooSmallIsNotToldOf() {
        history.joined(10, 1, "old", "long", 60_000, 20_000, 16, 0);
        history.joined(90, 1, "small", "short", 100, 20_000, 16, 0);
        history.evicted(95, 2, "few", 2);

        assertThat(history.before(Cause.PREEMPTION, null, 100)).isEmpty();
        assertThat(history.before(Cause.PREFILL_INTERFERENCE, null, 100)).isEmpty();
    }

    @Test
    void aCauseWithoutParentsHasNoChain() {
        history.joined(99, 1, "joined", "long", 60_000, 20_000, 16, 0);

        assertThat(history.before(Cause.UNRESOLVED_STALL, null, 100)).isEmpty();
        assertThat(history.before(Cause.HOST_PAUSE, null, 100)).isEmpty();
    }

    @Test
    void aPreemptionIsToldOfTheCulpritHoweverLongAgoAndOfNobodyElse() {
        history.preempted(10, 1, "p1", "culprit");
        history.preempted(490, 2, "p2", "other");

        assertThat(history.before(Cause.RECOMPUTE, "culprit", 500))
                .extracting(note -> note.eventId)
                .containsExactly("p1");
        assertThat(history.before(Cause.RECOMPUTE, "nobody", 500)).isEmpty();
    }

    @Test
    void whatIsRememberedIsBounded() {
        for (int i = 0; i < 10_000; i++) {
            history.preempted(i, i, "p" + i, "r");
            history.decoded(i, i, "s" + i, i % 2 == 0 ? "eager" : "full", 1 + i % 50);
        }

        assertThat(history.notes).hasSize(EngineHistory.NOTES);
    }
}
