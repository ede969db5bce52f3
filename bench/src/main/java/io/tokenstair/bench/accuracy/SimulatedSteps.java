package io.tokenstair.bench.accuracy;

import io.tokenstair.job.step.BatchBucket;
import io.tokenstair.job.step.GraphMode;
import io.tokenstair.job.step.StepLoad;
import java.util.ArrayList;
import java.util.List;

/**
 * Steps of a made-up engine: requests come in waves, are computed in chunks beside the decoding ones, grow and leave. The time of a
 * step is a {@link GemmTable} by padded batch, KV bytes, prompt tokens with their attention, launch overhead by graph mode, times
 * AR(1) noise, and now and then heavy jitter.
 */
final class SimulatedSteps {
    /**
     * What is simulated.
     *
     * @param table matrix products
     * @param graphs true for captured graphs with padding, full for decode-only steps and piecewise beside prompts; false for eager
     * @param reported true when padded batch and graph mode are in the step record
     * @param noise standard deviation of the noise of a step, relative
     * @param mostSequences sequences that may run at once
     */
    record Engine(GemmTable table, boolean graphs, boolean reported, double noise, int mostSequences) {}

    /**
     * A step.
     *
     * @param load what the model is told of it
     * @param stepNanos what it took
     * @param meanNanos what it would have taken without noise and jitter
     */
    record Step(StepLoad load, long stepNanos, double meanNanos) {}

    private static final double NANOS_PER_RESIDENT = 76.2;
    private static final double NANOS_PER_PROMPT = 33_000;
    private static final double NANOS_PER_PAIR = 1.2;
    private static final double NANOS_PER_SEQUENCE = 4_417;
    private static final double FULL_NANOS = 300_000;
    private static final double PIECEWISE_NANOS = 900_000;
    private static final double EAGER_NANOS = 4_000_000;
    private static final double PHI = 0.3;
    private static final double JITTER_SHARE = 0.003;
    private static final int CHUNK_TOKENS = 512;
    private static final int WAVE_STEPS = 3_000;

    private SimulatedSteps() {}

    /** So many steps of an engine. */
    static List<Step> of(Engine engine, int count, long seed) {
        IndexedRandom arrivals = new IndexedRandom(seed, 1);
        IndexedRandom lengths = new IndexedRandom(seed, 2);
        IndexedRandom noise = new IndexedRandom(seed, 3);
        IndexedRandom jitter = new IndexedRandom(seed, 4);
        List<Step> steps = new ArrayList<>(count);
        List<int[]> running = new ArrayList<>();
        List<int[]> waiting = new ArrayList<>();
        double ar = 0;
        long request = 0;
        for (int i = 0; i < count; i++) {
            double wave =
                    0.5 - 0.5 * StrictMath.cos(2 * Math.PI * i / WAVE_STEPS + 6 * arrivals.uniform(i / WAVE_STEPS));
            double rate = engine.mostSequences() * (0.05 + wave) / 1_000;
            for (int k = 0; k < 4; k++) {
                if (arrivals.uniform(8L * i + k + 1_000_000_000L) < rate / 4) {
                    int prompt = (int) StrictMath.exp(4 + 3 * lengths.uniform(3 * request));
                    int output = (int) (100 + 1_800 * lengths.uniform(3 * request + 1));
                    waiting.add(new int[] {0, prompt, output});
                    request++;
                }
            }
            steps.add(step(engine, running, waiting, ar = PHI * ar + noise(engine, noise, i), jitter, i));
        }
        return steps;
    }

    private static double noise(Engine engine, IndexedRandom noise, int i) {
        return engine.noise() * StrictMath.sqrt(1 - PHI * PHI) * noise.normal(i);
    }

    /** A request is computed tokens, prompt tokens, tokens left to make. */
    private static Step step(
            Engine engine, List<int[]> running, List<int[]> waiting, double ar, IndexedRandom jitter, int i) {
        int decodes = running.size();
        long resident = 0;
        for (int[] request : running) {
            resident += request[0];
        }
        long prompt = 0;
        long pairs = 0;
        int sequences = decodes;
        if (!waiting.isEmpty() && decodes < engine.mostSequences()) {
            int[] request = waiting.get(0);
            int chunk = Math.min(CHUNK_TOKENS, request[1] - request[0]);
            request[0] += chunk;
            prompt = chunk;
            pairs = StepLoad.pairs(chunk, request[0]);
            sequences++;
            if (request[0] == request[1]) {
                waiting.remove(0);
                running.add(request);
            }
        }
        for (int k = running.size() - 1; k >= 0; k--) {
            int[] request = running.get(k);
            request[0]++;
            if (--request[2] <= 0) {
                running.remove(k);
            }
        }
        if (sequences == 0) {
            sequences = 1;
            resident = 100;
        }
        GraphMode mode = mode(engine, sequences, prompt);
        int padded = BatchBucket.paddedCount(sequences, decodes, prompt, 0, mode);
        double launch =
                mode == GraphMode.FULL ? FULL_NANOS : mode == GraphMode.PIECEWISE ? PIECEWISE_NANOS : EAGER_NANOS;
        double mean = engine.table().nanos(padded)
                + launch
                + NANOS_PER_SEQUENCE * sequences
                + NANOS_PER_RESIDENT * resident
                + NANOS_PER_PROMPT * prompt
                + NANOS_PER_PAIR * pairs;
        double nanos = mean * StrictMath.exp(ar);
        if (jitter.uniform(2L * i) < JITTER_SHARE) {
            nanos += 2e6 + 18e6 * jitter.uniform(2L * i + 1);
        }
        StepLoad load = new StepLoad(
                sequences,
                engine.reported() ? padded : sequences,
                engine.reported() ? mode : GraphMode.NOT_REPORTED,
                resident,
                prompt,
                0,
                pairs,
                0);
        return new Step(load, StrictMath.round(nanos), mean);
    }

    private static GraphMode mode(Engine engine, int sequences, long prompt) {
        if (!engine.graphs() || sequences > 512) {
            return GraphMode.EAGER;
        }
        return prompt > 0 ? GraphMode.PIECEWISE : GraphMode.FULL;
    }
}
