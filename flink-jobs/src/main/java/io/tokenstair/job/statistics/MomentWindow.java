package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.Covariance;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The panes of one engine that some window of moments still needs; as {@link DurationWindow}. State: 12 panes of 10 KB at most.
 */
public class MomentWindow implements SlidingWindow<MomentPane, Covariance> {
    /** Panes in order of time. */
    public List<MomentPane> panes = new ArrayList<>();
    /** End of the last window that was told; {@link Long#MIN_VALUE} before the first. */
    public long toldEndMillis = Long.MIN_VALUE;

    public MomentSums sum = new MomentSums();
    /** The timer that is set, or {@link Long#MIN_VALUE}. */
    public long timerMillis = Long.MIN_VALUE;

    /** For Flink's serializer. */
    public MomentWindow() {}

    @Override
    public boolean add(MomentPane part) {
        if (Panes.endMillis(part.paneStartMillis, Panes.MOMENT_MILLIS) <= toldEndMillis) {
            return false;
        }
        int at = panes.size();
        while (at > 0 && panes.get(at - 1).paneStartMillis > part.paneStartMillis) {
            at--;
        }
        if (at > 0 && panes.get(at - 1).paneStartMillis == part.paneStartMillis) {
            MomentPane own = panes.get(at - 1);
            own.moments.add(part.moments);
            // Whatever the order of parts.
            if (own.model == null || part.model != null && part.model.compareTo(own.model) < 0) {
                own.model = part.model;
            }
        } else {
            MomentPane own = new MomentPane();
            own.engineId = part.engineId;
            own.model = part.model;
            own.paneStartMillis = part.paneStartMillis;
            own.moments = part.moments.copy();
            panes.add(at, own);
        }
        return true;
    }

    @Override
    public long nextEndMillis() {
        return panes.isEmpty()
                ? Long.MAX_VALUE
                : Panes.nextEndMillis(panes.get(0).paneStartMillis, toldEndMillis, Panes.MOMENT_MILLIS);
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
    public void tell(long completeToMillis, Consumer<Covariance> output) {
        while (!panes.isEmpty()) {
            long end = nextEndMillis();
            if (end > completeToMillis) {
                return;
            }
            if (end == Panes.UNDATED) {
                rows(null, null, panes.remove(panes.size() - 1), output);
                return;
            }
            for (MomentPane pane : panes) {
                long paneEnd = Panes.endMillis(pane.paneStartMillis, Panes.MOMENT_MILLIS);
                if (paneEnd > toldEndMillis && paneEnd <= end) {
                    sum.add(pane.moments);
                }
            }
            long start = end - Panes.MOMENT_WINDOW_MILLIS;
            while (!panes.isEmpty() && panes.get(0).paneStartMillis < start) {
                sum.subtract(panes.remove(0).moments);
            }
            toldEndMillis = end;
            sum.hitRateKnown = true;
            MomentPane newest = null;
            for (MomentPane pane : panes) {
                if (Panes.endMillis(pane.paneStartMillis, Panes.MOMENT_MILLIS) <= end) {
                    sum.hitRateKnown &= pane.moments.hitRateKnown;
                    newest = pane;
                }
            }
            if (newest != null) {
                MomentPane window = new MomentPane();
                window.engineId = newest.engineId;
                window.model = newest.model;
                window.moments = sum;
                rows(start, end, window, output);
            }
        }
    }

    private static void rows(@Nullable Long start, @Nullable Long end, MomentPane window, Consumer<Covariance> output) {
        ConditionalCovariance.rows(start, end, window.engineId, window.model, window.moments)
                .forEach(output);
    }
}
