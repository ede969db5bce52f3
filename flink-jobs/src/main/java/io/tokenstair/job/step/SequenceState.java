package io.tokenstair.job.step;

import io.tokenstair.job.evidence.Evidence;
import io.tokenstair.job.evidence.TransferWait;
import org.jspecify.annotations.Nullable;

/** What an engine's timeline remembers of one open sequence: under 500 bytes, dropped when the sequence ends. */
public class SequenceState {
    public SequenceName name = new SequenceName();
    public int handle;
    /** End of the step that made the last token, or the queued stamp before the first. */
    public long lastNanos;

    public boolean lastKnown;
    /** When it was last spoken of, on the engine's clock. */
    public long seenNanos;

    public int nextTokenIndex;
    /** Its collector has begun anew since its last token: the next one says whether it is the same use of the name. */
    public boolean goesOn;

    public boolean scheduled;
    public boolean running;
    public @Nullable Long promptTokens;
    public @Nullable Integer priority;
    public int contextTokens;
    public String queuedEventId = "";

    // Since the last token.
    public int ownSteps;
    public long ownStepNanos;
    public long idleNanos;
    /** NaN once a step of the gap has no core record. */
    public double coreWaitNanos;

    public double criticalWaitNanos;
    public double engineStallNanos;
    public double workerStallNanos;
    public long queueWaitNanos;
    /** Of the time before its first schedule: steps at the sequence limit, and steps short of blocks. */
    public long queuedAtSeatLimitNanos;

    public long queuedShortOfBlocksNanos;
    /** The other request that held most blocks meanwhile; null when none did. */
    public @Nullable String queuedBlockHolder;

    public long expectedNanos;
    public boolean expectedKnown = true;
    public long batchNanos;
    public long contextNanos;
    public long graphNanos;
    /** True once a step of the gap ran in a graph mode with more launches than the usual one. */
    public long hostPhaseNanos;

    public boolean graphFellBack;
    /** A step since its last token fell back to a mode that the model has hardly seen. */
    public boolean graphCold;

    public String graphMode = "";
    public String graphEventId = "";
    public long ownPrefillNanos;
    public long otherPrefillNanos;
    public long ownRecomputeNanos;
    public long otherRecomputeNanos;
    public long ownPrefillTokens;
    public long ownRecomputeTokens;
    public long otherPrefillTokens;
    public long otherRecomputeTokens;
    public @Nullable String prefillCulprit;
    public int prefillCulpritTokens;
    public String prefillEventId = "";
    public @Nullable String recomputeCulprit;
    public int recomputeCulpritTokens;
    public String recomputeEventId = "";
    public boolean preempted;
    public String preemptedEventId = "";
    public long preemptedStepId;
    public @Nullable String preemptedFor;
    public boolean preemptedByItself;
    public @Nullable String largestHolder;
    public @Nullable Long discardedTokens;
    public @Nullable Long resumedStepId;
    /** Which of the engine's sequences started before it; absent until it starts. */
    public @Nullable Long startOrder;
    /** Step in which it was first scheduled, counted by the timeline. */
    public long startStep;
    /** Whether somebody ran before it since its last preemption. */
    public boolean overtaken;

    public String resumedEventId = "";

    /** What records of stalls say of its own steps since the last token; null when they say nothing. */
    public @Nullable Evidence evidence;
    /** What it waited for its KV blocks since the last token; null when no transfer is recorded. */
    public @Nullable TransferWait transferWait;
    /** End of its last own step. */
    public long ownUntilNanos;

    // The engine's running totals at the last token; a step of its own moves those of waits along.
    public long prefillOnlyAtLast;
    public long budgetUsedAtLast;
    public long seatLimitAtLast;
    public long blocksShortAtLast;
    public long stepsAtLast;
    public long kvEventsAtLast;

    /** Nothing but steps happened to it since its last token. */
    public boolean undisturbed;

    /** Priority of the request that this one made room for; null when it is not known. */
    public @Nullable Integer preemptedForPriority;
    /** Number of the last step that scheduled it, where priorities differ; -1 before. */
    public long rowStepNumber = -1;

    public @Nullable TokenBatch open;
    public long openSinceNanos;
    /** Its number in {@link EngineState#openBatches}. */
    public long openNumber;

    /** Its name as batches carry it, with this clock; not kept in snapshots. */
    transient byte @Nullable [] packedName;

    /** How much of it is name and clock: what facts carry. */
    transient int packedNameLength;

    transient @Nullable String packedClockId;

    /** One more than the number of the step that last had it; not kept in snapshots. */
    transient long seenInStep;

    /** One more than the number of the step whose shared row is its last one; not kept in snapshots. */
    transient long sharedInStep;

    /**
     * One more than the number of the step that made the first of its tokens that its batch does not have yet ({@link HeldTokens}); 0 where it
     * has all, as when a timeline is done.
     */
    transient long heldSinceStep;

    /** One more than the number of the step with which its batch is full. */
    transient long heldUntilStep;

    /** Its name as it travels, with this clock. */
    byte[] packedName(String clockId, String origin) {
        byte[] packed = packedName;
        if (packed == null || !clockId.equals(packedClockId)) {
            packed = TokenBatchSerializer.packedName(name, clockId, origin);
            packedName = packed;
            packedNameLength = packed.length - TokenBatchSerializer.textBytes(origin);
            packedClockId = clockId;
        }
        return packed;
    }

    /** For Flink's serializer. */
    public SequenceState() {}
}
