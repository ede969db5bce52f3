package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SimulationTest {
    private static final int REQUESTS = 30;

    @ParameterizedTest
    @EnumSource(Scenario.class)
    void theSameSeedGivesTheSameBytesAndEveryEventSurvivesTheWire(Scenario scenario) throws WireException {
        Simulation first = Simulation.run(scenario, 3, REQUESTS, Layers.ALL);
        Simulation second = Simulation.run(scenario, 3, REQUESTS, Layers.ALL);

        List<Integer> different = new ArrayList<>();
        for (int i = 0; i < first.events().size(); i++) {
            byte[] bytes = EventCodec.encode(first.events().get(i));
            if (!Arrays.equals(EventCodec.encode(second.events().get(i)), bytes)
                    || !EventCodec.decode(bytes).equals(first.events().get(i))) {
                different.add(i);
            }
        }
        assertThat(second.events()).hasSameSizeAs(first.events());
        assertThat(different).isEmpty();
        assertThat(second.tokens()).isEqualTo(first.tokens());
        assertThat(second.staircases()).isEqualTo(first.staircases());
        assertThat(second.faults()).isEqualTo(first.faults());
    }

    @Test
    void anotherSeedGivesAnotherRun() {
        assertThat(Simulation.run(Scenario.HEALTHY, 1, REQUESTS, Layers.BASIC).tokens())
                .isNotEqualTo(Simulation.run(Scenario.HEALTHY, 2, REQUESTS, Layers.BASIC)
                        .tokens());
    }

    @ParameterizedTest
    @EnumSource(Scenario.class)
    void aScenarioMakesTokensSlowByItsCause(Scenario scenario) {
        Simulation run = Simulation.run(scenario, 5, scenario.defaultRequests(), Layers.BASIC);

        if (scenario.tokenCause() != null) {
            assertThat(run.tokens()).anyMatch(token -> token.dominantCause() == scenario.tokenCause());
        }
        if (scenario != Scenario.HEALTHY) {
            assertThat(run.faults().isEmpty() && scenario.tokenCause() == null).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Scenario.class)
    void aScheduleKeepsItsLimitsAndEveryTokenIsMadeOnce(Scenario scenario) {
        Settings settings = scenario.settings(
                REQUESTS, RandomStream.ofSeed(4).named(scenario.scenarioName()).named("scenario"));
        settings.faults.removeIf(fault -> fault.kind() == FaultKind.LOSS || fault.kind() == FaultKind.DUPLICATES);
        Simulation run = Simulation.run(settings, RandomStream.ofSeed(4).named(scenario.scenarioName()), Layers.BASIC);
        Map<Integer, Integer> made = new HashMap<>();
        Map<Long, StepCompleted> steps = new TreeMap<>();
        for (LoggedEvent logged : run.events()) {
            if (logged.event() instanceof StepCompleted step) {
                assertThat(steps.put(step.stepId(), step)).isNull();
            }
        }
        long lastEnd = Long.MIN_VALUE;
        List<String> broken = new ArrayList<>();
        for (StepCompleted step : steps.values()) {
            SequenceRows rows = step.rows();
            long scheduled = 0;
            for (int i = 0; i < rows.count(); i++) {
                scheduled += rows.scheduledTokens(i);
                if (rows.tokenCount(i) > 0) {
                    check(
                            broken,
                            step,
                            "the next token",
                            rows.firstTokenIndex(i) == made.getOrDefault(rows.requestHandle(i), 0));
                    made.merge(rows.requestHandle(i), rows.tokenCount(i), Integer::sum);
                }
            }
            long counted = step.decodeTokens() + step.prefillTokens() + step.recomputeTokens();
            check(broken, step, "the budget", scheduled >= 1 && scheduled <= settings.tokenBudgetTokens);
            check(broken, step, "its counts", scheduled == counted);
            check(broken, step, "seats", step.runningCount() <= settings.maxSequences);
            check(broken, step, "its rows", step.runningCount() >= rows.count());
            check(broken, step, "blocks", step.kvUsedBlocksCount() <= settings.kvBlocks);
            check(broken, step, "the order of steps", step.updateEndNanos() > lastEnd);
            check(broken, step, "the order in a step", step.scheduleStartNanos() <= step.updateStartNanos());
            lastEnd = step.updateEndNanos();
        }
        assertThat(broken).isEmpty();
        long tokens = run.events().stream()
                .map(LoggedEvent::event)
                .filter(RequestFinished.class::isInstance)
                .mapToLong(event -> ((RequestFinished) event).outputTokens())
                .sum();
        assertThat(made.values().stream().mapToLong(Integer::longValue).sum()).isEqualTo(tokens);
        assertThat(run.tokens()).hasSize((int) tokens);
    }

    private static void check(List<String> broken, StepCompleted step, String what, boolean holds) {
        if (!holds) {
            broken.add("step " + step.stepId() + " breaks " + what);
        }
    }

    @Test
    void basicLayersHoldNoRecordOfKernelsMemoryDevicesOrHosts() {
        Set<Class<? extends Event>> withheld = Set.of(
                KernelRan.class,
                StreamStalled.class,
                AllocatorSampled.class,
                MemoryChanged.class,
                DeviceSampled.class,
                ShapeCompiled.class,
                HostPaused.class,
                HostSampled.class);
        Simulation all = Simulation.run(Scenario.MIXED, 1, 120, Layers.ALL);
        Simulation basic = Simulation.run(Scenario.MIXED, 1, 120, Layers.BASIC);

        assertThat(basic.tokens()).isEqualTo(all.tokens());
        assertThat(basic.events())
                .noneMatch(event -> withheld.contains(event.event().getClass()));
        assertThat(withheld).allMatch(kind -> all.events().stream().anyMatch(event -> kind.isInstance(event.event())));
    }

    @Test
    void everyKindThatAnEngineAndItsObserversHaveIsSimulated() {
        Set<EventKind> kinds = EnumSet.noneOf(EventKind.class);
        for (Scenario scenario : List.of(
                Scenario.MIXED,
                Scenario.DRIVER_ERROR,
                Scenario.REMOTE_KV,
                Scenario.KV_OFFLOAD,
                Scenario.PREEMPTION_STORM,
                Scenario.MODEL_LOAD_SLOW,
                Scenario.EVENT_LOSS)) {
            Simulation.run(scenario, 1, 120, Layers.ALL)
                    .events()
                    .forEach(event -> kinds.add(event.event().kind()));
        }

        assertThat(kinds)
                .contains(
                        EventKind.REQUEST_RECEIVED,
                        EventKind.REQUEST_COMPLETED,
                        EventKind.CHUNK_DELIVERED,
                        EventKind.REQUEST_QUEUED,
                        EventKind.REQUEST_PREEMPTED,
                        EventKind.STEP_COMPLETED,
                        EventKind.REQUEST_FINISHED,
                        EventKind.KV_BLOCKS_STORED,
                        EventKind.KV_BLOCKS_EVICTED,
                        EventKind.KV_LOOKUP,
                        EventKind.KV_TRANSFERRED,
                        EventKind.ENGINE_CONFIGURED,
                        EventKind.SHAPE_COMPILED,
                        EventKind.ALLOCATOR_SAMPLED,
                        EventKind.KERNEL_RAN,
                        EventKind.STREAM_STALLED,
                        EventKind.MEMORY_CHANGED,
                        EventKind.HOST_PAUSED,
                        EventKind.HOST_SAMPLED,
                        EventKind.SHARD_LOADED,
                        EventKind.CLOCK_SAMPLED,
                        EventKind.COLLECTOR_GAP,
                        EventKind.DEVICE_SAMPLED);
    }

    @Test
    void aStaircaseIsOneWhereSeveralRisesLast() {
        Simulation stairs = Simulation.run(Scenario.KV_PRESSURE, 1, 200, Layers.BASIC);
        Simulation answers = Simulation.run(Scenario.CONTEXT_STAIRCASE, 1, 60, Layers.BASIC);
        Simulation shift = Simulation.run(Scenario.LEVEL_SHIFT, 1, 200, Layers.BASIC);

        assertThat(stairs.staircases())
                .anyMatch(one -> one.level().equals("engine") && one.shape().equals("staircase") && one.kvDriven());
        assertThat(answers.staircases())
                .filteredOn(one -> one.level().equals("request") && one.onsets().size() >= 3)
                .hasSizeGreaterThan(10);
        assertThat(shift.staircases())
                .isNotEmpty()
                .allMatch(one -> one.shape().equals("level-shift") && !one.kvDriven());
        assertThat(Simulation.run(Scenario.RAMP, 1, 60, Layers.BASIC).staircases())
                .isEmpty();
    }

    @Test
    void aHealthyRunLooksLikeOne() {
        List<TokenTruth> tokens =
                Simulation.run(Scenario.HEALTHY, 1, 200, Layers.BASIC).tokens();
        long[] gaps = tokens.stream().mapToLong(TokenTruth::gapNanos).sorted().toArray();
        long slow =
                tokens.stream().filter(token -> token.dominantCause() != null).count();

        assertThat(gaps[gaps.length / 2]).isBetween(10_000_000L, 14_000_000L);
        assertThat((double) slow / tokens.size()).isLessThan(0.15);
        assertThat(tokens)
                .extracting(TokenTruth::dominantCause)
                .doesNotContain(Cause.PREEMPTION, Cause.KV_PRESSURE, Cause.KERNEL_FALLBACK);
    }
}
