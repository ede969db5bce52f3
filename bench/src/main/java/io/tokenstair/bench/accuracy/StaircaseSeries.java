package io.tokenstair.bench.accuracy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Token times of one made-up request with known truth: an engine whose step time depends on the batch (a measured table with edges),
 * on context and on prefill, seen through noise that hangs together from token to token, and a model of it that is a few percent
 * wrong. Half of all series have KV events at random that mean nothing.
 */
final class StaircaseSeries {
    /** What happens to the request. */
    enum Kind {
        STAIRS(Truth.KV_STAIRCASE),
        STAIRS_UNDER_LOAD(Truth.KV_STAIRCASE),
        SMALL_STAIRS_ON_GROWTH(Truth.KV_STAIRCASE),
        LEVEL(Truth.NULL),
        GROWTH_NOT_MODELLED(Truth.NULL),
        GROWTH_MODELLED(Truth.NULL),
        BATCH_EDGES(Truth.NULL),
        JITTER(Truth.NULL),
        PREFILL_BURSTS(Truth.NULL),
        ONE_SHIFT(Truth.NULL),
        PREEMPTION_GAPS(Truth.NULL),
        RAMP(Truth.NULL),
        /** Two lasting rises that KV events have nothing to do with; the events come in bunches. */
        TWO_SHIFTS(Truth.HARD_NULL),
        /** The level wanders, as on a shared host. */
        WANDERING(Truth.HARD_NULL),
        /** Up and down again, for longer than a burst. */
        SLOW_SWINGS(Truth.HARD_NULL),
        /** A staircase of another cause; KV events, in bunches, have nothing to do with it. */
        STAIRS_OF_ANOTHER_CAUSE(Truth.OTHER_STAIRCASE);

        private final Truth truth;

        Kind(Truth truth) {
            this.truth = truth;
        }

        Truth truth() {
            return truth;
        }
    }

    /** What a kind is. The first two make up the benchmark, the others go beyond it. */
    enum Truth {
        /** A staircase with KV events at its rises. */
        KV_STAIRCASE,
        /** No staircase. */
        NULL,
        /** No staircase, and made to be taken for one. */
        HARD_NULL,
        /** A staircase without KV events at its rises. */
        OTHER_STAIRCASE
    }

    /** Sums of GEMM times per padded batch, in ms, of four measured machines: upper edges of the batch, then the times. */
    private static final int[][] BATCH_EDGES = {
        {64, 72, 128, 136, 192, 200, 256, 264, 384, 400},
        {64, 72, 128, 136, 192, 200, 256, 264, 384, 400},
        {128, 136, 192, 200, 256, 264, 320, 384, 400},
        {64, 72, 128, 136, 192, 200, 256, 264, 384, 400}
    };

    private static final double[][] BATCH_MILLIS = {
        {10.4, 11.4, 12.1, 16.9, 15.6, 17.3, 17.7, 24.8, 25.5, 30.9},
        {10.0, 12.2, 12.6, 14.5, 14.9, 18.0, 18.4, 21.5, 22.0, 30.4},
        {13.6, 16.3, 16.5, 17.0, 17.2, 28.2, 22.1, 23.0, 28.5},
        {7.8, 9.1, 9.3, 11.9, 11.3, 9.7, 10.4, 15.7, 16.2, 18.6}
    };

    final Kind kind;
    final long[] gapNanos;
    final long[] expectedNanos;
    final int[] kvEvents;
    final List<Integer> onsets = new ArrayList<>();

    private final CounterRandom shape;
    private final CounterRandom events;

    private StaircaseSeries(Kind kind, long seed, int tokens) {
        this.kind = kind;
        this.gapNanos = new long[tokens];
        this.expectedNanos = new long[tokens];
        this.kvEvents = new int[tokens];
        this.shape = new CounterRandom(seed, kind + " shape");
        this.events = new CounterRandom(seed, kind + " events");
    }

    static StaircaseSeries of(Kind kind, long seed) {
        return of(kind, seed, 1);
    }

