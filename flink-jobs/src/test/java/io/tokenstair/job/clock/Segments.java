package io.tokenstair.job.clock;

import io.tokenstair.clock.ClockGraph;
import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** What a fitting without Flink makes of the clock samples among some events. */
public final class Segments implements ClockFitting.Output {
    public final List<PublishedSegment> published = new ArrayList<>();
    public final List<LoggedEvent> made = new ArrayList<>();

    private Segments() {}

    /** Fits the samples in their total order. */
    public static Segments of(List<LoggedEvent> events) {
        Segments segments = new Segments();
        ClockFitting fitting = new ClockFitting(new FittingState(), segments);
        events.stream()
                .filter(event -> event.event() instanceof ClockSampled || event.event() instanceof ClockFitted)
                .sorted(Comparator.comparingLong((LoggedEvent event) -> millis(event))
                        .thenComparing(event -> event.event() instanceof ClockSampled)
                        .thenComparing(LoggedEvent::header, EventHeader.ORDER))
                .forEach(fitting::accept);
        return segments;
    }

    private static long millis(LoggedEvent event) {
        return Objects.requireNonNullElse(event.header().coarseEpochMillis(), Long.MAX_VALUE);
    }

    /** The graph of all of them: which of them counts is decided by the event time of what is aligned. */
    public ClockGraph graph() {
        ClockGraph graph = new ClockGraph();
        published.forEach(segment -> graph.add(segment.segment(), segment.publishedMillis()));
        return graph;
    }

    @Override
    public void published(PublishedSegment segment) {
        published.add(segment);
    }

    @Override
    public void made(LoggedEvent event) {
        made.add(event);
    }
}
