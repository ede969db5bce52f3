package io.tokenstair.bench.accuracy;

/** Random numbers by index: the number of an index depends on seed, stream and index alone, in whatever order they are asked for. */
final class IndexedRandom {
    private final long key;

    IndexedRandom(long seed, int stream) {
        key = mix(seed * 0x9E3779B97F4A7C15L + stream);
    }

    private static long mix(long z) {
        long x = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
        return x ^ (x >>> 31);
    }

    /** The number of an index, from 0 to below 1. */
    double uniform(long index) {
        return (mix(key + index * 0x9E3779B97F4A7C15L) >>> 11) * 0x1.0p-53;
    }

    /** A standard normal number of an index. */
    double normal(long index) {
        double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - uniform(2 * index)));
        return radius * StrictMath.cos(2 * Math.PI * uniform(2 * index + 1));
    }
}
