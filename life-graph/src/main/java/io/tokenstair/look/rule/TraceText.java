package io.tokenstair.look.rule;

import io.tokenstair.look.text.Terminal;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.ConditionFailure;
import io.tokenstair.rule.bound.RuleField;
import io.tokenstair.rule.trace.RuleAttempt;
import io.tokenstair.rule.trace.RuleMiss;
import io.tokenstair.rule.trace.RuleTrace;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The text form of how far a rule got: a line per stage reached, then what the next one lacked. */
final class TraceText {
    private static final int SHOWN_MISSES = 4;
    private static final int SHOWN_EVIDENCE = 1;

    private final Terminal terminal;
    private final Function<Milestone, String> when;

    /**
     * @param terminal where to write
     * @param when tells the time of a milestone
     */
    TraceText(Terminal terminal, Function<Milestone, String> when) {
        this.terminal = terminal;
        this.when = when;
    }

    /** Writes a trace, each line after a margin. */
    void write(RuleTrace trace, String margin) throws IOException {
        BoundRule rule = trace.rule();
        int nameWidth = rule.stages().stream()
                .mapToInt(stage -> stage.name().length())
                .max()
                .orElse(0);
        RuleAttempt best = trace.best();
        List<List<Milestone>> taken = best == null ? List.of() : best.taken();
        for (int stage = 0; stage < taken.size(); stage++) {
            for (Milestone milestone : taken.get(stage)) {
                line(
                        margin,
                        terminal.styled(Terminal.Style.GREEN, stageName(rule, stage, nameWidth)) + "  "
                                + told(milestone));
            }
        }
        BoundStage next = trace.nextStage();
        if (next != null) {
            line(
                    margin,
                    terminal.styled(Terminal.Style.YELLOW, stageName(rule, next.index(), nameWidth)) + "  "
                            + notReached(trace, next));
            String deeper = margin + "    ";
            for (RuleMiss miss : trace.misses()
                    .subList(0, Math.min(SHOWN_MISSES, trace.misses().size()))) {
                miss(rule, next, best, miss, deeper);
            }
            if (trace.missedCount() > SHOWN_MISSES) {
                line(deeper, "and " + (trace.missedCount() - SHOWN_MISSES) + " more like these");
            }
        } else if (best != null && best.end() == RuleAttempt.End.USED_UP) {
            line(margin, "every stage was reached, but a match that began earlier uses one of these milestones");
        } else {
            for (String sentence : Terminal.wrapped(rule.narrative(taken), terminal.columns() - margin.length())) {
                line(margin, sentence);
            }
        }
    }

    private static String stageName(BoundRule rule, int stage, int nameWidth) {
        return "stage " + (stage + 1) + " of " + rule.stages().size() + "  "
                + Terminal.left(rule.stages().get(stage).name(), nameWidth);
    }

    private static String notReached(RuleTrace trace, BoundStage next) {
        RuleAttempt best = trace.best();
        String kind = kinds(next);
        if (best == null) {
            return trace.misses().isEmpty() ? "not reached: no " + kind + " came" : "not reached: no " + kind + " fits";
        }
        String within = duration(trace.rule().withinMillis());
        return switch (best.end()) {
            case OUT_OF_TIME ->
                (trace.misses().isEmpty() ? "not reached: no " + kind + " came within " : "not reached within ")
                        + within;
            case BROKEN ->
                trace.misses().stream().anyMatch(miss -> miss.why() == RuleMiss.Why.FORBIDDEN)
                        ? "not reached: something came that must not"
                        : "not reached: it must be the very next milestone, and is not";
            case WAITING -> "not reached before the archive ends: " + within + " are not over then";
            case MATCHED, USED_UP -> "reached";
        };
    }

    private void miss(BoundRule rule, BoundStage next, @Nullable RuleAttempt best, RuleMiss miss, String margin)
            throws IOException {
        line(margin, told(miss.milestone()));
        String reason = switch (miss.why()) {
            case KIND -> "is no " + kinds(next);
            case TIME ->
                "fits, but came "
                        + duration(miss.milestone().coarseEpochMillis()
                                - (best == null ? 0 : best.milestones().get(0).coarseEpochMillis()))
                        + " after the first; a match lasts less than "
                        + duration(rule.withinMillis());
            case CONDITION -> failed(miss.failure());
            case DISTINCT -> {
                RuleField distinct = next.distinct();
                yield "must have another " + (distinct == null ? "value" : distinct.name())
                        + " than each one taken before";
            }
            case FORBIDDEN -> "must not come here: an absent stage says so";
        };
        for (String part : Terminal.wrapped(reason, terminal.columns() - margin.length() - 2)) {
            line(margin + "  ", part);
        }
    }

    private static String kinds(BoundStage stage) {
        return stage.alternatives().stream()
                .map(alternative -> alternative.milestoneKind().name())
                .distinct()
                .collect(Collectors.joining(" or "));
    }

    private static String failed(@Nullable ConditionFailure failure) {
        if (failure == null) {
            return "the condition does not hold";
        }
        String values = failure.valuesText();
        String error = failure.error();
        return (error != null
                        ? "cannot be evaluated, " + error + ": "
                        : failure.missesValue() ? "cannot be decided: " : "does not hold: ")
                + failure.text()
                + (values.isEmpty() ? "" : " (" + values + ")");
    }

    /** What stopped a rule, in one line: the stage that was not reached and, where a condition is why, the part that failed. */
    static String stopped(RuleTrace trace) {
        BoundStage next = trace.nextStage();
        if (next == null) {
            return "every stage is reached";
        }
        String stage = "stage " + next.name() + " is not reached";
        return trace.misses().stream()
                .filter(miss -> miss.why() == RuleMiss.Why.CONDITION)
                .findFirst()
                .map(miss -> stage + ": " + failed(miss.failure()))
                .orElse(stage);
    }

    /** A milestone in one line: kind, time, whose it is, and the ids of the events it rests on. */
    String told(Milestone milestone) {
        List<String> words = new ArrayList<>();
        if (milestone.requestId() != null) {
            words.add("request " + terminal.fit(milestone.requestId(), 32));
        } else if (milestone.engineId() != null) {
            words.add("engine " + terminal.fit(milestone.engineId(), 32));
        }
        if (milestone.tokenIndex() != null) {
            words.add("token " + milestone.tokenIndex());
        }
        if (milestone.stepId() != null) {
            words.add("step " + milestone.stepId());
        }
        List<String> evidence = milestone.evidence();
        String ids = String.join(", ", evidence.subList(0, Math.min(SHOWN_EVIDENCE, evidence.size())));
        return milestone.milestoneKind() + " " + when.apply(milestone)
                + (words.isEmpty() ? "" : ", " + String.join(", ", words)) + " "
                + terminal.styled(
                        Terminal.Style.DIM,
                        "[" + Terminal.safe(ids)
                                + (evidence.size() > SHOWN_EVIDENCE
                                        ? " and " + (evidence.size() - SHOWN_EVIDENCE) + " more"
                                        : "")
                                + "]");
    }

    private void line(String margin, String text) throws IOException {
        terminal.line(margin + text);
    }

    /** A duration as rules write it: the largest unit that leaves a whole number. */
    static String duration(long millis) {
        Duration duration = Duration.ofMillis(millis);
        if (millis == 0 || millis % 1_000 != 0) {
            return millis + " ms";
        }
        return duration.toSeconds() % 3600 == 0
                ? duration.toHours() + " h"
                : String.format(Locale.ROOT, "%d s", duration.toSeconds());
    }
}
