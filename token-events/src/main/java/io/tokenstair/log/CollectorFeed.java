package io.tokenstair.log;

import io.tokenstair.clock.ClockSampler;
import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.Event;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What one collector writes to the log: numbers its records, dates them, and remembers which of them were lost. Its methods may be
 * called from any thread and never wait for the log.
 */
public final class CollectorFeed {
    /** Ranges of lost records that are remembered until the log is back; beyond, losses are counted but not named. */
    static final int MAX_LOST_RANGES = 4_096;

    private static final String CLOCK_ID = HostClocks.elapsedId();

    private final LogOutlet outlet;
    private final String collectorId;

    // All below is guarded by the outlet's lock.
    private final Deque<long[]> lostRanges = new ArrayDeque<>();
    private long nextSequence;
    private long lostCount;
    private long reportedLostCount;
    private @Nullable ClockSampler sampler;

    CollectorFeed(LogOutlet outlet, String collectorId) {
        this.outlet = outlet;
        this.collectorId = collectorId;
    }

    /** The collector's id. */
    public String collectorId() {
        return collectorId;
    }

    /**
     * Offers an event stamped now by this machine's monotonic clock.
     *
     * @return false when it is lost, which the log is told as soon as it can be
     */
    public boolean offer(Event event) {
        return offer(CLOCK_ID, ElapsedClock.system().elapsedNanos(), event);
    }

    /**
     * Offers an event under a stamp.
     *
     * @param clockId the clock of the stamp
     * @param clockNanos the stamp; absent when there is none
     * @return false when it is lost, which the log is told as soon as it can be
     */
    public boolean offer(String clockId, @Nullable Long clockNanos, Event event) {
        return outlet.offer(this, clockId, clockNanos, event);
    }

    /** Has both clocks read and logged once a second from now on, which also says that the collector lives when it has nothing to say. */
    public void beat(ClockSampler clocks) {
        outlet.beat(this, clocks);
    }

    /** Events of this collector that were lost so far. */
    public long lostCount() {
        return outlet.lostCount(this);
    }

    long takeSequence() {
        return nextSequence++;
    }

    void lose(long sequence, boolean counted) {
        lose(sequence, sequence);
        if (counted) {
            lostCount++;
        }
    }

    /** Remembers a range, joined to the last one where it follows it. */
    void lose(long first, long last) {
        long[] latest = lostRanges.peekLast();
        if (latest != null && latest[1] + 1 == first) {
            latest[1] = last;
        } else if (lostRanges.size() < MAX_LOST_RANGES) {
            lostRanges.add(new long[] {first, last});
        }
    }

    long[][] takeLostRanges(int most) {
        long[][] taken = new long[Math.min(most, lostRanges.size())][];
        for (int i = 0; i < taken.length; i++) {
            taken[i] = lostRanges.removeFirst();
        }
        return taken;
    }

    boolean hasLostRanges() {
        return !lostRanges.isEmpty();
    }

    long lost() {
        return lostCount;
    }

    /** The count of lost events where it has changed since it was last asked for; else -1. */
    long unreportedLostCount() {
        if (reportedLostCount == lostCount) {
            return -1;
        }
        reportedLostCount = lostCount;
        return lostCount;
    }

    void setSampler(ClockSampler clocks) {
        sampler = clocks;
    }

    @Nullable
    ClockSampler sampler() {
        return sampler;
    }
}
