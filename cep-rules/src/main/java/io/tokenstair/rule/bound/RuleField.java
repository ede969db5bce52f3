package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A field of a milestone as rules see it.
 *
 * @param name what rules call it
 * @param unit what it counts or measures
 * @param meaning what it is, for people
 * @param value its value: String for names, Double for ratios, else Long (nanoseconds for times); null where absent
 */
public record RuleField(String name, FieldUnit unit, String meaning, Function<Milestone, @Nullable Object> value) {}
