package io.tokenstair.bench.accuracy;

/**
 * Measured times of all matrix products of a decode step by padded batch: quantised by tiles, and not monotone. Sums over the layers
 * of the kernels that microsoft/vidur profiled (MIT), read at the batch sizes where they jump and level in between.
 */
enum GemmTable {
    /** Llama 3 8B on one A100. */
    A100_8B(
            new int[] {1, 64, 72, 128, 136, 192, 200, 256, 264, 384, 392, 512},
            new double[] {8.8, 10.4, 11.4, 12.1, 16.9, 15.6, 17.3, 17.7, 24.8, 25.5, 30.9, 31.5}),
    /** Llama 2 70B on four H100. */
    H100_70B_TP4(
            new int[] {1, 128, 136, 192, 200, 256, 264, 320, 384, 392, 512},
            new double[] {12.7, 14.5, 17.4, 17.3, 17.0, 17.2, 28.2, 22.1, 23.0, 28.5, 29.0}),
    /** Llama 2 70B on eight H100: 200 is cheaper than 192. */
    H100_70B_TP8(
            new int[] {1, 64, 72, 128, 136, 192, 200, 256, 264, 384, 392, 512},
            new double[] {7.2, 7.5, 8.8, 8.9, 11.4, 11.3, 9.7, 10.6, 16.0, 16.4, 19.0, 19.4}),
    /** Llama 2 7B on one H100. */
    H100_7B(
            new int[] {1, 64, 72, 128, 136, 192, 200, 256, 264, 384, 392, 512},
            new double[] {4.6, 4.9, 6.1, 6.3, 8.4, 8.6, 10.9, 11.2, 12.0, 13.0, 14.9, 15.5});

    private final int[] sizes;
    private final double[] millis;

    GemmTable(int[] sizes, double[] millis) {
        this.sizes = sizes;
        this.millis = millis;
    }

    /** Time of the products of a step of this padded batch, ns; beyond the table as steep as the whole of it. */
    double nanos(int paddedCount) {
        int last = sizes.length - 1;
        if (paddedCount >= sizes[last]) {
            return millis[last] * 1e6 * paddedCount / sizes[last];
        }
        int above = 1;
        while (sizes[above] < paddedCount) {
            above++;
        }
        double share = (paddedCount - sizes[above - 1]) / (double) (sizes[above] - sizes[above - 1]);
        return 1e6 * (millis[above - 1] + Math.max(0, share) * (millis[above] - millis[above - 1]));
    }
}
