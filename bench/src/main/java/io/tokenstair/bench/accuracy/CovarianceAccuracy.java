package io.tokenstair.bench.accuracy;

import io.tokenstair.archive.result.Covariance;
import io.tokenstair.job.statistics.BlockSeries;
import io.tokenstair.job.statistics.ConditionalCovariance;
import io.tokenstair.job.statistics.MomentPane;
import io.tokenstair.job.statistics.MomentSums;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * How often the verdict on KV hit rate and token time says "related" where there is no relation (its level, nominally 1 %), and how
 * often where there is one (its power). Series of single steps through the product's own {@link BlockSeries}; seeds from 1,000,000 on,
 * none of which was used while the verdict was written.
 */
public final class CovarianceAccuracy {
    private static final long FIRST_SEED = 1_000_000;
    private static final int SERIES = 500;

    private CovarianceAccuracy() {}

    /** How the series of a kind are made. */
    enum Kind {
        /** Noise of one step does not remember the last; the hit rate moves slowly. */
        WHITE,
        /** AR(1) noise 0.3, as measured between real steps. */
        REMEMBERING,
        /** AR(1) noise 0.9 and a hit rate that remembers as much. */
        LONG_MEMORY,
        /** AR(1) noise 0.98 and a hit rate that remembers as much. */
        VERY_LONG_MEMORY,
        /** The hit rate is a random walk, one step in 300 stalls. */
        RANDOM_WALK,
        /** The model is wrong in batch, context and prefill, and all three move the hit rate. */
        CONFOUNDED,
        /** The model is wrong by another share for every batch bucket. */
        BUCKETS
    }

    /** Prints level and power. */
    public static void main(String[] args) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        out.println("share of series with the verdict \"related\" (kv_hit_rate, tpot_level)");
        out.printf("%-18s %8s %8s %8s %10s%n", "no relation", "600", "2400", "12000", "steps");
        int all = 0;
        int wrong = 0;
        for (Kind kind : Kind.values()) {
            double[] shares = new double[3];
            int[] steps = {600, 2_400, 12_000};
            for (int i = 0; i < steps.length; i++) {
                int related = related(kind, steps[i], 0);
                shares[i] = 100.0 * related / SERIES;
                all += SERIES;
                wrong += related;
            }
            out.printf(Locale.ROOT, "%-18s %7.2f%% %7.2f%% %7.2f%%%n", kind, shares[0], shares[1], shares[2]);
        }
        out.printf(Locale.ROOT, "all %d: %.2f %%%n", all, 100.0 * wrong / all);
        out.printf("%-18s %8s %8s %8s%n", "relation", "600", "2400", "12000");
        for (double effectMillis : new double[] {0.4, 0.8, 2}) {
            out.printf(
                    Locale.ROOT,
                    "%.1f ms full swing  %7.2f%% %7.2f%% %7.2f%%%n",
                    effectMillis,
                    100.0 * related(Kind.REMEMBERING, 600, effectMillis) / SERIES,
                    100.0 * related(Kind.REMEMBERING, 2_400, effectMillis) / SERIES,
                    100.0 * related(Kind.REMEMBERING, 12_000, effectMillis) / SERIES);
        }
    }

    private static int related(Kind kind, int steps, double effectMillis) {
        int related = 0;
        for (int i = 0; i < SERIES; i++) {
            long seed = FIRST_SEED + ((long) kind.ordinal() * 7 + steps) * 100_000 + i;
            related += "related".equals(verdict(kind, seed, steps, effectMillis).verdict()) ? 1 : 0;
        }
        return related;
    }

    /** The row on hit rate and level of one series. */
    static Covariance verdict(Kind kind, long seed, int steps, double effectMillis) {
        SplittableRandom random = new SplittableRandom(seed);
        BlockSeries series = new BlockSeries();
        MomentSums sums = new MomentSums();
        double phi = switch (kind) {
            case WHITE -> 0;
            case LONG_MEMORY -> 0.9;
            case VERY_LONG_MEMORY -> 0.98;
            default -> 0.3;
        };
        double phiHit = switch (kind) {
            case LONG_MEMORY -> 0.9;
            case VERY_LONG_MEMORY -> 0.98;
            case RANDOM_WALK -> 1;
            default -> 0.99;
        };
        double[] bucketError = new double[64];
        for (int i = 0; i < bucketError.length; i++) {
            bucketError[i] = kind == Kind.BUCKETS ? 0.03 * random.nextGaussian() : 0;
        }
        double noise = 0;
        double hit = 0.5;
        double batch = 48;
        double context = 100_000;
        for (int i = 0; i < steps; i++) {
            noise = phi * noise + StrictMath.sqrt(1 - phi * phi) * 0.02 * random.nextGaussian();
            batch = Math.max(8, Math.min(120, batch + 0.5 * random.nextGaussian()));
            context = Math.max(20_000, context * (1 + 0.003 * random.nextGaussian()) + 30);
            int padded = ((int) batch + 7) / 8 * 8;
            int prompt = random.nextInt(12) == 0 ? random.nextInt(512) : 0;
            double innovation = random.nextGaussian();
            hit = phiHit == 1
                    ? hit + 0.01 * innovation
                    : 0.5 + phiHit * (hit - 0.5) + StrictMath.sqrt(1 - phiHit * phiHit) * 0.15 * innovation;
            hit = Math.max(0, Math.min(1, hit));
            double asked = hit;
            if (kind == Kind.CONFOUNDED || kind == Kind.BUCKETS) {
                asked = Math.max(0, Math.min(1, 0.6 * hit + 0.003 * (batch - 48) - 1e-6 * (context - 100_000)));
            }
            double expected = 7e6 + 60_000.0 * padded + 76.0 * context + 33_000.0 * prompt;
            double error = noise + bucketError[padded / 8];
            if (kind == Kind.CONFOUNDED) {
                error += 0.001 * (padded - 48) + 4e-7 * (context - 100_000) + 1e-4 * prompt;
            }
            double time = expected * StrictMath.exp(error) - effectMillis * 1e6 * (asked - 0.5);
            if (kind == Kind.RANDOM_WALK && random.nextInt(300) == 0) {
                time += 20e6 * random.nextDouble();
            }
            series.lookup(10_000L, Math.round(asked * 10_000));
            MomentPane done = series.step(
                    i, Math.round(time), Math.round(expected), (int) batch, Math.round(context), padded, prompt);
            if (done != null) {
                sums.add(done.moments);
            }
        }
        MomentPane last = series.takeBefore(Long.MAX_VALUE);
        if (last != null) {
            sums.add(last.moments);
        }
        return ConditionalCovariance.rows(null, null, "engine", null, sums).stream()
                .filter(row -> row.x().equals("kv_hit_rate") && row.y().equals("tpot_level"))
                .findFirst()
                .orElseThrow();
    }
}
