package io.tokenstair.job.staircase;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Token times of one made-up request with known truth: an engine whose step time depends on the batch (a table with edges), on
 * context and on prefill, seen through noise, and a model of it that is a few percent wrong.
 */
final class SyntheticSeries {
    /** What happens to the request. The first three are staircases. */
    enum Kind {
        STAIRS(true),
        STAIRS_UNDER_LOAD(true),
        SMALL_STAIRS_ON_GROWTH(true),
        LEVEL(false),
        GROWTH_NOT_MODELLED(false),
        GROWTH_MODELLED(false),
        BATCH_EDGES(false),
        JITTER(false),
        PREFILL_BURSTS(false),
        ONE_SHIFT(false),
        PREEMPTION_GAPS(false),
        RAMP(false);

        private final boolean staircase;

        Kind(boolean staircase) {
            this.staircase = staircase;
        }

        boolean staircase() {
            return staircase;
        }
    }

    private static final int[] BATCH_EDGE = {64, 72, 128, 136, 192, 200, 256, 264, 384, 400};
    private static final double[] BATCH_MILLIS = {10.4, 11.4, 12.1, 16.9, 15.6, 17.3, 17.7, 24.8, 25.5, 30.9};

    final Kind kind;
    final long[] gapNanos;
    final long[] expectedNanos;
    final int[] kvEvents;
    final List<Integer> onsets = new ArrayList<>();

    private SyntheticSeries(Kind kind, int tokens) {
        this.kind = kind;
        this.gapNanos = new long[tokens];
        this.expectedNanos = new long[tokens];
        this.kvEvents = new int[tokens];
    }

    static SyntheticSeries of(Kind kind, long seed) {
        return of(kind, seed, 1);
    }

    static SyntheticSeries of(Kind kind, long seed, double noiseFactor) {
        Random random = new Random(seed * 1_000_003 + kind.name().hashCode());
        int tokens = 700 + random.nextInt(1300);
        SyntheticSeries series = new SyntheticSeries(kind, tokens);
        double[] factor = new double[tokens];
        double[] spikes = new double[tokens];
        double[] prefill = new double[tokens];
        java.util.Arrays.fill(factor, 1);
        java.util.Arrays.fill(spikes, 1);
        boolean load = kind == Kind.STAIRS_UNDER_LOAD || kind == Kind.BATCH_EDGES;
        double growth = kind == Kind.GROWTH_MODELLED ? 0.2 + 0.6 * random.nextDouble() : 0;
        double backgroundRate = random.nextBoolean() ? 0.05 + 0.15 * random.nextDouble() : 0;
        for (int i = 0; i < tokens; i++) {
            series.kvEvents[i] = random.nextDouble() < backgroundRate ? 1 : 0;
        }
        switch (kind) {
            case STAIRS, STAIRS_UNDER_LOAD -> series.stairs(factor, random, 0.05, 0.25);
            case SMALL_STAIRS_ON_GROWTH -> {
                series.stairs(factor, random, 0.04, 0.12);
                grow(factor, 0.1 * random.nextDouble());
            }
            case GROWTH_NOT_MODELLED -> grow(factor, 0.2 + 0.6 * random.nextDouble());
            case JITTER -> spike(spikes, random, 0.03, 1.5, 6);
            case PREFILL_BURSTS -> bursts(prefill, random, 4 + random.nextInt(5));
            case ONE_SHIFT -> raise(factor, tokens / 4 + random.nextInt(tokens / 2), 0.15 + 0.25 * random.nextDouble());
            case PREEMPTION_GAPS -> series.preemptions(spikes, random);
            case RAMP -> {
                int length = 200 + random.nextInt(250);
                int start = 100 + random.nextInt(tokens - length - 150);
                double height = 0.2 + 0.4 * random.nextDouble();
                for (int i = start; i < tokens; i++) {
                    factor[i] *= 1 + height * Math.min(1, (i - start) / (double) length);
                }
            }
            default -> {}
        }
        if (kind == Kind.STAIRS_UNDER_LOAD) {
            spike(spikes, random, 0.01, 1.5, 4);
            bursts(prefill, random, 2);
        }
        series.render(random, factor, spikes, prefill, load, growth, noiseFactor);
        return series;
    }

