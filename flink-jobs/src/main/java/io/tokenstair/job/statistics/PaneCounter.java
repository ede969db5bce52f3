package io.tokenstair.job.statistics;

import io.tokenstair.job.statistics.DurationPane.Worst;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Counts durations by pane and key until they are shipped. Holds nothing across records of the log, so it is no state; whoever uses
 * it ships at the end of what it was called for. At most {@value #SLOTS} keys of 16 KB.
 */
public final class PaneCounter {
    /** Most keys; a full counter ships by itself. */
    static final int SLOTS = 256;

    private final Map<PaneKey, Slot> slots = new HashMap<>();
    private final List<Slot> inUse = new ArrayList<>();
    private final List<Slot> free = new ArrayList<>();
    private int shippings;
    private Consumer<DurationPane> output;

    /** Ships to {@code output}. */
    public PaneCounter(Consumer<DurationPane> output) {
        this.output = output;
    }

    /** Ships to another place from now on. */
    public void shipTo(Consumer<DurationPane> place) {
        output = place;
    }

    /** Durations of one key while they are counted. */
    public static final class Slot {
        private PaneKey key;
        private final DurationCounter counter = new DurationCounter();
        private long maxNanos;
        private long invalidCount;
        private long worstFloorNanos = -1;
        private String worstFloorRequestId = "";
        private List<Worst> worst = new ArrayList<>();

        Slot(PaneKey key) {
            this.key = key;
        }

        /** Counts a duration in ns; one below 0 is counted as invalid and nothing else. */
        public void record(long nanos, String requestId, int tokenIndex) {
            if (nanos < 0) {
                invalidCount++;
                return;
            }
            counter.record(nanos);
            if (nanos >= worstFloorNanos
                    && (nanos > worstFloorNanos || requestId.compareTo(worstFloorRequestId) <= 0)) {
                worst(nanos, requestId, tokenIndex);
            }
        }

        /** Whether a duration is none of the longest for sure, nor invalid. */
        public boolean isUsual(long nanos) {
            return nanos >= 0 && nanos < worstFloorNanos;
        }

        /** Counts so many of a duration that {@link #isUsual}. */
        public void recordUsual(long nanos, int count) {
            counter.record(nanos, count);
        }

        private void worst(long nanos, String requestId, int tokenIndex) {
            maxNanos = Math.max(maxNanos, nanos);
            worst.add(new Worst(nanos, requestId, tokenIndex));
            if (worst.size() >= 2 * DurationPane.WORST) {
                trim();
            }
        }

        private void trim() {
            worst = DurationPane.worstOf(worst, List.of());
            if (worst.size() == DurationPane.WORST) {
                Worst last = worst.get(DurationPane.WORST - 1);
                worstFloorNanos = last.nanos;
                worstFloorRequestId = last.requestId;
            }
        }

        private void add(DurationPane pane) {
            counter.add(pane.histogram);
            maxNanos = Math.max(maxNanos, pane.maxNanos);
            invalidCount += pane.invalidCount;
            for (Worst candidate : pane.worst) {
                if (candidate.nanos >= worstFloorNanos) {
                    worst.add(candidate);
                }
            }
            if (worst.size() >= 2 * DurationPane.WORST) {
                trim();
            }
        }

        private DurationPane take() {
            trim();
            DurationPane pane = new DurationPane();
            pane.metric = key.metric();
            pane.model = key.model();
            pane.engineId = key.engineId();
            pane.priority = key.priority();
            pane.paneStartMillis = key.paneStartMillis();
            pane.histogram = counter.histogram();
            pane.maxNanos = maxNanos;
            pane.invalidCount = invalidCount;
            pane.worst = worst;
            counter.clear();
            maxNanos = 0;
            invalidCount = 0;
            worstFloorNanos = -1;
            worstFloorRequestId = "";
            worst = new ArrayList<>();
            return pane;
        }
    }

    /** Where durations of this key are counted until the next shipping. */
    public Slot slot(
            Metric metric,
            @Nullable String model,
            @Nullable String engineId,
            @Nullable Integer priority,
            long epochMillis) {
        return slot(new PaneKey(metric, model, engineId, priority, Panes.startMillis(epochMillis, Panes.MILLIS)));
    }

    private Slot slot(PaneKey key) {
        Slot slot = slots.get(key);
        if (slot == null) {
            if (inUse.size() == SLOTS) {
                ship();
            }
            if (free.isEmpty()) {
                slot = new Slot(key);
            } else {
                slot = free.remove(free.size() - 1);
                slot.key = key;
            }
            slots.put(key, slot);
            inUse.add(slot);
        }
        return slot;
    }

    /** Counts what a part of a pane holds. */
    void add(DurationPane pane) {
        slot(pane.key()).add(pane);
    }

    /** How often it has shipped: a slot from before another shipping must not be used any more. */
    public int shippings() {
        return shippings;
    }

    /** Ships everything that was counted and forgets it. */
    public void ship() {
        for (Slot slot : inUse) {
            output.accept(slot.take());
            free.add(slot);
        }
        inUse.clear();
        slots.clear();
        shippings++;
    }
}
