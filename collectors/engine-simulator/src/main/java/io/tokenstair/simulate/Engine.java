package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import io.tokenstair.event.SequenceRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An engine core that runs one step after the other in true time, and beside it the account of what each sequence's open gap
 * consists of. With asynchronous scheduling a step is scheduled while the one before it runs.
 */
final class Engine {
    private static final Cause[] CAUSES = Cause.values();
    private static final long TAKE_IN_NANOS = 8_000;
    /** From a token's step over the client that goes away with it to the engine that hears of it. */
    private static final long GONE_NANOS = 6_000_000;

    private static final long STALL_SETUP_NANOS = 40_000;
    private static final int DEMOTION_STEPS = 8;
    private static final int DEMOTED_BLOCKS = 24;

    private final Settings settings;
    private final EngineListener listener;
    private final Scheduler scheduler;
    private final List<RequestPlan> plans;
    private final long[] arrivalNanos;
    private final RandomStream noise;
    private final RandomStream jitter;
    private final RandomStream contention;
    private final UsualStep usual = new UsualStep();
    private final Set<Fault> struck = new HashSet<>();
    private final Map<Fault, Integer> demotedSteps = new HashMap<>();
    private final RandomStream demotion;
    /** When the engine hears that the client of a request has gone away, by the request's number. */
    private final Map<Integer, Long> goneNanos = new HashMap<>();

    private long nowNanos;
    private long stepCount;
    private long deviceFreeNanos;
    private long lastEndNanos;
    private double noiseState;
    private int nextPlan;
    private int nextHandle;
    private long gapFaultNanos;
    private @Nullable StepRun inFlight;
    private final List<StepRun.Stall> stallsBeforeStep = new ArrayList<>();

    /**
     * An engine at rest.
     *
     * @param arrivalNanos when each request reaches the engine core
     */
    Engine(
            Settings settings,
            RandomStream stream,
            List<RequestPlan> plans,
            long[] arrivalNanos,
            EngineListener listener) {
        this.settings = settings;
        this.listener = listener;
        this.plans = plans;
        this.arrivalNanos = arrivalNanos.clone();
        this.scheduler = new Scheduler(settings, listener);
        this.noise = stream.named("noise");
        this.jitter = stream.named("jitter");
        this.contention = stream.named("contention");
        this.demotion = stream.named("demotion");
        for (RequestPlan plan : plans) {
            if (plan.mostBlocks() > settings.kvBlocks) {
                throw new IllegalArgumentException("Cannot hold request " + plan.requestId() + ": it needs "
                        + plan.mostBlocks() + " blocks of " + settings.kvBlocks);
            }
        }
    }

    KvCache cache() {
        return scheduler.cache;
    }

    /** Runs until the last request has ended. */
    void run() {
        while (true) {
            takeIn();
            giveUp();
            if (scheduler.running.isEmpty() && scheduler.waiting.isEmpty()) {
                land();
                if (nextPlan == plans.size()) {
                    return;
                }
                nowNanos = Math.max(nowNanos, arrivalNanos[nextPlan]);
                continue;
            }
            strikeBetweenSteps();
            List<StepRow> rows = scheduler.schedule(nowNanos, stepCount);
            if (rows.isEmpty()) {
                land();
                idle();
            } else {
                step(rows);
            }
        }
    }

    private void takeIn() {
        while (nextPlan < plans.size() && arrivalNanos[nextPlan] <= nowNanos) {
            RequestPlan plan = plans.get(nextPlan++);
            for (int choice = 0; choice < plan.choices(); choice++) {
                Sequence sequence = new Sequence(plan, choice, nextHandle++, nowNanos);
                listener.queued(sequence);
                scheduler.enqueue(sequence);
                nowNanos += TAKE_IN_NANOS;
            }
        }
    }

    /** Gives up sequences whose clients have gone away, unless a step with them is in flight. */
    private void giveUp() {
        if (goneNanos.isEmpty() || inFlight != null) {
            return;
        }
        List<Sequence> all = new ArrayList<>(scheduler.running);
        all.addAll(scheduler.waiting);
        for (Sequence sequence : all) {
            Long gone = goneNanos.get(sequence.plan.number());
            if (gone != null && gone <= nowNanos) {
                scheduler.drop(sequence);
                listener.aborted(sequence, nowNanos);
            }
        }
    }

