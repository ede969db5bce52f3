package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Milestones of engine {@code e0} for tests. */
final class Milestones {
    private Milestones() {}

    static Milestone milestone(MilestoneKind kind, long epochMillis, long orderNanos, @Nullable String requestId) {
        return milestone(kind, epochMillis, orderNanos, requestId, null);
    }

    static Milestone milestone(
            MilestoneKind kind,
            long epochMillis,
            long orderNanos,
            @Nullable String requestId,
            @Nullable Long gapNanos) {
        return new Milestone(
                kind,
                epochMillis,
                null,
                orderNanos,
                "e0",
                requestId,
                requestId == null ? null : Integer.valueOf(0),
                requestId == null ? null : Integer.valueOf(0),
                null,
                null,
                2048,
                gapNanos,
                null,
                null,
                null,
                75L,
                100L,
                List.of("c/1/" + orderNanos));
    }
}
