package io.tokenstair.rule.bound;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelIssue;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.types.CelType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.Program;
import io.tokenstair.cause.Cause;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.syntax.ScalarSyntax;
import io.tokenstair.rule.syntax.Spelling;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compiles the CEL condition of one stage: first names, then types, then units, so that the first error is the plainest.
 *
 * <p>A field of the stage itself is a CEL variable of its name, a field of any stage so far one of {@code stage.field}.
 */
final class ConditionCompiler {
    private static final int MAX_CODE_POINTS = 8 * 1024;
    private static final int MAX_NODES = 1024;
    private static final int MAX_PATTERN_LENGTH = 256;
    private static final int MAX_PATTERN_STEPS = 4096;

    /** Bounds of what a condition costs; without comprehensions the cost of one is in proportion to its size and its texts. */
    private static final CelOptions OPTIONS = CelOptions.current()
            .maxExpressionCodePointSize(MAX_CODE_POINTS)
            .maxParseRecursionDepth(32)
            .maxParseExpressionNodeCount(MAX_NODES)
            .maxRegexProgramSize(MAX_PATTERN_STEPS)
            .build();

    private static final CelRuntime RUNTIME = CelRuntimeFactory.plannerRuntimeBuilder()
            .setOptions(OPTIONS.toBuilder()
                    // The only way this runtime compares; the check of types lets no numbers of two types meet.
                    .enableHeterogeneousNumericComparisons(true)
                    .build())
            .build();

    private static final Program MATCHES = matches();

    /** No rule can write this sign, so a presence variable cannot be named by accident. */
    private static final String PRESENCE = "@has:";

    /** What conditions call the milestone taken before; no stage has this name. */
    static final String PREVIOUS = "previous";

    private static final CelMacro HAS = CelMacro.newGlobalMacro("has", 1, (factory, target, arguments) -> {
        CelExpr argument = arguments.get(0);
        String path = path(argument);
        return Optional.of(
                path == null
                        ? factory.reportError("has() asks for a field")
                        : CelExpr.ofIdent(argument.id(), PRESENCE + path));
    });

    private static final Map<String, String> OPERATOR_SIGNS = Map.ofEntries(
            Map.entry("_<_", "<"),
            Map.entry("_<=_", "<="),
            Map.entry("_>_", ">"),
            Map.entry("_>=_", ">="),
            Map.entry("_==_", "=="),
            Map.entry("_!=_", "!="),
            Map.entry("_+_", "+"),
            Map.entry("_-_", "-"),
            Map.entry("_*_", "*"),
            Map.entry("_/_", "/"),
            Map.entry("_%_", "%"),
            Map.entry("-_", "-"),
            Map.entry("!_", "!"),
            Map.entry("_&&_", "&&"),
            Map.entry("_||_", "||"),
            Map.entry("_?_:_", "?:"),
            Map.entry("@in", "in"));
    private static final Set<String> COMPARISONS = Set.of("_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_");
    /** What a cause may be part of. */
    private static final Set<String> CAUSE_COMPARISONS = Set.of("_==_", "_!=_", "@in");

    private static final Set<String> TAKES_CAUSES = Set.of("_?_:_", "_&&_", "_||_", "!_");
    private static final List<String> CAUSES =
            Stream.of(Cause.values()).map(Cause::name).toList();
    private static final List<String> FUNCTIONS =
            List.of("has", "duration", "startsWith", "endsWith", "contains", "matches", "size", "int", "double");

    private static final Pattern NUMBER_TOO_LARGE = Pattern.compile("For input string: \"([^\"]*)\".*");
    private static final Pattern UNKNOWN_SIGN = Pattern.compile("(?s)token recognition error at: '(.+)'");
    private static final Pattern WORD_TOO_MANY = Pattern.compile("(?:extraneous|mismatched) input '(.+)'");
    private static final Pattern NO_OVERLOAD =
            Pattern.compile("found no matching overload for '(.+)' applied to '(.*?)\\((.*)\\)'.*", Pattern.DOTALL);
    private static final Pattern WRONG_RESULT = Pattern.compile("expected type 'bool' but found '(.+)'");

    private final ScalarSyntax where;
    private final ConditionText text;
    private final List<String> stageNames;
    private final Set<String> absentNames;
    private final int ownStage;
    private final Map<String, StageCondition.Reference> references = new HashMap<>();