    /**
     * One series.
     *
     * @param noiseFactor scales the noise; the draws stay the same
     */
    static StaircaseSeries of(Kind kind, long seed, double noiseFactor) {
        int tokens = 700 + new CounterRandom(seed, kind + " length").below(1300);
        StaircaseSeries series = new StaircaseSeries(kind, seed, tokens);
        if (kind.truth() == Truth.HARD_NULL || kind.truth() == Truth.OTHER_STAIRCASE) {
            series.bunches();
        } else {
            series.background();
        }
        double[] factor = ones(tokens);
        double[] spikes = ones(tokens);
        double[] prefill = new double[tokens];
        CounterRandom shape = series.shape;
        boolean load = kind == Kind.STAIRS_UNDER_LOAD || kind == Kind.BATCH_EDGES;
        double growth = 0;
        switch (kind) {
            case STAIRS -> series.stairs(factor, 0.05, 0.25);
            case STAIRS_UNDER_LOAD -> {
                series.stairs(factor, 0.05, 0.25);
                series.spike(spikes, 0.01, 1.5, 4);
                series.bursts(prefill, 2);
            }
            case SMALL_STAIRS_ON_GROWTH -> {
                series.stairs(factor, 0.04, 0.12);
                grow(factor, shape.uniform(0, 0.1));
            }
            case LEVEL, BATCH_EDGES -> {
                // Nothing happens beyond what the model expects.
            }
            case GROWTH_NOT_MODELLED -> grow(factor, shape.uniform(0.2, 0.8));
            case GROWTH_MODELLED -> growth = shape.uniform(0.2, 0.8);
            case JITTER -> series.spike(spikes, 0.03, 1.5, 6);
            case PREFILL_BURSTS -> series.bursts(prefill, 4 + shape.below(5));
            case ONE_SHIFT -> raise(factor, tokens / 4 + shape.below(tokens / 2), shape.uniform(0.15, 0.4));
            case PREEMPTION_GAPS -> series.preemptions(spikes);
            case RAMP -> series.ramp(factor);
            case TWO_SHIFTS -> {
                raise(factor, tokens / 5 + shape.below(tokens / 5), shape.uniform(0.1, 0.3));
                raise(factor, 3 * tokens / 5 + shape.below(tokens / 5), shape.uniform(0.1, 0.3));
            }
            case WANDERING -> wander(factor, new CounterRandom(seed, kind + " walk"), shape.uniform(0.002, 0.006));
            case SLOW_SWINGS -> swing(factor, 60 + shape.below(120), shape.uniform(0.08, 0.3));
            case STAIRS_OF_ANOTHER_CAUSE -> series.rises(factor, 0.05, 0.25);
        }
        series.render(seed, factor, spikes, prefill, load, growth, noiseFactor);
        return series;
    }

    private static double[] ones(int count) {
        double[] ones = new double[count];
        Arrays.fill(ones, 1);
        return ones;
    }

    /** KV events that have nothing to do with the token times: none, or at 5 to 20 % of the tokens. */
    private void background() {
        if (!events.chance(0.5)) {
            return;
        }
        double rate = events.uniform(0.05, 0.2);
        for (int i = 0; i < kvEvents.length; i++) {
            kvEvents[i] = events.chance(rate) ? 1 : 0;
        }
    }

    /** The same share of tokens in runs of 5 to 20, as when a long prompt evicts what was cached. */
    private void bunches() {
        double rate = events.uniform(0.02, 0.2);
        int i = 0;
        while (i < kvEvents.length) {
            int quiet = 1 + (int) (-12 / rate * StrictMath.log(1 - events.uniform()));
            i += quiet;
            int end = Math.min(kvEvents.length, i + 5 + events.below(16));
            for (; i < end; i++) {
                kvEvents[i] = events.chance(0.8) ? 1 : 0;
            }
        }
    }

    private void stairs(double[] factor, double smallest, double largest) {
        rises(factor, smallest, largest);
        for (int onset : onsets) {
            for (int i = onset - 8; i < onset + 4; i++) {
                kvEvents[i] += events.chance(0.6) ? 1 : 0;
            }
        }
    }

