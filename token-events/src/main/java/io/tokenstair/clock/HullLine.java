package io.tokenstair.clock;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The straight line through brackets that keeps the largest margin to all of them, and how far any other line through them may be
 * away at x = 0. The lower hull of
 * the upper ends and the upper hull of the lower ends hold everything; the margin is concave in the slope, so that its maximum is
 * found by walking along their edges (Moon, Skelly, Towsley 1999; Zhang, Liu, Xia 2002). Slopes are rates of {@link FixedPoint}.
 *
 * @param value the line at x = 0
 * @param slope its rate
 * @param most the highest that a line through all brackets can be at x = 0
 * @param least the lowest
 * @param steepest the greatest rate of a line through all brackets
 * @param flattest the least
 */
record HullLine(long value, long slope, long most, long least, long steepest, long flattest) {
    /** What rounding may add to an end of a bracket. */
    private static final long ROUNDING_NANOS = 2;

    private static final int LEAST_SAMPLES = 5;
    private static final int RANK = 5;

    // Two figures that simulated links were used to set; bench's ClockAccuracy shows what they reach on others.
    private static final long SIGMA_SPACINGS = 4;
    private static final long SIGMA_FLOOR_NANOS = 2;

    /**
     * The line of some brackets.
     *
     * @param limit the greatest rate, either way
     * @param prior the rate to take where the brackets do not tell
     * @return null when no line within the limit goes through all of them
     */
    static @Nullable HullLine of(Brackets brackets, long limit, long prior) {
        try {
            return through(brackets, limit, prior);
        } catch (ArithmeticException e) {
            // Offsets farther apart than 64 bits hold: no clock does that in a window.
            return null;
        }
    }

    private static @Nullable HullLine through(Brackets brackets, long limit, long prior) {
        Hull above = Hull.below(brackets.x(), brackets.upper());
        Hull below = Hull.above(brackets.x(), brackets.lower());
        long slope = bestSlope(above, below, limit, prior);
        if (room(above, below, slope) < -ROUNDING_NANOS) {
            return null;
        }
        long steepest = extreme(above, below, slope, limit);
        long flattest = extreme(above, below, slope, -limit);
        long top = above.least(slope);
        long bottom = below.greatest(slope);
        return new HullLine(
                bottom + (top - bottom) / 2,
                slope,
                above.least(steepest) + ROUNDING_NANOS,
                below.greatest(flattest) - ROUNDING_NANOS,
                steepest,
                flattest);
    }

    /** The room between the ends for a line of this slope; below 0 when it cannot pass. */
    private static long room(Hull above, Hull below, long slope) {
        return Math.subtractExact(above.least(slope), below.greatest(slope));
    }

    /** The slope of the widest room. As the slope grows, the upper end that hinders moves right and the lower one left. */
    private static long bestSlope(Hull above, Hull below, long limit, long prior) {
        int i = 0;
        while (i < above.size - 1 && above.compareSlope(i, -limit) < 0) {
            i++;
        }
        int j = 0;
        while (j < below.size - 1 && below.compareSlope(j, -limit) > 0) {
            j++;
        }
        long from = -limit;
        while (below.x[j] > above.x[i]) {
            // Room grows with the slope up to the next edge of either hull.
            boolean upperEdge = i < above.size - 1;
            boolean lowerEdge = j > 0;
            if (!upperEdge && !lowerEdge) {
                return limit;
            }
            boolean upperFirst = upperEdge && (!lowerEdge || above.compareEdges(i, below, j - 1) <= 0);
            Hull hull = upperFirst ? above : below;
            int edge = upperFirst ? i : j - 1;
            if (hull.compareSlope(edge, limit) >= 0) {
                return limit;
            }
            from = hull.slope(edge);
            if (upperFirst) {
                i++;
            } else {
                j--;
            }
        }
        if (below.x[j] < above.x[i]) {
            return from;
        }
        // One instant hinders from both sides: every slope up to the next edge has the same room.
        long to = limit;
        if (i < above.size - 1 && above.compareSlope(i, limit) < 0) {
            to = above.slope(i);
        }
        if (j > 0 && below.compareSlope(j - 1, limit) < 0) {
            to = Math.min(to, below.slope(j - 1));
        }
        return Math.max(from, Math.min(to, prior));
    }

