package io.tokenstair.archive.result;

import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.cause.Part;
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
 * @param deliveredBoundNanos how far {@code deliveryNanos} may be from the truth: 0 on one clock; absent where it is
 * @param slowKind load or anomaly; absent when the token is not slow, or the model cannot say
 * @param sigmaNanos statistical width of the aligned stamps: standard deviation of their error; absent where {@code boundNanos} is, and
 *     where a stamp comes from a coarse reading
 * @param deliveredSigmaNanos the same of {@code deliveryNanos}: 0 on one clock
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
        @Field(50) List<String> missingLayers,
        @Field(51) @Nullable Long deliveredBoundNanos,
        @Field(52) @Nullable String slowKind,
        @Field(53) @Nullable Long sigmaNanos,
        @Field(54) @Nullable Long deliveredSigmaNanos) {

    /** A token whose delivery, if it has one, was measured on one clock. */
    public TokenAnalysis(
            String requestId,
            int lifetime,
            int sequenceIndex,
            int tokenIndex,
            @Nullable String engineId,
            @Nullable Long stepId,
            @Nullable Long producedEpochNanos,
            @Nullable Long deliveredEpochNanos,
            @Nullable Long boundNanos,
            @Nullable String gapBasis,
            @Nullable Long gapNanos,
            @Nullable Long expectedNanos,
            @Nullable Long referenceNanos,
            @Nullable Long excessNanos,
            @Nullable Integer contextTokens,
            @Nullable Integer batchSequences,
            String state,
            @Nullable String cause,
            @Nullable String culpritRequestId,
            @Nullable String confidence,
            @Nullable String confidenceWhy,
            @Nullable Long partReferenceNanos,
            @Nullable Long partQueueWaitNanos,
            @Nullable Long partPreemptedWaitNanos,
            @Nullable Long partSkippedWaitNanos,
            @Nullable Long partTransferWaitNanos,
            @Nullable Long partBatchNanos,
            @Nullable Long partContextNanos,
            @Nullable Long partPrefillNanos,
            @Nullable Long partRecomputeOwnNanos,
            @Nullable Long partRecomputeOtherNanos,
            @Nullable Long partGraphNanos,
            @Nullable Long partKernelNanos,
            @Nullable Long partSyncNanos,
            @Nullable Long partAllocNanos,
            @Nullable Long partCollectiveNanos,
            @Nullable Long partHostContentionNanos,
            @Nullable Long partHostPauseNanos,
            @Nullable Long partHostGapNanos,
            @Nullable Long partUnexplainedNanos,
            @Nullable Long deliveryNanos,
            @Nullable Long deliveryOutputNanos,
            @Nullable Long deliveryGatewayNanos,
            @Nullable Long deliveryNetworkNanos,
            @Nullable Long deliveryClientNanos,
            @Nullable Long deliveryUnexplainedNanos,
            @Nullable String deliveryCause,
            List<String> evidence,
            List<String> chain,
            List<String> missingLayers,
            @Nullable String slowKind) {
        this(
                requestId,
                lifetime,
                sequenceIndex,
                tokenIndex,
                engineId,
                stepId,
                producedEpochNanos,
                deliveredEpochNanos,
                boundNanos,
                gapBasis,
                gapNanos,
                expectedNanos,
                referenceNanos,
                excessNanos,
                contextTokens,
                batchSequences,
                state,
                cause,
                culpritRequestId,
                confidence,
                confidenceWhy,
                partReferenceNanos,
                partQueueWaitNanos,
                partPreemptedWaitNanos,
                partSkippedWaitNanos,
                partTransferWaitNanos,
                partBatchNanos,
                partContextNanos,
                partPrefillNanos,
                partRecomputeOwnNanos,
                partRecomputeOtherNanos,
                partGraphNanos,
                partKernelNanos,
                partSyncNanos,
                partAllocNanos,
                partCollectiveNanos,
                partHostContentionNanos,
                partHostPauseNanos,
                partHostGapNanos,
                partUnexplainedNanos,
                deliveryNanos,
                deliveryOutputNanos,
                deliveryGatewayNanos,
                deliveryNetworkNanos,
                deliveryClientNanos,
                deliveryUnexplainedNanos,
                deliveryCause,
                evidence,
                chain,
                missingLayers,
                deliveryNanos == null ? null : Long.valueOf(0),
                slowKind,
                null,
                deliveryNanos == null ? null : Long.valueOf(0));
    }

    /** Whether the clocks cannot tell if the token was made before it was delivered: the stamps' bounds overlap. */
    public boolean isOrderUndecidable() {
        return deliveryNanos != null
                && deliveredBoundNanos != null
                && deliveredBoundNanos > 0
                && Math.abs(deliveryNanos) <= deliveredBoundNanos;
    }

    /** The time of a part of the gap; may be negative, absent where nothing shows it. */
    public @Nullable Long partNanos(Part part) {
        return switch (part) {
            case REFERENCE -> partReferenceNanos;
            case QUEUE_WAIT -> partQueueWaitNanos;
            case PREEMPTED_WAIT -> partPreemptedWaitNanos;
            case SKIPPED_WAIT -> partSkippedWaitNanos;
            case TRANSFER_WAIT -> partTransferWaitNanos;
            case BATCH -> partBatchNanos;
            case CONTEXT -> partContextNanos;
            case PREFILL -> partPrefillNanos;
            case RECOMPUTE_OWN -> partRecomputeOwnNanos;
            case RECOMPUTE_OTHER -> partRecomputeOtherNanos;
            case GRAPH -> partGraphNanos;
            case KERNEL -> partKernelNanos;
            case SYNC -> partSyncNanos;
            case ALLOC -> partAllocNanos;
            case COLLECTIVE -> partCollectiveNanos;
            case HOST_CONTENTION -> partHostContentionNanos;
            case HOST_PAUSE -> partHostPauseNanos;
            case HOST_GAP -> partHostGapNanos;
            case UNEXPLAINED -> partUnexplainedNanos;
        };
    }

    /** The time of a part of the delivery; absent where it is not known. */
    public @Nullable Long partNanos(DeliveryPart part) {
        return switch (part) {
            case OUTPUT -> deliveryOutputNanos;
            case GATEWAY -> deliveryGatewayNanos;
            case NETWORK -> deliveryNetworkNanos;
            case CLIENT -> deliveryClientNanos;
            case UNEXPLAINED -> deliveryUnexplainedNanos;
        };
    }
}