    private void stairs(double[] factor, Random random, double smallest, double largest) {
        int tokens = factor.length;
        int steps = 3 + random.nextInt(Math.min(4, tokens / 150 - 2));
        int tread = (tokens - 60) / (steps + 1);
        for (int step = 1; step <= steps; step++) {
            int onset = 30 + step * tread + random.nextInt(tread / 3) - tread / 6;
            raise(factor, onset, smallest + (largest - smallest) * random.nextDouble());
            onsets.add(onset);
            for (int i = onset - 8; i < onset + 4; i++) {
                if (random.nextDouble() < 0.6) {
                    kvEvents[i]++;
                }
            }
        }
    }

    private void preemptions(double[] spikes, Random random) {
        for (int i = 0; i < 1 + random.nextInt(4); i++) {
            int at = 50 + random.nextInt(spikes.length - 100);
            spikes[at] = 8 + 80 * random.nextDouble();
            kvEvents[at]++;
        }
    }

    private static void raise(double[] factor, int onset, double height) {
        for (int i = onset; i < factor.length; i++) {
            factor[i] *= 1 + height;
        }
    }

    private static void grow(double[] factor, double height) {
        for (int i = 0; i < factor.length; i++) {
            factor[i] *= 1 + height * i / factor.length;
        }
    }

    private static void spike(double[] spikes, Random random, double rate, double smallest, double largest) {
        for (int i = 0; i < spikes.length; i++) {
            if (random.nextDouble() < rate) {
                spikes[i] *= smallest + (largest - smallest) * random.nextDouble();
            }
        }
    }

    private static void bursts(double[] prefill, Random random, int count) {
        for (int burst = 0; burst < count; burst++) {
            int at = random.nextInt(prefill.length - 20);
            int length = 1 + random.nextInt(12);
            double millis = 5 + 40 * random.nextDouble();
            for (int i = at; i < at + length; i++) {
                prefill[i] += millis;
            }
        }
    }

    private void render(
            Random random,
            double[] factor,
            double[] spikes,
            double[] prefill,
            boolean load,
            double growth,
            double noiseFactor) {
        double sigma = (0.015 + 0.025 * random.nextDouble()) * noiseFactor;
        double slopeError = 1 + 0.1 * random.nextGaussian();
        double[] edgeError = new double[BATCH_EDGE.length];
        for (int i = 0; i < edgeError.length; i++) {
            edgeError[i] = 1 + 0.03 * random.nextGaussian();
        }
        double batch = 40 + random.nextInt(250);
        double noise = 0;
        for (int i = 0; i < factor.length; i++) {
            if (load && random.nextInt(40) == 0) {
                batch = Math.max(20, Math.min(390, batch + 60 * random.nextGaussian()));
            }
            int edge = 0;
            while (BATCH_EDGE[edge] < batch) {
                edge++;
            }
            double contextMillis = 2 + 10 * growth * i / factor.length;
            double expected =
                    BATCH_MILLIS[edge] * edgeError[edge] + contextMillis * slopeError + prefill[i] * slopeError;
            double actual = (BATCH_MILLIS[edge] + contextMillis) * factor[i] + prefill[i];
            noise = 0.3 * noise + sigma * random.nextGaussian();
            double heavy = random.nextDouble() < 0.003 ? 2 + 18 * random.nextDouble() : 0;
            gapNanos[i] = Math.round(1e6 * (actual * Math.exp(noise) * spikes[i] + heavy));
            expectedNanos[i] = Math.round(1e6 * expected);
        }
    }

    /** Feeds the series to the detector; without events when {@code withKvEvents} is false. */
    StaircaseVerdict judge(boolean withKvEvents) {
        StaircaseState state = new StaircaseState();
        for (int i = 0; i < gapNanos.length; i++) {
            StaircaseDetector.accept(state, i, gapNanos[i], expectedNanos[i], withKvEvents ? kvEvents[i] : 0);
        }
        return StaircaseDetector.verdict(state);
    }
}