    private ConditionCompiler(ScalarSyntax where, List<String> stageNames, Set<String> absentNames, int ownStage) {
        this.where = where;
        this.text = ConditionText.of(where);
        this.stageNames = stageNames;
        this.absentNames = absentNames;
        this.ownStage = ownStage;
    }

    /**
     * The condition of a stage.
     *
     * @param where what the rule says
     * @param stageNames names of all stages, in order
     * @param absentNames those of them that take no milestone
     * @param ownStage index of the stage it belongs to
     * @throws RuleException where a name is unknown or a type or unit does not fit
     */
    static StageCondition compile(ScalarSyntax where, List<String> stageNames, Set<String> absentNames, int ownStage) {
        return new ConditionCompiler(where, stageNames, absentNames, ownStage).compile();
    }

    /** The field a variable stands for, as rules write it. */
    static String fieldPath(String variable) {
        return variable.startsWith(PRESENCE) ? variable.substring(PRESENCE.length()) : variable;
    }

    private StageCondition compile() {
        CelCompiler compiler = compiler();
        try {
            CelAbstractSyntaxTree parsed = checked(compiler.parse(text.cel()));
            new Names(parsed).visit(parsed.getExpr());
            CelAbstractSyntaxTree typed = checked(compiler.check(parsed));
            new Units(parsed).unitOf(parsed.getExpr());
            ConditionFacts facts = new ConditionFacts(
                    part -> {
                        String path = path(part);
                        return path == null ? null : references.get(path);
                    },
                    part -> position(parsed, part));
            facts.holds(parsed.getExpr());
            facts.divides(parsed.getExpr());
            return new StageCondition(
                    RUNTIME.createProgram(typed),
                    ownStage,
                    references,
                    facts,
                    new ConditionParts(where, stageNames, absentNames, ownStage));
        } catch (CelValidationException | CelEvaluationException e) {
            throw where.error("Cannot read the condition: " + e.getMessage());
        }
    }

    private static Program matches() {
        try {
            CelCompiler compiler = CelCompilerFactory.standardCelCompilerBuilder()
                    .addVar("pattern", SimpleType.STRING)
                    .build();
            return RUNTIME.createProgram(compiler.compile("''.matches(pattern)").getAst());
        } catch (CelValidationException | CelEvaluationException e) {
            throw new IllegalStateException("Cannot compile the test of patterns", e);
        }
    }

    private CelCompiler compiler() {
        CelCompilerBuilder builder = CelCompilerFactory.standardCelCompilerBuilder()
                .setOptions(OPTIONS)
                .addMacros(HAS)
                .setResultType(SimpleType.BOOL);
        for (RuleField field : FieldCatalog.fields()) {
            declare(builder, field.name(), field);
            for (String stage : stageNames.subList(0, ownStage + 1)) {
                declare(builder, stage + "." + field.name(), field);
            }
            declare(builder, PREVIOUS + "." + field.name(), field);
        }
        return builder.build();
    }

    private static void declare(CelCompilerBuilder builder, String variable, RuleField field) {
        builder.addVar(variable, celType(field.unit())).addVar(PRESENCE + variable, SimpleType.BOOL);
    }

    private static CelType celType(FieldUnit unit) {
        return switch (unit) {
            case NAME, CAUSE -> SimpleType.STRING;
            case ORDINAL, PRIORITY, TOKENS, BLOCKS, SEQUENCES -> SimpleType.INT;
            case RATIO -> SimpleType.DOUBLE;
            case DURATION, ENGINE_TIME -> SimpleType.DURATION;
        };
    }

    private CelAbstractSyntaxTree checked(CelValidationResult result) throws CelValidationException {
        if (result.hasError()) {
            throw error(result, result.getErrors().get(0));
        }
        return result.getAst();
    }

    private RuleException error(CelValidationResult result, CelIssue issue) {
        int offset =
                result.getSource().getLocationOffset(issue.getSourceLocation()).orElse(0);
        String message = issue.getMessage();
        Matcher overload = NO_OVERLOAD.matcher(message);
        Matcher wrongResult = WRONG_RESULT.matcher(message);
        if (overload.matches()) {
            message = "Cannot apply %s to (%s)".formatted(sign(overload.group(1)), typeNames(overload.group(3)))
                    + hint(overload.group(3));
        } else if (wrongResult.matches()) {
            message =
                    "Cannot use a condition of type " + typeNames(wrongResult.group(1)) + ": it must be true or false";
        } else {
            message = "Cannot read the condition: " + inPlainWords(message);
        }
        return where.errorAt(text.valueOffset(offset), message);
    }

