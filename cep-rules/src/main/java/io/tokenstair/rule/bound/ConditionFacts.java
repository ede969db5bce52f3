package io.tokenstair.rule.bound;

import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import io.tokenstair.rule.syntax.DurationLiteral;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What must be so where a condition holds: which fields are known, and between which bounds those lie that are compared with a written
 * value. Sound, not complete: where it says that a condition never holds, it never does.
 */
final class ConditionFacts {
    private static final Map<String, String> NEGATED =
            Map.of("_<_", "_>=_", "_<=_", "_>_", "_>_", "_<=_", "_>=_", "_<_", "_==_", "_!=_", "_!=_", "_==_");
    private static final Map<String, String> TURNED =
            Map.of("_<_", "_>_", "_<=_", "_>=_", "_>_", "_<_", "_>=_", "_<=_", "_==_", "_==_", "_!=_", "_!=_");

    private final Function<CelExpr, StageCondition.@Nullable Reference> references;
    private final ToIntFunction<CelExpr> position;
    private final Map<Place, ValueRange> ranges = new HashMap<>();
    private final Map<Place, Integer> known = new LinkedHashMap<>();
    private final Map<Place, Integer> unknown = new LinkedHashMap<>();
    private final Set<PossibleZero> possibleZeros = new LinkedHashSet<>();
    private @Nullable Contradiction contradiction;

    /**
     * @param references what a name of the condition stands for; null for anything else
     * @param position index into the condition as written
     */
    ConditionFacts(Function<CelExpr, StageCondition.@Nullable Reference> references, ToIntFunction<CelExpr> position) {
        this.references = references;
        this.position = position;
    }

    private ConditionFacts(ConditionFacts other) {
        this(other.references, other.position);
        other.ranges.forEach((place, range) -> ranges.put(place, new ValueRange(range)));
        known.putAll(other.known);
        unknown.putAll(other.unknown);
    }

    /** Why the condition can never hold; null where it may. */
    @Nullable
    Contradiction contradiction() {
        return contradiction;
    }

    /** The fields of a stage that must be known, and where the condition reads each first. */
    Map<RuleField, Integer> knownOf(int stage) {
        Map<RuleField, Integer> ofStage = new LinkedHashMap<>();
        known.forEach((place, at) -> {
            if (place.stage() == stage) {
                ofStage.put(place.field(), at);
            }
        });
        return ofStage;
    }

    /** The fields of a stage that can have one text only, by name, and the text. */
    Map<String, String> onlyTextsOf(int stage) {
        Map<String, String> ofStage = new HashMap<>();
        ranges.forEach((place, range) -> {
            String only = range.onlyText();
            if (place.stage() == stage && only != null) {
                ofStage.put(place.field().name(), only);
            }
        });
        return ofStage;
    }

    /** Takes that a part of the condition holds. */
    void holds(CelExpr part) {
        if (part.getKind() == CelExpr.ExprKind.Kind.CONSTANT) {
            if (part.constant().getKind() == CelConstant.Kind.BOOLEAN_VALUE
                    && !part.constant().booleanValue()) {
                contradict(part, "is false");
            }
            return;
        }
        StageCondition.Reference reference = references.apply(part);
        if (reference != null && reference.presence()) {
            mustBeKnown(part, reference);
            return;
        }
        if (part.getKind() != CelExpr.ExprKind.Kind.CALL) {
            return;
        }
        List<CelExpr> operands = operands(part);
        switch (part.call().function()) {
            case "_&&_" -> operands.forEach(this::holds);
            case "_||_" -> either(operands);
            case "!_" -> doesNotHold(operands.get(0));
            case "@in" -> in(part, operands, true);
            case "_?_:_" -> {
                return;
            }
            default -> {
                if (NEGATED.containsKey(part.call().function())) {
                    compare(part, part.call().function(), operands);
                } else {
                    readsAll(part);
                }
            }
        }
    }

