package io.tokenstair.rule.bound;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Severity;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.syntax.DurationLiteral;
import io.tokenstair.rule.syntax.RuleSyntax;
import io.tokenstair.rule.syntax.ScalarSyntax;
import io.tokenstair.rule.syntax.Spelling;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Syntax to bound rule: looks up every name, checks types and units, and refuses the whole rule at the first mistake. */
public final class RuleBinder {
    private static final Pattern RULE_ID = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");
    private static final Pattern STAGE_NAME = Pattern.compile("[a-z][A-Za-z0-9]{0,63}");
    private static final Pattern VERSION = Pattern.compile("[1-9][0-9]{0,8}");
    private static final Pattern TIMES = Pattern.compile("([1-9][0-9]?)(?:(\\.\\.)([1-9][0-9]?)?)?");
    /** A cause that the milestones of a stage name. */
    private static final Pattern NAMED_CAUSE = Pattern.compile("\\{([A-Za-z0-9]+)\\.cause\\}");

    private static final Pattern CAP = Pattern.compile("[1-9][0-9]{0,8}");
    private static final Duration LONGEST_WITHIN = Duration.ofHours(24);

    /** Most milestones of one stage; {@code 3..} means 3 to this. */
    public static final int MAX_TIMES = 64;

    /** Most milestones of one match. */
    public static final int MAX_TAKEN = 128;

    /** Most combinations of how often each stage is taken: each is a way a match can go. */
    public static final int MAX_WAYS = 4096;

    /** Words CEL keeps for itself, and names the runtime gives to things of its own. */
    private static final Set<String> RESERVED = Set.of(
            "as",
            "break",
            "const",
            "continue",
            "else",
            "false",
            "for",
            "function",
            "if",
            "import",
            "in",
            "let",
            "loop",
            "namespace",
            "null",
            "package",
            "return",
            "true",
            "var",
            "void",
            "while",
            "bool",
            "bytes",
            "double",
            "duration",
            "google",
            "has",
            "int",
            "list",
            "map",
            "previous",
            "string",
            "timestamp",
            "type",
            "uint");

    private final RuleSyntax syntax;

    private RuleBinder(RuleSyntax syntax) {
        this.syntax = syntax;
    }

    /**
     * The rule of a file.
     *
     * @throws RuleException at the first mistake, with its place
     */
    public static BoundRule bind(RuleSyntax syntax) {
        return new RuleBinder(syntax).bind();
    }

    /**
     * The rule of a text: the same one, where this process has bound it lately.
     *
     * @param file the name shown in errors
     * @param text the text of the file
     * @throws RuleException at the first mistake, with its place
     */
    public static BoundRule bind(String file, String text) {
        return LatelyBound.of(file, text);
    }

    private BoundRule bind() {
        String id = pattern(syntax.id(), "rule id", RULE_ID, "lower case letters, digits and '-', at most 64");
        int revision = Integer.parseInt(pattern(syntax.version(), "version", VERSION, "a whole number from 1"));
        Severity severity = lowerCaseConstant(syntax.severity(), "severity", Severity.class);
        RuleKey key = lowerCaseConstant(syntax.key(), "key", RuleKey.class);
        List<String> stageNames = stageNames();
        List<BoundStage> stages = stages(stageNames);
        RuleCause cause = cause(key, stages);
        return new BoundRule(
                syntax.source(),
                id,
                revision,
                syntax.description().value().strip(),
                severity,
                cause,
                key,
                effectiveFromMillis(),
                caps(),
                stages,
                withinMillis(),
                syntax.afterMatch() == null
                        ? AfterMatch.NO_SKIP
                        : lowerCaseConstant(syntax.afterMatch(), "afterMatch", AfterMatch.class),
                FindingText.bind(syntax.finding(), stageNames, absentNames(syntax.stages())),
                syntax.examples().stream()
                        .map(example -> ExampleBinder.bind(syntax.source(), example))
                        .toList());
    }

