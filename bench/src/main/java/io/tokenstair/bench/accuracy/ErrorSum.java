package io.tokenstair.bench.accuracy;

import java.util.Arrays;

/** Relative errors, gathered: their mean is the MAPE. */
final class ErrorSum {
    private double[] errors = new double[64];
    private int count;

    void add(double expected, double observed) {
        if (count == errors.length) {
            errors = Arrays.copyOf(errors, 2 * count);
        }
        errors[count++] = Math.abs(expected - observed) / observed;
    }

    int count() {
        return count;
    }

    /** In percent; NaN without any. */
    double meanPercent() {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += errors[i];
        }
        return 100 * sum / count;
    }

    /** In percent; NaN without any. */
    double quantilePercent(double share) {
        if (count == 0) {
            return Double.NaN;
        }
        double[] sorted = Arrays.copyOf(errors, count);
        Arrays.sort(sorted);
        return 100 * sorted[Math.min(count - 1, (int) (share * count))];
    }
}
