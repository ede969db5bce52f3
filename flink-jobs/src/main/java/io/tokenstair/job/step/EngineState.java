package io.tokenstair.job.step;

import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.engine.EngineWatch;
import io.tokenstair.job.evidence.EngineEvidence;
import io.tokenstair.job.history.EngineHistory;
import io.tokenstair.job.statistics.EngineStatisticsState;
import io.tokenstair.job.window.SortedWindow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Everything the timeline of one engine remembers. Bounded by the open sequences, by {@link EngineTimeline#WAITING_EVENTS} events
 * that wait for core records, and by {@link PrefixBlocks} for evicted hashes.
 */
public class EngineState {
    /** Most steps with prompts that are remembered: a token that was left out for longer is told by the last of them. */
    static final int PREFILL_STEPS = 64;

    /** Most holders of KV blocks that are remembered: a wait with more of them is told by the last. */
    static final int BLOCK_HOLDERS = 64;

    /** Decode-only steps over which medians are taken. */
    public static final int REFERENCE_STEPS = 400;

    /** Steps over which the median is taken where none decodes. */
    static final int PROMPT_STEPS = 64;

    /** Waiting events that are kept decoded beside their bytes. */
    private static final int DECODED_EVENTS = 1_024;

    public String engineId = "";
    /** Loads and times of the steps with prompts before the first decode step, packed. */
    public List<long[]> firstPrompts = new ArrayList<>();
    /** Times of steps before the first one with a decode row: an engine that only computes prompts has no other. */
    public SortedWindow promptStepWindow = new SortedWindow(PROMPT_STEPS);
    /** True once a step had a decode row. */
    public boolean decodes;

    /** What steps usually take where the model does not run. */
    public SortedWindow hostPhaseWindow = new SortedWindow(400);
    /** True, on rank 0, once another data-parallel rank of the engine has spoken. */
    public boolean severalRanks;

    public String clockId = "";
    public String handleSpace = "";
    public String hostSpace = "";
    public String hostClockId = "";
    public Map<Integer, SequenceState> sequences = new HashMap<>();
    public Map<String, Integer> handleByName = new HashMap<>();
    public List<Integer> waiting = new ArrayList<>();
    public OpenBatches openBatches = new OpenBatches();
    /** Sequences that lost their blocks and have not been scheduled again. */
    public List<Integer> preemptedHandles = new ArrayList<>();

    public long startedCount;

    public StepTimeModel.State model = new StepTimeModel.State();
    /** The version of the model that judges. */
    public StepTimeSnapshot snapshot = new StepTimeSnapshot();

    public UsualGraphMode usualGraphMode = new UsualGraphMode(REFERENCE_STEPS);
    public SortedWindow paddedWindow = new SortedWindow(REFERENCE_STEPS);
    public SortedWindow sequencesWindow = new SortedWindow(REFERENCE_STEPS);
    public SortedWindow residentWindow = new SortedWindow(REFERENCE_STEPS);
    public SortedWindow gapWindow = new SortedWindow(REFERENCE_STEPS);
    public SortedWindow residualWindow = new SortedWindow(REFERENCE_STEPS);
    public SortedWindow idleWindow = new SortedWindow(REFERENCE_STEPS);
    public SortedWindow coreWaitWindow = new SortedWindow(REFERENCE_STEPS);
    public SortedWindow engineStallWindow = new SortedWindow(REFERENCE_STEPS);
    public SortedWindow workerStallWindow = new SortedWindow(REFERENCE_STEPS);

    public long lastEndNanos;
    public boolean lastEndKnown;
    public long lastStepId = -1;
    public long steps;
    public long prefillOnlyNanos;
    public long budgetUsedNanos;
    public long seatLimitNanos;
    public long blocksShortNanos;
    /** Number of the last step that took a sequence's blocks; null before the first. */
    public @Nullable Long lastPreemptionStepId;
    /** True once a prompt was let in though not all of it fitted: this engine asks for room for the first chunk only. */
    public boolean admitsByChunk;

    public long kvEvents;
    public boolean kvReported;
    /** The last steps that computed prompt tokens, {@link #PREFILL_STEPS} at most. */
    public List<PrefillStep> prefills = new ArrayList<>();
    /** Who held most blocks while they were short, in order, {@link #BLOCK_HOLDERS} at most. */
    public List<BlockHolder> blockHolders = new ArrayList<>();

    public @Nullable Long tokenBudgetTokens;
    public @Nullable Integer maxSequencesCount;
    /** Largest batch that the engine captured a graph for. */
    public @Nullable Integer maxGraphBatchCount;

    public int blockSizeTokens;
    public @Nullable Long kvTotalBlocksCount;
    public @Nullable Long kvUsedBlocksCount;

    /** Sequences of a collector that began anew, by the engine's name, until that names them again; no more than were open then. */
    public Map<String, SequenceState> leftBehind = new HashMap<>();

    public EngineHistory history = new EngineHistory();
    public HostThreads threads = new HostThreads();
    public EngineEvidence evidence = new EngineEvidence();
    public EngineWatch watch = new EngineWatch();
    public PrefixBlocks blocks = new PrefixBlocks();
    public StairsState stairs = new StairsState();
    public KvSigns kvSigns = new KvSigns();
    public EngineStatisticsState statistics = new EngineStatisticsState();

    /** Wire bytes of events that wait, in order, for core records that cover a step. */
    public List<byte[]> waitingEvents = new ArrayList<>();

    /** Some of them, decoded, by their place; not kept in snapshots. */
    transient @Nullable List<@Nullable LoggedEvent> decodedEvents;

    /** What stamps are aligned with; not kept in snapshots. */
    transient ClockGraph clocks = new ClockGraph();

    /** Event time of the step at hand; not kept in snapshots. */
    transient long stepMillis;

    public long latestCoarseMillis = Long.MIN_VALUE;
    public long unknownHandleRows;
    /** Handles that were waited for in vain, the last {@link EngineTimeline#NAME_EVENTS}. */
    public List<Integer> namelessHandles = new ArrayList<>();
    /** Engine ids that more than one open sequence has. */
    public List<String> ambiguousNames = new ArrayList<>();

    public long ambiguousFinishes;
    /** Sequences that ended without a record. */
    public long silentSequences;
    /** Steps whose stamps cannot be. */
    public long absurdSteps;
    /** Records that were written of what was refused here. */
    public long rejectedRecords;

    /** Rows of the last steps that sequences share; not kept in snapshots. */
    transient @Nullable SharedRows sharedRows;

    /** For Flink's serializer. */
    public EngineState() {}

    /** Adds an event that waits. The last ones are kept decoded too: nearly always they are asked for soon. */
    void addWaiting(LoggedEvent logged, byte[] bytes) {
        List<@Nullable LoggedEvent> decoded = decoded();
        waitingEvents.add(bytes);
        decoded.add(waitingEvents.size() <= DECODED_EVENTS ? logged : null);
    }

    /** The waiting event of a place. */
    LoggedEvent waiting(int place) {
        List<@Nullable LoggedEvent> decoded = decoded();
        LoggedEvent known = decoded.get(place);
        if (known == null) {
            known = decode(waitingEvents.get(place));
            decoded.set(place, known);
        }
        return known;
    }

    /** Drops the first waiting events. */
    void removeWaiting(int count) {
        if (count > 0) {
            decoded().subList(0, count).clear();
            waitingEvents.subList(0, count).clear();
        }
    }

    private List<@Nullable LoggedEvent> decoded() {
        List<@Nullable LoggedEvent> decoded = decodedEvents;
        if (decoded == null || decoded.size() != waitingEvents.size()) {
            // A snapshot was read: nothing is decoded yet.
            decoded = new ArrayList<>(Collections.nCopies(waitingEvents.size(), (LoggedEvent) null));
            decodedEvents = decoded;
        }
        return decoded;
    }

    static LoggedEvent decode(byte[] bytes) {
        try {
            return EventCodec.decode(bytes);
        } catch (WireException e) {
            throw new IllegalStateException("Cannot read an event that was read before", e);
        }
    }

    /** What a usual decode-only step computes: medians, and the graph mode of most. There must have been one. */
    StepLoad usualLoad() {
        return new StepLoad(
                (int) sequencesWindow.median(),
                (int) paddedWindow.median(),
                usualGraphMode.most(),
                residentWindow.median(),
                0,
                0,
                0,
                0);
    }

    /** Remembers who computed most prompt tokens in the step at hand. */
    void prefilled(SequenceState sequence, String eventId, long tokens) {
        PrefillStep prefill = new PrefillStep();
        prefill.requestId = sequence.name.requestId;
        prefill.priority = sequence.priority;
        prefill.eventId = eventId;
        prefill.stepNumber = steps;
        prefill.tokens = tokens;
        if (prefills.size() == PREFILL_STEPS) {
            prefills.remove(0);
        }
        prefills.add(prefill);
    }

    /**
     * Who kept a sequence from being scheduled: of the steps between its last one and the step at hand the last one of the request that
     * computed most prompt tokens in them; null when no other request did. Equal ones: the id that sorts first.
     */
    @Nullable
    PrefillStep prefillBeside(SequenceState sequence) {
        return prefillBeside(sequence, false);
    }

    /** The same of those requests only that are more urgent; null where no priority says so. */
    @Nullable
    PrefillStep moreUrgentBeside(SequenceState sequence) {
        return prefillBeside(sequence, true);
    }

    private @Nullable PrefillStep prefillBeside(SequenceState sequence, boolean moreUrgent) {
        Map<String, Long> tokens = new TreeMap<>();
        for (PrefillStep prefill : prefills) {
            if (prefill.stepNumber >= sequence.stepsAtLast
                    && prefill.stepNumber < steps
                    && (!moreUrgent || isMoreUrgent(prefill, sequence))
                    && !prefill.requestId.equals(sequence.name.requestId)) {
                tokens.merge(prefill.requestId, prefill.tokens, Long::sum);
            }
        }
        String most = null;
        for (Map.Entry<String, Long> entry : tokens.entrySet()) {
            if (most == null || entry.getValue() > tokens.getOrDefault(most, 0L)) {
                most = entry.getKey();
            }
        }
        PrefillStep last = null;
        for (PrefillStep prefill : prefills) {
            if (prefill.requestId.equals(most) && prefill.stepNumber < steps) {
                last = prefill;
            }
        }
        return last;
    }

    private static boolean isMoreUrgent(PrefillStep prefill, SequenceState sequence) {
        return prefill.priority != null && sequence.priority != null && prefill.priority < sequence.priority;
    }

    /** Adds a step in which blocks are short, and who held most of them in it. */
    void shortOfBlocks(long nanos, String holderRequestId) {
        BlockHolder last = blockHolders.isEmpty() ? null : blockHolders.get(blockHolders.size() - 1);
        if (last == null || !last.requestId.equals(holderRequestId)) {
            last = new BlockHolder();
            last.requestId = holderRequestId;
            last.fromNanos = blocksShortNanos;
            if (blockHolders.size() == BLOCK_HOLDERS) {
                blockHolders.remove(0);
            }
            blockHolders.add(last);
        }
        blocksShortNanos += nanos;
        last.untilNanos = blocksShortNanos;
    }

    /**
     * The other request that held most blocks for most of the time that they were short, from a reading of {@link #blocksShortNanos} on;
     * null when none did. Equal ones: the id that sorts first.
     */
    @Nullable
    String blockHolderSince(long fromNanos, String requestId) {
        Map<String, Long> held = new TreeMap<>();
        for (BlockHolder holder : blockHolders) {
            long nanos = holder.untilNanos - Math.max(fromNanos, holder.fromNanos);
            if (nanos > 0 && !holder.requestId.isEmpty() && !holder.requestId.equals(requestId)) {
                held.merge(holder.requestId, nanos, Long::sum);
            }
        }
        String most = null;
        for (Map.Entry<String, Long> entry : held.entrySet()) {
            if (most == null || entry.getValue() > held.getOrDefault(most, 0L)) {
                most = entry.getKey();
            }
        }
        return most;
    }
}
