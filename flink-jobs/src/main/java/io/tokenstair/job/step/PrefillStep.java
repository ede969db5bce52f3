package io.tokenstair.job.step;

/** Who computed most prompt tokens in a step, new or lost ones. */
public class PrefillStep {
    public String requestId = "";
    public String eventId = "";
    /** How many that were, in tokens. */
    public long tokens;

    /** Number of the step among those of the timeline. */
    public long stepNumber;

    /** For Flink's serializer. */
    public PrefillStep() {}
}
