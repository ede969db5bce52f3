package io.tokenstair.rule.bound;

import static io.tokenstair.rule.bound.FieldUnit.BLOCKS;
import static io.tokenstair.rule.bound.FieldUnit.CAUSE;
import static io.tokenstair.rule.bound.FieldUnit.DURATION;
import static io.tokenstair.rule.bound.FieldUnit.ENGINE_TIME;
import static io.tokenstair.rule.bound.FieldUnit.NAME;
import static io.tokenstair.rule.bound.FieldUnit.ORDINAL;
import static io.tokenstair.rule.bound.FieldUnit.PRIORITY;
import static io.tokenstair.rule.bound.FieldUnit.RATIO;
import static io.tokenstair.rule.bound.FieldUnit.SEQUENCES;
import static io.tokenstair.rule.bound.FieldUnit.TOKENS;

import io.tokenstair.milestone.Milestone;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The fields that conditions and findings may name. */
public final class FieldCatalog {
    private static final List<RuleField> FIELDS = List.of(
            field("engineId", NAME, "the engine", Milestone::engineId),
            field("requestId", NAME, "the client's own id", Milestone::requestId),
            field("lifetime", ORDINAL, "which use of the request id", m -> whole(m.lifetime())),
            field("sequenceIndex", ORDINAL, "which sequence of the request", m -> whole(m.sequenceIndex())),
            field("tokenIndex", ORDINAL, "the output token it came with", m -> whole(m.tokenIndex())),
            field("stepId", ORDINAL, "the engine step it came with", Milestone::stepId),
            field("engineTime", ENGINE_TIME, "when, on the engine's clock", Milestone::orderNanos),
            field("contextTokens", TOKENS, "the sequence's context then", m -> whole(m.contextTokens())),
            field("gap", DURATION, "the token's gap", Milestone::gapNanos),
            field("excess", DURATION, "the gap less the reference", Milestone::excessNanos),
            field("discardedTokens", TOKENS, "computed tokens lost", Milestone::discardedTokens),
            field("recomputedTokens", TOKENS, "tokens computed again", Milestone::recomputedTokens),
            field("kvUsedBlocks", BLOCKS, "KV blocks in use then", Milestone::kvUsedBlocksCount),
            field("kvTotalBlocks", BLOCKS, "usable KV blocks", Milestone::kvTotalBlocksCount),
            field("kvUsedRatio", RATIO, "kvUsedBlocks / kvTotalBlocks", FieldCatalog::kvUsedRatio),
            field(
                    "cause",
                    CAUSE,
                    "the cause it names",
                    m -> m.cause() == null ? null : m.cause().name()),
            field("culpritRequestId", NAME, "the other request or process that did it", Milestone::culpritRequestId),
            field("deviceId", NAME, "the device that did it", Milestone::deviceId),
            field("lost", DURATION, "what was lost for the cause so far", Milestone::lostNanos),
            field("ttft", DURATION, "time to the first token, by who received it", Milestone::ttftNanos),
            field("priority", PRIORITY, "the request's, smaller is more urgent", m -> whole(m.priority())),
            field("culpritPriority", PRIORITY, "the culprit's", m -> whole(m.culpritPriority())),
            field("batchSequences", SEQUENCES, "sequences in the step's batch", m -> whole(m.batchSequences())));

    private static final Map<String, RuleField> BY_NAME =
            FIELDS.stream().collect(Collectors.toUnmodifiableMap(RuleField::name, Function.identity()));

    private FieldCatalog() {}

    /** All fields, in the order of the documentation. */
    public static List<RuleField> fields() {
        return FIELDS;
    }

    /** The names of all fields, in the same order. */
    public static List<String> names() {
        return FIELDS.stream().map(RuleField::name).toList();
    }

    /** The field of a name; null where there is none. */
    public static @Nullable RuleField find(String name) {
        return BY_NAME.get(name);
    }

    private static RuleField field(
            String name, FieldUnit unit, String meaning, Function<Milestone, @Nullable Object> value) {
        return new RuleField(name, unit, meaning, value);
    }

    private static @Nullable Long whole(@Nullable Integer value) {
        return value == null ? null : Long.valueOf(value);
    }

    private static @Nullable Double kvUsedRatio(Milestone milestone) {
        Long used = milestone.kvUsedBlocksCount();
        Long total = milestone.kvTotalBlocksCount();
        return used == null || total == null || total <= 0 ? null : (double) used / total;
    }
}
