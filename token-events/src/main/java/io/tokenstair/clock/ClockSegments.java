package io.tokenstair.clock;

import io.tokenstair.event.ClockSampled;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The way from one clock to another, learnt from clock samples, in integers: the same samples in the same order always give the same
 * segments. A new segment begins only where the offset in force leaves what a new sample allows; earlier segments are never
 * rewritten, so that what was aligned once stays as it was. Fit to be kept as a stream engine's state: public fields, a string or
 * primitive arrays each. Holds the last {@value #MAX_SEGMENTS} segments; stamps before the oldest are not aligned.
 */
public final class ClockSegments {
    /** Most segments that are held. */
    public static final int MAX_SEGMENTS = 4096;

    /** The clock whose stamps are aligned. */
    public String fromClockId = "";

    /** The clock they are aligned to. */
    public String toClockId = "";

    /** Segments made so far; the version of the next one. */
    public long madeCount;

    /** First reading of each held segment, rising. */
    public long[] startNanos = new long[0];

    /** Offset of each held segment. */
    public long[] offsetNanos = new long[0];

    /** Half-width of each held segment. */
    public long[] boundNanos = new long[0];

    /** For a stream engine that fills in the fields. Use {@link #between}. */
    public ClockSegments() {}

    /** A way that is not known yet. */
    public static ClockSegments between(String fromClockId, String toClockId) {
        ClockSegments segments = new ClockSegments();
        segments.fromClockId = fromClockId;
        segments.toClockId = toClockId;
        return segments;
    }

    /** True when the sample reads both clocks of this way, in either role. */
    public boolean covers(ClockSampled sample) {
        return forward(sample) || backward(sample);
    }

    private boolean forward(ClockSampled sample) {
        return sample.localClockId().equals(fromClockId)
                && sample.remoteClockId().equals(toClockId);
    }

    private boolean backward(ClockSampled sample) {
        return sample.localClockId().equals(toClockId) && sample.remoteClockId().equals(fromClockId);
    }

    /**
     * Takes in a sample. One of other clocks, one that contradicts itself (read after before read before, a negative stated bound, an
     * offset beyond 64 bits) and one that is not later than the newest segment change nothing.
     *
     * @return the segment that it began; null when the offset in force still stands or the sample changes nothing
     */
    public @Nullable ClockSegment accept(ClockSampled sample) {
        Offset offset = offset(sample);
        if (offset == null) {
            return null;
        }
        int count = startNanos.length;
        if (count > 0) {
            long inForce = offsetNanos[count - 1];
            boolean stands = inForce >= offset.least && inForce <= offset.most;
            if (stands || offset.atNanos <= startNanos[count - 1]) {
                return null;
            }
        }
        startNanos = appended(startNanos, offset.atNanos);
        offsetNanos = appended(offsetNanos, offset.middle());
        boundNanos = appended(boundNanos, offset.halfWidth());
        madeCount++;
        return newest();
    }

    private static long[] appended(long[] values, long value) {
        int dropped = values.length == MAX_SEGMENTS ? 1 : 0;
        long[] longer = Arrays.copyOfRange(values, dropped, values.length + 1);
        longer[longer.length - 1] = value;
        return longer;
    }

    /** The newest segment; null before the first sample. */
    public @Nullable ClockSegment newest() {
        int last = startNanos.length - 1;
        return last < 0 ? null : new ClockSegment(madeCount - 1, startNanos[last], offsetNanos[last], boundNanos[last]);
    }

    /**
     * A reading of the first clock on the axis of the second, by the newest segment that starts at or before it.
     *
     * @return null when no held segment starts at or before the reading, or the result does not fit 64 bits: never a guess
     */
    public @Nullable AlignedStamp align(long clockNanos) {
        int found = Arrays.binarySearch(startNanos, clockNanos);
        int segment = found >= 0 ? found : -found - 2;
        if (segment < 0) {
            return null;
        }
        long aligned = clockNanos + offsetNanos[segment];
        if (((clockNanos ^ aligned) & (offsetNanos[segment] ^ aligned)) < 0) {
            return null;
        }
        return new AlignedStamp(aligned, boundNanos[segment]);
    }

    private @Nullable Offset offset(ClockSampled sample) {
        long before = sample.beforeNanos();
        long after = sample.afterNanos();
        long remote = sample.remoteNanos();
        Long stated = sample.statedBoundNanos();
        if (after < before || (stated != null && stated < 0) || !covers(sample)) {
            return null;
        }
        try {
            long middle = before + Math.subtractExact(after, before) / 2;
            long least = stated == null
                    ? Math.subtractExact(remote, after)
                    : Math.subtractExact(Math.subtractExact(remote, middle), stated);
            long most = stated == null
                    ? Math.subtractExact(remote, before)
                    : Math.addExact(Math.subtractExact(remote, middle), stated);
            Math.subtractExact(most, least);
            return forward(sample)
                    ? new Offset(middle, least, most)
                    : new Offset(remote, Math.negateExact(most), Math.negateExact(least));
        } catch (ArithmeticException e) {
            return null;
        }
    }

    /** What a sample allows the offset to be, at a reading of the first clock. */
    private record Offset(long atNanos, long least, long most) {
        long middle() {
            return least + (most - least) / 2;
        }

        long halfWidth() {
            return most - middle();
        }
    }
}
