package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * Raw input that was refused, where it was, and why.
 *
 * @param source where it came from: file, endpoint or stream
 * @param lineNumber line, from 1; absent when the source has no lines
 * @param byteOffset offset in the source, from 0, in bytes; absent when not known
 * @param reason why, as the origin names it
 * @param excerpt start of the refused input, escaped, at most 200 characters; never prompt or generated text; absent when nothing can be shown
 */
public record Rejected(
        @Field(1) String source,
        @Field(2) @Nullable Long lineNumber,
        @Field(3) @Nullable Long byteOffset,
        @Field(4) String reason,
        @Field(5) @Nullable String excerpt)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.REJECTED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
