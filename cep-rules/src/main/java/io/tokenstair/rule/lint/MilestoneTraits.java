package io.tokenstair.rule.lint;

import io.tokenstair.milestone.MilestoneKind;
import java.util.Map;
import java.util.Set;

/** What is known of milestones by their kind: what they never carry, and how late they come. */
final class MilestoneTraits {
    /** What belongs to a token, which the milestones of a schedule do not come with. */
    private static final Set<String> OF_TOKENS = Set.of("gap", "excess", "contextTokens", "ttft");

    private static final Map<MilestoneKind, Set<String>> MISSING = Map.of(
            MilestoneKind.PREEMPTED, OF_TOKENS,
            MilestoneKind.KV_PRESSURE, OF_TOKENS,
            MilestoneKind.PREFIX_RECOMPUTED, OF_TOKENS,
            MilestoneKind.CONTEXT_EXPANDED, Set.of("discardedTokens", "recomputedTokens"),
            MilestoneKind.RECOMPUTED, Set.of("discardedTokens"),
            MilestoneKind.TPOT_STEP_UP, Set.of("discardedTokens", "recomputedTokens"),
            MilestoneKind.HOST_PAUSED, Set.of("discardedTokens", "recomputedTokens"));

    /** A rise of the token time is told by the 64 tokens after it. */
    private static final Map<MilestoneKind, Integer> DELAY_TOKENS = Map.of(MilestoneKind.TPOT_STEP_UP, 64);

    /** What a token takes at least: fast engines make 200 tokens a second for one sequence. */
    private static final long FAST_TOKEN_MILLIS = 5;

    private MilestoneTraits() {}

    /** The fields that milestones of a kind never carry, as far as that is settled. */
    static Set<String> missing(MilestoneKind kind) {
        return MISSING.getOrDefault(kind, Set.of());
    }

    /** How many tokens after what it tells a milestone of a kind comes; 0 where it comes with it. */
    static int delayTokens(MilestoneKind kind) {
        return DELAY_TOKENS.getOrDefault(kind, 0);
    }

    /** The least time after what it tells at which a milestone of a kind comes, ms. */
    static long delayMillis(MilestoneKind kind) {
        return delayTokens(kind) * FAST_TOKEN_MILLIS;
    }
}
