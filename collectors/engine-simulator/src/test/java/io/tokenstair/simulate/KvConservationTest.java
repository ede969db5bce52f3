package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KvConservationTest {
    /** Holds what sequences say they hold against what the cache says is held. */
    private static final class Holders implements EngineListener {
        private final List<Sequence> open = new ArrayList<>();
        private final List<Long> wrongSteps = new ArrayList<>();
        private @Nullable Engine engine;
        private int finished;

        @Override
        public void queued(Sequence sequence) {
            open.add(sequence);
        }

        @Override
        public void preempted(
                Sequence sequence, long stepId, long atNanos, int hadTokens, Sequence wantedBy, int freeBlocks) {}

        @Override
        public void transferred(Sequence sequence, Cause cause, long fromNanos, long toNanos, int tokens) {}

        @Override
        public void lookedUp(Sequence sequence, long atNanos, int queriedTokens, int hitTokens) {}

        @Override
        public void stepped(StepRun step) {
            long held =
                    open.stream().mapToLong(sequence -> sequence.blocks.size()).sum();
            if (engine != null && held != engine.cache().referenceCount()) {
                wrongSteps.add(step.stepId);
            }
        }

        @Override
        public void produced(Sequence sequence, int tokenIndex, StepRun step, int row, TokenTruth truth) {}

        @Override
        public void finished(Sequence sequence, StepRun step) {
            finished++;
            open.remove(sequence);
        }

        @Override
        public void aborted(Sequence sequence, long atNanos) {
            finished++;
            open.remove(sequence);
        }

        @Override
        public void struck(Fault fault, long fromNanos, long toNanos, @Nullable StepRun step) {}
    }

    @ParameterizedTest
    @EnumSource(
            value = Scenario.class,
            names = {
                "HEALTHY",
                "KV_PRESSURE",
                "PREEMPTION_LOOP",
                "PREEMPTION_STORM",
                "PREFIX_COLLAPSE",
                "PRIORITY",
                "REMOTE_KV",
                "KV_OFFLOAD",
                "ASYNC_SCHEDULING",
                "CLIENT_ABORT",
                "SEVERAL_SEQUENCES"
            })
    void everyBlockIsHeldByWhoeverSaysSoAndAllAreFreeInTheEnd(Scenario scenario) {
        for (long seed = 0; seed < 3; seed++) {
            RandomStream stream = RandomStream.ofSeed(seed);
            Settings settings = scenario.settings(100, stream);
            List<RequestPlan> plans = new Workload(settings, stream).requests();
            long[] arrivals = plans.stream().mapToLong(RequestPlan::sentNanos).toArray();
            Holders holders = new Holders();
            Engine engine = new Engine(settings, stream, plans, arrivals, holders);
            holders.engine = engine;

            engine.run();

            assertThat(holders.wrongSteps).isEmpty();
            assertThat(holders.finished)
                    .isEqualTo(plans.stream().mapToInt(RequestPlan::choices).sum());
            assertThat(engine.cache().usedCount()).isZero();
            assertThat(engine.cache().freeCount()).isEqualTo(engine.cache().totalCount());
        }
    }
}
