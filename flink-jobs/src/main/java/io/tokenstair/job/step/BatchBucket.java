package io.tokenstair.job.step;

/**
 * The rows of the step table: batch sizes up to 32 one by one, then in the widths by which engines pad: 8 up to 256, 16 up to 512,
 * 32 up to 1024, 256 up to 4096, then doubling.
 */
public final class BatchBucket {
    /** How many rows there are. */
    public static final int COUNT = 108;

    /** Largest batch size that the model takes in. */
    public static final int MAX_COUNT = 65_536;

    private BatchBucket() {}

    /** The row of a padded batch size, from 0. */
    public static int of(int paddedCount) {
        int size = Math.max(1, Math.min(paddedCount, MAX_COUNT));
        if (size <= 32) {
            return size - 1;
        }
        if (size <= 256) {
            return 32 + (size - 33) / 8;
        }
        if (size <= 512) {
            return 60 + (size - 257) / 16;
        }
        if (size <= 1_024) {
            return 76 + (size - 513) / 32;
        }
        if (size <= 4_096) {
            return 92 + (size - 1_025) / 256;
        }
        return 104 + (31 - Integer.numberOfLeadingZeros((size - 1) / 4_096));
    }

    /** The largest batch size of a row. */
    public static int largest(int bucket) {
        if (bucket < 32) {
            return bucket + 1;
        }
        if (bucket < 60) {
            return 32 + 8 * (bucket - 31);
        }
        if (bucket < 76) {
            return 256 + 16 * (bucket - 59);
        }
        if (bucket < 92) {
            return 512 + 32 * (bucket - 75);
        }
        if (bucket < 104) {
            return 1_024 + 256 * (bucket - 91);
        }
        return 8_192 << (bucket - 104);
    }

    /**
     * The batch size that decides over a step's kernels. What the engine reports counts, unless prompt tokens are in it: then, and
     * where nothing is reported, the size that a captured graph would have by vLLM's rule (1, 2, 4, multiples of 8 up to 256, of 16
     * up to 512), and in eager mode, or when the mode is not reported, the batch itself.
     *
     * @param sequences scheduled sequences
     * @param decodes those of them that decode
     * @param promptTokens prompt or recomputed tokens of the step
     * @param reportedCount what the engine reports; 0 when absent
     */
    public static int paddedCount(
            int sequences, int decodes, long promptTokens, int reportedCount, GraphMode graphMode) {
        boolean ofTokens = promptTokens > 0 && reportedCount >= decodes + promptTokens;
        if (reportedCount >= sequences && reportedCount <= MAX_COUNT && !ofTokens) {
            return reportedCount;
        }
        if (!graphMode.pads() || sequences <= 2 || sequences > 512) {
            return sequences;
        }
        if (sequences <= 4) {
            return 4;
        }
        return sequences <= 256 ? (sequences + 7) / 8 * 8 : (sequences + 15) / 16 * 16;
    }
}
