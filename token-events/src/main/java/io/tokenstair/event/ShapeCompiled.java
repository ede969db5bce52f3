package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A kernel was compiled, or a graph captured, for a shape. Header stamp: the end.
 *
 * @param engineId the engine, one scheduler
 * @param dpRank data-parallel rank of the engine core, from 0
 * @param deviceId the device; absent when not known
 * @param shape the shape, as the engine names it
 * @param kernelName the kernel; absent when not reported
 * @param startNanos start, in ns
 * @param endNanos end, in ns
 */
public record ShapeCompiled(
        @Field(1) String engineId,
        @Field(2) int dpRank,
        @Field(3) @Nullable String deviceId,
        @Field(4) String shape,
        @Field(5) @Nullable String kernelName,
        @Field(6) long startNanos,
        @Field(7) long endNanos)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.SHAPE_COMPILED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
