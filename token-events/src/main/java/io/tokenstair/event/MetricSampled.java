package io.tokenstair.event;

/**
 * One sample of a scraped metric, as received. Header stamp: the scrape.
 *
 * @param source where it came from: file, endpoint or stream
 * @param name name as received
 * @param labels labels as received, sorted by name
 * @param sampledValue the sample
 */
public record MetricSampled(
        @Field(1) String source,
        @Field(2) String name,
        @Field(3) String labels,
        @Field(4) double sampledValue) implements Event {

    @Override
    public EventKind kind() {
        return EventKind.METRIC_SAMPLED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