    /** What the grammar says of a mistake, in words of the rule language. */
    private static String inPlainWords(String grammarSays) {
        Matcher number = NUMBER_TOO_LARGE.matcher(grammarSays);
        if (number.matches()) {
            return "%s is beyond the 64 bits of a whole number".formatted(number.group(1));
        }
        // The grammar's list of all that might follow helps nobody.
        String found = grammarSays.replaceFirst("(?s) expecting .*", "").replaceFirst(".*'<EOF>'", "it ends too early");
        Matcher sign = UNKNOWN_SIGN.matcher(found);
        if (sign.matches()) {
            return switch (sign.group(1).charAt(0)) {
                case '=' -> "write == for is equal";
                case '&' -> "write && for and";
                case '|' -> "write || for or";
                case '"', '\'' -> "a text does not end: %s".formatted(sign.group(1));
                default -> "there is no sign %s".formatted(sign.group(1).strip());
            };
        }
        Matcher word = WORD_TOO_MANY.matcher(found);
        if (word.matches()) {
            return switch (word.group(1)) {
                case "and", "AND" -> "write && for and";
                case "or", "OR" -> "write || for or";
                default ->
                    "%s is one too many. A unit stands at its number, as in 50ms; && or || joins two conditions"
                            .formatted(word.group(1));
            };
        }
        return found;
    }

    private static String sign(String function) {
        return OPERATOR_SIGNS.getOrDefault(function, function + "()");
    }

    private static String typeNames(String types) {
        return types.replace("google.protobuf.Duration", "duration")
                .replace("double", "decimal")
                .replace("int", "whole number")
                .replace("string", "text")
                .replace("bool", "true or false");
    }

    private static String hint(String types) {
        if (types.contains("Duration") && (types.contains("int") || types.contains("double"))) {
            return ": write a duration with its unit, as in 50ms";
        }
        if (types.contains("double") && types.contains("int")) {
            return ": write a decimal with a point where the field is one, as in 1.0, and without where it is not";
        }
        return "";
    }

    private int position(CelAbstractSyntaxTree ast, CelExpr expression) {
        return text.valueOffset(ast.getSource().getPositionsMap().getOrDefault(expression.id(), 0));
    }

    /** The words of {@code a} or {@code a.b}; null for anything else. */
    private static @Nullable String path(CelExpr expression) {
        return switch (expression.getKind()) {
            case IDENT -> expression.ident().name();
            case SELECT ->
                expression.select().operand().getKind() == CelExpr.ExprKind.Kind.IDENT
                        ? expression.select().operand().ident().name() + "."
                                + expression.select().field()
                        : null;
            default -> null;
        };
    }

    private static Stream<CelExpr> operands(CelExpr call) {
        return Stream.concat(call.call().target().stream(), call.call().args().stream());
    }

    /** Looks up every name of the condition and notes what it stands for. */
    private final class Names {
        private final CelAbstractSyntaxTree ast;

        Names(CelAbstractSyntaxTree ast) {
            this.ast = ast;
        }

        void visit(CelExpr expression) {
            switch (expression.getKind()) {
                case CONSTANT -> {
                    if (expression.constant().getKind() == CelConstant.Kind.NULL_VALUE) {
                        throw error(expression, "Cannot compare with null: ask for presence with has(field)");
                    }
                }
                case IDENT, SELECT -> name(expression);
                case CALL -> {
                    String function = expression.call().function();
                    if (!OPERATOR_SIGNS.containsKey(function) && !FUNCTIONS.contains(function)) {
                        throw error(
                                expression,
                                "Cannot find function: " + function.replace("_[_]", "[]")
                                        + Spelling.suggestion(function, FUNCTIONS));
                    }
                    if (function.equals("matches")) {
                        pattern(expression);
                    }
                    operands(expression).forEach(this::visit);
                }
                case LIST -> expression.list().elements().forEach(this::visit);
                default -> throw error(expression, "Cannot use this part of CEL in a condition");
            }
        }

