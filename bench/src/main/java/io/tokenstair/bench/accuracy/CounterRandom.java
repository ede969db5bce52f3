package io.tokenstair.bench.accuracy;

/**
 * Random numbers by counting: the n-th draw of a stream is a hash of (seed, stream, n). Streams are independent, so that drawing more
 * from one never shifts another: a series with a fault and the same series without it share every other draw.
 *
 * <p>The hash is the finaliser of SplitMix64 (Steele, Lea and Flood 2014), applied to each of the three in turn.
 */
final class CounterRandom {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final double UNIT = 0x1.0p-53;

    private final long key;
    private long drawn;

    /** The stream of this name under a seed. */
    CounterRandom(long seed, String stream) {
        this.key = mix(mix(seed) ^ stream.hashCode());
    }

    private static long mix(long value) {
        long z = value + GOLDEN;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    private long next() {
        return mix(key + GOLDEN * drawn++);
    }

    /** Evenly from 0 up to 1, without 1. */
    double uniform() {
        return (next() >>> 11) * UNIT;
    }

    /** Evenly between two numbers. */
    double uniform(double from, double to) {
        return from + (to - from) * uniform();
    }

    /** Evenly from 0 up to a bound, without the bound. */
    int below(int bound) {
        return (int) (uniform() * bound);
    }

    /** True with this chance. */
    boolean chance(double probability) {
        return uniform() < probability;
    }

    /** From the standard normal distribution, by Box and Muller: two draws for each. */
    double gaussian() {
        double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - uniform()));
        return radius * StrictMath.cos(2 * Math.PI * uniform());
    }
}
