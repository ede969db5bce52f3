package io.tokenstair.job.engine;

import io.tokenstair.narrative.Phrase;
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
                : " "
                        + Phrase.GENERATED_ON_AVERAGE.say(
                                whole(with), n - withoutPrompts, whole(without), withoutPrompts);
        return Phrase.FEWER_GENERATED.say(
                        String.format(Locale.ROOT, "%.2f", correlation()),
                        String.format(Locale.ROOT, "%.2f", partialCorrelation()))
                + means + " " + Phrase.PROMPTS_HELD_UP.say();
    }

    private static String whole(double value) {
        return String.format(Locale.ROOT, "%.0f", value);
    }
}
