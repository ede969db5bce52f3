package io.tokenstair.look.archive;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.cause.Part;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parts of a token's gap and of its delivery that are present, in the order of the closed lists. */
public final class TokenParts {
    private TokenParts() {}

    /**
     * A part.
     *
     * @param name the name people see
     * @param nanos its time; may be negative
     * @param evidence the events that show it; empty where it needs none
     */
    public record NamedPart(String name, long nanos, List<String> evidence) {}

    /** The parts of the gap; empty where the gap is unknown. */
    public static List<NamedPart> ofGap(TokenAnalysis token) {
        List<NamedPart> parts = new ArrayList<>();
        for (Part part : Part.values()) {
            Long nanos = gapPart(token, part);
            if (nanos != null) {
                parts.add(new NamedPart(part.partName(), nanos, evidenceOf(token, part.partName())));
            }
        }
        return parts;
    }

    /** The parts of the delivery; empty where the delivery is unknown. */
    public static List<NamedPart> ofDelivery(TokenAnalysis token) {
        List<NamedPart> parts = new ArrayList<>();
        for (DeliveryPart part : DeliveryPart.values()) {
            Long nanos = deliveryPart(token, part);
            if (nanos != null) {
                parts.add(new NamedPart(part.partName(), nanos, evidenceOf(token, "delivery-" + part.partName())));
            }
        }
        return parts;
    }

    private static List<String> evidenceOf(TokenAnalysis token, String partName) {
        List<String> alternating = token.evidence();
        List<String> events = new ArrayList<>();
        for (int place = 0; place + 1 < alternating.size(); place += 2) {
            if (alternating.get(place).equals(partName)) {
                events.add(alternating.get(place + 1));
            }
        }
        return events;
    }

    private static @Nullable Long gapPart(TokenAnalysis token, Part part) {
        return switch (part) {
            case REFERENCE -> token.partReferenceNanos();
            case QUEUE_WAIT -> token.partQueueWaitNanos();
            case PREEMPTED_WAIT -> token.partPreemptedWaitNanos();
            case SKIPPED_WAIT -> token.partSkippedWaitNanos();
            case TRANSFER_WAIT -> token.partTransferWaitNanos();
            case BATCH -> token.partBatchNanos();
            case CONTEXT -> token.partContextNanos();
            case PREFILL -> token.partPrefillNanos();
            case RECOMPUTE_OWN -> token.partRecomputeOwnNanos();
            case RECOMPUTE_OTHER -> token.partRecomputeOtherNanos();
            case GRAPH -> token.partGraphNanos();
            case KERNEL -> token.partKernelNanos();
            case SYNC -> token.partSyncNanos();
            case ALLOC -> token.partAllocNanos();
            case COLLECTIVE -> token.partCollectiveNanos();
            case HOST_CONTENTION -> token.partHostContentionNanos();
            case HOST_PAUSE -> token.partHostPauseNanos();
            case HOST_GAP -> token.partHostGapNanos();
            case UNEXPLAINED -> token.partUnexplainedNanos();
        };
    }

    private static @Nullable Long deliveryPart(TokenAnalysis token, DeliveryPart part) {
        return switch (part) {
            case OUTPUT -> token.deliveryOutputNanos();
            case GATEWAY -> token.deliveryGatewayNanos();
            case NETWORK -> token.deliveryNetworkNanos();
            case CLIENT -> token.deliveryClientNanos();
            case UNEXPLAINED -> token.deliveryUnexplainedNanos();
        };
    }
}
