package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * An engine's limits and versions, at its start or when a collector attached.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param engineName engine software, such as vllm; absent when not known
 * @param engineVersion its version; absent when not known
 * @param tokenBudgetTokens most tokens computed in one step, in tokens; absent when not reported
 * @param maxSequencesCount most sequences running at once (seats); absent when not reported
 * @param kvTotalBlocksCount usable KV blocks; absent when not reported
 * @param blockSizeTokens tokens per block, in tokens; absent when not sent
 * @param schedulingPolicy fcfs or priority; absent when not reported
 * @param asyncScheduling true when step N+1 is scheduled before step N has been taken in; absent when not reported
 * @param smallerPriorityFirst true when a smaller priority number is more urgent; absent when not reported
 * @param model served model name; absent when the origin does not say
 * @param tensorParallelCount devices that share every layer; absent when not reported
 * @param maxGraphBatchCount largest padded batch that runs as a graph, larger ones run eagerly; absent when not reported
 * @param pipelineParallelCount stages that the layers are spread over; absent when not reported
 * @param dataParallelCount engines that serve the same model side by side, this one included; absent when not reported
 */
public record EngineConfigured(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) @Nullable String engineName,
        @Field(4) @Nullable String engineVersion,
        @Field(5) @Nullable Long tokenBudgetTokens,
        @Field(6) @Nullable Integer maxSequencesCount,
        @Field(7) @Nullable Long kvTotalBlocksCount,
        @Field(8) @Nullable Integer blockSizeTokens,
        @Field(9) @Nullable String schedulingPolicy,
        @Field(10) @Nullable Boolean asyncScheduling,
        @Field(11) @Nullable Boolean smallerPriorityFirst,
        @Field(12) @Nullable String model,
        @Field(13) @Nullable Integer tensorParallelCount,
        @Field(14) @Nullable Integer maxGraphBatchCount,
        @Field(15) @Nullable Integer pipelineParallelCount,
        @Field(16) @Nullable Integer dataParallelCount)
        implements Event {

    /** A configuration that says nothing of pipeline and data parallel sizes. */
    public EngineConfigured(
            String engineId,
            int dpRank,
            @Nullable String engineName,
            @Nullable String engineVersion,
            @Nullable Long tokenBudgetTokens,
            @Nullable Integer maxSequencesCount,
            @Nullable Long kvTotalBlocksCount,
            @Nullable Integer blockSizeTokens,
            @Nullable String schedulingPolicy,
            @Nullable Boolean asyncScheduling,
            @Nullable Boolean smallerPriorityFirst,
            @Nullable String model,
            @Nullable Integer tensorParallelCount,
            @Nullable Integer maxGraphBatchCount) {
        this(
                engineId,
                dpRank,
                engineName,
                engineVersion,
                tokenBudgetTokens,
                maxSequencesCount,
                kvTotalBlocksCount,
                blockSizeTokens,
                schedulingPolicy,
                asyncScheduling,
                smallerPriorityFirst,
                model,
                tensorParallelCount,
                maxGraphBatchCount,
                null,
                null);
    }

    /** A configuration that says nothing of parallel sizes and graphs. */
    public EngineConfigured(
            String engineId,
            int dpRank,
            @Nullable String engineName,
            @Nullable String engineVersion,
            @Nullable Long tokenBudgetTokens,
            @Nullable Integer maxSequencesCount,
            @Nullable Long kvTotalBlocksCount,
            @Nullable Integer blockSizeTokens,
            @Nullable String schedulingPolicy,
            @Nullable Boolean asyncScheduling,
            @Nullable Boolean smallerPriorityFirst,
            @Nullable String model) {
        this(
                engineId,
                dpRank,
                engineName,
                engineVersion,
                tokenBudgetTokens,
                maxSequencesCount,
                kvTotalBlocksCount,
                blockSizeTokens,
                schedulingPolicy,
                asyncScheduling,
                smallerPriorityFirst,
                model,
                null,
                null);
    }

    @Override
    public EventKind kind() {
        return EventKind.ENGINE_CONFIGURED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