    private RuleCause cause(RuleKey key, List<BoundStage> stages) {
        Matcher named = NAMED_CAUSE.matcher(syntax.cause().value());
        return named.matches()
                ? namedCause(key, stages, named.group(1))
                : new RuleCause(fixedCause(key), 0, syntax.cause().value());
    }

    /** A cause that the milestones of a stage name: the finding must have one, whatever matches. */
    private RuleCause namedCause(RuleKey key, List<BoundStage> stages, String stageName) {
        ScalarSyntax written = syntax.cause();
        List<String> names = stages.stream().map(BoundStage::name).toList();
        int index = names.indexOf(stageName);
        if (index < 0) {
            throw written.errorAt(1, "Cannot find stage: " + stageName + Spelling.suggestion(stageName, names));
        }
        if (key != RuleKey.REQUEST) {
            throw written.error("Cannot take the cause of a rule of key " + lowerCase(key)
                    + " from a milestone: it may be one of tokens. Name the cause");
        }
        BoundStage stage = stages.get(index);
        RuleField field = FieldCatalog.find("cause");
        boolean certain = !stage.absent()
                && !stage.optional()
                && stage.alternatives().stream()
                        .map(BoundStage.Alternative::condition)
                        .allMatch(where -> where != null
                                && where.neededFields().keySet().stream().anyMatch(f -> f.equals(field)));
        if (!certain) {
            throw written.errorAt(
                    1,
                    "Cannot take the cause from stage " + stageName
                            + ", which may take a milestone without one or none at all: give it a where that asks for the"
                            + " cause, as in has(cause)");
        }
        return new RuleCause(null, index, written.value());
    }

    private Cause fixedCause(RuleKey key) {
        Cause cause = constant(syntax.cause(), "cause", Cause.class);
        boolean fits = switch (key) {
            case ENGINE, DEVICE -> cause.levels().contains(Cause.Level.ENGINE);
            case REQUEST ->
                cause.levels().contains(Cause.Level.REQUEST) || cause.levels().contains(Cause.Level.TOKEN);
        };
        if (!fits) {
            throw syntax.cause()
                    .error("Cannot say cause " + cause + " of key " + lowerCase(key) + ": it is a cause of "
                            + cause.levels().stream()
                                    .map(RuleBinder::lowerCase)
                                    .sorted()
                                    .toList());
        }
        return cause;
    }

    private List<String> stageNames() {
        List<String> names = new ArrayList<>();
        for (RuleSyntax.Stage stage : syntax.stages()) {
            ScalarSyntax written = stage.name();
            String name = pattern(
                    written, "stage name", STAGE_NAME, "a letter in lower case, then letters and digits, at most 64");
            if (names.contains(name)) {
                throw written.error("Cannot use a stage name twice: " + name);
            }
            if (FieldCatalog.find(name) != null) {
                throw written.error("Cannot use the name of a field as stage name: " + name);
            }
            if (RESERVED.contains(name)) {
                throw written.error("Cannot use a reserved word as stage name: " + name);
            }
            names.add(name);
        }
        return List.copyOf(names);
    }

    private List<BoundStage> stages(List<String> stageNames) {
        Set<String> absentNames = absentNames(syntax.stages());
        List<BoundStage> stages = new ArrayList<>();
        int taken = 0;
        long ways = 1;
        for (RuleSyntax.Stage written : syntax.stages()) {
            BoundStage stage = new StageBinder(written, stageNames, absentNames, stages.size()).stage();
            stages.add(stage);
            if (!stage.absent()) {
                taken += stage.timesTo();
                ways *= stage.timesTo() - stage.timesFrom() + (stage.optional() ? 2 : 1);
            }
            if (taken > MAX_TAKEN) {
                throw written.name()
                        .error("Cannot use a rule whose match takes " + taken + " milestones and more: at most "
                                + MAX_TAKEN + " are allowed");
            }
            if (ways > MAX_WAYS) {
                throw written.name()
                        .error("Cannot use a rule whose match can go " + ways + " ways and more: at most " + MAX_WAYS
                                + " are allowed. Use narrower times and fewer optional stages");
            }
        }
        return List.copyOf(stages);
    }

