package io.tokenstair.rule.bound;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Severity;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.syntax.SourceText;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serial;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A rule with no names left to look up.
 *
 * <p>Immutable. It travels to other processes as the text it was made of and is bound again there, once in each process.
 */
public final class BoundRule implements Serializable {
    @Serial
    private static final long serialVersionUID = 1L;

    private final transient SourceText source;
    private final transient String id;
    private final transient int revision;
    private final transient String description;
    private final transient Severity severity;
    private final transient RuleCause cause;
    private final transient RuleKey key;
    private final transient @Nullable Long effectiveFromMillis;
    private final transient RuleCaps caps;
    private final transient List<BoundStage> stages;
    private final transient long withinMillis;
    private final transient AfterMatch afterMatch;
    private final transient FindingText findingText;
    private final transient List<RuleExample> examples;

    BoundRule(
            SourceText source,
            String id,
            int revision,
            String description,
            Severity severity,
            RuleCause cause,
            RuleKey key,
            @Nullable Long effectiveFromMillis,
            RuleCaps caps,
            List<BoundStage> stages,
            long withinMillis,
            AfterMatch afterMatch,
            FindingText findingText,
            List<RuleExample> examples) {
        this.source = source;
        this.id = id;
        this.revision = revision;
        this.description = description;
        this.severity = severity;
        this.cause = cause;
        this.key = key;
        this.effectiveFromMillis = effectiveFromMillis;
        this.caps = caps;
        this.stages = stages;
        this.withinMillis = withinMillis;
        this.afterMatch = afterMatch;
        this.findingText = findingText;
        this.examples = examples;
    }

    /** Its name, the same in every revision. */
    public String id() {
        return id;
    }

    /** Its revision, from 1. */
    public int revision() {
        return revision;
    }

    /** What it finds, for people. */
    public String description() {
        return description;
    }

    /** Severity of its findings. */
    public Severity severity() {
        return severity;
    }

    /** Cause of its findings as the rule has it: a name, or the field of a stage that names it, as in {@code {late.cause}}. */
    public String causeText() {
        return cause.text();
    }

    /**
     * The cause of a match.
     *
     * @param matched the milestones each stage took, in stage order
     */
    public Cause cause(List<List<Milestone>> matched) {
        return cause.of(matched);
    }

    /** What the milestones of one match have in common. */
    public RuleKey key() {
        return key;
    }

    /** Event time, ms, from which the author wants it in force; absent where from its arrival. */
    public @Nullable Long effectiveFromMillis() {
        return effectiveFromMillis;
    }

    /** What it may use. */
    public RuleCaps caps() {
        return caps;
    }

    /** The text it was made of and where its lines begin. */
    public SourceText source() {
        return source;
    }

    /** The stages, in order; at least one, the first neither optional nor absent. */
    public List<BoundStage> stages() {
        return stages;
    }

    /** A match's last milestone comes less than this after its first, in event time. */
    public long withinMillis() {
        return withinMillis;
    }

    /** What a match uses up. */
    public AfterMatch afterMatch() {
        return afterMatch;
    }

    /** Milestones the rule is tried on, in the order of the file. */
    public List<RuleExample> examples() {
        return examples;
    }

    /** The kinds its stages take. */
    public Set<MilestoneKind> milestoneKinds() {
        Set<MilestoneKind> kinds = EnumSet.noneOf(MilestoneKind.class);
        stages.forEach(stage -> stage.alternatives().forEach(alternative -> kinds.add(alternative.milestoneKind())));
        return kinds;
    }

    /** True where a match may be told only once {@code within} is over, as nothing must come up to then that fits an absent stage. */
    public boolean mayEndAbsent() {
        for (int stage = stages.size() - 1; stage >= 0; stage--) {
            if (stages.get(stage).absent()) {
                return true;
            }
            if (!stages.get(stage).optional()) {
                return false;
            }
        }
        return false;
    }

    /**
     * The stages that say what must not come between two others.
     *
     * @param from index of the stage taken before
     * @param to index of the stage taken after; the number of stages for the end of {@code within}
     */
    public List<BoundStage> absentBetween(int from, int to) {
        List<BoundStage> absent = new ArrayList<>();
        for (int stage = from + 1; stage < to; stage++) {
            if (stages.get(stage).absent()) {
                absent.add(stages.get(stage));
            }
        }
        return List.copyOf(absent);
    }

    /** True where a milestone of another kind can break a match, so that the rule must see every kind. */
    public boolean seesEveryKind() {
        return stages.stream().anyMatch(stage -> stage.contiguity() == Contiguity.STRICT);
    }

    /**
     * Plain sentences about a match, each with the ids of the events it rests on in brackets.
     *
     * @param matched the milestones each stage took, in stage order
     */
    public String narrative(List<List<Milestone>> matched) {
        if (matched.size() != stages.size()) {
            throw new IllegalArgumentException(
                    "Cannot tell a match of " + stages.size() + " stages from what stages took: " + matched.size());
        }
        return findingText.of(matched);
    }

    @Serial
    private Object writeReplace() {
        return new Written(source.file(), source.text());
    }

    @Serial
    private void readObject(ObjectInputStream in) throws InvalidObjectException {
        throw new InvalidObjectException("Cannot read a rule but from its text");
    }

    /** What travels. */
    private record Written(String file, String text) implements Serializable {
        @Serial
        private Object readResolve() {
            return RuleBinder.bind(file, text);
        }
    }
}