    private void idle() {
        long next = scheduler.nextTransferEnd(nowNanos);
        if (nextPlan < plans.size()) {
            next = Math.min(next, Math.max(nowNanos + 1, arrivalNanos[nextPlan]));
        }
        if (next == Long.MAX_VALUE) {
            scheduler.relieve();
            nowNanos++;
        } else {
            nowNanos = Math.max(nowNanos + 1, next);
        }
    }

    // ---- one step

    private void step(List<StepRow> rows) {
        noiseState = settings.noiseMemory * noiseState
                + settings.noiseDeviation
                        * StrictMath.sqrt(1 - settings.noiseMemory * settings.noiseMemory)
                        * noise.gaussian(stepCount);
        StepRun step = new StepRun(stepCount, work(rows), conditions(), rows);
        stepCount++;
        step.faultNanos[Cause.HOST_GAP.ordinal()] += gapFaultNanos;
        gapFaultNanos = 0;
        step.stalls.addAll(stallsBeforeStep);
        stallsBeforeStep.clear();
        step.scheduleStartNanos = nowNanos;
        long schedule = step.cost.scheduleNanos() + strikeSchedule(step);
        step.scheduleEndNanos = nowNanos + schedule;
        step.modelStartNanos = Math.max(step.scheduleEndNanos, deviceFreeNanos);
        step.modelEndNanos = step.modelStartNanos + step.cost.deviceNanos();
        step.modelEndNanos += strikeModel(step);
        deviceFreeNanos = step.modelEndNanos;
        priceFaults(step);
        demote(step);
        step.kvUsedBlocks = scheduler.cache.usedCount();
        step.evictedHashes.addAll(scheduler.cache.takeEvicted());
        apply(step);
        step.runningCount = running(rows);
        step.waitingCount = scheduler.waiting.size();
        StepRun before = inFlight;
        inFlight = step;
        if (!settings.asyncScheduling) {
            land();
        } else if (before != null) {
            land(before, step.scheduleEndNanos);
        } else {
            nowNanos = step.scheduleEndNanos + StepLaw.BETWEEN_STEPS_NANOS;
        }
    }

    /** Where a part of the KV goes to a slower tier, cached blocks go first, in bulk over a few steps. */
    private void demote(StepRun step) {
        for (Fault fault : settings.faults) {
            if (fault.kind() == FaultKind.TIER_STAIR && fault.activeAt(step.scheduleStartNanos)) {
                int steps = demotedSteps.merge(fault, 1, Integer::sum);
                if (steps <= DEMOTION_STEPS) {
                    scheduler.cache.demote(DEMOTED_BLOCKS);
                }
            }
        }
        if (demotion.chance(step.stepId, settings.demotionProbability)) {
            scheduler.cache.demote(1);
        }
    }

    private int running(List<StepRow> rows) {
        // Those that end with this step were running in it.
        Set<Sequence> all = new HashSet<>(scheduler.running);
        rows.forEach(row -> all.add(row.sequence()));
        return all.size();
    }

    private static StepWork work(List<StepRow> rows) {
        long resident = 0;
        int prompts = 0;
        double linear = 0;
        double attention = 0;
        for (StepRow row : rows) {
            if (row.decodes()) {
                resident += row.contextTokens();
            } else {
                prompts++;
                linear += row.promptNanos();
                attention += row.promptAttentionNanos();
            }
        }
        return new StepWork(rows.size(), resident, prompts, linear, attention);
    }

    private StepCost.Conditions conditions() {
        double thermal = 1;
        double kernel = 1;
        double stair = 0;
        boolean eager = false;
        for (Fault fault : settings.faults) {
            if (!fault.activeAt(nowNanos)) {
                continue;
            }
            switch (fault.kind()) {
                case THERMAL -> thermal *= fault.factor();
                case KERNEL_SLOW -> kernel *= fault.factor();
                case TIER_STAIR -> stair += fault.factor();
                case EAGER -> eager = true;
                default -> {}
            }
        }
        return new StepCost.Conditions(1 + noiseState, thermal, kernel, stair, eager, settings.maxGraphBatch);
    }

