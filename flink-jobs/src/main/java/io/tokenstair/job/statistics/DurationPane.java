package io.tokenstair.job.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Durations of one pane and key, or some of them: panes add up in any order. */
public class DurationPane {
    /** How many of the longest durations are named. */
    public static final int WORST = 4;

    /** Longest first; equal ones by name, so that any order of adding names the same. */
    static final Comparator<Worst> ORDER = Comparator.comparingLong((Worst worst) -> -worst.nanos)
            .thenComparing(worst -> worst.requestId)
            .thenComparingInt(worst -> worst.tokenIndex);

    /** A long duration and whose it was. */
    public static class Worst {
        public long nanos;
        public String requestId = "";
        public int tokenIndex;

        /** For Flink's serializer. */
        public Worst() {}

        Worst(long nanos, String requestId, int tokenIndex) {
            this.nanos = nanos;
            this.requestId = requestId;
            this.tokenIndex = tokenIndex;
        }
    }

    public Scope scope = Scope.PRIORITY;
    public Metric metric = Metric.GAP;
    public @Nullable String model;
    public @Nullable String engineId;
    public @Nullable Integer priority;
    public long paneStartMillis;
    public DurationHistogram histogram = new DurationHistogram();
    public long maxNanos;
    /** Durations below 0: in no quantile. */
    public long invalidCount;

    public List<Worst> worst = new ArrayList<>();

    /** For Flink's serializer. */
    public DurationPane() {}

    PaneKey key() {
        return new PaneKey(metric, model, engineId, priority, paneStartMillis);
    }

    /** The same for another scope: shares what nobody changes. */
    DurationPane in(Scope wider) {
        DurationPane pane = new DurationPane();
        pane.scope = wider;
        pane.metric = metric;
        pane.model = model;
        pane.engineId = wider == Scope.MODEL ? null : engineId;
        pane.priority = wider == Scope.PRIORITY ? priority : null;
        pane.paneStartMillis = paneStartMillis;
        pane.histogram = histogram;
        pane.maxNanos = maxNanos;
        pane.invalidCount = invalidCount;
        pane.worst = worst;
        return pane;
    }

    /** Adds what another part of the same pane and key holds. */
    void add(DurationPane other) {
        histogram = histogram.plus(other.histogram);
        maxNanos = Math.max(maxNanos, other.maxNanos);
        invalidCount += other.invalidCount;
        worst = worstOf(worst, other.worst);
    }

    /** The longest of both. */
    static List<Worst> worstOf(List<Worst> a, List<Worst> b) {
        List<Worst> all = new ArrayList<>(a);
        all.addAll(b);
        all.sort(ORDER);
        return new ArrayList<>(all.subList(0, Math.min(WORST, all.size())));
    }
}
