package io.tokenstair.collect.live;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.Rejected;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One source of a live collector: what was read of it is taken or rejected, and what never came is lost; all three are counted and told. */
public final class Source {
    private final String name;
    private final String label;
    private final String collectorId;
    private final EventOut out;
    private final AtomicLong takenCount = new AtomicLong();
    private final AtomicLong rejectedCount = new AtomicLong();
    private final AtomicLong lostCount = new AtomicLong();

    /**
     * A source of which nothing was read.
     *
     * @param name what it is, for people, such as "forward passes"
     * @param label what rejects and losses are said to be of: an address, a file
     * @param collectorId who records
     * @param out takes what is told
     */
    public Source(String name, String label, String collectorId, EventOut out) {
        this.name = name;
        this.label = label.length() > 200 ? label.substring(0, 200) : label;
        this.collectorId = collectorId;
        this.out = out;
    }

    /** What rejects and losses are said to be of. */
    public String label() {
        return label;
    }

    /** The way of its events to the log. */
    public EventsOut events() {
        return EventsOut.live(collectorId, out);
    }

    /** Tells an event by this machine's monotonic clock. */
    public void tell(long nowNanos, Event event) {
        out.accept(collectorId, HostClocks.elapsedId(), nowNanos, event);
    }

    /** A record was taken. */
    public void taken() {
        takenCount.incrementAndGet();
    }

    /** A record could not be taken. */
    public void rejected(String reason) {
        rejected(reason, null, null);
    }

    /**
     * A record could not be taken.
     *
     * @param lineNumber its line; absent when it has none
     * @param excerpt what it was, without text; absent when it is not told
     */
    public void rejected(String reason, @Nullable Long lineNumber, @Nullable String excerpt) {
        rejectedCount.incrementAndGet();
        tell(ElapsedClock.system().elapsedNanos(), new Rejected(label, lineNumber, null, reason, excerpt));
    }

    /** Running numbers that never came. */
    public void lost(String whose, long first, long last, long nowNanos) {
        lostCount.addAndGet(last - first + 1);
        tell(nowNanos, new CollectorGap(whose, first, last));
    }

    /** How it fares, in a few words. */
    @Override
    public String toString() {
        return name + " " + takenCount + ", lost " + lostCount + ", rejected " + rejectedCount;
    }
}