        /** A pattern is read when the rule is, not when a milestone comes. */
        private void pattern(CelExpr expression) {
            List<CelExpr> operands = operands(expression).toList();
            CelExpr pattern = operands.get(operands.size() - 1);
            boolean written = pattern.getKind() == CelExpr.ExprKind.Kind.CONSTANT
                    && pattern.constant().getKind() == CelConstant.Kind.STRING_VALUE;
            if (!written) {
                throw error(pattern, "Cannot use a pattern that is not written out: matches('r-[0-9]+')");
            }
            String text = pattern.constant().stringValue();
            if (text.length() > MAX_PATTERN_LENGTH) {
                throw error(
                        pattern,
                        "Cannot use a pattern of " + text.length() + " characters: at most " + MAX_PATTERN_LENGTH
                                + " are allowed");
            }
            if (PatternSize.of(text) > MAX_PATTERN_STEPS) {
                throw error(
                        pattern,
                        "Cannot use a pattern of more than " + MAX_PATTERN_STEPS
                                + " steps with its repetitions written out: repeat less");
            }
            try {
                MATCHES.eval(Map.of("pattern", text));
            } catch (CelEvaluationException e) {
                throw error(
                        pattern,
                        "Cannot read the pattern: " + text + ". Write it as RE2 does, without look-around "
                                + "and references");
            }
        }

        private void name(CelExpr expression) {
            String path = path(expression);
            if (path == null) {
                throw error(expression, "Cannot read a field of a field: write field or stage.field");
            }
            boolean presence = path.startsWith(PRESENCE);
            String words = presence ? path.substring(PRESENCE.length()) : path;
            int dot = words.indexOf('.');
            int stage = dot < 0 ? ownStage : stage(expression, words.substring(0, dot));
            String fieldName = words.substring(dot + 1);
            RuleField field = FieldCatalog.find(fieldName);
            if (field == null) {
                String written = where.value();
                int at = position(ast, expression);
                // CEL places a selection at its point, a plain name at its beginning.
                int from = dot < 0 ? at : Math.max(written.indexOf(fieldName, at), at);
                throw where.errorAt(
                        from, "Cannot find field: " + fieldName + Spelling.suggestion(fieldName, FieldCatalog.names()));
            }
            references.put(path, new StageCondition.Reference(stage, field, presence));
        }

        private int stage(CelExpr expression, String name) {
            if (name.equals(PREVIOUS)) {
                return StageCondition.PREVIOUS;
            }
            int stage = stageNames.indexOf(name);
            if (stage > ownStage) {
                throw error(expression, "Cannot read a stage that comes later: " + name);
            }
            if (stage < 0) {
                throw error(
                        expression,
                        "Cannot find stage: " + name + Spelling.suggestion(name, stageNames.subList(0, ownStage + 1)));
            }
            if (stage != ownStage && absentNames.contains(name)) {
                throw error(expression, "Cannot read an absent stage, which takes no milestone: " + name);
            }
            return stage;
        }

        private RuleException error(CelExpr expression, String problem) {
            CelExpr place = expression.getKind() == CelExpr.ExprKind.Kind.SELECT
                    ? expression.select().operand()
                    : expression;
            return where.errorAt(position(ast, place), problem);
        }
    }

    /** Works out the unit of every part; numbers written in the condition take the unit of what they meet. */
    private final class Units {
        private final CelAbstractSyntaxTree ast;

        Units(CelAbstractSyntaxTree ast) {
            this.ast = ast;
        }

        /** The unit of a part; null where it has none. */
        @Nullable
        FieldUnit unitOf(CelExpr expression) {
            return switch (expression.getKind()) {
                case IDENT, SELECT -> {
                    StageCondition.Reference reference = references.get(path(expression));
                    yield reference == null || reference.presence()
                            ? null
                            : reference.field().unit();
                }
                case CALL -> call(expression);
                case LIST -> commonUnit(expression, "list", expression.list().elements());
                default -> null;
            };
        }

