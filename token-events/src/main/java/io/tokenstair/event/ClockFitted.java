package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A stretch of the way from one clock to another, fitted to bracketed samples. A reading r of the first clock, from {@code startNanos} on, is
 * r + offset + (r - start) * drift of the second, where drift is {@code driftNanos} per 2^40 ns. Once made it never changes;
 * a later segment takes over from its own start. Header stamp: the start; the header's clock is the first clock.
 *
 * @param fromClockId the clock whose readings are converted
 * @param toClockId the clock they are converted to
 * @param segmentIndex number of the segment on its way, from 0
 * @param startNanos first reading it holds for, and origin of its line, in ns of the first clock
 * @param endNanos last reading it holds for: beyond it nothing is aligned, in ns of the first clock
 * @param offsetNanos what to add to a reading at the start, in ns
 * @param driftNanos ns that the second clock gains while the first one runs 2^40 ns
 * @param boundNanos hard half-width at the start, in ns: the truth lies within it as far as the samples are true
 * @param boundGrowthNanos ns by which the half-width grows while the first clock runs 2^40 ns
 * @param sigmaNanos statistical width at the start: standard deviation of the error, in ns; blind to a lasting difference between the two
 *     directions of the link
 * @param sampleCount samples it was fitted to
 * @param stepped true when it does not continue the segment before: a clock stepped, or the samples had paused too long
 * @param refusedCount samples of this way refused so far as impossible; absent when not counted
 * @param agreedNanos reading of the last sample that agreed with the segment before, in ns of the first clock: between it and the sample that made
 *     this one, a clock stepped, and no segment holds; greater than the start where the first clock went back; absent when no sample
 *     contradicted the segment before
 */
public record ClockFitted(
        @Field(1) String fromClockId,
        @Field(2) String toClockId,
        @Field(3) long segmentIndex,
        @Field(4) long startNanos,
        @Field(5) long endNanos,
        @Field(6) long offsetNanos,
        @Field(7) long driftNanos,
        @Field(8) long boundNanos,
        @Field(9) long boundGrowthNanos,
        @Field(10) long sigmaNanos,
        @Field(11) int sampleCount,
        @Field(12) boolean stepped,
        @Field(13) @Nullable Long refusedCount,
        @Field(14) @Nullable Long agreedNanos)
        implements Event {

    /** A segment that no step comes before. */
    public ClockFitted(
            String fromClockId,
            String toClockId,
            long segmentIndex,
            long startNanos,
            long endNanos,
            long offsetNanos,
            long driftNanos,
            long boundNanos,
            long boundGrowthNanos,
            long sigmaNanos,
            int sampleCount,
            boolean stepped,
            @Nullable Long refusedCount) {
        this(
                fromClockId,
                toClockId,
                segmentIndex,
                startNanos,
                endNanos,
                offsetNanos,
                driftNanos,
                boundNanos,
                boundGrowthNanos,
                sigmaNanos,
                sampleCount,
                stepped,
                refusedCount,
                null);
    }

    @Override
    public EventKind kind() {
        return EventKind.CLOCK_FITTED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