    /** What lasting faults cost this step: its price less its price without them. */
    private void priceFaults(StepRun step) {
        StepCost.Conditions conditions = step.conditions;
        long total = step.cost.totalNanos();
        step.faultNanos[Cause.THERMAL_CLOCK.ordinal()] +=
                total - StepCost.of(step.work, conditions.withoutThermal()).totalNanos();
        step.faultNanos[Cause.KERNEL_SLOW.ordinal()] +=
                total - StepCost.of(step.work, conditions.withoutKernel()).totalNanos();
        if (step.graphMode == StepCost.GraphMode.EAGER) {
            step.faultNanos[Cause.KERNEL_FALLBACK.ordinal()] += total
                    - StepCost.of(step.work, conditions.launched(usual.eager())).totalNanos();
        }
    }

    // ---- faults that strike once

    private void strikeBetweenSteps() {
        Fault fault = due(FaultKind.HOST_GAP);
        if (fault != null && !scheduler.running.isEmpty()) {
            struck.add(fault);
            stallsBeforeStep.add(new StepRun.Stall(fault.kind(), nowNanos, nowNanos + fault.sizeNanos(), 0));
            listener.struck(fault, nowNanos, nowNanos + fault.sizeNanos(), null);
            gapFaultNanos += fault.sizeNanos();
            nowNanos += fault.sizeNanos();
        }
    }

    /** The first fault of a kind that is due and has not struck yet. */
    private @Nullable Fault due(FaultKind kind) {
        for (Fault fault : settings.faults) {
            if (fault.kind() == kind && fault.fromNanos() <= nowNanos && !struck.contains(fault)) {
                return fault;
            }
        }
        return null;
    }

    private long strikeSchedule(StepRun step) {
        long nanos = 0;
        long from = step.scheduleStartNanos + STALL_SETUP_NANOS;
        Fault pause = step.decodes() ? due(FaultKind.HOST_PAUSE) : null;
        if (pause != null) {
            nanos += strike(step, pause, from);
        }
        if (contended(step) && contention.chance(2 * step.stepId, 0.5)) {
            nanos += contend(step, from + nanos);
        }
        return nanos;
    }

    private long strikeModel(StepRun step) {
        long nanos = 0;
        long from = step.modelStartNanos + STALL_SETUP_NANOS;
        for (FaultKind kind : FaultKind.values()) {
            Fault fault =
                    kind.strikesOnce() && kind != FaultKind.HOST_PAUSE && kind != FaultKind.HOST_GAP && step.decodes()
                            ? due(kind)
                            : null;
            if (fault != null) {
                nanos += strike(step, fault, from + nanos);
            }
        }
        if (contended(step) && !contention.chance(2 * step.stepId, 0.5)) {
            nanos += contend(step, from + nanos);
        }
        if (jitter.chance(2 * step.stepId, settings.jitterProbability)) {
            long late = 2_000_000 + StrictMath.round(18e6 * jitter.uniform(2 * step.stepId + 1));
            step.stalls.add(new StepRun.Stall(FaultKind.UNRECORDED, from + nanos, from + nanos + late, -1));
            step.faultNanos[Cause.UNRESOLVED_STALL.ordinal()] += late;
            nanos += late;
        }
        return nanos;
    }

    private long strike(StepRun step, Fault fault, long fromNanos) {
        int ordinal = struck.size();
        struck.add(fault);
        step.stalls.add(new StepRun.Stall(fault.kind(), fromNanos, fromNanos + fault.sizeNanos(), ordinal));
        Cause cause = fault.kind().cause();
        if (cause != null) {
            step.faultNanos[cause.ordinal()] += fault.sizeNanos();
        }
        listener.struck(fault, fromNanos, fromNanos + fault.sizeNanos(), step);
        return fault.sizeNanos();
    }

