package io.tokenstair.look.archive;

import io.tokenstair.event.Field;
import org.jspecify.annotations.Nullable;

/**
 * What a job refused of its control log, or of the rules it was started with: the columns of table {@code rejected} that say so.
 *
 * @param collectorId who refused it: {@code rules/} and the part of the log
 * @param sequence its place there, from 0
 * @param source file of the rule, or the part of the log
 * @param reason why
 * @param excerpt start of what was refused; absent where nothing can be shown
 */
public record RefusedRevision(
        @Field(1) String collectorId,
        @Field(2) long sequence,
        @Field(3) String source,
        @Field(4) String reason,
        @Field(5) @Nullable String excerpt) {}
