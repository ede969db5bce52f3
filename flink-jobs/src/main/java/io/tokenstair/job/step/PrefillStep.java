package io.tokenstair.job.step;

import org.jspecify.annotations.Nullable;

/** Who computed most prompt tokens in a step, new or lost ones. */
public class PrefillStep {
    public String requestId = "";
    public String eventId = "";
    /** How many that were, in tokens. */
    public long tokens;

    /** Its priority; null where it is not known. */
    public @Nullable Integer priority;

    /** Number of the step among those of the timeline. */
    public long stepNumber;

    /** For Flink's serializer. */
    public PrefillStep() {}
}