    /** Looks for divisors that may be 0 in a condition that was taken to hold. */
    void divides(CelExpr condition) {
        if (condition.getKind() == CelExpr.ExprKind.Kind.LIST) {
            condition.list().elements().forEach(this::divides);
        }
        if (condition.getKind() != CelExpr.ExprKind.Kind.CALL) {
            return;
        }
        List<CelExpr> operands = operands(condition);
        switch (condition.call().function()) {
            // A side matters where the others do not hold already, a branch where its question is answered so.
            case "_||_" -> {
                for (int i = 0; i < operands.size(); i++) {
                    ConditionFacts ofSide = new ConditionFacts(this);
                    for (int other = 0; other < operands.size(); other++) {
                        if (other != i) {
                            ofSide.doesNotHold(operands.get(other));
                        }
                    }
                    ofSide.holds(operands.get(i));
                    ofSide.divides(operands.get(i));
                    possibleZeros.addAll(ofSide.possibleZeros);
                }
            }
            case "_?_:_" -> {
                divides(operands.get(0));
                ConditionFacts where = new ConditionFacts(this);
                where.holds(operands.get(0));
                where.divides(operands.get(1));
                ConditionFacts whereNot = new ConditionFacts(this);
                whereNot.doesNotHold(operands.get(0));
                whereNot.divides(operands.get(2));
                possibleZeros.addAll(where.possibleZeros);
                possibleZeros.addAll(whereNot.possibleZeros);
            }
            case "_/_", "_%_" -> {
                divisor(condition, operands.get(1));
                operands.forEach(this::divides);
            }
            default -> operands.forEach(this::divides);
        }
    }

    private void divisor(CelExpr division, CelExpr divisor) {
        StageCondition.Reference reference = references.apply(divisor);
        if (reference != null && !reference.presence()) {
            boolean whole = reference.field().unit() != FieldUnit.RATIO;
            if (whole && range(reference).hasZero()) {
                possibleZeros.add(new PossibleZero(
                        position.applyAsInt(division), reference.field().name()));
            }
            return;
        }
        BigDecimal number = number(divisor);
        boolean difference = divisor.getKind() == CelExpr.ExprKind.Kind.CALL
                && divisor.call().function().equals("_-_");
        if (number == null ? difference : number.signum() == 0 && !isDecimal(divisor)) {
            possibleZeros.add(new PossibleZero(
                    position.applyAsInt(division), number == null ? "this difference" : "this divisor"));
        }
    }

    private static boolean isDecimal(CelExpr expression) {
        return expression.getKind() == CelExpr.ExprKind.Kind.CONSTANT
                && expression.constant().getKind() == CelConstant.Kind.DOUBLE_VALUE;
    }

    /** The divisors that may be 0, in the order they were found. */
    List<PossibleZero> possibleZeros() {
        return List.copyOf(possibleZeros);
    }

    private void doesNotHold(CelExpr part) {
        StageCondition.Reference reference = references.apply(part);
        if (reference != null && reference.presence()) {
            unknown.putIfAbsent(new Place(reference), position.applyAsInt(part));
            check(part, new Place(reference));
            return;
        }
        if (part.getKind() == CelExpr.ExprKind.Kind.CONSTANT
                && part.constant().getKind() == CelConstant.Kind.BOOLEAN_VALUE
                && part.constant().booleanValue()) {
            contradict(part, "is true, and must not be");
        }
        if (part.getKind() != CelExpr.ExprKind.Kind.CALL) {
            return;
        }
        String function = part.call().function();
        List<CelExpr> operands = operands(part);
        String negated = NEGATED.get(function);
        switch (function) {
            case "!_" -> holds(operands.get(0));
            case "_||_" -> operands.forEach(this::doesNotHold);
            case "@in" -> in(part, operands, false);
            default -> {
                if (negated != null) {
                    compare(part, negated, operands);
                }
            }
        }
    }

    private void either(List<CelExpr> sides) {
        Contradiction first = null;
        for (CelExpr side : sides) {
            ConditionFacts ofSide = new ConditionFacts(this);
            ofSide.holds(side);
            if (ofSide.contradiction == null) {
                return;
            }
            first = first == null ? ofSide.contradiction : first;
        }
        contradiction = contradiction == null ? first : contradiction;
    }

    private void compare(CelExpr part, String comparison, List<CelExpr> operands) {
        readsAll(part);
        CelExpr left = operands.get(0);
        CelExpr right = operands.get(1);
        BigDecimal leftNumber = number(left);
        BigDecimal rightNumber = number(right);
        if (leftNumber != null && rightNumber != null) {
            if (!compares(comparison, leftNumber.compareTo(rightNumber))) {
                contradict(part, "is never true");
            }
            return;
        }
        boolean turned = leftNumber != null || text(left) != null;
        CelExpr field = turned ? right : left;
        CelExpr value = turned ? left : right;
        StageCondition.Reference reference = references.apply(field);
        if (reference == null || reference.presence()) {
            return;
        }
        ValueRange range = range(reference);
        BigDecimal number = number(value);
        String text = text(value);
        if (number != null) {
            range.keep(turned ? TURNED.getOrDefault(comparison, comparison) : comparison, number);
        } else if (text != null && (comparison.equals("_==_") || comparison.equals("_!=_"))) {
            range.keep(comparison.equals("_==_"), Set.of(text));
        }
        checkRange(part, reference, range);
    }

