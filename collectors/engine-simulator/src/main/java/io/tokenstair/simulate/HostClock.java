package io.tokenstair.simulate;

import java.util.List;

/**
 * A clock as it is read: an origin, a drift, a random walk, and jumps. True time is ns since the engine was ready and may be negative.
 * The walk has a knot every 100 ms and is straight in between.
 */
final class HostClock {
    private static final long KNOT_NANOS = 100_000_000L;
    private static final double WANDER_PER_KNOT = 5 * 0.31622776601683794; // 5 ns per root second

    private final String id;
    private final long originNanos;
    private final double driftPartsPerMillion;
    private final RandomStream wander;
    private final List<Fault> disturbances;
    private final long tickNanos;
    private double[] walk = new double[1];
    private int known = 1;

    /**
     * A clock.
     *
     * @param tickNanos the clock advances by this at a time
     * @param disturbances jumps and drifts of this clock
     */
    HostClock(
            String id,
            long originNanos,
            double driftPartsPerMillion,
            long tickNanos,
            RandomStream wander,
            List<Fault> disturbances) {
        this.id = id;
        this.originNanos = originNanos;
        this.driftPartsPerMillion = driftPartsPerMillion;
        this.tickNanos = tickNanos;
        this.wander = wander;
        this.disturbances = List.copyOf(disturbances);
    }

    String id() {
        return id;
    }

    /** What the clock shows at an instant of true time. */
    long read(long trueNanos) {
        double error = driftPartsPerMillion * 1e-6 * trueNanos + wanderNanos(trueNanos);
        for (Fault fault : disturbances) {
            if (fault.kind() == FaultKind.CLOCK_STEP && trueNanos >= fault.fromNanos()) {
                error += fault.sizeNanos();
            } else if (fault.kind() == FaultKind.CLOCK_DRIFT && trueNanos > fault.fromNanos()) {
                error += fault.factor() * 1e-6 * (Math.min(trueNanos, fault.toNanos()) - fault.fromNanos());
            }
        }
        return Math.floorDiv(originNanos + trueNanos + StrictMath.round(error), tickNanos) * tickNanos;
    }

    private double wanderNanos(long trueNanos) {
        if (trueNanos <= 0) {
            return 0;
        }
        int knot = (int) (trueNanos / KNOT_NANOS);
        while (known <= knot + 1) {
            if (known == walk.length) {
                walk = java.util.Arrays.copyOf(walk, 2 * walk.length);
            }
            walk[known] = walk[known - 1] + WANDER_PER_KNOT * wander.gaussian(known);
            known++;
        }
        double share = (double) (trueNanos % KNOT_NANOS) / KNOT_NANOS;
        return walk[knot] + share * (walk[knot + 1] - walk[knot]);
    }
}
