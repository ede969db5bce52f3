package io.tokenstair.event;

/**
 * Records that a collector knows it lost.
 *
 * @param source where it came from: file, endpoint or stream
 * @param firstMissingSequence first lost record
 * @param lastMissingSequence last lost record
 */
public record CollectorGap(
        @Field(1) String source,
        @Field(2) long firstMissingSequence,
        @Field(3) long lastMissingSequence) implements Event {

    @Override
    public EventKind kind() {
        return EventKind.COLLECTOR_GAP;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
