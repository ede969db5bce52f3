package io.tokenstair.job.statistics;

/**
 * Sums, and sums of products at lags 0 to {@value #LAGS}, of the {@link Variable}s of a series of blocks: sufficient for any covariance,
 * partial correlation and autocorrelation of them. Whole numbers, so that panes add and subtract exactly in any order.
 *
 * <p>A product is below 2^46, a pane has at most {@value #BLOCKS_PER_PANE} = 2^13 blocks and a window 10 panes: below 2^63. State: 1225
 * longs.
 */
public class MomentSums {
    /** Highest lag, in blocks. */
    public static final int LAGS = 24;

    /** Most blocks in a pane; further ones are left out. */
    public static final int BLOCKS_PER_PANE = 1 << 13;

    private static final int V = Variable.COUNT;
    private static final int PER_LAG = 1 + 2 * V + V * V;

    /** Per lag: pairs, sums of the later, sums of the earlier, sums of products later x earlier. */
    public long[] sums = new long[(LAGS + 1) * PER_LAG];

    /** False once a block had no KV hit rate. */
    public boolean hitRateKnown = true;

    /** For Flink's serializer: of nothing. */
    public MomentSums() {}

    /**
     * Adds a block.
     *
     * @param ring the blocks before it, {@link Variable#COUNT} numbers each, newest at {@code newest}
     * @param known how many of them there are
     */
    void add(long[] block, long[] ring, int newest, int known) {
        pair(0, block, 0, block, 0);
        int slots = ring.length / V;
        int at = newest;
        for (int lag = 1; lag <= known; lag++) {
            pair(lag, block, 0, ring, at * V);
            at = at == 0 ? slots - 1 : at - 1;
        }
    }

    private void pair(int lag, long[] later, int laterAt, long[] earlier, int earlierAt) {
        long[] s = sums;
        int at = lag * PER_LAG;
        s[at]++;
        for (int i = 0; i < V; i++) {
            s[at + 1 + i] += later[laterAt + i];
            s[at + 1 + V + i] += earlier[earlierAt + i];
        }
        int product = at + 1 + 2 * V;
        for (int i = 0; i < V; i++) {
            long value = later[laterAt + i];
            for (int j = 0; j < V; j++) {
                s[product++] += value * earlier[earlierAt + j];
            }
        }
    }

    /** Blocks in it. */
    public long blocks() {
        return sums[0];
    }

    /** Adds all blocks of another one. */
    public void add(MomentSums other) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += other.sums[i];
        }
        hitRateKnown &= other.hitRateKnown;
    }

    /** Takes the blocks of another one out again. Whether the hit rate is known of the rest is for the caller to say. */
    public void subtract(MomentSums other) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] -= other.sums[i];
        }
    }

    /** A copy of its own. */
    public MomentSums copy() {
        MomentSums copy = new MomentSums();
        copy.sums = sums.clone();
        copy.hitRateKnown = hitRateKnown;
        return copy;
    }

    /** Covariance of {@code later} with {@code earlier} {@code lag} blocks before it; 0 where there is no pair. */
    double covariance(int lag, Variable later, Variable earlier) {
        int at = lag * PER_LAG;
        long n = sums[at];
        if (n == 0) {
            return 0;
        }
        int i = later.ordinal();
        int j = earlier.ordinal();
        return difference(n, sums[at + 1 + 2 * V + i * V + j], sums[at + 1 + i], sums[at + 1 + V + j])
                / ((double) n * n);
    }

    /** {@code n x product - a x b}, exact to its last bit before it becomes a double: 128 bits, where a double would cancel. */
    static double difference(long n, long product, long a, long b) {
        long high = Math.multiplyHigh(n, product);
        long low = n * product;
        long lessHigh = Math.multiplyHigh(a, b);
        long lessLow = a * b;
        long restLow = low - lessLow;
        long borrow = Long.compareUnsigned(low, lessLow) < 0 ? 1 : 0;
        long restHigh = high - lessHigh - borrow;
        double unsignedLow = (restLow >>> 1) * 2.0 + (restLow & 1);
        return restHigh == 0 || restHigh == -1 && restLow < 0
                ? (restHigh == 0 ? unsignedLow : (double) restLow)
                : restHigh * 0x1p64 + unsignedLow;
    }
}
