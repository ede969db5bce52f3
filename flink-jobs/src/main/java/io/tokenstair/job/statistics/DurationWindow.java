package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.Quantile;
import io.tokenstair.job.statistics.DurationPane.Worst;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The panes of one key that some window still needs. A window ends at every end of a pane as long as a pane in it holds something;
 * its histogram gets the newest pane and gives back the oldest. State: the panes between the watermark less the hold less a window
 * and the newest event, 8 or so, of at most 24 KB each and usually 1 KB; nothing once a window passes without events.
 */
public class DurationWindow implements SlidingWindow<DurationPane, Quantile> {
    /** A duration is an outlier beyond this many robust standard deviations above the median. */
    public static final double OUTLIER_DEVIATIONS = 5;

    /** Panes in order of time. */
    public List<DurationPane> panes = new ArrayList<>();
    /** End of the last window that was told; {@link Long#MIN_VALUE} before the first. */
    public long toldEndMillis = Long.MIN_VALUE;
    /** All durations of the last window. */
    public DurationHistogram sum = new DurationHistogram();
    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    public long timerMillis = Long.MIN_VALUE;

    /** For Flink's serializer. */
    public DurationWindow() {}

    @Override
    public boolean add(DurationPane part) {
        long end = Panes.endMillis(part.paneStartMillis, Panes.MILLIS);
        if (end <= toldEndMillis) {
            return false;
        }
        int at = panes.size();
        while (at > 0 && panes.get(at - 1).paneStartMillis > part.paneStartMillis) {
            at--;
        }
        if (at > 0 && panes.get(at - 1).paneStartMillis == part.paneStartMillis) {
            panes.get(at - 1).add(part);
        } else {
            // A copy: the record may be shared with other keys.
            panes.add(at, part.in(part.scope));
        }
        return true;
    }

    @Override
    public long nextEndMillis() {
        return panes.isEmpty()
                ? Long.MAX_VALUE
                : Panes.nextEndMillis(panes.get(0).paneStartMillis, toldEndMillis, Panes.MILLIS);
    }

    @Override
    public boolean hasNothingLeft() {
        return panes.isEmpty();
    }

    @Override
    public long timer() {
        return timerMillis;
    }

    @Override
    public void timer(long millis) {
        timerMillis = millis;
    }

    @Override
    public void tell(long completeToMillis, Consumer<Quantile> output) {
        while (!panes.isEmpty()) {
            long end = nextEndMillis();
            if (end > completeToMillis) {
                return;
            }
            if (end == Panes.UNDATED) {
                tellUndated(output);
                return;
            }
            for (DurationPane pane : panes) {
                long paneEnd = Panes.endMillis(pane.paneStartMillis, Panes.MILLIS);
                if (paneEnd > toldEndMillis && paneEnd <= end) {
                    sum = sum.plus(pane.histogram);
                }
            }
            long start = end - Panes.WINDOW_MILLIS;
            while (!panes.isEmpty() && panes.get(0).paneStartMillis < start) {
                sum = sum.minus(panes.remove(0).histogram);
            }
            toldEndMillis = end;
            List<DurationPane> inside = new ArrayList<>();
            for (DurationPane pane : panes) {
                if (Panes.endMillis(pane.paneStartMillis, Panes.MILLIS) <= end) {
                    inside.add(pane);
                }
            }
            if (!inside.isEmpty()) {
                output.accept(row(start, end, inside, sum));
            }
        }
    }

    private void tellUndated(Consumer<Quantile> output) {
        DurationPane pane = panes.remove(panes.size() - 1);
        output.accept(row(null, null, List.of(pane), pane.histogram));
    }

    private static Quantile row(
            @Nullable Long start, @Nullable Long end, List<DurationPane> inside, DurationHistogram sum) {
        DurationPane first = inside.get(0);
        long max = 0;
        long invalid = 0;
        List<Worst> worst = List.of();
        for (DurationPane pane : inside) {
            max = Math.max(max, pane.maxNanos);
            invalid += pane.invalidCount;
            worst = DurationPane.worstOf(worst, pane.worst);
        }
        if (sum.isEmpty()) {
            return new Quantile(
                    start,
                    end,
                    first.metric.metricName(),
                    first.scope.scopeName(),
                    first.model,
                    first.engineId,
                    first.priority,
                    0,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    0,
                    List.of(),
                    List.of(),
                    invalid);
        }
        long median = sum.medianNanos();
        long deviation = sum.medianAbsoluteDeviationNanos();
        long limit = outlierLimitNanos(median, deviation);
        List<String> worstRequestIds = new ArrayList<>();
        List<Long> worstNanos = new ArrayList<>();
        for (Worst candidate : worst) {
            if (LogBuckets.nanosOf(LogBuckets.of(candidate.nanos)) > limit) {
                worstRequestIds.add(candidate.requestId);
                worstNanos.add(candidate.nanos);
            }
        }
        return new Quantile(
                start,
                end,
                first.metric.metricName(),
                first.scope.scopeName(),
                first.model,
                first.engineId,
                first.priority,
                sum.total,
                Math.min(max, median),
                Math.min(max, sum.quantileNanos(9_000)),
                Math.min(max, sum.quantileNanos(9_900)),
                Math.min(max, sum.quantileNanos(9_990)),
                max,
                deviation,
                sum.countAbove(limit),
                List.copyOf(worstRequestIds),
                List.copyOf(worstNanos),
                invalid);
    }

    /** Beyond this a duration is an outlier: z = (x - median) / (1.4826 MAD) above {@link #OUTLIER_DEVIATIONS}. */
    static long outlierLimitNanos(long medianNanos, long deviationNanos) {
        // Where more than half of the durations share a bucket, nothing narrower than the bucket is told apart.
        long floor = medianNanos / 128;
        double scale = DurationHistogram.NORMAL_SCALE * Math.max(floor, deviationNanos);
        return medianNanos + StrictMath.round(OUTLIER_DEVIATIONS * scale);
    }
}
