package io.tokenstair.bench.accuracy;

/** Random numbers that are a function of seed, stream and count alone: leaving out one draw shifts no other stream. */
final class CountedRandom {
    private final long key;
    private long counted;

    CountedRandom(long seed, long stream) {
        key = mixed(mixed(seed) + stream * 0x9E3779B97F4A7C15L);
    }

    private static long mixed(long value) {
        long z = value + 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    /** Evenly between 0 and 1, neither of them. */
    double uniform() {
        return ((mixed(key + counted++) >>> 11) + 0.5) * 0x1p-53;
    }

    double exponential(double mean) {
        return -mean * StrictMath.log(uniform());
    }

    /** Normal, with deviation 1. */
    double normal() {
        double radius = StrictMath.sqrt(-2 * StrictMath.log(uniform()));
        return radius * StrictMath.cos(2 * StrictMath.PI * uniform());
    }
}
