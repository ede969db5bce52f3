package io.tokenstair.bench.accuracy;

import java.util.Arrays;

/**
 * What an offline fit over a whole run reaches: Huber regression of the relative error by reweighted least squares, at 1.345 robust
 * standard deviations, all steps known beforehand. The yardstick for a model that judges each step before it learns it.
 */
final class RobustFit {
    private static final int ROUNDS = 60;
    private static final double HUBER = 1.345;
    private static final double MAD_TO_DEVIATION = 1.4826;

    private RobustFit() {}

    /**
     * The fitted times.
     *
     * @param regressors a row per step
     * @param nanos what each step took
     */
    static double[] fitted(double[][] regressors, double[] nanos) {
        int count = nanos.length;
        int terms = regressors[0].length;
        double[] scale = new double[terms];
        for (double[] row : regressors) {
            for (int j = 0; j < terms; j++) {
                scale[j] = Math.max(scale[j], Math.abs(row[j]));
            }
        }
        double[] trust = new double[count];
        Arrays.fill(trust, 1);
        double[] coefficients = new double[terms];
        double[] sizes = new double[count];
        for (int round = 0; round < ROUNDS; round++) {
            double[][] equations = new double[terms][terms + 1];
            for (int i = 0; i < count; i++) {
                double weight = trust[i] / (nanos[i] * nanos[i]);
                for (int j = 0; j < terms; j++) {
                    double x = scaled(regressors[i][j], scale[j]) * weight;
                    for (int k = 0; k < terms; k++) {
                        equations[j][k] += x * scaled(regressors[i][k], scale[k]);
                    }
                    equations[j][terms] += x * nanos[i];
                }
            }
            coefficients = solve(equations);
            for (int i = 0; i < count; i++) {
                sizes[i] = Math.abs(predicted(regressors[i], scale, coefficients) - nanos[i]) / nanos[i];
            }
            double[] sorted = sizes.clone();
            Arrays.sort(sorted);
            double limit = HUBER * MAD_TO_DEVIATION * Math.max(1e-9, sorted[count / 2]);
            for (int i = 0; i < count; i++) {
                trust[i] = Math.min(1, limit / Math.max(1e-12, sizes[i]));
            }
        }
        double[] fitted = new double[count];
        for (int i = 0; i < count; i++) {
            fitted[i] = predicted(regressors[i], scale, coefficients);
        }
        return fitted;
    }

    private static double scaled(double value, double scale) {
        return scale == 0 ? 0 : value / scale;
    }

    private static double predicted(double[] row, double[] scale, double[] coefficients) {
        double sum = 0;
        for (int j = 0; j < row.length; j++) {
            sum += coefficients[j] * scaled(row[j], scale[j]);
        }
        return sum;
    }

    /** Gauss with pivots; a term that the others determine gets 0. */
    private static double[] solve(double[][] equations) {
        int terms = equations.length;
        double most = 0;
        for (int j = 0; j < terms; j++) {
            most = Math.max(most, equations[j][j]);
        }
        boolean[] dropped = new boolean[terms];
        for (int j = 0; j < terms; j++) {
            if (equations[j][j] <= most * 1e-12) {
                dropped[j] = true;
                continue;
            }
            for (int i = 0; i < terms; i++) {
                if (i == j || dropped[i]) {
                    continue;
                }
                double factor = equations[i][j] / equations[j][j];
                for (int k = 0; k <= terms; k++) {
                    equations[i][k] -= factor * equations[j][k];
                }
            }
        }
        double[] solution = new double[terms];
        for (int j = 0; j < terms; j++) {
            solution[j] = dropped[j] ? 0 : equations[j][terms] / equations[j][j];
        }
        return solution;
    }
}
