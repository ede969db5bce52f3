package io.tokenstair.job.step;

import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Phase;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.engine.Detection;
import io.tokenstair.job.engine.EngineFindings;
import io.tokenstair.job.engine.EngineStep;
import io.tokenstair.job.engine.MetricWatch;
import io.tokenstair.job.evidence.EngineEvidence;
import io.tokenstair.job.evidence.Evidence;
import io.tokenstair.job.evidence.EvidenceKind;
import io.tokenstair.job.finding.Blame;
import io.tokenstair.job.layer.Layer;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.StatisticsOutput;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One engine on its own timeline. Fed with that engine's events in total order, it judges every step by the model snapshot before
 * it and cuts the gap of every token into parts. What it says depends on the order of its input alone, never on arrival or on
 * when it is asked, so that streaming and replay agree.
 *
 * <p>A step is judged once the core records cover its end, or when event time has gone {@link #COVER_MILLIS} past it.
 */
public final class EngineTimeline {
    /** How far event time may run past a step that core records do not cover yet. */
    public static final long COVER_MILLIS = 2_000;

    /** A step is stalled beyond this, where it is also so many times longer than usual. */
    private static final long STALL_NANOS = 100_000_000L;

    private static final int STALL_FACTOR = 4;

    /** How far event time must run past any step: records of the same moment sort before or after it by the name of their collector. */
    public static final long MOMENT_MILLIS = 10;

    /** How long a token may wait in an open batch, in the engine's time. */
    public static final long BATCH_NANOS = 1_500_000_000L;

    /** How long, in event time, a step waits for the names of its rows. */
    public static final long NAME_MILLIS = 15_000;

    /** Most events that wait behind a step for the names of its rows, and most handles that are known to have none. */
    public static final int NAME_EVENTS = 512;

    /** A sequence that nobody speaks of for so long, in the engine's time, has ended without a record. */
    public static final long SILENT_NANOS = 600_000_000_000L;

    /** How often, in steps, silent sequences are looked for. */
    private static final int SILENT_STEPS = 4_096;

    /** No step takes longer. */
    public static final long ABSURD_STEP_NANOS = 3_600_000_000_000L;

    /** No token takes longer. */
    public static final long ABSURD_GAP_NANOS = 86_400_000_000_000L;

    /** No step makes more tokens of a sequence, and no chunk brings more: 2^20. */
    public static final int ABSURD_TOKENS = 1 << 20;

    /** No token has a greater index, nor a longer context: 2^30. */
    public static final int ABSURD_TOKEN_INDEX = 1 << 30;

    /** Most events that wait for core records; beyond it the oldest step is judged without them. */
    public static final int WAITING_EVENTS = 20_000;

    /** A KV pool that is used less was not short of blocks when it evicted some. */
    private static final int FULL_PERCENT = 90;

    /** Most preempted sequences that are looked at when another one is scheduled. */
    private static final int OVERTAKEN = 64;

    private final EngineState state;
    private final EngineOutput output;
    private final ClockGraph clocks;
    private final TokenJudge judge;
    private final EngineStairs stairs;
    private final EngineFindings findings;
    private final EngineStep told = new EngineStep();
    private final StepStatistics statistics;

    /** Event time of the event that is taken into account. */
    private long eventMillis;

    /** Whose handles the last event used; null before the first. */
    private @Nullable String spaceCollectorId;

    private long spaceEpoch;
    /** The sequence of each row of the step at hand; null where its handle is not known. */
    private @Nullable SequenceState[] sequenceOfRow = new @Nullable SequenceState[0];

    /** The rows it is of; null once a sequence came or went. */
    private @Nullable SequenceRows knownRows;

    /** Whether all of those have a sequence. */
    private boolean allRowsKnown;

    private final FollowingRows followers = new FollowingRows();
    private final HeldTokens held;
    private final boolean sharing;
    private final TokenRow row = new TokenRow();

    // The row that alike sequences of a step share, behind any other row and behind the shared one of the step before.
    private final TokenRow shared = new TokenRow();
    private final byte[] sharedBytes = new byte[TokenRow.MAX_BYTES];
    private final byte[] sharedBehind = new byte[TokenRow.MAX_BYTES];
    private int sharedLength;
    private int sharedBehindLength;
    /** Why the token of the shared row is slow; null where it is not. */
    private @Nullable SlowToken sharedSlow;

    private long sharedStep = -1;

    /** A timeline over its state, whose stamps cannot be aligned with anything. */
    public EngineTimeline(EngineState state, EngineOutput output) {
        this(state, output, new ClockGraph());
    }

    /** A timeline over its state, and the clocks that its stamps are aligned with. */
    public EngineTimeline(EngineState state, EngineOutput output, ClockGraph clocks) {
        this(state, output, clocks, true);
    }

    /** A timeline that judges every token by itself, or those that are alike together: it makes no difference. */
    EngineTimeline(EngineState state, EngineOutput output, ClockGraph clocks, boolean sharing) {
        this(
                state,
                output,
                clocks,
                sharing,
                StatisticsOutput.NOWHERE,
                new PaneCounter(StatisticsOutput.NOWHERE::durations));
    }

    /** A timeline over its state that also tells statistics. */
    public EngineTimeline(
            EngineState state, EngineOutput output, StatisticsOutput statisticsOutput, PaneCounter counter) {
        this(state, output, new ClockGraph(), statisticsOutput, counter);
    }

    /** A timeline over its state that also tells statistics, and the clocks that its stamps are aligned with. */
    public EngineTimeline(
            EngineState state,
            EngineOutput output,
            ClockGraph clocks,
            StatisticsOutput statisticsOutput,
            PaneCounter counter) {
        this(state, output, clocks, true, statisticsOutput, counter);
    }

    private EngineTimeline(
            EngineState state,
            EngineOutput output,
            ClockGraph clocks,
            boolean sharing,
            StatisticsOutput statisticsOutput,
            PaneCounter counter) {
        this.sharing = sharing;
        this.clocks = clocks;
        state.clocks = clocks;
        this.state = state;
        this.output = output;
        this.held = new HeldTokens(state);
        this.judge = new TokenJudge(state);
        this.stairs = new EngineStairs(state, output, this::detected);
        this.findings = new EngineFindings(state.watch, state.engineId, output::finding, this::detected, this::toEpoch);
        this.statistics = new StepStatistics(state, statisticsOutput, counter);
    }

    /** A stamp of the engine's clock that the step at hand tells of. */
    private @Nullable AlignedStamp toEpoch(long nanos) {
        return clocks.toEpoch(state.clockId, nanos, state.stepMillis);
    }

    /** Says as a milestone that a cause is seen of the engine, with the event at hand. */
    private void detected(Detection detection) {
        say(
                MilestoneKind.DETECTED,
                detection.nanos(),
                detection.stepId(),
                detection.cause(),
                Blame.of(detection.cause(), detection.culprit()),
                detection.lostNanos(),
                detection.evidence());
    }

    /** Says as milestones what counters have come to show of an engine of which no step is known. */
    private void byCounters(EventHeader header) {
        eventMillis = coarse(header);
        for (Cause cause : state.watch.metrics.begun()) {
            say(
                    MilestoneKind.DETECTED,
                    header.clockNanos() == null ? 0 : header.clockNanos(),
                    null,
                    cause,
                    new Blame(null, null),
                    null,
                    List.of(header.eventId()));
        }
    }

    private void say(
            MilestoneKind kind,
            long nanos,
            @Nullable Long stepId,
            @Nullable Cause cause,
            Blame blame,
            @Nullable Long lostNanos,
            List<String> evidence) {
        AlignedStamp aligned = toEpoch(nanos);
        output.milestone(new Milestone(
                kind,
                eventMillis,
                aligned == null ? null : Long.valueOf(aligned.epochNanos()),
                nanos,
                state.engineId,
                null,
                null,
                null,
                null,
                stepId,
                null,
                null,
                null,
                null,
                null,
                state.kvUsedBlocksCount,
                state.kvTotalBlocksCount,
                evidence,
                cause,
                blame.culprit(),
                null,
                blame.deviceId(),
                null,
                null,
                lostNanos,
                null));
    }

    /** Takes the next event of the engine. The state is complete afterwards. */
    public void accept(LoggedEvent logged, byte[] bytes) {
        take(logged, bytes);
        settle();
    }

    /** Completes the state, which it is not while events are taken. */
    public void settle() {
        held.settleAll();
    }

    /** Takes the next event of the engine, one of several: {@link #settle} must follow before anybody else looks at the state. */
    public void take(LoggedEvent logged, byte[] bytes) {
        EventHeader header = logged.header();
        if (header.coarseEpochMillis() != null) {
            state.latestCoarseMillis = Math.max(state.latestCoarseMillis, header.coarseEpochMillis());
            // Before anything else: what event time alone decides must not depend on this event's content.
            drain(state.latestCoarseMillis);
        }
        Event event = logged.event();
        if (event instanceof HostSampled sample) {
            String hostSpace = header.collectorId() + '/' + header.collectorEpoch();
            if (!hostSpace.equals(state.hostSpace)) {
                state.hostSpace = hostSpace;
                state.threads = new HostThreads();
            }
            state.hostClockId = header.clockId();
            boolean comparable = state.clockId.isEmpty() || state.clockId.equals(state.hostClockId);
            if (header.clockNanos() != null && comparable) {
                state.threads.accept(sample, header.clockNanos(), header.eventId());
            }
            drain(state.latestCoarseMillis);
        } else if (event instanceof MetricSampled sample) {
            long absurd = state.watch.metrics.absurdSamples;
            state.watch.metrics.accept(header, sample, state.engineId, output::finding, output::remark);
            if (state.steps == 0) {
                // Steps say more than counters.
                byCounters(header);
            }
            state.watch.samples.accept(header, sample);
            if (state.watch.metrics.absurdSamples > absurd) {
                reject(header, "a sample of " + sample.name() + " cannot be " + sample.sampledValue());
            }
        } else if (event instanceof ShardLoaded loaded) {
            state.watch.shards.accept(
                    header,
                    loaded,
                    state.engineId,
                    output::finding,
                    nanos -> clocks.toEpoch(header.clockId(), nanos, coarse(header)));
        } else if (acceptEvidence(header, event)) {
            drain(state.latestCoarseMillis);
        } else if (!(event instanceof StepCompleted) && state.waitingEvents.isEmpty()) {
            process(logged, 0, state.latestCoarseMillis);
        } else {
            state.addWaiting(logged, bytes);
            drain(state.latestCoarseMillis);
        }
    }

    private boolean acceptEvidence(EventHeader header, Event event) {
        long absurd = state.evidence.absurdRecords;
        boolean taken = state.evidence.accept(header, event);
        if (state.evidence.absurdRecords > absurd) {
            reject(header, event.kind().catalogName() + ": it ends before it begins, or lasts over an hour");
        }
        return taken;
    }

    /** Judges what no later event can change: no event with an earlier or equal event time will come. */
    public void advance(long completeToMillis) {
        drain(completeToMillis);
        if (state.waitingEvents.isEmpty()) {
            flushBatchesBefore(completeToMillis);
            statistics.completeTo(completeToMillis);
        }
        settle();
    }

    /** Ends the input: everything that waits is judged and shipped. */
    public void finish() {
        drain(Long.MAX_VALUE);
        flushBatchesBefore(Long.MAX_VALUE);
        if (state.steps > 0) {
            // Steps say more than counters.
            state.watch.metrics = new MetricWatch();
        }
        findings.finish(state.maxGraphBatchCount);
        state.watch.metrics.finish(state.engineId, output::finding, output::remark);
        state.watch.samples.finish(state.engineId, output::remark);
        MessageNumbers numbers = state.blocks.numbers;
        if (numbers.lost() > 0) {
            output.layer(new LayerReport(
                    state.engineId,
                    Layer.KV_EVENTS.layerName(),
                    true,
                    numbers.taken,
                    0,
                    numbers.lost(),
                    numbers.firstLost(),
                    numbers.lastLost()));
        }
        statistics.completeTo(Long.MAX_VALUE);
    }

    private void drain(long millis) {
        int done = 0;
        int waiting = state.waitingEvents.size();
        while (done < waiting) {
            LoggedEvent logged = state.waiting(done);
            if (!ready(logged, millis) && waiting - done <= WAITING_EVENTS) {
                break;
            }
            if (!process(logged, done, millis)) {
                break;
            }
            done++;
        }
        state.removeWaiting(done);
    }

    /**
     * Whether the records that a step is judged with are there, or event time says that they will not come. Every step waits a moment:
     * the first record of its kind is written when the step it lies in has ended. One that took far longer than usual waits as if such
     * records were known to come.
     */
    private boolean ready(LoggedEvent logged, long millis) {
        if (!(logged.event() instanceof StepCompleted step) || millis == Long.MAX_VALUE) {
            return true;
        }
        Long coarse = logged.header().coarseEpochMillis();
        if (coarse == null) {
            // No event time: only the end of the input says that nothing more comes.
            return false;
        }
        long interval = state.lastEndKnown ? step.updateEndNanos() - state.lastEndNanos : 0;
        boolean stalled = interval > STALL_NANOS
                && state.gapWindow.size() > 0
                && interval / STALL_FACTOR > state.gapWindow.median();
        boolean covered = !state.threads.reported() || state.threads.covers(step.updateEndNanos());
        long waitMillis = Math.max(
                covered ? stalled ? EngineEvidence.RECORD_MILLIS : MOMENT_MILLIS : COVER_MILLIS,
                state.evidence.waitMillis(step.updateEndNanos(), logged.header().clockId()));
        return millis > coarse + waitMillis;
    }

    /** Takes an event into account; false for a step that should wait for the names of its rows. */
    private boolean process(LoggedEvent logged, int place, long millis) {
        EventHeader header = logged.header();
        Event event = logged.event();
        eventMillis = coarse(header);
        if (event instanceof StepCompleted step) {
            return step(header, step, place, millis);
        }
        settle();
        if (event instanceof RequestQueued queued) {
            queued(header, queued);
        } else if (event instanceof RequestPreempted preempted) {
            preempted(header, preempted);
        } else if (event instanceof RequestFinished finished) {
            finished(header, finished);
        } else if (event instanceof EngineConfigured configured) {
            configured(configured);
        } else if (event instanceof KvBlocksStored stored) {
            stored(logged, stored);
        } else if (event instanceof KvBlocksEvicted evicted) {
            evicted(header, evicted);
        } else if (event instanceof KvLookup lookup) {
            state.statistics.series.lookup(lookup.queriedTokens(), lookup.hitTokens());
        }
        return true;
    }

    // ---- what is known of the engine

    private void configured(EngineConfigured configured) {
        state.statistics.model = configured.model();
        state.tokenBudgetTokens = configured.tokenBudgetTokens();
        state.maxSequencesCount = configured.maxSequencesCount();
        if (configured.maxSequencesCount() != null) {
            state.watch.metrics.seats = configured.maxSequencesCount();
        }
        state.maxGraphBatchCount = configured.maxGraphBatchCount();
        state.kvTotalBlocksCount = configured.kvTotalBlocksCount();
        if (configured.blockSizeTokens() != null) {
            state.blockSizeTokens = configured.blockSizeTokens();
        }
    }

    private void handleSpace(EventHeader header) {
        boolean sameClock = header.clockId().equals(state.clockId);
        if (!sameClock) {
            state.clockId = header.clockId();
            state.leftBehind.clear();
            if (!state.hostClockId.equals(state.clockId)) {
                // Core records of another clock cannot be laid beside the engine's stamps.
                state.threads = new HostThreads();
            }
        }
        if (header.collectorEpoch() == spaceEpoch && header.collectorId().equals(spaceCollectorId)) {
            return;
        }
        String space = header.collectorId() + '/' + header.collectorEpoch();
        if (!space.equals(state.handleSpace)) {
            settle();
            flushBatchesBefore(Long.MAX_VALUE);
            state.handleSpace = space;
            knownRows = null;
            leaveBehind(sameClock);
            state.sequences.clear();
            state.handleByName.clear();
            state.waiting.clear();
            state.preemptedHandles.clear();
            state.namelessHandles.clear();
            state.ambiguousNames.clear();
            state.openBatches.clear();
            state.lastEndKnown = false;
        }
        spaceCollectorId = header.collectorId();
        spaceEpoch = header.collectorEpoch();
    }

    /**
     * Keeps the open sequences of a collector that has begun anew, by their engine's names. Where the engine went on, it tells of them again:
     * the step that made their last token is known, and so is the gap to the next one.
     */
    private void leaveBehind(boolean sameClock) {
        state.leftBehind.clear();
        if (!sameClock) {
            return;
        }
        for (SequenceState sequence : state.sequences.values()) {
            String name = sequence.name.engineRequestId;
            if (sequence.lastKnown && sequence.nextTokenIndex > 0 && !state.ambiguousNames.contains(name)) {
                sequence.undisturbed = false;
                sequence.goesOn = true;
                sequence.open = null;
                sequence.packedName = null;
                sequence.seenInStep = 0;
                sequence.sharedInStep = 0;
                state.leftBehind.put(name, sequence);
            }
        }
    }

    /** A handle that a step names: of a sequence that went on while the collector began anew, or of one not heard of before. */
    private SequenceState announceInStep(int handle, String engineRequestId, long nanos) {
        SequenceState left = state.leftBehind.remove(engineRequestId);
        if (left != null && !state.sequences.containsKey(handle) && !state.handleByName.containsKey(engineRequestId)) {
            left.handle = handle;
            state.sequences.put(handle, left);
            state.handleByName.put(engineRequestId, handle);
            state.namelessHandles.remove(Integer.valueOf(handle));
            knownRows = null;
        }
        return announce(handle, engineRequestId, nanos);
    }

    private SequenceState announce(int handle, String engineRequestId, long nanos) {
        SequenceState sequence = state.sequences.get(handle);
        if (sequence != null) {
            held.settle(sequence);
        }
        if (sequence == null || !sequence.name.engineRequestId.equals(engineRequestId)) {
            if (sequence != null) {
                // The handle stands for another request now: what the one before has made is said first.
                ship(sequence);
                forget(sequence);
            }
            sequence = new SequenceState();
            sequence.handle = handle;
            sequence.name = SequenceName.of(state.engineId, engineRequestId);
            Integer other = state.handleByName.get(engineRequestId);
            if (other != null && state.sequences.containsKey(other)) {
                // Another use of an id that has not ended: told apart by its handle, never merged.
                sequence.name.unique = sequence.name.unique + '~' + state.handleSpace + '~' + handle;
                state.ambiguousNames.add(engineRequestId);
            }
            snapshot(sequence);
            state.sequences.put(handle, sequence);
            state.handleByName.put(engineRequestId, handle);
            state.namelessHandles.remove(Integer.valueOf(handle));
            knownRows = null;
        }
        sequence.undisturbed = false;
        sequence.seenNanos = Math.max(sequence.seenNanos, nanos);
        return sequence;
    }

    private void forget(SequenceState sequence) {
        knownRows = null;
        state.sequences.remove(sequence.handle);
        if (Integer.valueOf(sequence.handle).equals(state.handleByName.get(sequence.name.engineRequestId))) {
            state.handleByName.remove(sequence.name.engineRequestId);
        }
        state.waiting.remove(Integer.valueOf(sequence.handle));
        state.preemptedHandles.remove(Integer.valueOf(sequence.handle));
        state.evidence.transfers.forget(sequence.name.engineRequestId);
    }

    /** Drops sequences that nobody has spoken of for so long: they ended, and no record said so. */
    private void forgetSilent(long nanos) {
        settle();
        List<SequenceState> silent = new ArrayList<>();
        for (SequenceState sequence : state.sequences.values()) {
            if (nanos - sequence.seenNanos > SILENT_NANOS) {
                silent.add(sequence);
            }
        }
        state.leftBehind.values().removeIf(sequence -> nanos - sequence.seenNanos > SILENT_NANOS);
        silent.sort(Comparator.comparingInt(sequence -> sequence.handle));
        for (SequenceState sequence : silent) {
            ship(sequence);
            forget(sequence);
            state.silentSequences++;
        }
        state.ambiguousNames.removeIf(name -> !state.handleByName.containsKey(name));
    }

    private @Nullable SequenceState find(String engineRequestId) {
        Integer handle = state.handleByName.get(engineRequestId);
        SequenceState sequence = handle == null ? null : state.sequences.get(handle);
        if (sequence != null) {
            sequence.undisturbed = false;
        }
        return sequence;
    }

    // ---- events of a sequence

    private void queued(EventHeader header, RequestQueued queued) {
        handleSpace(header);
        state.leftBehind.remove(queued.engineRequestId());
        SequenceState sequence = announce(
                queued.requestHandle(),
                queued.engineRequestId(),
                header.clockNanos() == null ? state.lastEndNanos : header.clockNanos());
        if (header.clockNanos() != null) {
            sequence.lastNanos = header.clockNanos();
            sequence.lastKnown = true;
        }
        sequence.promptTokens = queued.promptTokens();
        sequence.priority = queued.priority();
        state.statistics.counted(queued.priority());
        sequence.queuedEventId = header.eventId();
        if (!sequence.scheduled && !state.waiting.contains(queued.requestHandle())) {
            state.waiting.add(queued.requestHandle());
        }
        SequenceFact fact = fact(SequenceFact.Kind.QUEUED, sequence, header);
        fact.promptTokens = queued.promptTokens();
        fact.priority = queued.priority();
        output.fact(fact);
    }

    private void preempted(EventHeader header, RequestPreempted preempted) {
        handleSpace(header);
        SequenceState sequence = find(preempted.engineRequestId());
        if (sequence == null) {
            return;
        }
        // Its tokens so far are said before it: whoever hears of both knows which was the last one.
        ship(sequence);
        sequence.preempted = true;
        sequence.running = false;
        sequence.preemptedEventId = header.eventId();
        sequence.preemptedStepId = preempted.stepId();
        state.lastPreemptionStepId = preempted.stepId();
        // What it had computed is what its rows said, where the record does not say it itself.
        Long discarded = preempted.discardedTokens() != null
                ? preempted.discardedTokens()
                : sequence.scheduled && sequence.contextTokens > 0 ? Long.valueOf(sequence.contextTokens) : null;
        sequence.discardedTokens = discarded;
        sequence.resumedStepId = null;
        sequence.overtaken = false;
        if (!state.preemptedHandles.contains(sequence.handle)) {
            state.preemptedHandles.add(sequence.handle);
        }
        String wantedBy = preempted.wantedByEngineRequestId();
        sequence.preemptedByItself = wantedBy != null && wantedBy.equals(preempted.engineRequestId());
        sequence.preemptedFor =
                wantedBy == null ? null : EngineRequestName.of(wantedBy).requestId();
        sequence.preemptedForPriority = wantedBy == null ? null : priorityOf(wantedBy);
        sequence.largestHolder = largestHolder(sequence);
        state.history.preempted(
                state.steps,
                header.clockNanos() == null ? state.lastEndNanos : header.clockNanos(),
                header.eventId(),
                sequence.name.requestId);
        kvEvent(header.eventId());
        findings.preempted(header.clockNanos() == null ? state.lastEndNanos : header.clockNanos());
        SequenceFact fact = fact(SequenceFact.Kind.PREEMPTED, sequence, header);
        fact.tokens = discarded;
        fact.stepId = preempted.stepId();
        fact.otherRequestId = sequence.preemptedFor;
        fact.holderRequestId = sequence.largestHolder;
        fact.outputTokens =
                preempted.outputTokens() != null ? preempted.outputTokens() : Long.valueOf(sequence.nextTokenIndex);
        fact.kvUsedBlocksCount = state.kvUsedBlocksCount;
        fact.kvTotalBlocksCount = state.kvTotalBlocksCount;
        output.fact(fact);
    }

    private @Nullable Integer priorityOf(String engineRequestId) {
        SequenceState sequence = find(engineRequestId);
        return sequence == null ? null : sequence.priority;
    }

    private @Nullable String largestHolder(SequenceState victim) {
        SequenceState largest = null;
        for (SequenceState other : state.sequences.values()) {
            if (other == victim || !other.running) {
                continue;
            }
            if (largest == null
                    || other.contextTokens > largest.contextTokens
                    || (other.contextTokens == largest.contextTokens && other.handle < largest.handle)) {
                largest = other;
            }
        }
        return largest == null ? null : largest.name.requestId;
    }

    private void finished(EventHeader header, RequestFinished finished) {
        handleSpace(header);
        SequenceState sequence = find(finished.engineRequestId());
        if (sequence == null) {
            return;
        }
        if (state.ambiguousNames.contains(finished.engineRequestId())) {
            // Which of them ended cannot be told: both end when nobody speaks of them any more.
            state.ambiguousFinishes++;
            return;
        }
        ship(sequence);
        SequenceFact fact = fact(SequenceFact.Kind.FINISHED, sequence, header);
        fact.endReason = finished.endReason();
        fact.tokens = finished.outputTokens() == null ? Long.valueOf(sequence.nextTokenIndex) : finished.outputTokens();
        fact.stepId = finished.stepId();
        output.fact(fact);
        forget(sequence);
    }

    private SequenceFact fact(SequenceFact.Kind kind, SequenceState sequence, EventHeader header) {
        SequenceFact fact = new SequenceFact();
        fact.kind = kind;
        fact.name = sequence.name;
        fact.clockId = header.clockId();
        fact.packedName = sequence.packedName(fact.clockId, state.handleSpace);
        fact.packedNameLength = sequence.packedNameLength;
        fact.coarseEpochMillis = coarse(header);
        fact.clockNanos = header.clockNanos() == null ? 0 : header.clockNanos();
        AlignedStamp aligned = header.clockNanos() == null
                ? null
                : clocks.toEpoch(header.clockId(), header.clockNanos(), coarse(header));
        if (aligned != null) {
            fact.epochNanos = aligned.epochNanos();
            fact.boundNanos = aligned.boundNanos();
            fact.sigmaNanos = aligned.sigmaNanos();
        }
        fact.eventId = header.eventId();
        fact.blockSizeTokens = state.blockSizeTokens;
        return fact;
    }

    private static long coarse(EventHeader header) {
        return header.coarseEpochMillis() == null ? Long.MAX_VALUE : header.coarseEpochMillis();
    }

    // ---- KV blocks

    private void evicted(EventHeader header, KvBlocksEvicted evicted) {
        boolean repeated =
                state.blocks.isRepeated(evicted.batchSequence(), evicted.eventIndex(), false, evicted.blockHashes());
        if (repeated && !evicted.allCleared()) {
            return;
        }
        PrefixBlocks.Eviction eviction = new PrefixBlocks.Eviction();
        eviction.eventId = header.eventId();
        Long used = state.kvUsedBlocksCount;
        Long total = state.kvTotalBlocksCount;
        if (used != null && total != null && total > 0) {
            eviction.usedPercent = (int) Math.min(1_000, 100 * used / total);
        }
        eviction.batchSequence = evicted.batchSequence() == null ? -1 : evicted.batchSequence();
        eviction.cleared = evicted.allCleared();
        if (evicted.allCleared()) {
            state.blocks.evictAll(eviction);
        }
        for (long hash : evicted.blockHashes()) {
            state.blocks.evict(hash, eviction);
        }
        boolean bulk = state.history.evicted(
                state.steps,
                state.lastEndNanos,
                header.eventId(),
                evicted.blockHashes().size());
        if (bulk) {
            say(
                    MilestoneKind.KV_EVICTED,
                    state.lastEndNanos,
                    state.lastStepId,
                    null,
                    new Blame(null, null),
                    null,
                    List.of(header.eventId()));
        }
        kvEvent(header.eventId());
        state.kvReported = true;
    }

    /** Something happened to KV blocks that staircases are laid beside. */
    private void kvEvent(String eventId) {
        state.kvEvents++;
        stairs.kvEvent(eventId);
    }

    private void kvSigns(String eventId, StepCompleted step, JudgedStep judged) {
        boolean becomeShort = state.kvSigns.blocksBecomeShort(step.kvUsedBlocksCount(), state.kvTotalBlocksCount);
        boolean drop = false;
        SequenceRows rows = step.rows();
        int count = judged.schedules ? rows.count() : 0;
        for (int i = 0; i < count; i++) {
            SequenceState sequence = sequenceOfRow[i];
            if (rows.cachedTokens(i) != SequenceRows.ABSENT
                    && rows.phaseCode(i) == Phase.PREFILL.code()
                    && sequence != null) {
                drop |= state.kvSigns.hitsDrop(rows.cachedTokens(i), sequence.promptTokens);
            }
        }
        if (judged.recomputeTokens > 0 || becomeShort || drop) {
            kvEvent(eventId);
        }
    }

    private void stored(LoggedEvent logged, KvBlocksStored stored) {
        state.kvReported = true;
        if (state.blocks.isRepeated(stored.batchSequence(), stored.eventIndex(), true, stored.blockHashes())) {
            return;
        }
        if (state.blockSizeTokens <= 0 && stored.blockSizeTokens() != null) {
            state.blockSizeTokens = stored.blockSizeTokens();
        }
        PrefixBlocks.StepFill fill = state.blocks.fillOf(stored.batchSequence());
        if (fill == null
                || (stored.batchSequence() == null
                        && !fill.fits(stored.blockHashes().size()))) {
            // Its step has not been judged yet, or was lost: keep it for the step.
            if (state.blocks.early.size() < PrefixBlocks.MESSAGES) {
                state.blocks.early.add(EventCodec.encode(logged));
            }
            return;
        }
        attribute(logged.header(), stored, fill);
    }

    private void attribute(EventHeader header, KvBlocksStored stored, PrefixBlocks.StepFill fill) {
        Integer handle = state.blocks.attribute(fill, stored.blockHashes().size());
        SequenceState sequence = handle == null ? null : state.sequences.get(handle);
        int again = 0;
        PrefixBlocks.Eviction first = null;
        for (long hash : stored.blockHashes()) {
            PrefixBlocks.Eviction eviction = state.blocks.storedAgain(hash);
            // Stored before this one began, not evicted as far as is known, and not found.
            boolean missed = eviction == null
                    && sequence != null
                    && sequence.startOrder != null
                    && state.blocks.wasStoredBefore(hash, sequence.startStep);
            if (eviction != null || missed) {
                again++;
                first = first == null ? eviction : first;
            }
            state.blocks.store(hash, state.steps);
        }
        if (again == 0 || sequence == null) {
            return;
        }
        SequenceFact fact = fact(SequenceFact.Kind.PREFIX_RECOMPUTED, sequence, header);
        int blockTokens = stored.blockSizeTokens() != null ? stored.blockSizeTokens() : state.blockSizeTokens;
        fact.tokens = (long) again * blockTokens;
        fact.stepId = fill.stepId;
        fact.kvUsedBlocksCount = state.kvUsedBlocksCount;
        fact.kvTotalBlocksCount = state.kvTotalBlocksCount;
        if (first != null) {
            fact.otherEventId = first.eventId;
            PrefixBlocks.StepFill evicting = state.blocks.steps.get(first.batchSequence);
            fact.otherRequestId = evicting == null ? null : evicting.largestPrefill;
            if (!first.cleared && (first.usedPercent == null || first.usedPercent >= FULL_PERCENT)) {
                findings.neededAgain(
                        state.lastEndNanos,
                        fill.stepId,
                        false,
                        first.eventId,
                        fact.otherRequestId,
                        first.usedPercent != null);
            }
        }
        output.fact(fact);
    }

    private void rememberFill(StepCompleted step, String eventId) {
        if (state.blockSizeTokens <= 0 || (step.kvBatchSequence() == null && state.blocks.numbered)) {
            return;
        }
        state.blocks.numbered |= step.kvBatchSequence() != null;
        PrefixBlocks.StepFill fill = state.blocks.emptyFill();
        fill.batchSequence = step.kvBatchSequence() != null ? step.kvBatchSequence() : -1 - state.steps;
        fill.stepId = step.stepId();
        fill.stepEventId = eventId;
        SequenceRows rows = step.rows();
        int most = 0;
        int block = state.blockSizeTokens;
        // Of a power of two the rest is in the low bits: nearly all rows are done with that.
        int restMask = Integer.bitCount(block) == 1 ? block - 1 : 0;
        boolean onlyDecodes = rows.onlyDecodes();
        for (int i = 0; i < rows.count(); i++) {
            int rest = rows.contextTokens(i) & restMask;
            if (onlyDecodes && rest != 0) {
                continue;
            }
            if (restMask != 0 && rows.scheduledTokens(i) <= rest && rows.phaseCode(i) == Phase.DECODE.code()) {
                continue;
            }
            int after = rows.contextTokens(i) / block;
            boolean within = rows.scheduledTokens(i) <= rows.contextTokens(i) - after * block;
            int before = within ? after : (rows.contextTokens(i) - rows.scheduledTokens(i)) / block;
            boolean prefill = rows.phaseCode(i) == Phase.PREFILL.code();
            if (after > before) {
                fill.handles.add(rows.requestHandle(i));
                fill.fullBlocks.add(after - before);
                fill.prefill.add(prefill);
            }
            SequenceState sequence = sequenceOfRow[i];
            if (prefill && rows.scheduledTokens(i) > most && sequence != null) {
                most = rows.scheduledTokens(i);
                fill.largestPrefill = sequence.name.requestId;
            }
        }
        if (fill.handles.isEmpty() && step.kvBatchSequence() == null) {
            state.blocks.spare = fill;
            return;
        }
        state.blocks.step(fill);
        List<byte[]> early = state.blocks.early;
        for (int i = 0; i < early.size(); ) {
            LoggedEvent logged = EngineState.decode(early.get(i));
            if (!(logged.event() instanceof KvBlocksStored stored)) {
                early.remove(i);
                continue;
            }
            Long batch = state.blocks.numbered ? stored.batchSequence() : null;
            boolean mine = batch == null ? fill.fits(stored.blockHashes().size()) : batch == fill.batchSequence;
            if (mine || (batch != null && batch < fill.batchSequence)) {
                early.remove(i);
                if (mine) {
                    attribute(logged.header(), stored, fill);
                }
            } else {
                i++;
            }
        }
    }

    // ---- the step

    private boolean step(EventHeader header, StepCompleted step, int place, long millis) {
        handleSpace(header);
        state.stepMillis = coarse(header);
        String eventId = header.eventId();
        for (HandleAnnounced announced : step.announcements()) {
            announceInStep(announced.requestHandle(), announced.engineRequestId(), step.updateEndNanos());
        }
        long end = step.updateEndNanos();
        if (!EngineEvidence.isStamp(end)) {
            reject(header, "step " + step.stepId() + ": its end is no stamp: " + end);
            return true;
        }
        boolean first = !state.lastEndKnown;
        if (!first && step.stepId() <= state.lastStepId && end <= state.lastEndNanos) {
            reject(header, "step " + step.stepId() + ": it came again, or behind a later one");
            return true;
        }
        boolean allKnown = findSequences(step.rows());
        if (!allKnown && !named(header, step, place, millis)) {
            return false;
        }
        long start = step.scheduleStartNanos() == null || step.scheduleStartNanos() > end
                ? Long.MIN_VALUE
                : step.scheduleStartNanos();
        if (!first && end < state.lastEndNanos) {
            // The clock went back: nothing from before can be laid beside what comes now.
            forgetStamps(end);
            reject(header, "time of step " + step.stepId() + ": the clock went back");
        } else if ((start != Long.MIN_VALUE && (!EngineEvidence.isStamp(start) || end - start > ABSURD_STEP_NANOS))
                || (!first && start == Long.MIN_VALUE && end - state.lastEndNanos > ABSURD_STEP_NANOS)) {
            // No step takes that long: one of its stamps is wrong, and which one is not known.
            forgetStamps(end);
            reject(header, "time of step " + step.stepId() + ": it would last over an hour");
            start = Long.MIN_VALUE;
        } else if (!first && step.stepId() <= state.lastStepId) {
            // The engine counts anew: what lies between is not known.
            state.lastEndKnown = false;
        }
        if (state.lastEndKnown && step.stepId() > state.lastStepId + 1) {
            // Steps in between were lost: what the engine did since the last one is not known, least of all that it was
            // idle.
            state.lastEndKnown = false;
        }
        long previous = state.lastEndKnown ? state.lastEndNanos : start == Long.MIN_VALUE ? end : start;
        long begin = Math.max(start, previous);
        long stepNanos = end - begin;
        long interval = end - previous;
        long idle = interval - stepNanos;
        flushBatchesOlderThan(end - BATCH_NANOS);

        JudgedStep judged = judge.begin(step, sequenceOfRow, eventId, begin, end, previous, interval, stepNanos, idle);
        if (sharing) {
            followers.find(state, step.rows(), sequenceOfRow, previous, held);
            judged.following = followers.following;
            judged.held = followers.held;
        }
        judge.rows(judged, step.rows(), sequenceOfRow);
        if (step.kvUsedBlocksCount() != null) {
            state.kvUsedBlocksCount = step.kvUsedBlocksCount();
        }
        if (step.kvTotalBlocksCount() != null) {
            state.kvTotalBlocksCount = step.kvTotalBlocksCount();
        }
        kvSigns(eventId, step, judged);
        waitingTotals(judged, step);
        statistics.step(coarse(header), step, judged, sequenceOfRow);
        if (judged.schedules) {
            announceSchedules(header, step);
        }
        if (judged.decodeSequences > 0 && judged.load.promptTokens() == 0) {
            state.history.decoded(state.steps, end, eventId, step.graphMode(), judged.decodeSequences);
        }
        Evidence recorded = judged.evidence;
        if (recorded != null && recorded.nanos(EvidenceKind.VARIANT) > 0 && !judged.graphFellBack) {
            state.history.kernelChanged(
                    state.steps,
                    end,
                    recorded.eventId(EvidenceKind.VARIANT),
                    String.valueOf(recorded.culprit(EvidenceKind.VARIANT)),
                    recorded.detail(EvidenceKind.VARIANT));
        }
        AlignedStamp aligned = clocks.toEpoch(header.clockId(), end, coarse(header));
        told.clearTokens();
        emitTokens(header, step, judged, aligned);
        rememberFill(step, eventId);
        output.step(new StepAnalysis(
                state.engineId,
                step.dpRank(),
                step.stepId(),
                aligned == null ? null : aligned.epochNanos(),
                aligned == null ? null : aligned.boundNanos(),
                stepNanos,
                idle,
                judged.warm ? judged.expectedNanos : null,
                judged.referenceKnown ? judged.referenceNanos : null,
                judged.load.sequences(),
                judged.decodeSequences,
                judged.load.residentTokens(),
                judged.prefillTokens,
                judged.recomputeTokens,
                step.runningCount(),
                step.waitingCount(),
                step.kvUsedBlocksCount(),
                step.kvTotalBlocksCount(),
                Double.isNaN(judged.coreWaitNanos) ? null : StrictMath.round(judged.coreWaitNanos),
                TokenJudge.slowKind(judged),
                judged.warm ? state.snapshot.version : null,
                judged.expectation == null ? null : judged.expectation.basis().basisName(),
                judged.load.paddedCount(),
                judged.load.graphMode().modeName(),
                judged.load.promptPairs(),
                judged.warm ? judged.batchNanos : null,
                judged.warm ? judged.contextNanos : null,
                judged.warm ? judged.prefillNanos : null,
                judged.warm ? judged.recomputeNanos : null,
                judged.warm ? judged.graphNanos : null,
                aligned == null ? null : aligned.sigmaNanos()));
        stairs.step(header, judged, aligned);
        conclude(step, judged, eventId);
        int version = state.snapshot.version;
        judge.learn(judged);
        if (state.snapshot.version != version) {
            output.model(state.snapshot.row(
                    state.engineId, step.dpRank(), aligned == null ? null : aligned.epochNanos(), judge.spreadNanos()));
        }
        state.lastEndNanos = end;
        state.lastEndKnown = true;
        state.lastStepId = step.stepId();
        state.steps++;
        if (state.steps % SILENT_STEPS == 0) {
            forgetSilent(end);
        }
        return true;
    }

    private void forgetStamps(long end) {
        settle();
        state.absurdSteps++;
        state.lastEndKnown = false;
        for (SequenceState sequence : state.sequences.values()) {
            sequence.lastKnown = false;
            sequence.undisturbed = false;
            sequence.seenNanos = end;
        }
    }

    /**
     * Whether every row of a step has its name. A name may still come, with a later step that says all names again: the step waits for it,
     * for {@link #NAME_MILLIS} of event time and {@link #NAME_EVENTS} events at most; then its nameless rows are refused.
     */
    private boolean named(EventHeader header, StepCompleted step, int place, long millis) {
        SequenceRows rows = step.rows();
        List<Integer> nameless = List.of();
        for (int i = 0; i < rows.count(); i++) {
            if (sequenceOfRow[i] == null) {
                String name = announcedLater(header, rows.requestHandle(i), place);
                if (name != null) {
                    sequenceOfRow[i] = announceInStep(rows.requestHandle(i), name, step.updateEndNanos());
                } else {
                    nameless = nameless.isEmpty() ? new ArrayList<>() : nameless;
                    nameless.add(rows.requestHandle(i));
                }
            }
        }
        if (nameless.isEmpty()) {
            return true;
        }
        Long coarse = header.coarseEpochMillis();
        boolean mayCome = millis != Long.MAX_VALUE
                && state.waitingEvents.size() - place <= NAME_EVENTS
                && (coarse == null || millis <= coarse + NAME_MILLIS)
                && !state.namelessHandles.containsAll(nameless);
        if (mayCome) {
            return false;
        }
        for (Integer handle : nameless) {
            if (state.namelessHandles.size() < NAME_EVENTS && !state.namelessHandles.contains(handle)) {
                state.namelessHandles.add(handle);
            }
        }
        state.unknownHandleRows += nameless.size();
        reject(
                header,
                "step " + step.stepId() + ": " + nameless.size()
                        + " of its rows name handles that were never announced: " + nameless);
        return true;
    }

    private @Nullable String announcedLater(EventHeader header, int handle, int place) {
        for (int i = place; i < state.waitingEvents.size() && i - place <= NAME_EVENTS; i++) {
            LoggedEvent later = state.waiting(i);
            if (later.header().collectorEpoch() != header.collectorEpoch()
                    || !later.header().collectorId().equals(header.collectorId())) {
                continue;
            }
            if (later.event() instanceof RequestQueued queued && queued.requestHandle() == handle) {
                return queued.engineRequestId();
            }
            if (later.event() instanceof StepCompleted step) {
                for (HandleAnnounced announced : step.announcements()) {
                    if (announced.requestHandle() == handle) {
                        return announced.engineRequestId();
                    }
                }
            }
        }
        return null;
    }

    /** Says that an event, or what a part of it would say, is not used. */
    private void reject(EventHeader header, String reason) {
        output.rejected(new LoggedEvent(
                new EventHeader(
                        "analysis/" + state.engineId,
                        0,
                        state.rejectedRecords++,
                        "none",
                        null,
                        header.coarseEpochMillis()),
                new Rejected(header.eventId(), null, null, reason, null)));
    }

    /** Gives the step to the findings of the engine as a whole. */
    private void conclude(StepCompleted step, JudgedStep judged, String eventId) {
        told.eventId = eventId;
        told.stepId = step.stepId();
        told.previousNanos = judged.endNanos - judged.intervalNanos;
        told.endNanos = judged.endNanos;
        told.stepNanos = judged.stepNanos;
        told.sequences = judged.load.sequences();
        told.decodeSequences = judged.decodeSequences;
        told.decodeOnly = judged.load.promptTokens() == 0;
        told.computedTokens = judged.load.promptTokens() + judged.decodeSequences;
        told.recomputeTokens = judged.recomputeTokens;
        told.graphMode = step.graphMode();
        Evidence evidence = judged.evidence;
        told.pauseCause = evidence == null ? "" : evidence.detail(EvidenceKind.PAUSE);
        told.otherKernelNanos = evidence == null || judged.graphFellBack ? 0 : evidence.nanos(EvidenceKind.VARIANT);
        if (evidence != null && told.otherKernelNanos > 0) {
            told.otherKernel = evidence.detail(EvidenceKind.VARIANT);
            told.usualKernel = String.valueOf(evidence.culprit(EvidenceKind.VARIANT));
            told.otherKernelEventId = evidence.eventId(EvidenceKind.VARIANT);
        }
        if (state.steps == 0) {
            state.watch.shards.finish(state.engineId, output::finding, this::toEpoch);
        }
        findings.step(
                told, state.maxGraphBatchCount, state.sequencesWindow.size() == 0 ? 0 : state.sequencesWindow.median());
    }

    private void tell(SlowToken slow, JudgedStep judged) {
        Cause cause = Cause.valueOf(slow.cause);
        told.slow(
                cause,
                slow.lostNanos,
                slow.culpritRequestId,
                slow.recordId.isEmpty() ? judged.eventId : slow.recordId,
                slow.confidence.equals(Confidence.ESTABLISHED.levelName()));
    }

    /** Finds the sequence of each row. Returns whether all have one. */
    private boolean findSequences(SequenceRows rows) {
        int count = rows.count();
        SequenceRows known = knownRows;
        if (known != null && allRowsKnown && rows.areOfSameSequences(known)) {
            return true;
        }
        if (sequenceOfRow.length < count) {
            sequenceOfRow = new @Nullable SequenceState[Math.max(count, 2 * sequenceOfRow.length)];
        }
        boolean allKnown = true;
        for (int i = 0; i < count; i++) {
            int handle = rows.requestHandle(i);
            boolean asBefore = known != null && i < known.count() && known.requestHandle(i) == handle;
            SequenceState sequence = asBefore ? sequenceOfRow[i] : null;
            if (sequence == null) {
                sequence = state.sequences.get(handle);
                sequenceOfRow[i] = sequence;
            }
            allKnown &= sequence != null;
        }
        knownRows = rows;
        allRowsKnown = allKnown;
        return allKnown;
    }

    private void waitingTotals(JudgedStep judged, StepCompleted step) {
        if (judged.decodeSequences == 0 && judged.load.promptTokens() > 0) {
            state.prefillOnlyNanos += judged.intervalNanos;
            for (int i = 0; i < step.rows().count(); i++) {
                SequenceState own = state.sequences.get(step.rows().requestHandle(i));
                if (own != null) {
                    own.prefillOnlyAtLast += judged.intervalNanos;
                }
            }
        } else if (judged.decodeSequences > 0
                && state.tokenBudgetTokens != null
                && judged.load.promptTokens() + judged.decodeSequences >= state.tokenBudgetTokens) {
            state.budgetUsedNanos += judged.intervalNanos;
            settle();
            for (int i = 0; i < step.rows().count(); i++) {
                SequenceState own = state.sequences.get(step.rows().requestHandle(i));
                if (own != null) {
                    own.budgetUsedAtLast += judged.intervalNanos;
                }
            }
        }
        if (state.waiting.isEmpty()) {
            return;
        }
        Integer running = step.runningCount();
        if (running != null && state.maxSequencesCount != null && running >= state.maxSequencesCount) {
            state.seatLimitNanos += judged.intervalNanos;
            return;
        }
        if (isShortOfBlocks(judged, step)) {
            SequenceState holder = judged.largestContext();
            state.shortOfBlocks(judged.intervalNanos, holder == null ? "" : holder.name.requestId);
        }
    }

    /**
     * Whether those who wait do so for KV blocks, a seat being free: a running sequence lost its blocks in this step, or the head of the queue
     * does not fit. It does not fit where not even its first chunk does, or where it was left waiting though the step had tokens
     * left and its whole prompt does not, unless this engine lets prompts in of which only the first chunk fits.
     */
    private boolean isShortOfBlocks(JudgedStep judged, StepCompleted step) {
        Long used = step.kvUsedBlocksCount();
        Long total = state.kvTotalBlocksCount;
        if (state.lastPreemptionStepId != null && state.lastPreemptionStepId == step.stepId()) {
            return true;
        }
        SequenceState head = headOfQueue(judged);
        if (used == null || total == null || state.blockSizeTokens <= 0 || head == null) {
            return false;
        }
        long prompt = promptTokens(head);
        long freeTokens = (total - used) * state.blockSizeTokens;
        long chunk = state.tokenBudgetTokens == null ? prompt : Math.min(prompt, state.tokenBudgetTokens);
        if (freeTokens < chunk) {
            return true;
        }
        boolean tokensLeft = state.tokenBudgetTokens == null
                || judged.load.promptTokens() + judged.decodeSequences < state.tokenBudgetTokens;
        return tokensLeft && !state.admitsByChunk && freeTokens < prompt;
    }

    private static long promptTokens(SequenceState sequence) {
        long prompt = sequence.promptTokens == null ? 0 : sequence.promptTokens;
        Long lost = sequence.preempted ? sequence.discardedTokens : null;
        return lost == null ? prompt : Math.max(prompt, lost);
    }

    /**
     * Who comes next of those who were there when the step was scheduled, and were not in it: the most urgent, those first that lost
     * their blocks, then as they came. Who waits for blocks on their way holds nobody up. Null when there is none.
     */
    private @Nullable SequenceState headOfQueue(JudgedStep judged) {
        SequenceState head = null;
        for (int i = 0; i < state.preemptedHandles.size() && i < OVERTAKEN; i++) {
            SequenceState sequence = state.sequences.get(state.preemptedHandles.get(i));
            head = sequence != null && waits(sequence, judged) ? before(head, sequence) : head;
        }
        for (int i = 0; i < state.waiting.size() && i < OVERTAKEN; i++) {
            SequenceState sequence = state.sequences.get(state.waiting.get(i));
            if (sequence != null && sequence.lastNanos <= judged.beginNanos && waits(sequence, judged)) {
                head = before(head, sequence);
            }
        }
        return head;
    }

    private boolean waits(SequenceState sequence, JudgedStep judged) {
        return promptTokens(sequence) > 0
                && sequence.ownUntilNanos != judged.endNanos
                && !judge.isLoading(sequence, judged.beginNanos);
    }

    private static SequenceState before(@Nullable SequenceState head, SequenceState other) {
        return head == null || (head.priority != null && other.priority != null && other.priority < head.priority)
                ? other
                : head;
    }

    /** Learns from a prompt that was let in whether this engine asks for room for all of it: it does not where the rest does not fit. */
    private void admitted(StepCompleted step, SequenceState sequence, int contextTokens) {
        Long used = step.kvUsedBlocksCount();
        Long total = state.kvTotalBlocksCount;
        if (used != null && total != null && sequence.promptTokens != null && state.blockSizeTokens > 0) {
            long blocks = (sequence.promptTokens + state.blockSizeTokens - 1) / state.blockSizeTokens
                    - (contextTokens + state.blockSizeTokens - 1) / state.blockSizeTokens;
            state.admitsByChunk |= blocks > total - used;
        }
    }

    private void announceSchedules(EventHeader header, StepCompleted step) {
        SequenceRows rows = step.rows();
        for (int i = 0; i < rows.count(); i++) {
            if (rows.cachedTokens(i) == SequenceRows.ABSENT) {
                continue;
            }
            SequenceState sequence = sequenceOfRow[i];
            if (sequence == null) {
                continue;
            }
            boolean resumed = rows.phaseCode(i) == Phase.RESUMED.code();
            if (resumed) {
                sequence.resumedStepId = step.stepId();
                sequence.resumedEventId = header.eventId();
                if (!sequence.preemptedEventId.isEmpty()) {
                    findings.neededAgain(
                            step.updateEndNanos(),
                            step.stepId(),
                            true,
                            sequence.preemptedEventId,
                            sequence.largestHolder,
                            true);
                }
            }
            state.preemptedHandles.remove(Integer.valueOf(sequence.handle));
            overtakes(header, step, sequence);
            if (sequence.startOrder == null && sequence.priority != null) {
                passesOver(header, step, sequence, sequence.priority);
            }
            if (sequence.startOrder == null) {
                admitted(step, sequence, rows.contextTokens(i));
                sequence.startOrder = state.startedCount++;
                sequence.startStep = state.steps;
                if (sequence.promptTokens != null && state.residentWindow.size() > 0) {
                    state.history.joined(
                            state.steps,
                            step.updateEndNanos(),
                            header.eventId(),
                            sequence.name.requestId,
                            sequence.promptTokens,
                            state.residentWindow.median(),
                            state.blockSizeTokens,
                            sequence.queueWaitNanos > 2 * state.gapWindow.median() ? sequence.queueWaitNanos : 0);
                }
            }
            SequenceFact fact =
                    fact(resumed ? SequenceFact.Kind.RESUMED : SequenceFact.Kind.SCHEDULED, sequence, header);
            fact.tokens = (long) rows.cachedTokens(i);
            statistics.scheduled(sequence, resumed, rows.cachedTokens(i));
            fact.stepId = step.stepId();
            output.fact(fact);
            state.waiting.remove(Integer.valueOf(rows.requestHandle(i)));
        }
    }

    /** Says of each preempted sequence that still waits whether this one, which runs now, was to run after it. */
    private void overtakes(EventHeader header, StepCompleted step, SequenceState runs) {
        for (int i = 0; i < state.preemptedHandles.size() && i < OVERTAKEN; i++) {
            SequenceState waits = state.sequences.get(state.preemptedHandles.get(i));
            if (waits == null
                    || waits == runs
                    || waits.overtaken
                    || waits.preemptedStepId > step.stepId()
                    || isScheduled(step, waits)
                    || !isAfter(runs, waits)) {
                continue;
            }
            waits.overtaken = true;
            SequenceFact fact = fact(SequenceFact.Kind.OVERTAKEN, waits, header);
            fact.tokens = waits.discardedTokens;
            fact.stepId = step.stepId();
            fact.otherRequestId = runs.name.requestId;
            fact.otherEventId = waits.preemptedEventId;
            fact.otherPriority = runs.priority;
            output.fact(fact);
        }
    }

    /** Says of each sequence that waits for its first schedule whether this one, which starts now, is less urgent. */
    private void passesOver(EventHeader header, StepCompleted step, SequenceState starts, int priority) {
        long scheduledNanos = step.scheduleStartNanos() != null ? step.scheduleStartNanos() : state.lastEndNanos;
        for (int i = 0; i < state.waiting.size() && i < OVERTAKEN; i++) {
            SequenceState waits = state.sequences.get(state.waiting.get(i));
            if (waits == null
                    || waits.overtaken
                    || waits.startOrder != null
                    || waits.priority == null
                    || waits.priority >= priority
                    || waits.lastNanos > scheduledNanos
                    || isScheduled(step, waits)
                    || judge.isLoading(waits, scheduledNanos)) {
                continue;
            }
            waits.overtaken = true;
            SequenceFact fact = fact(SequenceFact.Kind.PASSED_OVER, waits, header);
            fact.stepId = step.stepId();
            fact.otherRequestId = starts.name.requestId;
            fact.otherEventId = waits.queuedEventId;
            fact.otherPriority = priority;
            output.fact(fact);
        }
    }

    private static boolean isScheduled(StepCompleted step, SequenceState sequence) {
        for (int i = 0; i < step.rows().count(); i++) {
            if (step.rows().requestHandle(i) == sequence.handle) {
                return true;
            }
        }
        return false;
    }

    /** True when a sequence is of equal or less urgent priority than another one, and started later than it or not at all. */
    private static boolean isAfter(SequenceState runs, SequenceState waits) {
        boolean comparable = (runs.priority == null) == (waits.priority == null);
        if (!comparable || (runs.priority != null && waits.priority != null && runs.priority < waits.priority)) {
            return false;
        }
        return runs.startOrder == null || (waits.startOrder != null && runs.startOrder > waits.startOrder);
    }

    private void emitTokens(EventHeader header, StepCompleted step, JudgedStep judged, @Nullable AlignedStamp aligned) {
        SequenceRows rows = step.rows();
        row.stepId = step.stepId();
        row.endNanos = judged.endNanos;
        row.coarseEpochMillis = coarse(header);
        row.epochNanos = aligned == null ? TokenRow.ABSENT : aligned.epochNanos();
        row.boundNanos = aligned == null ? TokenRow.ABSENT : aligned.boundNanos();
        row.sigmaNanos = aligned == null ? TokenRow.ABSENT : aligned.sigmaNanos();
        row.batchSequences = rows.count();
        int leader = followers.leader;
        boolean together = leader >= 0 && sharedRow(judged, rows, leader);
        boolean holds = together && sharedBehindLength > 0;
        if (holds) {
            held.begin(header, judged.endNanos, row.coarseEpochMillis);
            state.sharedRows = SharedRows.with(state.sharedRows, state.steps + 1, sharedBehind, sharedBehindLength);
            statistics.beginAlike(shared);
        } else {
            settle();
        }
        BitSet further = holdFurther(rows.count());
        for (int i = further.nextClearBit(0); i < rows.count(); i = further.nextClearBit(i + 1)) {
            SequenceState sequence = sequenceOfRow[i];
            if (sequence == null) {
                continue;
            }
            if (holds && followers.holds[i]) {
                hold(sequence, i);
                continue;
            }
            sequence.contextTokens = rows.contextTokens(i);
            sequence.seenNanos = judged.endNanos;
            int tokens = rows.tokenCount(i);
            if (tokens == 0) {
                continue;
            }
            if (tokens > ABSURD_TOKENS
                    || rows.firstTokenIndex(i) > ABSURD_TOKEN_INDEX
                    || rows.contextTokens(i) > ABSURD_TOKEN_INDEX) {
                sequence.undisturbed = false;
                reject(
                        header,
                        "tokens of " + sequence.name.engineRequestId + " in step " + step.stepId() + ": " + tokens
                                + " from index " + rows.firstTokenIndex(i) + " with a context of "
                                + rows.contextTokens(i) + " cannot be");
                continue;
            }
            told.made(tokens);
            boolean follows = judged.follows(i);
            if (together && (follows || i == leader)) {
                addShared(header, judged, sequence, i, rows.contextTokens(i));
                if (i == leader) {
                    judge.reset(judged, sequence);
                } else {
                    TokenJudge.followed(judged, sequence);
                }
            } else {
                if (follows) {
                    judge.gather(judged, sequence);
                }
                addTokens(header, judged, sequence, rows, i);
                judge.reset(judged, sequence);
            }
            snapshot(sequence);
            sequence.stepsAtLast = state.steps + 1;
            sequence.undisturbed = true;
        }
        if (holds) {
            statistics.endAlike();
        }
    }

    /** Holds a further token of all that have some and whose batch does not end with it. Returns their rows. */
    private BitSet holdFurther(int count) {
        BitSet rows = followers.held;
        if (held.holding() == 0) {
            // None has, or they were settled since.
            rows.clear();
            return rows;
        }
        followers.leaveOutFull(held.number(), count);
        int sequences = rows.cardinality();
        if (held.areOfOnePriority() && statistics.alike(held.priority(), sequences)) {
            told.made(sequences);
        } else {
            rows.clear();
        }
        return rows;
    }

    private void hold(SequenceState sequence, int row) {
        TokenBatch batch = sequence.open;
        if (batch == null) {
            throw new IllegalStateException("Cannot hold a token of " + sequence.name.requestId + " without a batch");
        }
        told.made(1);
        statistics.alike(sequence, shared, sequence.nextTokenIndex + Math.max(0, held.tokens(sequence) - 1));
        if (held.hold(sequence, batch)) {
            followers.hold(row, sequence);
        } else {
            held.settle(sequence);
            ship(sequence);
        }
    }

    /**
     * Judges the row that others follow. False when its token is slow for a reason that may be another one for each: each is judged by
     * itself then.
     */
    private boolean sharedRow(JudgedStep judged, SequenceRows rows, int leader) {
        SequenceState sequence = sequenceOfRow[leader];
        if (sequence == null || !isGap(judged, sequence)) {
            return false;
        }
        row.tokenIndex = sequence.nextTokenIndex;
        row.contextTokens = rows.contextTokens(leader);
        sharedSlow = judge.token(judged, sequence, row, sequence.nextTokenIndex, 1);
        if (sharedSlow != null) {
            sharedLength = row.write(sharedBytes, 0);
            sharedBehindLength = 0;
            shared.set(row);
            sharedStep = -1;
            return sharedSlow.isOfTheStep();
        }
        sharedLength = row.write(sharedBytes, 0);
        sharedBehindLength = 0;
        if (sharedStep == state.steps) {
            shared.tokenIndex = row.tokenIndex - 1;
            shared.contextTokens = row.contextTokens - 1;
            sharedBehindLength = row.write(shared, sharedBehind, 0);
        }
        shared.set(row);
        sharedStep = state.steps + 1;
        return true;
    }

    private void addShared(EventHeader header, JudgedStep judged, SequenceState sequence, int i, int contextTokens) {
        int tokenIndex = sequence.nextTokenIndex;
        TokenBatch batch = openBatch(header, judged, sequence);
        if (sharedSlow != null) {
            SlowToken slow = sharedSlow.of(tokenIndex, shared.gapNanos, judged);
            slow.row = batch.count;
            batch.slow.add(slow);
            tell(slow, judged);
        }
        boolean behind = batch.count > 0
                && sharedBehindLength > 0
                && sequence.sharedInStep == state.steps
                && followers.contextGrew[i];
        if (behind) {
            batch.addShared(sharedRows(), state.steps + 1, 1, row.coarseEpochMillis);
        } else {
            TokenRow.rename(sharedBytes, 0, tokenIndex, contextTokens);
            batch.add(sharedBytes, sharedLength, row.endNanos, row.coarseEpochMillis);
        }
        sequence.sharedInStep = sharedSlow == null ? state.steps + 1 : 0;
        sequence.nextTokenIndex = tokenIndex + 1;
        sequence.lastNanos = judged.endNanos;
        statistics.token(sequence, shared, tokenIndex);
        cut(sequence, batch, tokenIndex);
    }

    private SharedRows sharedRows() {
        return Objects.requireNonNull(state.sharedRows, "shared rows of a step that has some");
    }

    /** Whether what lies between the last token and this step can be a gap. */
    private static boolean isGap(JudgedStep judged, SequenceState sequence) {
        return judged.endNanos >= sequence.lastNanos && judged.endNanos - sequence.lastNanos <= ABSURD_GAP_NANOS;
    }

    private void addTokens(EventHeader header, JudgedStep judged, SequenceState sequence, SequenceRows rows, int i) {
        int tokens = rows.tokenCount(i);
        int first = rows.firstTokenIndex(i) == SequenceRows.ABSENT ? sequence.nextTokenIndex : rows.firstTokenIndex(i);
        if (sequence.lastKnown && !isGap(judged, sequence)) {
            // Made before it was asked for, or a day after: one of the stamps is wrong.
            sequence.lastKnown = false;
        }
        if (first > sequence.nextTokenIndex) {
            // The step that made the token before was lost: there is no end to measure this gap from.
            sequence.lastKnown = false;
        }
        if (sequence.goesOn) {
            // A token that was made before is of another use of the name.
            sequence.lastKnown &= first == sequence.nextTokenIndex && rows.firstTokenIndex(i) != SequenceRows.ABSENT;
            sequence.goesOn = false;
        }
        row.contextTokens = rows.contextTokens(i);
        for (int k = 0; k < tokens; k++) {
            TokenBatch batch = openBatch(header, judged, sequence);
            row.tokenIndex = first + k;
            if (k == 0) {
                SlowToken slow = judge.token(judged, sequence, row, first, tokens);
                if (slow != null) {
                    slow.row = batch.count;
                    batch.slow.add(slow);
                    tell(slow, judged);
                }
            } else {
                judge.furtherToken(row);
            }
            batch.add(row);
            statistics.token(sequence, row, first + k);
            cut(sequence, batch, first + k);
        }
        sequence.sharedInStep = 0;
        sequence.nextTokenIndex = first + tokens;
        sequence.lastNanos = judged.endNanos;
        sequence.lastKnown = true;
    }

    private TokenBatch openBatch(EventHeader header, JudgedStep judged, SequenceState sequence) {
        TokenBatch batch = sequence.open;
        if (batch == null) {
            batch = new TokenBatch();
            batch.name = sequence.name;
            batch.clockId = header.clockId();
            batch.origin = state.handleSpace;
            batch.packedName = sequence.packedName(batch.clockId, batch.origin);
            sequence.open = batch;
            sequence.openSinceNanos = judged.endNanos;
            sequence.openNumber = state.openBatches.add(sequence.handle);
        }
        batch.lastStepSequence = header.sequence();
        return batch;
    }

    private void cut(SequenceState sequence, TokenBatch batch, int tokenIndex) {
        if (batch.count == TokenBatch.CAPACITY || tokenIndex % TokenBatch.CAPACITY == TokenBatch.CAPACITY - 1) {
            ship(sequence);
        }
    }

    private void snapshot(SequenceState sequence) {
        sequence.prefillOnlyAtLast = state.prefillOnlyNanos;
        sequence.budgetUsedAtLast = state.budgetUsedNanos;
        sequence.seatLimitAtLast = state.seatLimitNanos;
        sequence.blocksShortAtLast = state.blocksShortNanos;
        sequence.stepsAtLast = state.steps;
        sequence.kvEventsAtLast = state.kvEvents;
    }

    // ---- batches

    private void ship(SequenceState sequence) {
        TokenBatch batch = sequence.open;
        if (batch == null) {
            return;
        }
        held.settle(sequence);
        batch.residentNanosPerToken = state.snapshot.residentNanosPerToken();
        batch.share(state.sharedRows);
        sequence.open = null;
        output.tokens(batch);
    }

    private void flushBatchesOlderThan(long stampNanos) {
        for (SequenceState sequence = firstOpen();
                sequence != null && sequence.openSinceNanos <= stampNanos;
                sequence = firstOpen()) {
            ship(sequence);
        }
    }

    private void flushBatchesBefore(long millis) {
        for (SequenceState sequence = firstOpen();
                sequence != null
                        && sequence.open != null
                        && (millis == Long.MAX_VALUE
                                || sequence.open.firstCoarseEpochMillis + BATCH_NANOS / 1_000_000 < millis);
                sequence = firstOpen()) {
            ship(sequence);
        }
    }

    /** The sequence whose open batch was begun first; null when none is open. */
    private @Nullable SequenceState firstOpen() {
        OpenBatches open = state.openBatches;
        while (!open.isEmpty()) {
            SequenceState sequence = state.sequences.get(open.firstHandle());
            if (sequence != null && sequence.open != null && sequence.openNumber == open.firstNumber) {
                return sequence;
            }
            open.removeFirst();
        }
        return null;
    }
}
