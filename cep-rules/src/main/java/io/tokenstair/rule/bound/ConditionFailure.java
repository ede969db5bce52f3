package io.tokenstair.rule.bound;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Why a condition does not hold.
 *
 * @param text the part that does not, as the rule writes it, on one line
 * @param values what it was judged by, in the order of the text; one that is absent may be why it cannot be decided
 * @param heldCount how many parts before it held: the more, the nearer the milestone came
 * @param error why it cannot be computed though no value is absent: {@code division by zero}; absent where it can
 */
public record ConditionFailure(
        String text,
        List<Value> values,
        int heldCount,
        @Nullable String error) {
    /**
     * A field and its value.
     *
     * @param name the field as the rule writes it: {@code gap}, {@code preempted.requestId}
     * @param absent true where the milestone does not have it
     * @param shown the value as findings tell it; {@code unknown} where absent
     */
    public record Value(String name, boolean absent, String shown) {}

    /** True where a value is absent, which may be why the part does not hold. */
    public boolean missesValue() {
        return values.stream().anyMatch(Value::absent);
    }

    /** The values in one line: {@code gap = 40.0 ms, contextTokens = unknown}; empty where the part names no field. */
    public String valuesText() {
        return values.stream()
                .map(value -> value.name() + " = " + value.shown())
                .collect(Collectors.joining(", "));
    }
}
