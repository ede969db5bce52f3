package io.tokenstair.collect.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a trace: ranges whose names say that they are engine steps. Every rank of an engine may write its own range of a step,
 * so the ranges of one thread are the steps, those of others only tie launches to a step by its number. Bounded by {@value #MOST} ranges:
 * what comes after is not taken, and counted.
 */
public final class StepRanges {
    /** Most ranges that are held. */
    public static final int MOST = 1 << 18;

    /** A step. */
    record Step(long stepId, long startNanos, long endNanos, StepName name) {}

    private record Range(int thread, long startNanos, long endNanos, StepName name) {}

    private final List<Range> ranges = new ArrayList<>();
    private long leftOut;
    private List<Step> steps = List.of();
    private final Map<Integer, Step[]> byThread = new TreeMap<>();
    private StepName.@Nullable Origin origin;
    private int otherThreads;
    private long overlapping;

    /** Takes a range if its name names a step. */
    public void add(int thread, String name, long startNanos, long endNanos) {
        StepName step = StepName.of(name);
        if (step == null) {
            return;
        }
        if (ranges.size() == MOST) {
            leftOut++;
            return;
        }
        ranges.add(new Range(thread, startNanos, endNanos, step));
    }

    /** Adds to the stamps of all ranges. To be called before the steps are chosen. */
    public void shift(long nanos) {
        ranges.replaceAll(
                range -> new Range(range.thread(), range.startNanos() + nanos, range.endNanos() + nanos, range.name()));
    }

    /** Decides which ranges are the steps. To be called once, after the last range. */
    public void choose() {
        origin = ranges.stream()
                .map(range -> range.name().origin())
                .min(Comparator.naturalOrder())
                .orElse(null);
        Map<Integer, List<Range>> threads = new TreeMap<>();
        for (Range range : ranges) {
            if (range.name().origin() == origin) {
                threads.computeIfAbsent(range.thread(), absent -> new ArrayList<>())
                        .add(range);
            }
        }
        ranges.clear();
        Integer chosen = null;
        long earliest = Long.MAX_VALUE;
        for (Map.Entry<Integer, List<Range>> entry : threads.entrySet()) {
            entry.getValue()
                    .sort(Comparator.comparingLong(Range::startNanos)
                            .thenComparing(
                                    Comparator.comparingLong(Range::endNanos).reversed()));
            long first = entry.getValue().get(0).startNanos();
            if (first < earliest) {
                earliest = first;
                chosen = entry.getKey();
            }
        }
        for (Map.Entry<Integer, List<Range>> entry : threads.entrySet()) {
            boolean isChosen = entry.getKey().equals(chosen);
            List<Step> ofThread = numbered(entry.getValue(), isChosen);
            if (isChosen) {
                steps = ofThread;
            }
            byThread.put(entry.getKey(), ofThread.toArray(Step[]::new));
        }
        otherThreads = Math.max(0, threads.size() - 1);
    }

    private List<Step> numbered(List<Range> sorted, boolean isChosen) {
        List<Step> numbered = new ArrayList<>();
        long end = Long.MIN_VALUE;
        long ordinal = 0;
        for (Range range : sorted) {
            if (range.startNanos() < end) {
                overlapping += isChosen ? 1 : 0;
                continue;
            }
            Long number = range.name().stepId();
            // Without numbers, the ranges of other threads need not be the same steps.
            if (number != null || isChosen) {
                numbered.add(new Step(
                        number == null ? ordinal : number, range.startNanos(), range.endNanos(), range.name()));
            }
            ordinal++;
            end = range.endNanos();
        }
        return numbered;
    }

    /** The steps in order of time. */
    List<Step> steps() {
        return steps;
    }

    /** The step in whose range a thread was at this time; null when in none. */
    @Nullable
    Long stepAt(int thread, long nanos) {
        Step[] ofThread = byThread.get(thread);
        if (ofThread == null) {
            return null;
        }
        int low = 0;
        int high = ofThread.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (ofThread[middle].startNanos() <= nanos) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high >= 0 && nanos <= ofThread[high].endNanos() ? Long.valueOf(ofThread[high].stepId()) : null;
    }

    /** Who writes these ranges, in words; null when there are none. */
    @Nullable
    String originWords() {
        return origin == null ? null : origin.words;
    }

    /** Threads whose ranges are not the steps. */
    int otherThreads() {
        return otherThreads;
    }

    /** Ranges that begin before the one before them ends, or came when there were too many. */
    long passedOver() {
        return overlapping + leftOut;
    }

    /** The lengths of the steps in ns, sorted. */
    long[] sortedNanos() {
        long[] nanos = steps.stream()
                .mapToLong(step -> step.endNanos() - step.startNanos())
                .toArray();
        Arrays.sort(nanos);
        return nanos;
    }
}