        private @Nullable FieldUnit call(CelExpr expression) {
            String function = expression.call().function();
            List<CelExpr> operands = operands(expression).collect(Collectors.toList());
            if (COMPARISONS.contains(function) || function.equals("@in")) {
                FieldUnit unit = commonUnit(expression, sign(function), operands);
                boolean bareStamp = operands.stream().anyMatch(operand -> unitOf(operand) != FieldUnit.ENGINE_TIME);
                if (unit == FieldUnit.ENGINE_TIME && bareStamp) {
                    throw mismatch(expression, sign(function), FieldUnit.ENGINE_TIME, FieldUnit.DURATION);
                }
                if (unit == FieldUnit.CAUSE) {
                    if (!CAUSE_COMPARISONS.contains(function)) {
                        throw where.errorAt(
                                position(ast, expression), "Cannot apply " + sign(function) + " to a cause");
                    }
                    operands.forEach(this::causeName);
                }
                return null;
            }
            if (!TAKES_CAUSES.contains(function)) {
                operands.forEach(operand -> notACause(expression, operand));
            }
            return switch (function) {
                case "_+_" -> sum(expression, operands);
                case "_%_" -> commonUnit(expression, "%", operands);
                case "_-_" -> difference(expression, operands);
                case "-_" -> unitOf(operands.get(0));
                case "_*_", "_/_" -> scaled(operands);
                case "_?_:_" -> {
                    unitOf(operands.get(0));
                    yield commonUnit(expression, "?:", operands.subList(1, 3));
                }
                case "duration" -> FieldUnit.DURATION;
                default -> {
                    operands.forEach(this::unitOf);
                    yield null;
                }
            };
        }

        /** What is compared with a cause is another one, or a name of the list. */
        private void causeName(CelExpr part) {
            if (part.getKind() == CelExpr.ExprKind.Kind.LIST) {
                part.list().elements().forEach(this::causeName);
            } else if (part.getKind() == CelExpr.ExprKind.Kind.CONSTANT
                    && part.constant().getKind() == CelConstant.Kind.STRING_VALUE) {
                String name = part.constant().stringValue();
                if (!CAUSES.contains(name)) {
                    throw where.errorAt(
                            position(ast, part), "Cannot find cause: " + name + Spelling.suggestion(name, CAUSES));
                }
            } else if (unitOf(part) != FieldUnit.CAUSE) {
                throw where.errorAt(position(ast, part), "Cannot compare a cause with this: write its name in quotes");
            }
        }

        private void notACause(CelExpr call, CelExpr operand) {
            if (unitOf(operand) == FieldUnit.CAUSE) {
                String function = call.call().function();
                throw where.errorAt(position(ast, call), "Cannot apply " + sign(function) + " to a cause");
            }
        }

        private @Nullable FieldUnit commonUnit(CelExpr place, String sign, List<CelExpr> parts) {
            FieldUnit common = null;
            for (CelExpr part : parts) {
                FieldUnit unit = unitOf(part);
                if (common != null && unit != null && unit != common) {
                    throw mismatch(place, sign, common, unit);
                }
                common = common == null ? unit : common;
            }
            return common;
        }

        private @Nullable FieldUnit sum(CelExpr place, List<CelExpr> operands) {
            FieldUnit left = unitOf(operands.get(0));
            FieldUnit right = unitOf(operands.get(1));
            if (left == FieldUnit.ENGINE_TIME && right == FieldUnit.ENGINE_TIME) {
                throw where.errorAt(position(ast, place), "Cannot add two times of the engine's clock");
            }
            boolean shifted = left == FieldUnit.ENGINE_TIME && right == FieldUnit.DURATION
                    || left == FieldUnit.DURATION && right == FieldUnit.ENGINE_TIME;
            return shifted ? FieldUnit.ENGINE_TIME : commonUnit(place, "+", operands);
        }

        private @Nullable FieldUnit difference(CelExpr place, List<CelExpr> operands) {
            FieldUnit left = unitOf(operands.get(0));
            FieldUnit right = unitOf(operands.get(1));
            if (left == FieldUnit.ENGINE_TIME && right == FieldUnit.ENGINE_TIME) {
                return FieldUnit.DURATION;
            }
            if (left == FieldUnit.ENGINE_TIME && right == FieldUnit.DURATION) {
                return FieldUnit.ENGINE_TIME;
            }
            return commonUnit(place, "-", operands);
        }

        /** A multiple keeps its unit; any other product or quotient has none of ours. */
        private @Nullable FieldUnit scaled(List<CelExpr> operands) {
            FieldUnit left = unitOf(operands.get(0));
            FieldUnit right = unitOf(operands.get(1));
            boolean multiple = (left == null) != (right == null);
            return multiple ? (left == null ? right : left) : null;
        }

        private RuleException mismatch(CelExpr place, String sign, FieldUnit left, FieldUnit right) {
            return where.errorAt(
                    position(ast, place),
                    "Cannot apply %s to different units: %s and %s".formatted(sign, left.unitName(), right.unitName()));
        }
    }
}
