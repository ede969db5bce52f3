package io.tokenstair.job.request;

/**
 * How stamps of two clocks compare: what to add to their difference, and how wrong that may be. Without a path nothing is
 * compared.
 *
 * @param known whether there is a path
 * @param stepped whether a clock stepped where the stamps lie, so that there is none
 * @param offsetNanos what is added to (stamp of the one) - (stamp of the other)
 * @param boundNanos how wrong the sum may be; 0 on one clock
 * @param sigmaNanos its statistical width: standard deviation of its error; 0 on one clock
 */
record ClockPath(boolean known, boolean stepped, long offsetNanos, long boundNanos, long sigmaNanos) {
    /** Within one clock: nothing is added. */
    static final ClockPath SAME = new ClockPath(true, false, 0, 0, 0);

    /** Two clocks that no samples join. */
    static final ClockPath NONE = new ClockPath(false, false, 0, 0, 0);

    /** Two clocks of which one stepped just there: what lies between the stamps is not known. */
    static final ClockPath STEPPED = new ClockPath(false, true, 0, 0, 0);

    /** Whether a difference is below zero whatever the truth within the bound: it cannot be, and is not used. */
    boolean isBelowZero(long differenceNanos) {
        return known && differenceNanos + offsetNanos < -boundNanos;
    }
}
