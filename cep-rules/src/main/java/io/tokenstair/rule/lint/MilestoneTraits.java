package io.tokenstair.rule.lint;

import io.tokenstair.cause.Cause;
import io.tokenstair.milestone.MilestoneKind;
import java.util.Set;

/**
 * What is known of milestones by their kind: what they never carry, and how late they come. Each kind has its entry: a new one does not
 * compile without. RuleMatrixTest holds what they never carry against simulated runs.
 */
public final class MilestoneTraits {
    /** What belongs to a token, which the milestones of a schedule do not come with. */
    private static final Set<String> OF_TOKENS =
            Set.of("gap", "excess", "contextTokens", "ttft", "lost", "batchSequences");

    private static final Set<String> OF_BLOCKS =
            Set.of("discardedTokens", "recomputedTokens", "kvUsedBlocks", "kvTotalBlocks");

    private static final Set<String> OF_LOST_BLOCKS = Set.of("discardedTokens", "kvUsedBlocks", "kvTotalBlocks");

    private static final Set<String> OF_ENGINES = Set.of(
            "requestId",
            "lifetime",
            "sequenceIndex",
            "tokenIndex",
            "contextTokens",
            "gap",
            "excess",
            "discardedTokens",
            "recomputedTokens",
            "ttft",
            "priority",
            "culpritPriority",
            "batchSequences");

    /** A lasting rise is told by the 64 tokens after it. */
    private static final int RISE_TOKENS = 64;

    /** Two groups of four chunks and one more are a habit. */
    private static final int HABIT_TOKENS = 12;

    /** Steps without a graph from which on an engine runs another way. */
    private static final int FALLBACK_TOKENS = 16;

    /** Steps over which a storm lasts. */
    private static final int STORM_TOKENS = 128;

    /** Tokens from which growth is told. */
    private static final int GROWTH_TOKENS = 200;

    /** What a token, or a step, takes at least: fast engines make 200 tokens a second for one sequence. */
    private static final long FAST_TOKEN_MILLIS = 5;

    private MilestoneTraits() {}

    /** The fields that milestones of a kind never carry, as far as that is settled. */
    public static Set<String> missing(MilestoneKind kind) {
        return switch (kind) {
            case PREEMPTED, KV_PRESSURE, OVERTAKEN -> OF_TOKENS;
            case PREFIX_RECOMPUTED, FINISHED -> OF_TOKENS;
            case RECOMPUTED -> OF_LOST_BLOCKS;
            case CONTEXT_EXPANDED, TPOT_STEP_UP, HOST_PAUSED, SLOWED, DELIVERY_SLOWED, FIRST_TOKEN_LATE -> OF_BLOCKS;
            case KV_EVICTED -> OF_ENGINES;
            // Of a sequence or of an engine.
            case DETECTED -> Set.of("ttft");
        };
    }

    /**
     * How many tokens of one sequence, or steps, after what it tells a milestone comes at the soonest; 0 where it may come with it. What
     * adds up until it is told (SLOWED, DELIVERY_SLOWED, FIRST_TOKEN_LATE) may be told by one token.
     */
    public static int delayTokens(MilestoneKind kind) {
        return switch (kind) {
            case TPOT_STEP_UP -> RISE_TOKENS;
            case CONTEXT_EXPANDED,
                    KV_PRESSURE,
                    PREEMPTED,
                    RECOMPUTED,
                    PREFIX_RECOMPUTED,
                    HOST_PAUSED,
                    FINISHED,
                    SLOWED,
                    DELIVERY_SLOWED,
                    FIRST_TOKEN_LATE,
                    OVERTAKEN,
                    KV_EVICTED -> 0;
            // By its cause.
            case DETECTED -> 0;
        };
    }

    /** The same of a milestone that says that a detector found a cause. */
    public static int delayTokens(Cause detected) {
        return switch (detected) {
            case CONTEXT_STAIRCASE -> RISE_TOKENS;
            case PREEMPTION_STORM -> STORM_TOKENS;
            case KERNEL_FALLBACK -> FALLBACK_TOKENS;
            case GATEWAY_BUFFERING -> HABIT_TOKENS;
            case CONTEXT_GROWTH -> GROWTH_TOKENS;
            default -> 0;
        };
    }

    /** The least time that so many tokens take, ms. */
    static long millis(int tokens) {
        return tokens * FAST_TOKEN_MILLIS;
    }
}
