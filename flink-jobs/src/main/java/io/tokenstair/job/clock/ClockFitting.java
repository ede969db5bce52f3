package io.tokenstair.job.clock;

import io.tokenstair.clock.ClockFit;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Makes clock segments of clock samples, all ways between two clocks in one total order. Where the input holds a way's segments, they are passed
 * on and its samples are left alone: a replay uses what the stream made and never fits again. A first segment has the event time of the
 * sample that made it, and segments come before samples of their millisecond, so that this is known before anything is fitted.
 */
public final class ClockFitting {
    /** Most ways at one time; samples of others are counted and left alone. */
    public static final int MAX_WAYS = 8_192;

    /** How long a way without records is remembered, in event time: longer than who aligns with it does. */
    public static final long MEMORY_MILLIS = ClockGraph.MEMORY_MILLIS + 600_000;

    private final FittingState state;
    private final Output output;

    /** Takes what is made. */
    public interface Output {
        /** A segment that counts from now on. */
        void published(PublishedSegment segment);

        /** A segment that was made here, as the event to archive. */
        void made(LoggedEvent event);
    }

    /** A fitting over its state. */
    public ClockFitting(FittingState state, Output output) {
        this.state = state;
        this.output = output;
    }

    /** Takes the next sample or segment, in {@link ClockRecord#ORDER}. */
    public void accept(LoggedEvent logged) {
        Long coarse = logged.header().coarseEpochMillis();
        long millis = coarse == null ? Long.MAX_VALUE : coarse;
        if (logged.event() instanceof ClockFitted segment) {
            WayFit way = way(segment.fromClockId(), segment.toClockId(), millis);
            if (way != null) {
                way.given = true;
                way.fit = new ClockFit();
                output.published(new PublishedSegment(millis, segment));
            }
        } else if (logged.event() instanceof ClockSampled sample) {
            WayFit way = way(sample.localClockId(), sample.remoteClockId(), millis);
            if (way != null && !way.given) {
                for (ClockFitted segment : way.fit.accept(sample)) {
                    output.made(new LoggedEvent(header(way, segment, coarse), segment));
                    output.published(new PublishedSegment(millis, segment));
                }
            }
        }
    }

    private @Nullable WayFit way(String from, String to, long millis) {
        if (from.equals(to)) {
            state.refusedRecords++;
            return null;
        }
        String id = ClockGraph.wayId(from, to);
        WayFit way = state.ways.get(id);
        if (way != null && isForgotten(way, millis)) {
            state.ways.remove(id);
            way = null;
        }
        if (way == null) {
            if (state.ways.size() >= MAX_WAYS) {
                state.ways.values().removeIf(other -> isForgotten(other, millis));
            }
            if (state.ways.size() >= MAX_WAYS) {
                state.refusedRecords++;
                return null;
            }
            way = new WayFit();
            way.fit = ClockFit.between(from, to);
            way.beganMillis = millis;
            state.ways.put(id, way);
        }
        way.lastMillis = millis;
        return way;
    }

    private static boolean isForgotten(WayFit way, long millis) {
        return millis != Long.MAX_VALUE && way.lastMillis < millis - MEMORY_MILLIS;
    }

    private static EventHeader header(WayFit way, ClockFitted segment, @Nullable Long coarse) {
        String id = ClockGraph.wayId(segment.fromClockId(), segment.toClockId());
        return new EventHeader(
                "clock-fit/" + UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.UTF_8)),
                way.beganMillis == Long.MAX_VALUE ? 0 : way.beganMillis,
                segment.segmentIndex(),
                segment.fromClockId(),
                segment.startNanos(),
                coarse);
    }
}