    private static Set<String> absentNames(List<RuleSyntax.Stage> stages) {
        return stages.stream()
                .filter(stage -> stage.absent() != null && truth(stage.absent(), "absent"))
                .map(stage -> stage.name().value())
                .collect(Collectors.toUnmodifiableSet());
    }

    private @Nullable Long effectiveFromMillis() {
        ScalarSyntax written = syntax.effectiveFrom();
        if (written == null) {
            return null;
        }
        try {
            return OffsetDateTime.parse(written.value()).toInstant().toEpochMilli();
        } catch (DateTimeException | ArithmeticException e) {
            throw written.error("Cannot read effectiveFrom: " + written.value()
                    + ". Write an instant with its zone, as in 2026-12-01T08:00:00Z or 2026-12-01T09:00:00+01:00");
        }
    }

    private RuleCaps caps() {
        RuleSyntax.Caps caps = syntax.caps();
        return caps == null
                ? RuleCaps.BUILT_IN
                : new RuleCaps(
                        cap(caps.openMatches(), "openMatches", RuleCaps.MAX_OPEN_MATCHES),
                        cap(caps.evaluations(), "evaluations", RuleCaps.MAX_EVALUATIONS));
    }

    private static int cap(@Nullable ScalarSyntax written, String what, int most) {
        if (written == null) {
            return most;
        }
        int value = Integer.parseInt(pattern(written, what, CAP, "a whole number from 1 to " + most));
        if (value > most) {
            throw written.error("Cannot use " + what + ": " + value + ". A rule can lower the built-in cap of " + most
                    + ", not raise it");
        }
        return value;
    }

    private static boolean truth(ScalarSyntax written, String what) {
        return switch (written.value()) {
            case "true" -> true;
            case "false" -> false;
            default -> throw written.error("Cannot use " + what + ": " + written.value() + ". It is true or false");
        };
    }

    /** One stage of the rule. */
    private static final class StageBinder {
        private final RuleSyntax.Stage written;
        private final List<String> stageNames;
        private final Set<String> absentNames;
        private final int index;

        StageBinder(RuleSyntax.Stage written, List<String> stageNames, Set<String> absentNames, int index) {
            this.written = written;
            this.stageNames = stageNames;
            this.absentNames = absentNames;
            this.index = index;
        }

        BoundStage stage() {
            boolean optional = written.optional() != null && truth(written.optional(), "optional");
            boolean absent = absentNames.contains(stageNames.get(index));
            ScalarSyntax writtenTimes = written.times();
            int from = 1;
            int to = 1;
            if (writtenTimes != null) {
                Matcher times = TIMES.matcher(
                        pattern(writtenTimes, "times", TIMES, "a number from 1 to 64, or a range as in 2..5 or 3.."));
                times.matches();
                from = Integer.parseInt(times.group(1));
                to = times.group(2) == null
                        ? from
                        : times.group(3) == null ? MAX_TIMES : Integer.parseInt(times.group(3));
                if (from > to || to > MAX_TIMES) {
                    throw writtenTimes.error("Cannot use times: " + writtenTimes.value()
                            + ". It is a number from 1 to 64, or a range as in 2..5 or 3..");
                }
            }
            checkTogether(optional, absent, to > 1);
            Contiguity contiguity = written.contiguity() == null
                    ? Contiguity.RELAXED
                    : lowerCaseConstant(written.contiguity(), "contiguity", Contiguity.class);
            return new BoundStage(
                    index, stageNames.get(index), alternatives(), contiguity, from, to, optional, absent, distinct());
        }

