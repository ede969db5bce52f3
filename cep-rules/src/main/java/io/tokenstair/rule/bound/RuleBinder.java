package io.tokenstair.rule.bound;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Severity;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.syntax.DurationLiteral;
import io.tokenstair.rule.syntax.RuleSyntax;
import io.tokenstair.rule.syntax.ScalarSyntax;
import io.tokenstair.rule.syntax.Spelling;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Syntax to bound rule: looks up every name, checks types and units, and refuses the whole rule at the first mistake. */
public final class RuleBinder {
    private static final Pattern RULE_ID = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");
    private static final Pattern STAGE_NAME = Pattern.compile("[a-z][A-Za-z0-9]{0,63}");
    private static final Pattern VERSION = Pattern.compile("[1-9][0-9]{0,8}");
    private static final Duration LONGEST_WITHIN = Duration.ofHours(24);

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

    private BoundRule bind() {
        String id = pattern(syntax.id(), "rule id", RULE_ID, "lower case letters, digits and '-', at most 64");
        int revision = Integer.parseInt(pattern(syntax.version(), "version", VERSION, "a whole number from 1"));
        Severity severity = lowerCaseConstant(syntax.severity(), "severity", Severity.class);
        RuleKey key = lowerCaseConstant(syntax.key(), "key", RuleKey.class);
        Cause cause = cause(key);
        List<String> stageNames = stageNames();
        List<BoundStage> stages = new ArrayList<>();
        for (RuleSyntax.Stage stage : syntax.stages()) {
            stages.add(stage(stage, stageNames, stages.size()));
        }
        return new BoundRule(
                syntax.source(),
                id,
                revision,
                syntax.description().value().strip(),
                severity,
                cause,
                key,
                List.copyOf(stages),
                withinMillis(),
                syntax.afterMatch() == null
                        ? AfterMatch.NO_SKIP
                        : lowerCaseConstant(syntax.afterMatch(), "afterMatch", AfterMatch.class),
                FindingText.bind(syntax.finding(), stageNames),
                syntax.examples().stream()
                        .map(example -> ExampleBinder.bind(syntax.source(), example))
                        .toList());
    }

    private Cause cause(RuleKey key) {
        Cause cause = constant(syntax.cause(), "cause", Cause.class);
        boolean fits = switch (key) {
            case ENGINE -> cause.levels().contains(Cause.Level.ENGINE);
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

    private static BoundStage stage(RuleSyntax.Stage stage, List<String> stageNames, int index) {
        MilestoneKind kind = constant(stage.kind(), "milestone kind", MilestoneKind.class);
        Contiguity contiguity = stage.contiguity() == null
                ? Contiguity.RELAXED
                : lowerCaseConstant(stage.contiguity(), "contiguity", Contiguity.class);
        if (index == 0 && stage.contiguity() != null) {
            throw stage.contiguity().error("Cannot give contiguity to the first stage: it follows no other");
        }
        StageCondition condition =
                stage.where() == null ? null : ConditionCompiler.compile(stage.where(), stageNames, index);
        return new BoundStage(stageNames.get(index), kind, condition, contiguity);
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
                    "Cannot use within: " + within.value() + ". It is a whole number of milliseconds, at most 24h");
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
