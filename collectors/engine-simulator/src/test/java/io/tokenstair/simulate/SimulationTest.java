package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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
        assertThat(second.requests()).isEqualTo(first.requests());
        assertThat(second.steps()).isEqualTo(first.steps());
        assertThat(first.steps().stream().mapToInt(StepTruth::preemptions).sum())
                .isEqualTo(first.requests().stream()
                        .mapToInt(RequestTruth::preemptions)
                        .sum());
    }

    /** The same requests at a scheduler that keeps their priorities: nobody is passed over, and the urgent wait less. */
    @Test
    void aSchedulerThatKeepsPrioritiesMakesNoInversion() {
        RandomStream stream = RandomStream.ofSeed(1).named("inversion");
        Settings asTheyCome = Scenario.PRIORITY_INVERSION.settings(200, stream.named("scenario"));
        Settings byPriority = Scenario.PRIORITY_INVERSION.settings(200, stream.named("scenario"));
        byPriority.priorityPolicy = true;
        Simulation inverted = Simulation.run(asTheyCome, stream, Layers.BASIC);
        Simulation kept = Simulation.run(byPriority, stream, Layers.BASIC);

        assertThat(passedOver(inverted)).isGreaterThan(20);
        assertThat(passedOver(kept)).isZero();
        List<String> urgent = inverted.requests().stream()
                .filter(request -> request.passedOverCount() > 0)
                .map(RequestTruth::requestId)
                .toList();
        assertThat(ttftSumNanos(kept, urgent)).isLessThan(ttftSumNanos(inverted, urgent) * 3 / 4);
    }

    private static long passedOver(Simulation run) {
        return run.requests().stream()
                .filter(request -> request.passedOverCount() > 0)
                .count();
    }

    private static long ttftSumNanos(Simulation run, List<String> requestIds) {
        return run.requests().stream()
                .filter(request -> requestIds.contains(request.requestId()))
                .mapToLong(request -> request.ttftNanos() == null ? 0 : request.ttftNanos())
                .sum();
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
        Map<String, Map<Long, StepCompleted>> engines = new TreeMap<>();
        for (LoggedEvent logged : run.events()) {
            if (logged.event() instanceof StepCompleted step) {
                assertThat(engines.computeIfAbsent(step.engineId(), id -> new TreeMap<>())
                                .put(step.stepId(), step))
                        .isNull();
            }
        }
        List<String> broken = new ArrayList<>();
        long madeTokens = 0;
        for (Map<Long, StepCompleted> steps : engines.values()) {
            madeTokens += check(settings, steps.values(), broken);
        }
        assertThat(broken).isEmpty();
        long tokens = run.events().stream()
                .map(LoggedEvent::event)
                .filter(RequestFinished.class::isInstance)
                .mapToLong(event -> ((RequestFinished) event).outputTokens())
                .sum();
        assertThat(madeTokens).isEqualTo(tokens);
        assertThat(run.tokens()).hasSize((int) tokens);
    }

    /** Checks the steps of an engine; returns how many tokens they made. */
    private static long check(Settings settings, Collection<StepCompleted> steps, List<String> broken) {
        Map<Integer, Integer> made = new HashMap<>();
        long lastEnd = Long.MIN_VALUE;
        for (StepCompleted step : steps) {
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
        return made.values().stream().mapToLong(Integer::longValue).sum();
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

    @Test
    void severalSequencesOfARequestAreNamedTimedAndDeliveredEachForItself() {
        Simulation run = Simulation.run(Scenario.SEVERAL_SEQUENCES, 2, 60, Layers.BASIC);
        Set<Integer> indexes = new TreeSet<>();
        run.tokens().forEach(token -> indexes.add(token.sequenceIndex()));
        Set<String> names = new TreeSet<>();
        int chunks = 0;
        for (LoggedEvent logged : run.events()) {
            if (logged.event() instanceof RequestQueued queued) {
                names.add(queued.engineRequestId());
            } else if (logged.event() instanceof ChunkDelivered delivered
                    && delivered.observer().equals("client")) {
                chunks += delivered.chunks().size();
            }
        }

        assertThat(indexes).containsExactly(0, 1, 2, 3);
        assertThat(names).anyMatch(name -> name.startsWith("3_cmpl-")).anyMatch(name -> name.startsWith("cmpl-"));
        assertThat(chunks).isEqualTo(run.tokens().size());
    }

    @Test
    void aClientThatGoesAwayEndsItsRequestSoonAfter() {
        Simulation run = Simulation.run(Scenario.CLIENT_ABORT, 2, 80, Layers.BASIC);
        long closed = run.events().stream()
                .filter(logged -> logged.event() instanceof RequestCompleted completed
                        && completed.observer().equals("client")
                        && completed.outcome().equals("client-closed")
                        && completed.clientClosedNanos() != null)
                .count();
        long aborted = run.events().stream()
                .filter(logged -> logged.event() instanceof RequestFinished finished
                        && finished.endReason().equals("aborted"))
                .count();

        assertThat(closed).isBetween(5L, 40L);
        // Who goes away with one of the last tokens may find that the engine was done.
        assertThat(aborted).isBetween(closed - 3, closed);
    }

    @Test
    void everyDataParallelRankRunsStepsOfItsOwnAndNoRequestIsServedTwice() {
        Simulation run = Simulation.run(Scenario.DATA_PARALLEL, 2, 60, Layers.ALL);
        Map<String, Set<String>> requests = new TreeMap<>();
        Set<Integer> ranks = new TreeSet<>();
        Set<String> devices = new TreeSet<>();
        for (LoggedEvent logged : run.events()) {
            if (logged.event() instanceof RequestQueued queued) {
                requests.computeIfAbsent(queued.engineId(), id -> new TreeSet<>())
                        .add(queued.engineRequestId());
            } else if (logged.event() instanceof StepCompleted step) {
                ranks.add(step.dpRank());
            } else if (logged.event() instanceof KernelRan kernel) {
                devices.add(kernel.engineId()
                        + ' '
                        + kernel.deviceId()
                        + ' '
                        + logged.header().clockId());
            }
        }

        assertThat(ranks).containsExactly(0, 1);
        assertThat(requests.keySet()).containsExactly("sim-0", "sim-1");
        assertThat(requests.get("sim-0")).hasSize(30).doesNotContainAnyElementsOf(requests.get("sim-1"));
        assertThat(devices).containsExactly("sim-0 gpu-0 globaltimer@gpu-0", "sim-1 gpu-1 globaltimer@gpu-1");
    }

    @Test
    void aCulpritIsAnotherRequestThatWasThere() {
        Set<Cause> blamed = EnumSet.noneOf(Cause.class);
        for (Scenario scenario : List.of(
                Scenario.PREFILL_INTERFERENCE,
                Scenario.PREEMPTION_STORM,
                Scenario.DECODE_STARVATION,
                Scenario.BUDGET_STARVATION,
                Scenario.KV_PRESSURE,
                Scenario.CONTEXT_GROWTH)) {
            Simulation run = Simulation.run(scenario, 2, scenario.defaultRequests(), Layers.BASIC);
            Set<String> ids = new TreeSet<>();
            run.tokens().forEach(token -> ids.add(token.requestId()));
            for (TokenTruth token : run.tokens()) {
                if (token.culpritRequestId() != null) {
                    assertThat(token.culpritRequestId()).isIn(ids).isNotEqualTo(token.requestId());
                    blamed.add(token.dominantCause());
                }
            }
        }

        assertThat(blamed)
                .containsExactlyInAnyOrder(
                        Cause.PREFILL_INTERFERENCE,
                        Cause.PREEMPTION,
                        Cause.RECOMPUTE,
                        Cause.DECODE_STARVED_BY_PREFILL,
                        Cause.TOKEN_BUDGET_STARVATION,
                        Cause.KV_PRESSURE,
                        Cause.CONTEXT_GROWTH);
    }
}