        private void checkTogether(boolean optional, boolean absent, boolean repeated) {
            if (index == 0 && optional) {
                throw written.name().error("Cannot make the first stage optional: it begins the match");
            }
            if (index == 0 && absent) {
                throw written.name().error("Cannot make the first stage absent: it begins the match");
            }
            if (index == 0 && written.contiguity() != null && !repeated) {
                throw written.contiguity().error("Cannot give contiguity to the first stage: it follows no other");
            }
            if (written.distinct() != null && !repeated) {
                throw written.distinct()
                        .error("Cannot use distinct in a stage that takes one milestone: give it times");
            }
            if (absent) {
                refuseWithAbsent(written.times(), "times");
                refuseWithAbsent(written.optional(), "optional");
                refuseWithAbsent(written.contiguity(), "contiguity");
            }
        }

        private static void refuseWithAbsent(@Nullable ScalarSyntax other, String name) {
            if (other != null) {
                throw other.error("Cannot give " + name + " to an absent stage: it takes no milestone");
            }
        }

        private List<BoundStage.Alternative> alternatives() {
            List<BoundStage.Alternative> alternatives = new ArrayList<>();
            for (RuleSyntax.Alternative alternative : written.alternatives()) {
                ScalarSyntax where = alternative.where();
                alternatives.add(new BoundStage.Alternative(
                        constant(alternative.kind(), "milestone kind", MilestoneKind.class),
                        where == null ? null : ConditionCompiler.compile(where, stageNames, absentNames, index)));
            }
            return List.copyOf(alternatives);
        }

        private @Nullable RuleField distinct() {
            ScalarSyntax name = written.distinct();
            if (name == null) {
                return null;
            }
            RuleField field = FieldCatalog.find(name.value());
            if (field == null) {
                throw name.error(
                        "Cannot find field: " + name.value() + Spelling.suggestion(name.value(), FieldCatalog.names()));
            }
            return field;
        }
    }

    private long withinMillis() {
        ScalarSyntax within = syntax.within();
        OptionalLong nanos = DurationLiteral.nanos(within.value());
        if (nanos.isEmpty()) {
            throw within.error("Cannot read duration: " + within.value() + ". Write it as in 500ms, 60s or 5m");
        }
        long value = nanos.getAsLong();
        if (value <= 0 || value % 1_000_000 != 0 || value > LONGEST_WITHIN.toNanos()) {
            throw within.error(
                    "Cannot use within: " + within.value() + ". It is a whole number of milliseconds, from 1ms to 24h");
        }
        return value / 1_000_000;
    }

    private static String pattern(ScalarSyntax written, String what, Pattern pattern, String form) {
        if (!pattern.matcher(written.value()).matches()) {
            throw written.error("Cannot use " + what + ": " + written.value() + ". It is " + form);
        }
        return written.value();
    }

    /** The constant written by its own name: {@code KV_PRESSURE}. */
    static <E extends Enum<E>> E constant(ScalarSyntax written, String what, Class<E> type) {
        return constant(written, what, type, false);
    }

    private static <E extends Enum<E>> E lowerCaseConstant(ScalarSyntax written, String what, Class<E> type) {
        return constant(written, what, type, true);
    }

    private static <E extends Enum<E>> E constant(ScalarSyntax written, String what, Class<E> type, boolean lowerCase) {
        List<E> constants = List.of(type.getEnumConstants());
        @Nullable
        E found = constants.stream()
                .filter(one -> (lowerCase ? lowerCase(one) : one.name()).equals(written.value()))
                .findFirst()
                .orElse(null);
        if (found == null) {
            Stream<String> names = constants.stream().map(one -> lowerCase ? lowerCase(one) : one.name());
            throw written.error("Cannot find " + what + ": " + written.value()
                    + Spelling.suggestion(written.value(), names.toList()));
        }
        return found;
    }

    private static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
