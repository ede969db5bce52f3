package io.tokenstair.job.statistics;

import org.jspecify.annotations.Nullable;

/** The moments of one engine in one pane, or of a part of its blocks: panes add up in any order. 10 KB. */
public class MomentPane {
    public String engineId = "";
    public @Nullable String model;
    public long paneStartMillis;
    public MomentSums moments = new MomentSums();

    /** For Flink's serializer. */
    public MomentPane() {}
}
