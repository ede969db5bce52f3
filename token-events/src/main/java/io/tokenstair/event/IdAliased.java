package io.tokenstair.event;

/**
 * Two names of one request.
 *
 * @param requestId the client's own id of the request
 * @param alias the other name
 * @param aliasOrigin who uses the other name
 */
public record IdAliased(
        @Field(1) String requestId,
        @Field(2) String alias,
        @Field(3) String aliasOrigin) implements Event {

    @Override
    public EventKind kind() {
        return EventKind.ID_ALIASED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
