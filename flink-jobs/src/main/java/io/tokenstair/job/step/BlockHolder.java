package io.tokenstair.job.step;

/** Who held most KV blocks during steps in a row in which those who waited were short of them. */
public class BlockHolder {
    /** The request; empty where no row of these steps has a name. */
    public String requestId = "";
    /** Begin and end of these steps, on {@link EngineState#blocksShortNanos}, the engine's running total of such time. */
    public long fromNanos;

    public long untilNanos;

    /** For Flink's serializer. */
    public BlockHolder() {}
}
