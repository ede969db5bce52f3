package io.tokenstair.job.step;

import io.tokenstair.cause.Cause;

/** Picks the cause that owns the largest part; equal parts go to the cause declared first. */
final class CauseChoice {
    private Cause best = Cause.UNRESOLVED_STALL;
    private long bestNanos = Long.MIN_VALUE;

    void offer(Cause cause, long nanos) {
        if (nanos <= 0 && cause != Cause.UNRESOLVED_STALL) {
            return;
        }
        if (nanos > bestNanos || (nanos == bestNanos && cause.compareTo(best) < 0)) {
            best = cause;
            bestNanos = nanos;
        }
    }

    Cause best() {
        return best;
    }
}
