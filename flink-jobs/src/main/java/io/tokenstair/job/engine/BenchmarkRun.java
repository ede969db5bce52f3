package io.tokenstair.job.engine;

/** Aggregates of one run of a benchmark; 0 where it did not say. */
public class BenchmarkRun {
    public String run = "";
    public String eventId = "";
    /** Mean input tokens of its requests. */
    public long inputTokens;

    public double medianTpotSeconds;
    public double p99TpotSeconds;
    public double medianTtftSeconds;

    /** For Flink's serializer. */
    public BenchmarkRun() {}
}
