package io.tokenstair.simulate;

/**
 * What a step takes on an undisturbed device, in ns. The GEMM table is the sum of the four GEMMs times the layers that the kernel
 * profiles of microsoft/vidur measured for Llama-3-8B on an A100 (TP 1): level within a tile and not monotone across tiles. The other
 * coefficients are those of inference-sim/inference-sim for the same model; the prompt terms are assumptions of the same order.
 */
final class StepLaw {
    /** Tokens of the GEMM, and its ns. */
    private static final long[][] GEMM = {
        {1, 8_800_000},
        {64, 10_400_000},
        {72, 11_400_000},
        {128, 12_100_000},
        {136, 16_900_000},
        {192, 15_600_000},
        {200, 17_300_000},
        {256, 17_700_000},
        {264, 24_800_000},
        {384, 25_500_000},
        {392, 30_900_000},
        {1024, 61_000_000}
    };

    /** Largest batch for which engines capture a graph by default. */
    static final int MOST_GRAPH_BATCH = 512;

    /** Reading the KV of one resident token. */
    static final double RESIDENT_NANOS = 76.2;

    /** Norms, rotations, sampler and launches: 32 layers. */
    static final long LAYERS_NANOS = 1_027_000;

    /** Computing one prompt token, and the same again per token of its context. */
    static final double PROMPT_NANOS = 33_000;

    static final double PROMPT_CONTEXT_NANOS = 1.7;

    /** What a step pays for running as a piecewise graph, which steps with prompt tokens do. */
    static final long PIECEWISE_NANOS = 250_000;

    /** What a step pays for launching every kernel by itself. */
    static final long EAGER_NANOS = 6_400_000;

    private static final long SCHEDULE_NANOS = 120_000;
    private static final long SCHEDULE_ROW_NANOS = 2_500;
    private static final long UPDATE_NANOS = 150_000;
    private static final long UPDATE_ROW_NANOS = 4_417;

    /** From the end of a step to the next schedule call. */
    static final long BETWEEN_STEPS_NANOS = 30_000;

    private StepLaw() {}

    /** The batch after bucketing: 1, 2, 4, then every 8, from 256 every 16. */
    static int padded(int batch) {
        if (batch <= 2) {
            return batch;
        }
        if (batch <= 4) {
            return 4;
        }
        return batch <= 256 ? (batch + 7) / 8 * 8 : (batch + 15) / 16 * 16;
    }

    /** GEMM time of a decode batch that was padded. */
    static double gemmNanos(int padded) {
        int i = 1;
        while (i < GEMM.length - 1 && padded > GEMM[i][0]) {
            i++;
        }
        long[] low = GEMM[i - 1];
        long[] high = GEMM[i];
        double share = (double) (padded - low[0]) / (high[0] - low[0]);
        return low[1] + share * (high[1] - low[1]);
    }

    /** Computing prompt tokens whose context is {@code contextTokens} when they are done. */
    static double promptNanos(int tokens, int contextTokens) {
        double meanContext = contextTokens - tokens / 2.0;
        return PROMPT_NANOS * tokens + PROMPT_CONTEXT_NANOS * tokens * meanContext;
    }

    /** The attention share of {@link #promptNanos}. */
    static double promptAttentionNanos(int tokens, int contextTokens) {
        return PROMPT_CONTEXT_NANOS * tokens * (contextTokens - tokens / 2.0);
    }

    /** The scheduler's own work. */
    static long scheduleNanos(int rows) {
        return SCHEDULE_NANOS + SCHEDULE_ROW_NANOS * rows;
    }

    /** Taking in the output. */
    static long updateNanos(int rows) {
        return UPDATE_NANOS + UPDATE_ROW_NANOS * rows;
    }

    /** From the end of one usual decode-only step to the end of the next. */
    static long decodeOnlyNanos(int batch, long residentTokens, boolean eager) {
        double device =
                gemmNanos(padded(batch)) + RESIDENT_NANOS * residentTokens + LAYERS_NANOS + (eager ? EAGER_NANOS : 0);
        return StrictMath.round(device) + scheduleNanos(batch) + updateNanos(batch) + BETWEEN_STEPS_NANOS;
    }
}
