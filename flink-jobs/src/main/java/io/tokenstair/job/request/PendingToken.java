package io.tokenstair.job.request;

import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.job.step.SlowToken;
import org.jspecify.annotations.Nullable;

/** A token on its way out: what the engine or the stream said of it, before it becomes a row. */
public class PendingToken {
    public int tokenIndex;
    public @Nullable String engineId;
    public @Nullable Long stepId;
    public long endNanos;
    public @Nullable Long producedEpochNanos;
    public @Nullable Long deliveredEpochNanos;
    public @Nullable Long boundNanos;
    /** Statistical width; absent where it is not known. */
    public @Nullable Long sigmaNanos;

    public @Nullable String gapBasis;
    public @Nullable Long gapNanos;
    public @Nullable Long expectedNanos;
    public @Nullable Long referenceNanos;
    public @Nullable Integer contextTokens;
    public @Nullable Integer batchSequences;
    public int flags;
    public int partMask;
    /** Values of the parts whose bit is set, in part order. */
    public long[] partNanos = new long[0];

    public @Nullable SlowToken slow;
    /** Whether a chunk that brought it is known. */
    public boolean delivered;
    /** Its chunk came on a clock that nothing joins with the engine's. */
    public boolean unjoined;
    /** A clock stepped where it was made or delivered: by how much it was late is not known. */
    public boolean clockStepped;
    /** What joined its two clocks; absent where nothing did. */
    public @Nullable Long pathOffsetNanos;
    /** Its chunk ended with it. */
    public boolean lastOfChunk;
    /** Arrival less end of its step, across clocks that may never have been aligned: only differences of it mean something. */
    public long rawDeliveryNanos;
    /** Number of the record that brought it. */
    public long recordSequence;

    /** Delivered less produced, aligned; absent where there is no path between the two clocks. */
    public @Nullable Long deliveryNanos;
    /** Bound of {@link #deliveryNanos}: 0 on one clock. */
    public long deliveryBoundNanos;
    /** Statistical width of {@link #deliveryNanos}: 0 on one clock. */
    public long deliverySigmaNanos;
    /** Which delivery parts are known: a bit each. What they leave is unexplained. */
    public int deliveryMask;

    public long outputNanos;
    public long gatewayNanos;
    public long networkNanos;
    public long clientNanos;
    /** Why it was late, where it was. */
    public @Nullable String deliveryCause;
    /** What it was later than usual. */
    public long lateNanos;
    /** What it waited for the last one of its group. */
    public long heldNanos;
    /** Ordinal of the delivery part that grew most. */
    public int lateOwner;
    /** One sentence about it. */
    public @Nullable String lateSentence;
    /** The part that owns its lateness, and the record that shows it. */
    public @Nullable String latePart;

    public String lateEventId = "";

    /** For Flink's serializer. */
    public PendingToken() {}

    /** The value of a part, or null. */
    @Nullable
    Long part(int ordinal) {
        int bit = 1 << ordinal;
        return (partMask & bit) == 0 ? null : Long.valueOf(partNanos[Integer.bitCount(partMask & (bit - 1))]);
    }

    /** Gap less reference, ns, or null. */
    @Nullable
    Long excessNanos() {
        return gapNanos == null || referenceNanos == null ? null : Long.valueOf(gapNanos - referenceNanos);
    }

    /** A delivery part that is known, ns. */
    long deliveryPart(DeliveryPart part) {
        return switch (part) {
            case OUTPUT -> outputNanos;
            case GATEWAY -> gatewayNanos;
            case NETWORK -> networkNanos;
            case CLIENT -> clientNanos;
            case UNEXPLAINED -> rest(rawDeliveryNanos);
        };
    }

    /** Sets a delivery part. */
    void deliveryPart(DeliveryPart part, long nanos) {
        deliveryMask |= 1 << part.ordinal();
        switch (part) {
            case OUTPUT -> outputNanos = nanos;
            case GATEWAY -> gatewayNanos = nanos;
            case NETWORK -> networkNanos = nanos;
            case CLIENT -> clientNanos = nanos;
            case UNEXPLAINED -> throw new IllegalArgumentException("Cannot set what is left");
        }
    }

    boolean knows(DeliveryPart part) {
        return (deliveryMask & 1 << part.ordinal()) != 0;
    }

    /** What the known parts leave of a whole. */
    long rest(long wholeNanos) {
        return wholeNanos - outputNanos - gatewayNanos - networkNanos - clientNanos;
    }

    /** A part as a column: null where it is not known, or where there is no delivery to be a part of. */
    @Nullable
    Long deliveryColumn(DeliveryPart part) {
        if (deliveryNanos == null) {
            return null;
        }
        if (part == DeliveryPart.UNEXPLAINED) {
            long rest = rest(deliveryNanos);
            return deliveryMask == 0 || rest != 0 ? Long.valueOf(rest) : null;
        }
        return knows(part) ? Long.valueOf(deliveryPart(part)) : null;
    }
}
