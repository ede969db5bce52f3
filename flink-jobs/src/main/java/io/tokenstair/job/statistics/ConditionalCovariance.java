package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.Covariance;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Partial correlation of the token time with one variable, others held constant, and whether it can be told from chance although both
 * series remember their past. All doubles are made from exact integers, by StrictMath, in a fixed order.
 *
 * <p>The verdict: at lags of -2 to 2 blocks the partial correlation r; {@code s = |atanh r| sqrt(nEff - k - 3)} with k controls; related
 * when the largest s is above the two-sided normal quantile of 1 % / 5 lags. nEff is Bartlett's: {@code n / (1 + 2 sum (1 - i/n)
 * rhoX(i) rhoY(i))} over the autocorrelations of what the controls leave of x and y, never more than n.
 */
public final class ConditionalCovariance {
    /** Farthest lag that is looked at, in blocks. */
    public static final int SCAN = 2;

    /** Normal quantile of 1 - 0.01 / (2 x 5): 1 % over five lags, both sides (Bonferroni). */
    static final double LIMIT = 3.0902;

    /** Blocks without which nothing is said. */
    static final int LEAST_BLOCKS = 32;

    /** Effective blocks without which nothing is said. */
    static final double LEAST_EFFECTIVE = 12;

    /** Share of a variance that the controls must leave for the variable to be told apart from them. */
    private static final double LEAST_LEFT = 1e-3;

    private static final double LEVEL_UNIT = 1 << 20;
    private static final List<Variable> ALL_CONTROLS =
            List.of(Variable.RESIDENT_CONTEXT, Variable.PADDED_BATCH, Variable.PROMPT_TOKENS);

    private final MomentSums moments;
    private final Variable x;
    private final List<Variable> controls = new ArrayList<>();
    /** Lower triangle of the Cholesky factor of the covariance matrix of the controls. */
    private final double[][] factor;

    /** What goes with x, the controls held constant. */
    public ConditionalCovariance(MomentSums moments, Variable x) {
        this.moments = moments;
        this.x = x;
        double[][] lower = new double[ALL_CONTROLS.size()][];
        for (Variable candidate : ALL_CONTROLS) {
            if (candidate == x) {
                continue;
            }
            double variance = moments.covariance(0, candidate, candidate);
            double[] row = new double[controls.size() + 1];
            double left = variance;
            for (int i = 0; i < controls.size(); i++) {
                double value = moments.covariance(0, candidate, controls.get(i));
                for (int j = 0; j < i; j++) {
                    value -= row[j] * lower[i][j];
                }
                row[i] = value / lower[i][i];
                left -= row[i] * row[i];
            }
            // What does not vary, or only with the others, holds nothing constant.
            if (variance > 0 && left > 1e-9 * variance) {
                row[controls.size()] = StrictMath.sqrt(left);
                lower[controls.size()] = row;
                controls.add(candidate);
            }
        }
        factor = lower;
    }

    /** Rows for all x and y of a window. */
    public static List<Covariance> rows(
            @Nullable Long startMillis,
            @Nullable Long endMillis,
            String engineId,
            @Nullable String model,
            MomentSums moments) {
        List<Covariance> rows = new ArrayList<>();
        for (Variable x : List.of(Variable.OWN_CONTEXT, Variable.RESIDENT_CONTEXT, Variable.KV_HIT_RATE)) {
            if (x == Variable.KV_HIT_RATE && !moments.hitRateKnown) {
                continue;
            }
            ConditionalCovariance given = new ConditionalCovariance(moments, x);
            rows.add(given.level(startMillis, endMillis, engineId, model));
            rows.add(given.change(startMillis, endMillis, engineId, model));
        }
        return rows;
    }

    private List<String> given() {
        return controls.stream().map(Variable::variableName).toList();
    }

    private Covariance level(
            @Nullable Long startMillis, @Nullable Long endMillis, String engineId, @Nullable String model) {
        Result result = result();
        return new Covariance(
                startMillis,
                endMillis,
                engineId,
                model,
                x.variableName(),
                Variable.LEVEL.variableName(),
                given(),
                moments.blocks(),
                result.effectiveCount,
                result.covariance,
                result.partialCorrelation,
                result.lagBlocks == null ? null : Integer.valueOf(result.lagBlocks * BlockSeries.STEPS),
                result.lagPartialCorrelation,
                result.verdict);
    }

    /** What is said of the level and x. */
    static final class Result {
        String verdict = "too-few";

        @Nullable
        Double effectiveCount;

        @Nullable
        Double covariance;

        @Nullable
        Double partialCorrelation;

        @Nullable
        Integer lagBlocks;

        @Nullable
        Double lagPartialCorrelation;
    }

    /** The verdict on the level and x. */
    Result result() {
        Result result = new Result();
        double varianceX = moments.covariance(0, x, x);
        double varianceY = moments.covariance(0, Variable.LEVEL, Variable.LEVEL);
        double[] ofX = solve(x);
        double[] ofY = solve(Variable.LEVEL);
        double leftX = varianceX - squares(ofX);
        double leftY = varianceY - squares(ofY);
        if (varianceX <= 0 || leftX <= LEAST_LEFT * varianceX || leftY <= 0) {
            result.verdict = moments.blocks() < LEAST_BLOCKS ? "too-few" : "not-separable";
            return result;
        }
        double covariance = moments.covariance(0, Variable.LEVEL, x) - product(ofX, ofY);
        result.covariance = covariance / LEVEL_UNIT;
        result.partialCorrelation = correlation(covariance, leftX, leftY);
        double effective = effectiveCount(leftX, leftY, ofX, ofY);
        result.effectiveCount = effective;
        if (moments.blocks() < LEAST_BLOCKS || effective < LEAST_EFFECTIVE) {
            return result;
        }
        double scale = StrictMath.sqrt(effective - controls.size() - 3);
        double most = -1;
        for (int lag = -SCAN; lag <= SCAN; lag++) {
            double r = lagged(lag, ofY, leftY, varianceX);
            double s = StrictMath.abs(atanh(r)) * scale;
            if (s > most) {
                most = s;
                result.lagBlocks = lag;
                result.lagPartialCorrelation = r;
            }
        }
        result.verdict = most > LIMIT ? "related" : "none-shown";
        return result;
    }

