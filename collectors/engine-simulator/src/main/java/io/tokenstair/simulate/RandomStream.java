package io.tokenstair.simulate;

/**
 * Random numbers by name instead of by order of drawing: a number is a hash of the seed, of the names and ids on the way to its
 * stream, and of its index there. What one part of the engine draws therefore never shifts what another one gets, and switching a
 * fault off leaves every other number as it was. The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
 */
final class RandomStream {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final long CHILD = 0xD1B54A32D192ED03L;

    private final long key;

    private RandomStream(long key) {
        this.key = key;
    }

    static RandomStream ofSeed(long seed) {
        return new RandomStream(mix(seed + GOLDEN));
    }

    /** The stream of a component. */
    RandomStream named(String name) {
        long hash = 0xCBF29CE484222325L;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ name.charAt(i)) * 0x100000001B3L;
        }
        return new RandomStream(mix(key ^ mix(hash + CHILD)));
    }

    /** The stream of an entity of this component. */
    RandomStream numbered(long id) {
        return new RandomStream(mix(key + CHILD * (id + 1)));
    }

    /** 64 random bits. */
    long bits(long index) {
        return mix(key ^ mix(GOLDEN * (index + 1)));
    }

    /** Uniform in [0, 1). */
    double uniform(long index) {
        return (bits(index) >>> 11) * 0x1p-53;
    }

    /** Uniform in [least, most], both included. */
    long between(long index, long least, long most) {
        return least + (long) (uniform(index) * (most - least + 1));
    }

    /** True with this probability. */
    boolean chance(long index, double probability) {
        return uniform(index) < probability;
    }

    /** Exponentially distributed with this mean. */
    double exponential(long index, double mean) {
        return -mean * StrictMath.log(1 - uniform(index));
    }

    /** Normally distributed with mean 0 and deviation 1 (Box and Muller). */
    double gaussian(long index) {
        double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - uniform(2 * index)));
        return radius * StrictMath.cos(2 * StrictMath.PI * uniform(2 * index + 1));
    }

    private static long mix(long z) {
        long mixed = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
