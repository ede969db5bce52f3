package io.tokenstair.rule.lint;

import io.tokenstair.cause.Cause;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.Contiguity;
import io.tokenstair.rule.bound.Contradiction;
import io.tokenstair.rule.bound.PossibleZero;
import io.tokenstair.rule.bound.RuleExample;
import io.tokenstair.rule.bound.RuleField;
import io.tokenstair.rule.bound.StageCondition;
import io.tokenstair.rule.syntax.RuleParser;
import io.tokenstair.rule.syntax.RuleSyntax;
import io.tokenstair.rule.syntax.ScalarSyntax;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds what is wrong with rules that can be read. Pure: the same rules give the same problems. */
public final class RuleLint {
    private final BoundRule rule;
    private final RuleSyntax syntax;
    private final List<LintProblem> problems = new ArrayList<>();

    private RuleLint(BoundRule rule) {
        this.rule = rule;
        syntax = RuleParser.parse(rule.source().file(), rule.source().text());
    }

    /**
     * The problems of some rules, alone and beside each other: in the order of the rules, of each in the order of its file.
     *
     * @param rules in the order in which they are read: of two with one id the later is at fault
     */
    public static List<LintProblem> lint(List<BoundRule> rules) {
        List<LintProblem> problems = new ArrayList<>();
        Map<String, BoundRule> byId = new HashMap<>();
        Map<String, BoundRule> byMeaning = new HashMap<>();
        for (BoundRule rule : rules) {
            RuleLint lint = new RuleLint(rule);
            lint.alone();
            lint.beside(byId.putIfAbsent(rule.id(), rule), byMeaning.putIfAbsent(meaning(lint.syntax), rule));
            lint.problems.sort(Comparator.comparingInt(LintProblem::line).thenComparingInt(LintProblem::column));
            problems.addAll(lint.problems);
        }
        return List.copyOf(problems);
    }

    private void alone() {
        examples();
        for (BoundStage stage : rule.stages()) {
            conditions(stage);
            previous(stage);
            distinct(stage);
            absent(stage);
            delay(stage);
        }
        lastStage();
    }

    private void beside(@Nullable BoundRule sameId, @Nullable BoundRule sameMeaning) {
        if (sameId != null) {
            error(
                    syntax.id(),
                    "Cannot use the id of another rule: " + rule.id() + " is also in "
                            + sameId.source().file());
        }
        if (sameMeaning != null && sameMeaning != sameId) {
            warning(syntax.id(), "The stages of this rule are those of " + sameMeaning.id() + ": both find the same");
        }
    }

    private void examples() {
        boolean positive = rule.examples().stream().anyMatch(RuleExample::matchExpected);
        boolean negative = rule.examples().stream().anyMatch(example -> !example.matchExpected());
        if (!positive || !negative) {
            error(
                    syntax.id(),
                    "Cannot accept a rule without an example that expects "
                            + (positive ? "no-match" : negative ? "match" : "match and one that expects no-match"));
        }
    }

    private void conditions(BoundStage stage) {
        int possible = 0;
        for (int i = 0; i < stage.alternatives().size(); i++) {
            BoundStage.Alternative alternative = stage.alternatives().get(i);
            ScalarSyntax where = written(stage).alternatives().get(i).where();
            StageCondition condition = alternative.condition();
            Contradiction contradiction = condition == null ? null : condition.contradiction();
            if (where == null || condition == null) {
                possible++;
            } else if (contradiction != null) {
                problem(
                        stage.alternatives().size() == 1 && !stage.optional() && !stage.absent()
                                ? LintProblem.Level.ERROR
                                : LintProblem.Level.WARNING,
                        where.errorAt(
                                contradiction.valueOffset(),
                                "This condition can never hold: this part " + contradiction.why()
                                        + consequence(stage)));
            } else {
                possible++;
                missingFields(alternative.milestoneKind(), condition, where);
                divisions(condition, where);
            }
        }
        if (possible == 0 && stage.alternatives().size() > 1 && !stage.optional() && !stage.absent()) {
            error(written(stage).name(), "None of the alternatives can ever fit" + consequence(stage));
        }
    }