    /** The partial correlation of the level with x of {@code lag} blocks earlier, or later when below 0. */
    private double lagged(int lag, double[] ofY, double leftY, double varianceX) {
        double[] crossed = new double[controls.size()];
        for (int i = 0; i < crossed.length; i++) {
            crossed[i] = cross(lag, controls.get(i));
        }
        double[] ofX = forward(crossed);
        double leftX = varianceX - squares(ofX);
        if (leftX <= LEAST_LEFT * varianceX) {
            return 0;
        }
        return correlation(cross(lag, Variable.LEVEL) - product(ofX, ofY), leftX, leftY);
    }

    private double cross(int lag, Variable other) {
        return lag >= 0 ? moments.covariance(lag, other, x) : moments.covariance(-lag, x, other);
    }

    private static double correlation(double covariance, double varianceA, double varianceB) {
        double r = covariance / StrictMath.sqrt(varianceA * varianceB);
        return StrictMath.max(-0.999999, StrictMath.min(0.999999, r));
    }

    private static double atanh(double r) {
        return 0.5 * StrictMath.log((1 + r) / (1 - r));
    }

    // ---- regression on the controls

    private double[] solve(Variable variable) {
        double[] crossed = new double[controls.size()];
        for (int i = 0; i < crossed.length; i++) {
            crossed[i] = moments.covariance(0, variable, controls.get(i));
        }
        return forward(crossed);
    }

    private double[] forward(double[] right) {
        double[] y = new double[right.length];
        for (int i = 0; i < y.length; i++) {
            double value = right[i];
            for (int j = 0; j < i; j++) {
                value -= factor[i][j] * y[j];
            }
            y[i] = value / factor[i][i];
        }
        return y;
    }

    private double[] coefficients(double[] forwarded) {
        double[] beta = new double[forwarded.length];
        for (int i = beta.length - 1; i >= 0; i--) {
            double value = forwarded[i];
            for (int j = i + 1; j < beta.length; j++) {
                value -= factor[j][i] * beta[j];
            }
            beta[i] = value / factor[i][i];
        }
        return beta;
    }

    private static double squares(double[] values) {
        return product(values, values);
    }

    private static double product(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    // ---- effective sample size

    private double effectiveCount(double leftX, double leftY, double[] ofX, double[] ofY) {
        long n = moments.blocks();
        double[] betaX = coefficients(ofX);
        double[] betaY = coefficients(ofY);
        int lags = (int) Math.min(MomentSums.LAGS, n / 4);
        double sum = 0;
        for (int lag = 1; lag <= lags; lag++) {
            double rhoX = residual(lag, x, betaX) / leftX;
            double rhoY = residual(lag, Variable.LEVEL, betaY) / leftY;
            sum += (1 - (double) lag / n) * rhoX * rhoY;
        }
        return n / StrictMath.max(1, 1 + 2 * sum);
    }

    /** Covariance at a lag of what the controls leave of a variable. */
    private double residual(int lag, Variable variable, double[] beta) {
        double value = moments.covariance(lag, variable, variable);
        for (int i = 0; i < beta.length; i++) {
            Variable control = controls.get(i);
            value -=
                    beta[i] * (moments.covariance(lag, variable, control) + moments.covariance(lag, control, variable));
            for (int j = 0; j < beta.length; j++) {
                value += beta[i] * beta[j] * moments.covariance(lag, control, controls.get(j));
            }
        }
        return value;
    }

    // ---- change rate

    private Covariance change(
            @Nullable Long startMillis, @Nullable Long endMillis, String engineId, @Nullable String model) {
        double varianceX = moments.covariance(0, x, x);
        double variance = 2
                * (moments.covariance(0, Variable.LEVEL, Variable.LEVEL)
                        - moments.covariance(1, Variable.LEVEL, Variable.LEVEL));
        double[] ofX = solve(x);
        double[] crossed = new double[controls.size()];
        for (int i = 0; i < crossed.length; i++) {
            crossed[i] = changeWith(controls.get(i));
        }
        double[] ofChange = forward(crossed);
        double leftX = varianceX - squares(ofX);
        double leftY = variance - squares(ofChange);
        boolean known = moments.blocks() >= LEAST_BLOCKS && leftX > LEAST_LEFT * varianceX && leftY > 0;
        double covariance = changeWith(x) - product(ofX, ofChange);
        return new Covariance(
                startMillis,
                endMillis,
                engineId,
                model,
                x.variableName(),
                "tpot_change",
                given(),
                moments.blocks(),
                null,
                known ? Double.valueOf(covariance / LEVEL_UNIT) : null,
                known ? Double.valueOf(correlation(covariance, leftX, leftY)) : null,
                null,
                null,
                null);
    }

    private double changeWith(Variable other) {
        return moments.covariance(0, Variable.LEVEL, other) - moments.covariance(1, other, Variable.LEVEL);
    }
}
