package io.tokenstair.job.engine;

import java.util.Locale;

/**
 * How an engine's rate of generated tokens goes with its rate of prompt tokens: correlation, and the same with the number of running sequences
 * held constant, for few sequences make few tokens whatever else. State: sums over the scrapes.
 */
public class Rates {
    /** Scrapes from which anything is said. */
    static final int SCRAPES = 60;

    /** Scrapes with prompts, and without, that there must be. */
    static final int EACH = 16;

    /** Partial correlation from which it is said. */
    static final double RELATED = -0.5;

    public long n;
    public double sumX;
    public double sumY;
    public double sumZ;
    public double sumXx;
    public double sumYy;
    public double sumZz;
    public double sumXy;
    public double sumXz;
    public double sumYz;
    public long withoutPrompts;
    public double generatedWithoutPrompts;
    public double generatedWithPrompts;

    /** For Flink's serializer. */
    public Rates() {}

    /** Takes a scrape: tokens a second of prompts and generated, sequences running. */
    void accept(double prompts, double generated, double running) {
        if (prompts > 1e9 || generated > 1e9 || running > 1e9) {
            return;
        }
        n++;
        sumX += prompts;
        sumY += generated;
        sumZ += running;
        sumXx += prompts * prompts;
        sumYy += generated * generated;
        sumZz += running * running;
        sumXy += prompts * generated;
        sumXz += prompts * running;
        sumYz += generated * running;
        if (prompts == 0) {
            withoutPrompts++;
            generatedWithoutPrompts += generated;
        } else {
            generatedWithPrompts += generated;
        }
    }

    private double correlation(double sumA, double sumB, double sumAa, double sumBb, double sumAb) {
        double a = sumAa - sumA * sumA / n;
        double b = sumBb - sumB * sumB / n;
        return a <= 0 || b <= 0 ? 0 : (sumAb - sumA * sumB / n) / StrictMath.sqrt(a * b);
    }

    double correlation() {
        return n == 0 ? 0 : correlation(sumX, sumY, sumXx, sumYy, sumXy);
    }

    /** With the number of running sequences held constant. */
    double partialCorrelation() {
        if (n == 0) {
            return 0;
        }
        double xz = correlation(sumX, sumZ, sumXx, sumZz, sumXz);
        double yz = correlation(sumY, sumZ, sumYy, sumZz, sumYz);
        double left = (1 - xz * xz) * (1 - yz * yz);
        return left <= 1e-9 ? 0 : (correlation() - xz * yz) / StrictMath.sqrt(left);
    }

    boolean related() {
        return n >= SCRAPES
                && withoutPrompts >= EACH
                && n - withoutPrompts >= EACH
                && correlation() < 0
                && partialCorrelation() <= RELATED;
    }

    String sentence() {
        double with = generatedWithPrompts / (n - withoutPrompts);
        double without = generatedWithoutPrompts / withoutPrompts;
        String means = with >= without
                ? ""
                : String.format(
                        Locale.ROOT,
                        " On average %.0f a second were generated in the %d scrapes with prompts, %.0f in the %d without.",
                        with,
                        n - withoutPrompts,
                        without,
                        withoutPrompts);
        return String.format(
                Locale.ROOT,
                "The more prompt tokens a second, the fewer generated ones: r %.2f, and %.2f with the number of running sequences"
                        + " held constant.%s Consistent with prompts holding up the tokens of others.",
                correlation(),
                partialCorrelation(),
                means);
    }
}
