package io.tokenstair.bench.accuracy;

/**
 * A link between two clocks that are read across it.
 *
 * @param name what it stands for
 * @param probesPerSecond how often
 * @param thereNanos shortest way there
 * @param backNanos shortest way back
 * @param cleanShare probability that a probe meets no queue
 * @param jitterNanos mean delay of a probe without a queue, each way, exponential
 * @param queueNanos mean delay in a queue, each way, exponential
 * @param tickNanos ticks of the clock that is read
 * @param wanderNanos deviation of the clock from a straight line after a second; grows with the square root of time
 * @param goalNanos what 95 % of the errors should stay under; {@link #NO_GOAL} where the design names none, or none can be reached
 */
record ClockLink(
        String name,
        int probesPerSecond,
        double thereNanos,
        double backNanos,
        double cleanShare,
        double jitterNanos,
        double queueNanos,
        long tickNanos,
        double wanderNanos,
        double goalNanos) {

    /** Of a link without a goal. */
    static final double NO_GOAL = Double.POSITIVE_INFINITY;

    ClockLink {
        if (probesPerSecond < 1 || tickNanos < 1) {
            throw new IllegalArgumentException(
                    "Cannot read a clock " + probesPerSecond + " times a second in ticks of " + tickNanos);
        }
    }
}
