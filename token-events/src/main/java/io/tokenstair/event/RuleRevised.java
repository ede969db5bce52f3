package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A rule that the job shall match from now on, or match no longer. Its sender says what it wants; the job says from when it holds and archives
 * it with that. No header stamp: rules belong to no clock.
 *
 * @param ruleId the rule, as its text names it
 * @param version revision of the rule, from 1; absent where the sender leaves it to the text, or retires whatever version is in force
 * @param action set or retire
 * @param text the whole rule file, at most 256 KiB; absent where a rule is retired
 * @param effectiveFromMillis event time from which the sender wants it in force, in ms since 1970; absent for as soon as may be
 * @param effectiveMillis event time from which it is in force, in ms since 1970, 0 for the beginning of all input; absent until the job
 *     has said so
 * @param scheduleIndex place among all revisions the job took, from 0: of those in force, the highest counts; absent until the job has said so
 * @param source where it came from: a file, or who sent it
 */
public record RuleRevised(
        @Field(1) String ruleId,
        @Field(2) @Nullable Integer version,
        @Field(3) String action,
        @Field(4) @Nullable String text,
        @Field(5) @Nullable Long effectiveFromMillis,
        @Field(6) @Nullable Long effectiveMillis,
        @Field(7) @Nullable Long scheduleIndex,
        @Field(8) String source)
        implements Event {
    /** The action that puts a revision in force. */
    public static final String SET = "set";

    /** The action that takes a rule out of force. */
    public static final String RETIRE = "retire";

    @Override
    public EventKind kind() {
        return EventKind.RULE_REVISED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