    private boolean contended(StepRun step) {
        return contentionNanos(step) > 0;
    }

    private long contentionNanos(StepRun step) {
        long nanos = 0;
        for (Fault fault : settings.faults) {
            if (fault.kind() == FaultKind.HOST_CONTENTION && fault.activeAt(step.scheduleStartNanos)) {
                nanos += StrictMath.round(fault.sizeNanos() * (0.5 + contention.uniform(2 * step.stepId + 1)));
            }
        }
        return nanos;
    }

    private long contend(StepRun step, long fromNanos) {
        long nanos = contentionNanos(step);
        int ordinal = fromNanos < step.modelStartNanos || step.modelStartNanos == 0 ? 0 : 1;
        step.stalls.add(new StepRun.Stall(FaultKind.HOST_CONTENTION, fromNanos, fromNanos + nanos, ordinal));
        step.faultNanos[Cause.HOST_CONTENTION.ordinal()] += nanos;
        return nanos;
    }

    // ---- what a step changes

    private void apply(StepRun step) {
        for (StepRow row : step.stepRows) {
            Sequence sequence = row.sequence();
            int before = sequence.computedTokens / KvCache.BLOCK_TOKENS;
            sequence.computedTokens = row.contextTokens();
            int after = sequence.computedTokens / KvCache.BLOCK_TOKENS;
            store(step, sequence, before, after);
            step.rows.add(new SequenceRow(
                    sequence.handle,
                    row.yields() ? sequence.madeTokens : null,
                    row.yields() ? 1 : 0,
                    row.contextTokens(),
                    row.scheduledTokens(),
                    row.phase(),
                    row.cachedTokens(),
                    sequence.preemptionCount == 0 ? null : sequence.preemptionCount,
                    null));
            sequence.firstChunk = false;
            if (row.yields()) {
                sequence.madeTokens++;
            }
            if (sequence.recovering && (row.yields() || sequence.computedTokens >= sequence.hadTokens)) {
                sequence.recovering = false;
                sequence.hadTokens = 0;
            }
            if (sequence.madeTokens == sequence.outputTokens()) {
                scheduler.running.remove(sequence);
                sequence.running = false;
                scheduler.cache.release(sequence.blocks);
                sequence.blocks.clear();
            }
        }
    }

    private void store(StepRun step, Sequence sequence, int before, int after) {
        long[] chain = sequence.chain;
        List<Long> hashes = new ArrayList<>();
        for (int block = before; block < after && block < chain.length; block++) {
            scheduler.cache.store(sequence.blocks.get(block), chain[block]);
            hashes.add(chain[block]);
        }
        if (!hashes.isEmpty() && settings.prefixCaching) {
            step.stored.add(new StepRun.Stored(hashes, before == 0 ? null : Long.valueOf(chain[before - 1])));
        }
    }

    // ---- the end of a step, and the account of it

    /** Lets the step in flight end, where there is one. */
    private void land() {
        if (inFlight != null) {
            StepRun step = inFlight;
            inFlight = null;
            land(step, nowNanos);
        }
    }

    private void land(StepRun step, long coreFreeNanos) {
        step.updateStartNanos = Math.max(step.modelEndNanos, coreFreeNanos);
        step.updateEndNanos = step.updateStartNanos + step.cost.updateNanos();
        nowNanos = Math.max(nowNanos, step.updateEndNanos + StepLaw.BETWEEN_STEPS_NANOS);
        account(step);
        listener.stepped(step);
        for (int i = 0; i < step.stepRows.size(); i++) {
            StepRow row = step.stepRows.get(i);
            if (row.yields()) {
                Integer token = step.rows.get(i).firstTokenIndex();
                if (token != null) {
                    made(row.sequence(), token, step, i);
                }
            }
        }
        if (step.work.promptRows() == 0) {
            usual.add(step.work.rows(), step.work.residentTokens(), step.graphMode == StepCost.GraphMode.EAGER);
        }
        lastEndNanos = step.updateEndNanos;
    }

