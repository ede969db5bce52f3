package io.tokenstair.rule.bound;

import java.math.BigDecimal;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The values a field can have where all comparisons so far hold. Numbers lie between two bounds, texts are among some. */
final class ValueRange {
    private final boolean whole;
    private @Nullable BigDecimal least;
    private boolean leastIncluded = true;
    private @Nullable BigDecimal most;
    private boolean mostIncluded = true;
    private final Set<BigDecimal> excluded = new LinkedHashSet<>();
    private @Nullable Set<String> texts;
    private final Set<String> excludedTexts = new LinkedHashSet<>();

    /** All values of a field. */
    ValueRange(RuleField field) {
        whole = field.unit() != FieldUnit.RATIO;
        boolean signed = field.name().equals("excess")
                || field.unit() == FieldUnit.ENGINE_TIME
                || field.unit() == FieldUnit.PRIORITY;
        least = signed ? null : BigDecimal.ZERO;
        most = field.unit() == FieldUnit.RATIO ? BigDecimal.ONE : null;
    }

    /** A copy. */
    ValueRange(ValueRange other) {
        whole = other.whole;
        least = other.least;
        leastIncluded = other.leastIncluded;
        most = other.most;
        mostIncluded = other.mostIncluded;
        excluded.addAll(other.excluded);
        texts = other.texts == null ? null : new LinkedHashSet<>(other.texts);
        excludedTexts.addAll(other.excludedTexts);
    }

    /** Keeps what compares so with a number: nanoseconds for times. */
    void keep(String comparison, BigDecimal number) {
        switch (comparison) {
            case "_<_" -> atMost(number, false);
            case "_<=_" -> atMost(number, true);
            case "_>_" -> atLeast(number, false);
            case "_>=_" -> atLeast(number, true);
            case "_==_" -> {
                atLeast(number, true);
                atMost(number, true);
            }
            default -> excluded.add(number.stripTrailingZeros());
        }
    }

    /** Keeps what is, or is not, one of some texts. */
    void keep(boolean in, Set<String> some) {
        if (!in) {
            excludedTexts.addAll(some);
        } else if (texts == null) {
            texts = new LinkedHashSet<>(some);
        } else {
            texts.retainAll(some);
        }
    }

    /** True where 0 is left. */
    boolean hasZero() {
        return (least == null || least.signum() < 0 || (least.signum() == 0 && leastIncluded))
                && (most == null || most.signum() > 0 || (most.signum() == 0 && mostIncluded))
                && excluded.stream().noneMatch(number -> number.signum() == 0);
    }

    /** The one text that is left; null where several are, or any. */
    @Nullable
    String onlyText() {
        Set<String> left = texts;
        if (left == null) {
            return null;
        }
        Set<String> kept = new LinkedHashSet<>(left);
        kept.removeAll(excludedTexts);
        return kept.size() == 1 ? kept.iterator().next() : null;
    }

    /** True where no value is left. */
    boolean isEmpty() {
        Set<String> left = texts;
        if (left != null && excludedTexts.containsAll(left)) {
            return true;
        }
        BigDecimal from = least;
        BigDecimal to = most;
        if (from == null || to == null) {
            return false;
        }
        int order = from.compareTo(to);
        return order > 0
                || (order == 0 && (!leastIncluded || !mostIncluded || excluded.contains(from.stripTrailingZeros())));
    }

    private void atLeast(BigDecimal number, boolean included) {
        boolean next = whole && !included;
        BigDecimal bound = next ? number.add(BigDecimal.ONE) : number;
        int order = least == null ? 1 : bound.compareTo(least);
        if (order > 0 || (order == 0 && !included && !next)) {
            least = bound;
            leastIncluded = included || next;
        }
    }

    private void atMost(BigDecimal number, boolean included) {
        boolean next = whole && !included;
        BigDecimal bound = next ? number.subtract(BigDecimal.ONE) : number;
        int order = most == null ? -1 : bound.compareTo(most);
        if (order < 0 || (order == 0 && !included && !next)) {
            most = bound;
            mostIncluded = included || next;
        }
    }
}