    private String consequence(BoundStage stage) {
        if (stage.absent()) {
            return ", so the absent stage forbids nothing";
        }
        if (stage.optional()) {
            return ", so the stage never takes anything";
        }
        List<String> later = rule
                .stages()
                .subList(stage.index() + 1, rule.stages().size())
                .stream()
                .map(BoundStage::name)
                .toList();
        return later.isEmpty() || stage.alternatives().size() > 1
                ? ""
                : ", so stage " + String.join(", ", later) + " is never reached";
    }

    private void missingFields(MilestoneKind kind, StageCondition condition, ScalarSyntax where) {
        for (Map.Entry<RuleField, Integer> needed : condition.neededFields().entrySet()) {
            if (MilestoneTraits.missing(kind).contains(needed.getKey().name())) {
                problem(
                        LintProblem.Level.WARNING,
                        where.errorAt(
                                needed.getValue(),
                                "A milestone " + kind + " carries no "
                                        + needed.getKey().name() + ", so this condition does not hold for any"));
            }
        }
    }

    private void divisions(StageCondition condition, ScalarSyntax where) {
        for (PossibleZero zero : condition.possibleZeros()) {
            problem(
                    LintProblem.Level.WARNING,
                    where.errorAt(
                            zero.valueOffset(),
                            "A division by zero where " + zero.divisor()
                                    + " is 0: the condition cannot be evaluated then, which is counted, and does not hold."
                                    + " Ask beside it that it is not 0, or write a product"));
        }
    }

    private void previous(BoundStage stage) {
        if (stage.index() != 0 || stage.repeated()) {
            return;
        }
        for (int i = 0; i < stage.alternatives().size(); i++) {
            StageCondition condition = stage.alternatives().get(i).condition();
            ScalarSyntax where = written(stage).alternatives().get(i).where();
            if (where != null && condition != null && condition.readsPrevious()) {
                problem(
                        LintProblem.Level.ERROR,
                        where.errorAt(
                                Math.max(0, where.value().indexOf("previous.")),
                                "Nothing comes before the first milestone of a match: previous is always unknown here"));
            }
        }
    }

    private void distinct(BoundStage stage) {
        RuleField distinct = stage.distinct();
        ScalarSyntax written = written(stage).distinct();
        if (distinct == null || written == null) {
            return;
        }
        Set<String> shared = switch (rule.key()) {
            case REQUEST -> Set.of("requestId", "lifetime");
            case ENGINE -> Set.of("engineId");
            case DEVICE -> Set.of("deviceId");
        };
        if (shared.contains(distinct.name())) {
            problem(
                    stage.timesFrom() > 1 ? LintProblem.Level.ERROR : LintProblem.Level.WARNING,
                    written.error("All milestones of a match have the same " + distinct.name() + ", as the key is "
                            + syntax.key().value() + ": none differ"));
        }
    }

    private void absent(BoundStage stage) {
        if (!stage.absent()) {
            return;
        }
        ScalarSyntax name = written(stage).name();
        List<BoundStage> next = nextTaken(stage);
        if (!next.isEmpty() && next.stream().allMatch(later -> later.contiguity() == Contiguity.STRICT)) {
            error(
                    name,
                    "This absent stage cannot matter: nothing at all may come before the strict stage "
                            + next.get(0).name());
            return;
        }
        boolean taken = !next.isEmpty()
                && next.size() == 1
                && stage.alternatives().stream()
                        .allMatch(absent -> next.get(0).alternatives().stream()
                                .anyMatch(wanted -> wanted.condition() == null
                                        && wanted.milestoneKind() == absent.milestoneKind()));
        if (taken && next.get(0).distinct() == null) {
            error(
                    name,
                    "This absent stage cannot matter: whatever fits it is taken by stage "
                            + next.get(0).name());
        }
    }

