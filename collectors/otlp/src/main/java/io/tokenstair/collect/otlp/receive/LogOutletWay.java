package io.tokenstair.collect.otlp.receive;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.Event;
import io.tokenstair.log.CollectorFeed;
import io.tokenstair.log.LogOutlet;
import org.jspecify.annotations.Nullable;

/** The way to the log, as one collector of an outlet. */
public final class LogOutletWay implements EventWay {
    private final LogOutlet outlet;
    private final CollectorFeed feed;

    /** A way into an outlet, as the collector of this id. */
    public LogOutletWay(LogOutlet outlet, String collectorId) {
        this.outlet = outlet;
        this.feed = outlet.feed(collectorId);
        feed.beat(HostClocks.sampler());
    }

    @Override
    public int roomCount() {
        return outlet.roomCount();
    }

    @Override
    public int mostCount() {
        return outlet.mostCount();
    }

    @Override
    public boolean offer(@Nullable String clockId, @Nullable Long clockNanos, Event event) {
        return clockId == null ? feed.offer(event) : feed.offer(clockId, clockNanos, event);
    }

    @Override
    public @Nullable String trouble() {
        return outlet.status().trouble();
    }

    /** Events of this collector that were lost so far. */
    public long lostCount() {
        return feed.lostCount();
    }

    /** How an outlet fares, in the OpenMetrics text format without its end mark. */
    public static String metrics(LogOutlet outlet) {
        LogOutlet.Status status = outlet.status();
        StringBuilder out = new StringBuilder();
        counter(out, "tokenstair_outlet_offered_events", "Events that collectors offered.", status.offeredCount());
        counter(out, "tokenstair_outlet_kept_events", "Events that the log has.", status.keptCount());
        counter(out, "tokenstair_outlet_lost_events", "Events that the log will never have.", status.lostCount());
        gauge(out, "tokenstair_outlet_queued_events", "Events that wait for the log.", status.queuedCount());
        gauge(
                out,
                "tokenstair_outlet_writable",
                "1 where the log can be written to, 0 where it cannot.",
                status.trouble() == null ? 1 : 0);
        return out.toString();
    }

    private static void counter(StringBuilder out, String name, String help, long value) {
        out.append("# HELP ").append(name).append(' ').append(help).append('\n');
        out.append("# TYPE ").append(name).append(" counter\n");
        out.append(name).append("_total ").append(value).append('\n');
    }

    private static void gauge(StringBuilder out, String name, String help, long value) {
        out.append("# HELP ").append(name).append(' ').append(help).append('\n');
        out.append("# TYPE ").append(name).append(" gauge\n");
        out.append(name).append(' ').append(value).append('\n');
    }
}
