package io.tokenstair.rule.bound;

import dev.cel.common.CelErrorCode;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.Program;
import io.tokenstair.milestone.Milestone;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A checked condition of a stage.
 *
 * <p>Absent is unknown: a condition that cannot be decided without an absent field, or cannot be computed (a division by zero),
 * does not hold. {@code a || b} holds where one side does, whatever the other.
 */
public final class StageCondition {
    /** Stands for the milestone taken before, whatever its stage. */
    static final int PREVIOUS = -1;

    private final Program program;
    private final int ownStage;
    private final Map<String, Reference> references;
    private final @Nullable Contradiction contradiction;
    private final List<PossibleZero> possibleZeros;
    private final Map<RuleField, Integer> neededFields;
    private final Map<String, String> onlyTexts;
    private final ConditionParts parts;

    StageCondition(
            Program program,
            int ownStage,
            Map<String, Reference> references,
            ConditionFacts facts,
            ConditionParts parts) {
        this.program = program;
        this.ownStage = ownStage;
        this.references = Map.copyOf(references);
        this.contradiction = facts.contradiction();
        this.possibleZeros = facts.possibleZeros();
        this.neededFields = facts.knownOf(ownStage);
        this.onlyTexts = Map.copyOf(facts.onlyTextsOf(ownStage));
        this.parts = parts;
    }

    /** What a condition comes to; all but the first mean that it does not hold. */
    public enum Judgement {
        /** It holds. */
        HOLDS,
        /** It is false. */
        DOES_NOT_HOLD,
        /** It cannot be decided without a value that is absent. */
        LACKS_VALUE,
        /** It cannot be computed, though no value it needs is absent: a division by zero, a number beyond 64 bits. */
        FAILS
    }

    /**
     * What the condition comes to.
     *
     * @param candidate a milestone for this stage
     * @param taken the match so far
     */
    public Judgement judge(Milestone candidate, Taken taken) {
        try {
            return evaluated(candidate, taken) ? Judgement.HOLDS : Judgement.DOES_NOT_HOLD;
        } catch (CelEvaluationException e) {
            return e.getErrorCode() == CelErrorCode.ATTRIBUTE_NOT_FOUND ? Judgement.LACKS_VALUE : Judgement.FAILS;
        } catch (RuntimeException e) {
            // Whatever a condition does to who computes it, the job goes on.
            return Judgement.FAILS;
        }
    }

    private boolean evaluated(Milestone candidate, Taken taken) throws CelEvaluationException {
        return Boolean.TRUE.equals(program.eval(variable -> value(variable, candidate, taken)));
    }

    /**
     * True where the condition holds.
     *
     * @param candidate a milestone for this stage
     * @param taken the match so far
     */
    public boolean holds(Milestone candidate, Taken taken) {
        return judge(candidate, taken) == Judgement.HOLDS;
    }

    /** Why the condition cannot be computed; null where it can, or lacks a value. */
    private @Nullable String error(Milestone candidate, Taken taken) {
        try {
            evaluated(candidate, taken);
            return null;
        } catch (CelEvaluationException e) {
            return switch (e.getErrorCode()) {
                case ATTRIBUTE_NOT_FOUND -> null;
                case DIVIDE_BY_ZERO -> "division by zero";
                case NUMERIC_OVERFLOW -> "a number beyond 64 bits";
                default -> String.valueOf(e.getMessage());
            };
        } catch (RuntimeException e) {
            return e instanceof ArithmeticException ? "a number beyond 64 bits" : String.valueOf(e.getMessage());
        }
    }

    /**
     * Why the condition does not hold: the first of its parts joined by {@code &&} that does not, and the values it was judged by.
     *
     * @param candidate a milestone for this stage
     * @param taken the match so far
     * @return absent where the condition holds
     */
    public Optional<ConditionFailure> failure(Milestone candidate, Taken taken) {
        if (holds(candidate, taken)) {
            return Optional.empty();
        }
        int heldCount = 0;
        for (ConditionParts.Part part : parts.all()) {
            if (!part.condition().holds(candidate, taken)) {
                return Optional.of(part.condition().failureOf(part.text(), candidate, taken, heldCount));
            }
            heldCount++;
        }
        // Each part alone holds, so the condition was cut wrongly: it fails as a whole.
        return Optional.of(failureOf(parts.text(), candidate, taken, 0));
    }

    private ConditionFailure failureOf(String text, Milestone candidate, Taken taken, int heldCount) {
        List<ConditionFailure.Value> values = references.entrySet().stream()
                .map(named -> {
                    String name = ConditionCompiler.fieldPath(named.getKey());
                    Reference reference = named.getValue();
                    Milestone milestone = milestone(reference.stage(), candidate, taken);
                    Object value =
                            milestone == null ? null : reference.field().value().apply(milestone);
                    return new ConditionFailure.Value(
                            name,
                            value == null,
                            FindingText.shown(reference.field().unit(), value));
                })
                .distinct()
                .sorted(Comparator.comparingInt((ConditionFailure.Value value) -> text.indexOf(value.name()))
                        .thenComparing(ConditionFailure.Value::name))
                .toList();
        return new ConditionFailure(text, values, heldCount, error(candidate, taken));
    }

    /** Why it can never hold; absent where it may. */
    public @Nullable Contradiction contradiction() {
        return contradiction;
    }

    /** The divisors that may be 0, in which case it cannot be computed. */
    public List<PossibleZero> possibleZeros() {
        return possibleZeros;
    }

    /** The fields of the stage's own milestone without which it does not hold, and where it reads each, an index into its text. */
    public Map<RuleField, Integer> neededFields() {
        return neededFields;
    }

    /** The one text that a field of the stage's own milestone must have; null where it may have several. */
    public @Nullable String onlyText(String fieldName) {
        return onlyTexts.get(fieldName);
    }

    /** The earlier stages it reads. */
    public Set<Integer> readStages() {
        return references.values().stream()
                .map(Reference::stage)
                .filter(stage -> stage != PREVIOUS && stage != ownStage)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** True where it reads the milestone taken before. */
    public boolean readsPrevious() {
        return references.values().stream().anyMatch(reference -> reference.stage() == PREVIOUS);
    }

    private Optional<Object> value(String variable, Milestone candidate, Taken taken) {
        Reference reference = references.get(variable);
        if (reference == null) {
            return Optional.empty();
        }
        Milestone milestone = milestone(reference.stage(), candidate, taken);
        Object value = milestone == null ? null : reference.field().value().apply(milestone);
        if (reference.presence()) {
            return Optional.of(value != null);
        }
        return Optional.ofNullable(celValue(reference.field().unit(), value));
    }

    private @Nullable Milestone milestone(int stage, Milestone candidate, Taken taken) {
        if (stage == ownStage) {
            return candidate;
        }
        if (stage == PREVIOUS) {
            return taken.previous();
        }
        List<Milestone> ofStage = taken.of(stage);
        return ofStage.isEmpty() ? null : ofStage.get(ofStage.size() - 1);
    }

    private static @Nullable Object celValue(FieldUnit unit, @Nullable Object value) {
        boolean time = unit == FieldUnit.DURATION || unit == FieldUnit.ENGINE_TIME;
        return time && value instanceof Long nanos ? Duration.ofNanos(nanos) : value;
    }

    /**
     * What a variable of the program stands for.
     *
     * @param stage index of the stage, or {@link #PREVIOUS}
     * @param field the field read
     * @param presence true where only its presence is asked
     */
    record Reference(int stage, RuleField field, boolean presence) {}
}
