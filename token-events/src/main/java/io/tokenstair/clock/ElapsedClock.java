package io.tokenstair.clock;

/** A monotonic clock of this process: for durations, never for dates. */
public interface ElapsedClock {
    /** Nanoseconds since an origin of its own. */
    long elapsedNanos();

    /** The clock of this machine: on Linux the kernel's monotonic clock, the same for every process of the host. */
    static ElapsedClock system() {
        return System::nanoTime;
    }
}