    private void account(StepRun step) {
        Set<Sequence> scheduled = new HashSet<>();
        for (StepRow row : step.stepRows) {
            scheduled.add(row.sequence());
            accountRow(step, row);
        }
        boolean prefillOnly = !step.decodes();
        for (Sequence sequence : scheduler.running) {
            if (!scheduled.contains(sequence) && sequence.accountedNanos <= step.scheduleStartNanos) {
                accountWait(
                        step, sequence, prefillOnly ? Cause.DECODE_STARVED_BY_PREFILL : Cause.TOKEN_BUDGET_STARVATION);
            }
        }
        for (Sequence sequence : scheduler.waiting) {
            if (!scheduled.contains(sequence)) {
                accountWait(step, sequence, waitCause(sequence));
            }
        }
    }

    private static Cause waitCause(Sequence sequence) {
        return sequence.recovering ? Cause.PREEMPTION : sequence.waitReason;
    }

    private void accountWait(StepRun step, Sequence sequence, Cause cause) {
        long waited = step.updateEndNanos - sequence.accountedNanos;
        if (waited <= 0) {
            return;
        }
        sequence.add(cause, waited);
        blameForWait(step.stepRows, sequence, cause, waited);
        sequence.accountedNanos = step.updateEndNanos;
        addFaults(step, sequence);
    }

    /** Whose doing a wait is: who took the blocks, who holds most of them, whose prompts filled the step. */
    private void blameForWait(List<StepRow> rows, Sequence sequence, Cause cause, long waited) {
        Sequence one = switch (cause) {
            case PREEMPTION -> sequence.preemptedFor;
            case KV_PRESSURE -> scheduler.largestHolder(sequence);
            default -> null;
        };
        if (one != null) {
            sequence.blame(cause, one, waited);
        }
        if (cause == Cause.DECODE_STARVED_BY_PREFILL || cause == Cause.TOKEN_BUDGET_STARVATION) {
            long prompts = 0;
            for (StepRow row : rows) {
                prompts += row.decodes() ? 0 : row.scheduledTokens();
            }
            for (StepRow row : rows) {
                if (!row.decodes()) {
                    sequence.blame(cause, row.sequence(), waited * row.scheduledTokens() / prompts);
                }
            }
        }
    }

    private static void addFaults(StepRun step, Sequence sequence) {
        for (int cause = 0; cause < CAUSES.length; cause++) {
            sequence.causeNanos[cause] += step.faultNanos[cause];
        }
    }

    private void accountRow(StepRun step, StepRow row) {
        Sequence sequence = row.sequence();
        boolean waited = row.cachedTokens() != null;
        long begin = Math.max(step.scheduleStartNanos, lastEndNanos);
        if (waited && begin > sequence.accountedNanos) {
            accountUntil(step, sequence, row, begin);
        }
        addFaults(step, sequence);
        // What work costs is its price on an undisturbed device; what a fault makes of it is the fault's.
        StepCost.Conditions calm = step.conditions.undisturbed();
        long total = StepCost.of(step.work, calm).totalNanos();
        // Without each other sequence's prompt, or its recomputation; then without its own.
        StepWork rest = step.work;
        long prefill = 0;
        long recompute = 0;
        for (StepRow other : step.stepRows) {
            if (other.decodes() || other.sequence() == sequence) {
                continue;
            }
            StepWork less = rest.without(other, true);
            long nanos = StepCost.of(rest, calm).totalNanos()
                    - StepCost.of(less, calm).totalNanos();
            if (other.recomputes()) {
                recompute += nanos;
                sequence.blame(Cause.RECOMPUTE, other.sequence(), nanos);
            } else {
                prefill += nanos;
                sequence.blame(Cause.PREFILL_INTERFERENCE, other.sequence(), nanos);
            }
            rest = less;
        }
        sequence.add(Cause.PREFILL_INTERFERENCE, prefill);
        sequence.add(Cause.RECOMPUTE, recompute);
        long own = 0;
        if (!row.decodes()) {
            StepWork less = rest.without(row, false);
            own = row.yields()
                    ? StepCost.of(rest, calm).totalNanos()
                            - StepCost.of(less, calm).totalNanos()
                    : total - prefill - recompute;
            rest = less;
            if (row.recomputes()) {
                sequence.add(Cause.PREEMPTION, own);
                if (sequence.preemptedFor != null) {
                    sequence.blame(Cause.PREEMPTION, sequence.preemptedFor, own);
                }
            } else {
                sequence.ownPromptNanos += own;
            }
        }
        if (row.yields() && usual.known()) {
            StepWork usualBatch = new StepWork(usual.batch(), rest.residentTokens(), 0, 0, 0);
            StepWork usualWork = new StepWork(usual.batch(), usual.residentTokens(), 0, 0, 0);
            long afterBatch = StepCost.of(usualBatch, calm).totalNanos();
            sequence.add(Cause.BATCH_GROWTH, StepCost.of(rest, calm).totalNanos() - afterBatch);
            sequence.add(
                    Cause.CONTEXT_GROWTH,
                    afterBatch - StepCost.of(usualWork, calm).totalNanos());
            StepRow largest = null;
            for (StepRow other : step.stepRows) {
                if (other.decodes() && (largest == null || other.contextTokens() > largest.contextTokens())) {
                    largest = other;
                }
            }
            if (largest != null) {
                sequence.blame(Cause.CONTEXT_GROWTH, largest.sequence(), 1);
            }
        }
        sequence.accountedNanos = step.updateEndNanos;
    }

