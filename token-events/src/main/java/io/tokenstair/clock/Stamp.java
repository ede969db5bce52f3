package io.tokenstair.clock;

/**
 * A raw reading of one clock. Comparable with readings of the same clock only: another family does not compile, another clock of the
 * same family (a second engine, say) is refused. {@link ClockGraph} leads to {@link AlignedStamp}, which is comparable across
 * clocks.
 *
 * @param <C> the family of the clock
 * @param clockId the clock
 * @param nanos its reading, in ns since an origin of its own
 */
public record Stamp<C extends Clock>(String clockId, long nanos) {

    /** The time from an earlier stamp of this clock to this one, in ns; negative when that one is later. */
    public long nanosSince(Stamp<C> earlier) {
        sameClock(earlier);
        return Math.subtractExact(nanos, earlier.nanos);
    }

    /** True when this stamp is later than another of the same clock. */
    public boolean isAfter(Stamp<C> other) {
        sameClock(other);
        return nanos > other.nanos;
    }

    private void sameClock(Stamp<C> other) {
        if (!clockId.equals(other.clockId)) {
            throw new IllegalArgumentException(
                    "Cannot compare stamps of different clocks: " + clockId + " and " + other.clockId);
        }
    }
}
