package io.tokenstair.job.clock;

import io.tokenstair.clock.ClockFit;

/** What is known of one way between two clocks while it is being fitted. */
public class WayFit {
    public ClockFit fit = new ClockFit();

    /** Event time of its first record: tells this use of the two clocks' names from an earlier one. */
    public long beganMillis;

    /** Event time of its last record. */
    public long lastMillis;

    /** Its segments came with the input: they are used, and nothing is fitted. */
    public boolean given;

    /** For Flink's serializer. */
    public WayFit() {}
}