    /** Up to the begin of its first step since it was queued or lost its blocks a sequence waited. */
    private void accountUntil(StepRun step, Sequence sequence, StepRow row, long begin) {
        long waited = begin - sequence.accountedNanos;
        Cause cause = row.recomputes() ? Cause.PREEMPTION : sequence.waitReason;
        Cause transfer = sequence.transferCause;
        if (transfer != null && !row.recomputes()) {
            long onItsWay = Math.max(0, Math.min(waited, sequence.transferEndNanos - sequence.accountedNanos));
            sequence.add(transfer, onItsWay);
            waited -= onItsWay;
            cause = sequence.waitReason == transfer ? Cause.QUEUE_WAIT : sequence.waitReason;
        }
        sequence.add(cause, waited);
        blameForWait(step.stepRows, sequence, cause, waited);
        sequence.accountedNanos = begin;
    }

    private void made(Sequence sequence, int token, StepRun step, int row) {
        long gap = step.updateEndNanos - sequence.gapFromNanos;
        long baseline = baseline(step);
        Map<Cause, Long> contributions = new EnumMap<>(Cause.class);
        for (int cause = 0; cause < CAUSES.length; cause++) {
            if (sequence.causeNanos[cause] != 0) {
                contributions.put(CAUSES[cause], sequence.causeNanos[cause]);
            }
        }
        Cause dominant = TokenTruth.dominant(contributions, gap - baseline - sequence.ownPromptNanos, baseline);
        TokenTruth truth = new TokenTruth(
                sequence.plan.requestId(),
                sequence.choice,
                token,
                gap,
                baseline,
                contributions,
                dominant,
                dominant == null ? null : sequence.culprit(dominant));
        listener.produced(sequence, token, step, row, truth);
        sequence.nextGap(step.updateEndNanos);
        if (token == sequence.outputTokens() - 1) {
            listener.finished(sequence, step);
        }
        if (sequence.choice == 0 && token == sequence.plan.abortAfterTokens() - 1) {
            goneNanos.put(sequence.plan.number(), step.updateEndNanos + GONE_NANOS);
        }
    }

    private long baseline(StepRun step) {
        int batch = usual.known() ? usual.batch() : step.work.rows();
        long resident = usual.known() ? usual.residentTokens() : step.work.residentTokens();
        long whole = StepLaw.decodeOnlyNanos(batch, resident, usual.eager());
        return settings.asyncScheduling
                ? whole - StepLaw.scheduleNanos(batch) - StepLaw.updateNanos(batch) - StepLaw.BETWEEN_STEPS_NANOS
                : whole;
    }
}