    private void in(CelExpr part, List<CelExpr> operands, boolean holds) {
        readsAll(part);
        StageCondition.Reference reference = references.apply(operands.get(0));
        CelExpr list = operands.get(1);
        if (reference == null || reference.presence() || list.getKind() != CelExpr.ExprKind.Kind.LIST) {
            return;
        }
        Set<String> texts = new TreeSet<>();
        for (CelExpr element : list.list().elements()) {
            String text = text(element);
            if (text == null) {
                return;
            }
            texts.add(text);
        }
        ValueRange range = range(reference);
        range.keep(holds, texts);
        checkRange(part, reference, range);
    }

    private ValueRange range(StageCondition.Reference reference) {
        return ranges.computeIfAbsent(new Place(reference), place -> new ValueRange(reference.field()));
    }

    private void checkRange(CelExpr part, StageCondition.Reference reference, ValueRange range) {
        if (range.isEmpty()) {
            contradict(part, "leaves no value of " + reference.field().name() + " that can fit");
        }
    }

    private void readsAll(CelExpr part) {
        StageCondition.Reference reference = references.apply(part);
        if (reference != null) {
            if (!reference.presence()) {
                mustBeKnown(part, reference);
            }
            return;
        }
        switch (part.getKind()) {
            case LIST -> part.list().elements().forEach(this::readsAll);
            case CALL -> {
                String function = part.call().function();
                if (!function.equals("_?_:_") && !function.equals("_||_") && !function.equals("_&&_")) {
                    operands(part).forEach(this::readsAll);
                }
            }
            default -> {
                return;
            }
        }
    }

    private void mustBeKnown(CelExpr part, StageCondition.Reference reference) {
        known.putIfAbsent(new Place(reference), position.applyAsInt(part));
        check(part, new Place(reference));
    }

    private void check(CelExpr part, Place place) {
        if (known.containsKey(place) && unknown.containsKey(place)) {
            contradict(part, "wants " + place.field().name() + " both known and unknown");
        }
    }

    private void contradict(CelExpr part, String why) {
        if (contradiction == null) {
            contradiction = new Contradiction(position.applyAsInt(part), why);
        }
    }

    private static boolean compares(String comparison, int order) {
        return switch (comparison) {
            case "_<_" -> order < 0;
            case "_<=_" -> order <= 0;
            case "_>_" -> order > 0;
            case "_>=_" -> order >= 0;
            case "_==_" -> order == 0;
            default -> order != 0;
        };
    }

    /** The number an expression of written values comes to, nanoseconds for durations; null where it is none. */
    private static @Nullable BigDecimal number(CelExpr expression) {
        if (expression.getKind() == CelExpr.ExprKind.Kind.CONSTANT) {
            CelConstant constant = expression.constant();
            return switch (constant.getKind()) {
                case INT64_VALUE -> BigDecimal.valueOf(constant.int64Value());
                case DOUBLE_VALUE ->
                    Double.isFinite(constant.doubleValue()) ? BigDecimal.valueOf(constant.doubleValue()) : null;
                default -> null;
            };
        }
        if (expression.getKind() != CelExpr.ExprKind.Kind.CALL) {
            return null;
        }
        List<CelExpr> operands = operands(expression);
        if (expression.call().function().equals("duration")) {
            String text = text(operands.get(0));
            return text == null || DurationLiteral.nanos(text).isEmpty()
                    ? null
                    : BigDecimal.valueOf(DurationLiteral.nanos(text).getAsLong());
        }
        List<BigDecimal> numbers = new ArrayList<>();
        for (CelExpr operand : operands) {
            BigDecimal number = number(operand);
            if (number == null) {
                return null;
            }
            numbers.add(number);
        }
        return switch (expression.call().function()) {
            case "-_" -> numbers.get(0).negate();
            case "_+_" -> numbers.get(0).add(numbers.get(1));
            case "_-_" -> numbers.get(0).subtract(numbers.get(1));
            case "_*_" -> numbers.get(0).multiply(numbers.get(1));
            default -> null;
        };
    }

    private static @Nullable String text(CelExpr expression) {
        return expression.getKind() == CelExpr.ExprKind.Kind.CONSTANT
                        && expression.constant().getKind() == CelConstant.Kind.STRING_VALUE
                ? expression.constant().stringValue()
                : null;
    }

    private static List<CelExpr> operands(CelExpr call) {
        return Stream.concat(call.call().target().stream(), call.call().args().stream())
                .toList();
    }

    /** A field of a stage. */
    private record Place(int stage, RuleField field) {
        Place(StageCondition.Reference reference) {
            this(reference.stage(), reference.field());
        }
    }
}
