package io.tokenstair.job.statistics;

/** Durations whose quantiles are kept. */
public enum Metric {
    /** First token's arrival less request sent, by one observer. */
    TTFT("ttft"),
    /** End of the step that made the first token less the queued stamp, by the engine. */
    ENGINE_TTFT("engine-ttft"),
    /** Gap between two tokens of a sequence where they were made: from token 1 on, 0 for further tokens of one step. */
    GAP("gap"),
    /** Gap between two chunks of a sequence where they arrived. */
    DELIVERED_GAP("delivered-gap"),
    /** Time of a step. */
    STEP("step"),
    /** Steps without the sequence before its first schedule. */
    QUEUE_WAIT("queue-wait");

    private final String metricName;

    Metric(String metricName) {
        this.metricName = metricName;
    }

    /** Its name in the archive. */
    public String metricName() {
        return metricName;
    }
}