    /** The stages of which one takes the milestone after an absent stage; none where the match may end there. */
    private List<BoundStage> nextTaken(BoundStage absent) {
        List<BoundStage> next = new ArrayList<>();
        for (BoundStage later :
                rule.stages().subList(absent.index() + 1, rule.stages().size())) {
            if (!later.absent()) {
                next.add(later);
                if (!later.optional()) {
                    return next;
                }
            }
        }
        return List.of();
    }

    private void delay(BoundStage stage) {
        if (stage.index() == 0 || stage.absent()) {
            return;
        }
        for (int i = 0; i < stage.alternatives().size(); i++) {
            BoundStage.Alternative alternative = stage.alternatives().get(i);
            MilestoneKind kind = alternative.milestoneKind();
            Cause cause = detected(alternative);
            int tokens = cause == null ? MilestoneTraits.delayTokens(kind) : MilestoneTraits.delayTokens(cause);
            if (rule.withinMillis() < MilestoneTraits.millis(tokens)) {
                warning(
                        syntax.within(),
                        "Within " + syntax.within().value() + " is short: " + kind
                                + (cause == null ? "" : " of " + cause) + " comes " + tokens
                                + " tokens after what it tells, " + MilestoneTraits.millis(tokens)
                                + "ms on the fastest engines");
                return;
            }
        }
    }

    /** The one cause that an alternative takes of what detectors find; null where it takes several, or none. */
    private static @Nullable Cause detected(BoundStage.Alternative alternative) {
        StageCondition condition = alternative.condition();
        String cause = alternative.milestoneKind() != MilestoneKind.DETECTED || condition == null
                ? null
                : condition.onlyText("cause");
        return cause == null ? null : Cause.valueOf(cause);
    }

    private void lastStage() {
        int last = rule.stages().size() - 1;
        BoundStage stage = rule.stages().get(last);
        ScalarSyntax optional = written(stage).optional();
        if (stage.optional() && optional != null && !rule.mayEndAbsent()) {
            warning(optional, "An optional last stage takes nothing: the match is told before. Leave it out");
        }
        ScalarSyntax times = written(stage).times();
        if (times != null && stage.timesTo() > stage.timesFrom()) {
            warning(
                    times,
                    "A last stage takes its smallest number, " + stage.timesFrom()
                            + ": the match is told then. Write times: " + stage.timesFrom());
        }
    }

    /** What a rule finds, written so that two rules that find the same have the same text. */
    private static String meaning(RuleSyntax syntax) {
        return syntax.key().value() + "|" + syntax.within().value() + "|"
                + value(syntax.afterMatch()) + "|"
                + syntax.stages().stream()
                        .map(stage -> stage.name().value() + "|" + value(stage.contiguity()) + "|"
                                + value(stage.times())
                                + "|" + value(stage.optional()) + "|" + value(stage.absent()) + "|"
                                + value(stage.distinct()) + "|"
                                + stage.alternatives().stream()
                                        .map(alternative -> alternative.kind().value() + "|"
                                                + value(alternative.where())
                                                        .replaceAll("\\s+", " ")
                                                        .strip())
                                        .collect(Collectors.joining("|")))
                        .collect(Collectors.joining("|"));
    }

    private static String value(@Nullable ScalarSyntax written) {
        return written == null ? "" : written.value();
    }

    private RuleSyntax.Stage written(BoundStage stage) {
        return syntax.stages().get(stage.index());
    }

    private void error(ScalarSyntax place, String problem) {
        problem(LintProblem.Level.ERROR, place.error(problem));
    }

    private void warning(ScalarSyntax place, String problem) {
        problem(LintProblem.Level.WARNING, place.error(problem));
    }

    private void problem(LintProblem.Level level, RuleException place) {
        problems.add(new LintProblem(level, place));
    }
}
