package io.tokenstair.rule.bound;

import static java.util.Comparator.comparing;
import static java.util.Comparator.naturalOrder;
import static java.util.Comparator.nullsFirst;

import io.tokenstair.milestone.Milestone;
import java.io.Serial;
import java.io.Serializable;
import java.util.Comparator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The total order of milestones: event time, then the engine's clock, engine, request, sequence, token and kind, then every other
 * field. Milestones that compare as 0 are equal in every field, so the order never depends on arrival.
 */
public final class MilestoneOrder implements Comparator<Milestone>, Serializable {
    @Serial
    private static final long serialVersionUID = 1L;

    private static final Comparator<Milestone> ORDER = Comparator.comparingLong(Milestone::coarseEpochMillis)
            .thenComparingLong(Milestone::orderNanos)
            .thenComparing(absentFirst(Milestone::engineId))
            .thenComparing(absentFirst(Milestone::requestId))
            .thenComparing(absentFirst(Milestone::lifetime))
            .thenComparing(absentFirst(Milestone::sequenceIndex))
            .thenComparing(absentFirst(Milestone::tokenIndex))
            .thenComparing(Milestone::milestoneKind)
            .thenComparing(absentFirst(Milestone::stepId))
            .thenComparing(absentFirst(Milestone::epochNanos))
            .thenComparing(absentFirst(Milestone::contextTokens))
            .thenComparing(absentFirst(Milestone::gapNanos))
            .thenComparing(absentFirst(Milestone::excessNanos))
            .thenComparing(absentFirst(Milestone::discardedTokens))
            .thenComparing(absentFirst(Milestone::recomputedTokens))
            .thenComparing(absentFirst(Milestone::kvUsedBlocksCount))
            .thenComparing(absentFirst(Milestone::kvTotalBlocksCount))
            .thenComparing(milestone -> String.join("\n", milestone.evidence()))
            .thenComparing(absentFirst(Milestone::cause))
            .thenComparing(absentFirst(Milestone::culpritRequestId))
            .thenComparing(absentFirst(Milestone::ttftNanos))
            .thenComparing(absentFirst(Milestone::deviceId))
            .thenComparing(absentFirst(Milestone::priority))
            .thenComparing(absentFirst(Milestone::batchSequences))
            .thenComparing(absentFirst(Milestone::lostNanos))
            .thenComparing(absentFirst(Milestone::culpritPriority));

    @Override
    public int compare(Milestone left, Milestone right) {
        return ORDER.compare(left, right);
    }

    private static <T extends Comparable<? super T>> Comparator<Milestone> absentFirst(
            Function<Milestone, @Nullable T> value) {
        return comparing(value, nullsFirst(naturalOrder()));
    }
}
