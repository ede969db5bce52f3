package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One output token and where its time went. Table {@code token_analysis}. The part columns that are present sum exactly to
 * {@code gapNanos}; the delivery columns that are present sum exactly to {@code deliveryNanos}. An absent part is no evidence, not
 * 0. Field meanings: docs/archive.md.
 *
 * @param evidence alternating part name and event id, in part order; only slow tokens carry it
 * @param chain the sentences of the causal chain, each ending in its event ids in brackets; only slow tokens carry it
 * @param missingLayers layers that did not report for this request
 */
public record TokenAnalysis(
        @Field(1) String requestId,
        @Field(2) int lifetime,
        @Field(3) int sequenceIndex,
        @Field(4) int tokenIndex,
        @Field(5) @Nullable String engineId,
        @Field(6) @Nullable Long stepId,
        @Field(7) @Nullable Long producedEpochNanos,
        @Field(8) @Nullable Long deliveredEpochNanos,
        @Field(9) @Nullable Long boundNanos,
        @Field(10) @Nullable String gapBasis,
        @Field(11) @Nullable Long gapNanos,
        @Field(12) @Nullable Long expectedNanos,
        @Field(13) @Nullable Long referenceNanos,
        @Field(14) @Nullable Long excessNanos,
        @Field(15) @Nullable Integer contextTokens,
        @Field(16) @Nullable Integer batchSequences,
        @Field(17) String state,
        @Field(18) @Nullable String cause,
        @Field(19) @Nullable String culpritRequestId,
        @Field(20) @Nullable String confidence,
        @Field(21) @Nullable String confidenceWhy,
        @Field(22) @Nullable Long partReferenceNanos,
        @Field(23) @Nullable Long partQueueWaitNanos,
        @Field(24) @Nullable Long partPreemptedWaitNanos,
        @Field(25) @Nullable Long partSkippedWaitNanos,
        @Field(26) @Nullable Long partTransferWaitNanos,
        @Field(27) @Nullable Long partBatchNanos,
        @Field(28) @Nullable Long partContextNanos,
        @Field(29) @Nullable Long partPrefillNanos,
        @Field(30) @Nullable Long partRecomputeOwnNanos,
        @Field(31) @Nullable Long partRecomputeOtherNanos,
        @Field(32) @Nullable Long partGraphNanos,
        @Field(33) @Nullable Long partKernelNanos,
        @Field(34) @Nullable Long partSyncNanos,
        @Field(35) @Nullable Long partAllocNanos,
        @Field(36) @Nullable Long partCollectiveNanos,
        @Field(37) @Nullable Long partHostContentionNanos,
        @Field(38) @Nullable Long partHostPauseNanos,
        @Field(39) @Nullable Long partHostGapNanos,
        @Field(40) @Nullable Long partUnexplainedNanos,
        @Field(41) @Nullable Long deliveryNanos,
        @Field(42) @Nullable Long deliveryOutputNanos,
        @Field(43) @Nullable Long deliveryGatewayNanos,
        @Field(44) @Nullable Long deliveryNetworkNanos,
        @Field(45) @Nullable Long deliveryClientNanos,
        @Field(46) @Nullable Long deliveryUnexplainedNanos,
        @Field(47) @Nullable String deliveryCause,
        @Field(48) List<String> evidence,
        @Field(49) List<String> chain,
        @Field(50) List<String> missingLayers) {}
