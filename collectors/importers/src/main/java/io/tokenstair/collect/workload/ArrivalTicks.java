package io.tokenstair.collect.workload;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether arrivals lie on a grid: most of them share the stamp of the one before, and most steps to the next stamp are about equally
 * long. At most {@value #MOST_STEPS} different steps are remembered.
 */
final class ArrivalTicks {
    private static final int MOST_STEPS = 1 << 12;
    /** Steps are counted in classes of so many ms. */
    private static final long CLASS_MILLIS = 100;

    private final Map<Long, long[]> steps = new HashMap<>();
    private @Nullable Long before;
    private long pairs;
    private long sharing;
    private long stepCount;

    void accept(long millis) {
        Long last = before;
        before = millis;
        if (last == null) {
            return;
        }
        pairs++;
        if (last == millis) {
            sharing++;
            return;
        }
        stepCount++;
        long of = Math.floorDiv(millis - last + CLASS_MILLIS / 2, CLASS_MILLIS);
        long[] count = steps.get(of);
        if (count == null && steps.size() < MOST_STEPS) {
            count = new long[2];
            steps.put(of, count);
        }
        if (count != null) {
            count[0]++;
            count[1] += millis - last;
        }
    }

    /** Requests with the stamp of the one before. */
    long sharing() {
        return sharing;
    }

    /** Mean length of the usual step, in ms to the nearest ten; null where arrivals lie on no grid. */
    @Nullable
    Long tickMillis() {
        if (stepCount < 16 || 2 * sharing < pairs) {
            return null;
        }
        long best = 0;
        for (Map.Entry<Long, long[]> step : steps.entrySet()) {
            long[] least = steps.get(best);
            if (least == null
                    || step.getValue()[0] > least[0]
                    || (step.getValue()[0] == least[0] && step.getKey() < best)) {
                best = step.getKey();
            }
        }
        // The usual step, and those a class beside it.
        long count = 0;
        long sum = 0;
        for (long of = best - 1; of <= best + 1; of++) {
            long[] step = steps.get(of);
            count += step == null ? 0 : step[0];
            sum += step == null ? 0 : step[1];
        }
        return 2 * count < stepCount ? null : Long.valueOf((sum / count + 5) / 10 * 10);
    }
}
