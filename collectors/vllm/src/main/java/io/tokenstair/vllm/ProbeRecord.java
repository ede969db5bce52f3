package io.tokenstair.vllm;

import io.tokenstair.foreign.KvPayload;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One record of the probe, as {@code tokenstair_probe/records.py} describes it. Stamps are ns of the monotonic clock. */
sealed interface ProbeRecord {

    /** A record that the probe could not encode, or of a kind this version does not know: only its place is known. */
    record Unread(String reason) implements ProbeRecord {}

    /** A sequence that is scheduled for the first time, or again under a runner that tells no difference. */
    record Fresh(String id, int computedTokens, int outputTokens, int preemptionCount) {}

    /** A sequence that ended in a step; {@code position} among the outputs. */
    record Finish(int position, String reason) {}

    /**
     * A step with the sequences of an earlier one, each of them a token further for each step in between; none of them ended.
     *
     * @param baseStepId the earlier one
     */
    record SameStep(
            long stepId,
            long baseStepId,
            long scheduleStartNanos,
            long scheduleEndNanos,
            long updateStartNanos,
            long updateEndNanos,
            int runningCount,
            int waitingCount,
            @Nullable Long kvFreeBlocksCount,
            int waitReason,
            @Nullable Long kvBatchSequence,
            @Nullable Long probeNanos)
            implements ProbeRecord {}

    /** A step; columns are as the engine has them, see the Python side. */
    record Step(
            long stepId,
            long scheduleStartNanos,
            long scheduleEndNanos,
            long updateStartNanos,
            long updateEndNanos,
            @Nullable Integer runningCount,
            @Nullable Integer waitingCount,
            @Nullable Long kvFreeBlocksCount,
            int waitReason,
            List<String> ids,
            int[] scheduledTokens,
            @Nullable List<String> cachedIds,
            int[] computedTokens,
            int[] outputTokens,
            List<String> resumedIds,
            List<Fresh> fresh,
            @Nullable List<String> emittingIds,
            int @Nullable [] tokenCounts,
            List<Finish> finishes,
            @Nullable Long kvBatchSequence,
            @Nullable String graphMode,
            @Nullable Integer paddedBatchCount,
            @Nullable Long probeNanos)
            implements ProbeRecord {}

    /** A request was taken into the waiting queue. */
    record Queued(
            long clockNanos,
            String id,
            @Nullable Double arrivalSeconds,
            @Nullable Long promptTokens,
            @Nullable Long maxTokens,
            @Nullable Integer priority)
            implements ProbeRecord {}

    /** Requests were ended from outside. */
    record Ended(long clockNanos, Map<String, Long> outputTokens, String status) implements ProbeRecord {}

    /** A sequence lost its blocks. */
    record Preempted(
            long clockNanos,
            long stepId,
            String id,
            int reason,
            @Nullable String wantedBy,
            @Nullable Long computedTokens,
            @Nullable Long outputTokens,
            @Nullable Integer preemptionCount,
            @Nullable Long freeBlocksCount)
            implements ProbeRecord {}

    /**
     * Cached blocks were taken for something else; the lists are of equal length, an idle time of -1 is unknown.
     *
     * @param carried whether the probe sends the KV event that names the same blocks, later
     */
    record Evicted(
            long clockNanos,
            long stepId,
            int reason,
            @Nullable String wantedBy,
            List<Long> hashes,
            List<Long> reuseCounts,
            List<Long> idleNanos,
            boolean carried)
            implements ProbeRecord {}

    /**
     * What an engine whose publisher publishes nothing had to tell of its KV blocks.
     *
     * @param batchSequence number of the batch among those of its engine, from 0
     */
    record KvEvents(long clockNanos, long batchSequence, KvPayload payload) implements ProbeRecord {}

    /** An open sequence, told again for collectors that came later. */
    record OpenSequence(
            String id,
            @Nullable Long promptTokens,
            @Nullable Long maxTokens,
            @Nullable Integer priority,
            @Nullable Integer preemptionCount,
            @Nullable Double arrivalSeconds) {}

    /** The open sequences. */
    record Open(long clockNanos, List<OpenSequence> sequences) implements ProbeRecord {}

    /** The engine's limits, by name. */
    record Engine(long clockNanos, Map<String, Object> limits) implements ProbeRecord {}

    /** The process did not run. */
    record Paused(String cause, long startNanos, long endNanos) implements ProbeRecord {}

    /** What process this is, by name. */
    record Process(long clockNanos, Map<String, Object> facts) implements ProbeRecord {}

    /** A file of weights was loaded. */
    record Shard(
            long startNanos,
            long endNanos,
            String name,
            @Nullable Long sizeBytes,
            @Nullable String deviceId,
            @Nullable String bindingPath)
            implements ProbeRecord {}

    /** What the prefix cache was asked for and found. */
    record Lookup(
            long clockNanos,
            int rank,
            @Nullable Long queriedTokens,
            @Nullable Long hitTokens,
            @Nullable Long preemptedQueriedTokens,
            @Nullable Long preemptedHitTokens)
            implements ProbeRecord {}

    /** Running totals of something that was timed. */
    record Total(long clockNanos, String name, long nanos, long calls) implements ProbeRecord {}
}