    /** The slope farthest towards a limit that a line can have and still pass. */
    private static long extreme(Hull above, Hull below, long slope, long limit) {
        if (room(above, below, limit) >= -ROUNDING_NANOS) {
            return limit;
        }
        long passes = slope;
        long fails = limit;
        while (Math.abs(fails - passes) > 1) {
            long middle = passes + (fails - passes) / 2;
            if (room(above, below, middle) >= -ROUNDING_NANOS) {
                passes = middle;
            } else {
                fails = middle;
            }
        }
        return passes;
    }

    /**
     * The standard deviation of the line's error at x = 0, as far as the brackets show it: how far from the floor of the delays the
     * shortest ones still are, either way. Delays above a floor thin out towards it like an exponential distribution, whose lowest
     * values lie as far apart as the lowest lies above the floor.
     */
    long sigma(Brackets brackets) {
        long[] x = brackets.x();
        int size = x.length;
        if (size < LEAST_SAMPLES) {
            return Math.max(most - value, value - least);
        }
        long[] above = new long[size];
        long[] below = new long[size];
        for (int i = 0; i < size; i++) {
            long at = value + FixedPoint.scaled(x[i], slope);
            above[i] = brackets.upper()[i] - at;
            below[i] = at - brackets.lower()[i];
        }
        long spacing = spacing(above) + spacing(below);
        return SIGMA_FLOOR_NANOS + spacing * SIGMA_SPACINGS / 4;
    }

    private static long spacing(long[] delays) {
        Arrays.sort(delays);
        int rank = Math.min(RANK, delays.length / 2);
        return (delays[rank] - delays[0]) / rank;
    }

    /** One side of the convex hull of points, from left to right. */
    private static final class Hull {
        private final long[] x;
        private final long[] y;
        private int size;

        private Hull(int capacity) {
            x = new long[capacity];
            y = new long[capacity];
        }

        /** The side that is seen from below: slopes rise. */
        static Hull below(long[] x, long[] y) {
            return of(x, y, 1);
        }

        /** The side that is seen from above: slopes fall. */
        static Hull above(long[] x, long[] y) {
            return of(x, y, -1);
        }

        private static Hull of(long[] x, long[] y, int sign) {
            Hull hull = new Hull(x.length);
            for (int k = 0; k < x.length; k++) {
                if (hull.size > 0 && hull.x[hull.size - 1] == x[k]) {
                    if (sign * Long.compare(y[k], hull.y[hull.size - 1]) >= 0) {
                        continue;
                    }
                    hull.size--;
                }
                while (hull.size > 1 && sign * hull.turn(x[k], y[k]) <= 0) {
                    hull.size--;
                }
                hull.x[hull.size] = x[k];
                hull.y[hull.size++] = y[k];
            }
            return hull;
        }

        /** Above 0 when the way over the last two points to this one turns left. */
        private int turn(long toX, long toY) {
            int last = size - 1;
            return FixedPoint.compareProducts(
                    x[last] - x[last - 1],
                    Math.subtractExact(toY, y[last]),
                    Math.subtractExact(y[last], y[last - 1]),
                    toX - x[last]);
        }

        private int compareSlope(int edge, long rate) {
            return FixedPoint.compareProducts(
                    Math.subtractExact(y[edge + 1], y[edge]), 1L << FixedPoint.BITS, rate, x[edge + 1] - x[edge]);
        }

        private int compareEdges(int edge, Hull other, int otherEdge) {
            return FixedPoint.compareProducts(
                    Math.subtractExact(y[edge + 1], y[edge]),
                    other.x[otherEdge + 1] - other.x[otherEdge],
                    Math.subtractExact(other.y[otherEdge + 1], other.y[otherEdge]),
                    x[edge + 1] - x[edge]);
        }

        /** The rate of an edge that is within what a clock can do. */
        private long slope(int edge) {
            return FixedPoint.rate(y[edge + 1] - y[edge], x[edge + 1] - x[edge]);
        }

        /** Where a line of this slope that touches the hull from below is at x = 0. */
        private long least(long slope) {
            long least = Long.MAX_VALUE;
            for (int k = 0; k < size; k++) {
                least = Math.min(least, Math.subtractExact(y[k], FixedPoint.scaled(x[k], slope)));
            }
            return least;
        }

        /** Where a line of this slope that touches the hull from above is at x = 0. */
        private long greatest(long slope) {
            long greatest = Long.MIN_VALUE;
            for (int k = 0; k < size; k++) {
                greatest = Math.max(greatest, Math.subtractExact(y[k], FixedPoint.scaled(x[k], slope)));
            }
            return greatest;
        }
    }
}
