package io.tokenstair.collect.device;

import io.tokenstair.collect.input.RejectedRecordException;
import java.util.Arrays;

/**
 * Stamps that lie within reason of a trace's other stamps: one damaged digit would otherwise push the event time of all that follows.
 * The reference is the median of the first {@value #SAMPLES} stamps.
 */
public final class StampRange {
    private static final int SAMPLES = 1_001;
    private static final long FARTHEST_NANOS = 400L * 86_400_000_000_000L;

    private final long[] samples = new long[SAMPLES];
    private int count;
    private boolean sorted;

    /** Takes a stamp into account. */
    public void sample(long nanos) {
        if (count < SAMPLES) {
            samples[count++] = nanos;
        }
    }

    /** True when no stamp was taken. */
    public boolean isEmpty() {
        return count == 0;
    }

    /** The reference. All samples must have been taken. */
    public long referenceNanos() {
        if (!sorted) {
            Arrays.sort(samples, 0, count);
            sorted = true;
        }
        return count == 0 ? 0 : samples[count / 2];
    }

    /** Refuses a stamp that lies more than 400 days from the reference. */
    public void check(String field, long nanos) throws RejectedRecordException {
        long reference = referenceNanos();
        if (count > 0 && (nanos > reference + FARTHEST_NANOS || nanos < reference - FARTHEST_NANOS)) {
            throw new RejectedRecordException("field " + field + ": more than 400 days from the trace's other stamps");
        }
    }
}
