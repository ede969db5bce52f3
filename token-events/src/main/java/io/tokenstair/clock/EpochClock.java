package io.tokenstair.clock;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** The wall clock: for dates, never for durations. May step in either direction. */
public interface EpochClock {
    /** Nanoseconds since 1970-01-01T00:00Z, as fine as the machine gives them. */
    long epochNanos();

    /** Milliseconds since 1970-01-01T00:00Z. */
    default long epochMillis() {
        return Math.floorDiv(epochNanos(), 1_000_000L);
    }

    /** The clock of this machine. */
    static EpochClock system() {
        return () -> {
            Instant now = Instant.now();
            return Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano());
        };
    }

    /** A clock that stands still where the given one steps back, as event time of a collector must. Safe for use by several threads. */
    static EpochClock neverDecreasing(EpochClock source) {
        AtomicLong latest = new AtomicLong(Long.MIN_VALUE);
        return () -> latest.accumulateAndGet(source.epochNanos(), Math::max);
    }
}