    private void rises(double[] factor, double smallest, double largest) {
        int tokens = factor.length;
        int steps = 3 + shape.below(Math.min(4, tokens / 150 - 2));
        int tread = (tokens - 60) / (steps + 1);
        for (int step = 1; step <= steps; step++) {
            int onset = 30 + step * tread + shape.below(tread / 3) - tread / 6;
            raise(factor, onset, shape.uniform(smallest, largest));
            onsets.add(onset);
        }
    }

    /** A random walk that is drawn back to its origin, half in about 350 tokens. */
    private static void wander(double[] factor, CounterRandom walk, double deviation) {
        double log = 0;
        for (int i = 0; i < factor.length; i++) {
            log = 0.998 * log + deviation * walk.gaussian();
            factor[i] *= StrictMath.exp(log);
        }
    }

    private static void swing(double[] factor, int half, double height) {
        for (int i = 0; i < factor.length; i++) {
            factor[i] *= i / half % 2 == 0 ? 1 : 1 + height;
        }
    }

    private void ramp(double[] factor) {
        int length = 200 + shape.below(250);
        int start = 100 + shape.below(factor.length - length - 150);
        double height = shape.uniform(0.2, 0.6);
        for (int i = start; i < factor.length; i++) {
            factor[i] *= 1 + height * Math.min(1, (i - start) / (double) length);
        }
    }

    private void preemptions(double[] spikes) {
        int count = 1 + shape.below(4);
        for (int i = 0; i < count; i++) {
            int at = 50 + shape.below(spikes.length - 100);
            spikes[at] = shape.uniform(8, 88);
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

    private void spike(double[] spikes, double rate, double smallest, double largest) {
        for (int i = 0; i < spikes.length; i++) {
            if (shape.chance(rate)) {
                spikes[i] *= shape.uniform(smallest, largest);
            }
        }
    }

    private void bursts(double[] prefill, int count) {
        for (int burst = 0; burst < count; burst++) {
            int at = shape.below(prefill.length - 20);
            int length = 1 + shape.below(12);
            double millis = shape.uniform(5, 45);
            for (int i = at; i < at + length; i++) {
                prefill[i] += millis;
            }
        }
    }

    private void render(
            long seed,
            double[] factor,
            double[] spikes,
            double[] prefill,
            boolean load,
            double growth,
            double noiseFactor) {
        CounterRandom machine = new CounterRandom(seed, kind + " machine");
        CounterRandom noiseDraws = new CounterRandom(seed, kind + " noise");
        int table = machine.below(BATCH_EDGES.length);
        int[] edges = BATCH_EDGES[table];
        double[] millis = BATCH_MILLIS[table];
        double sigma = machine.uniform(0.015, 0.04) * noiseFactor;
        double slopeError = 1 + 0.1 * machine.gaussian();
        double[] edgeError = new double[edges.length];
        for (int i = 0; i < edges.length; i++) {
            edgeError[i] = 1 + 0.03 * machine.gaussian();
        }
        double batch = 40 + machine.below(250);
        double noise = 0;
        for (int i = 0; i < factor.length; i++) {
            if (load && machine.chance(1 / 40.0)) {
                batch = Math.max(20, Math.min(390, batch + 60 * machine.gaussian()));
            }
            int edge = 0;
            while (edges[edge] < batch) {
                edge++;
            }
            double contextMillis = 2 + 10 * growth * i / factor.length;
            double expected = millis[edge] * edgeError[edge] + (contextMillis + prefill[i]) * slopeError;
            double actual = (millis[edge] + contextMillis) * factor[i] + prefill[i];
            noise = 0.3 * noise + sigma * noiseDraws.gaussian();
            double heavy = noiseDraws.chance(0.003) ? noiseDraws.uniform(2, 20) : 0;
            gapNanos[i] = StrictMath.round(1e6 * (actual * StrictMath.exp(noise) * spikes[i] + heavy));
            expectedNanos[i] = StrictMath.round(1e6 * expected);
        }
    }
}
