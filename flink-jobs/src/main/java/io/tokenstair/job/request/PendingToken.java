package io.tokenstair.job.request;

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
    public @Nullable Long deliveryNanos;
    public boolean deliverySlow;

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
}
