package io.tokenstair.rule.syntax;

import io.tokenstair.rule.RuleException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Text to syntax: checks the shape of a rule file, not what its names mean. */
public final class RuleParser {
    /** The largest rule file read. */
    public static final int MAX_BYTES = 256 * 1024;

    /** Most stages of a rule, and most alternatives of a stage. */
    public static final int MAX_STAGES = 16;

    private static final int MAX_SENTENCES = 16;
    private static final int MAX_EXAMPLES = 256;
    private static final int MAX_ROWS = 1024;

    /** The newest version of the rule language that is understood. */
    public static final int LANGUAGE = 1;

    /** The names a rule may give, in the order of the documentation. */
    public static final List<String> RULE_NAMES = List.of(
            "language",
            "id",
            "version",
            "description",
            "severity",
            "cause",
            "key",
            "effectiveFrom",
            "stages",
            "within",
            "afterMatch",
            "caps",
            "finding",
            "examples");

    /** The names a rule must give. */
    public static final List<String> NEEDED_RULE_NAMES =
            List.of("id", "version", "description", "severity", "cause", "key", "stages", "within", "finding");

    /** The names a stage may give. */
    public static final List<String> STAGE_NAMES =
            List.of("name", "kind", "where", "anyOf", "contiguity", "times", "optional", "absent", "distinct");

    /** The names an alternative of {@code anyOf} may give. */
    public static final List<String> ALTERNATIVE_NAMES = List.of("kind", "where");

    /** The names {@code caps} may give. */
    public static final List<String> CAP_NAMES = List.of("openMatches", "evaluations");

    /** The names of an example; it must give all. */
    public static final List<String> EXAMPLE_NAMES = List.of("name", "given", "expect");

    private final SourceText source;

    private RuleParser(SourceText source) {
        this.source = source;
    }

    /**
     * The rule a file holds.
     *
     * @param file the name shown in errors
     * @param utf8 the bytes of the file, at most {@link #MAX_BYTES}
     * @throws RuleException where the file is no rule
     */
    public static RuleSyntax parse(String file, byte[] utf8) {
        if (utf8.length > MAX_BYTES) {
            throw tooBig(file);
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8))
                    .toString();
            return parse(file, text);
        } catch (CharacterCodingException e) {
            throw new RuleException(file, 1, 1, "Cannot read a rule that is not UTF-8: save it as UTF-8", "");
        }
    }

    /**
     * The rule a text holds.
     *
     * @param file the name shown in errors
     * @param text the text of the file, at most {@link #MAX_BYTES} in UTF-8
     * @throws RuleException where the text is no rule
     */
    public static RuleSyntax parse(String file, String text) {
        if (text.length() > MAX_BYTES || text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
            throw tooBig(file);
        }
        SourceText source = new SourceText(file, text.startsWith("\uFEFF") ? text.substring(1) : text);
        return new RuleParser(source).rule(YamlReader.read(source));
    }

    private static RuleException tooBig(String file) {
        return new RuleException(
                file, 1, 1, "Cannot read a rule of more than " + MAX_BYTES + " bytes: no more are allowed", "");
    }

    private RuleSyntax rule(YamlNode root) {
        checkLanguage(root);
        Map<String, YamlNode> values = mapping(root, "a rule", RULE_NAMES);
        int offset = root.offset();
        return new RuleSyntax(
                source,
                text(values, "id", "a rule", offset),
                text(values, "version", "a rule", offset),
                text(values, "description", "a rule", offset),
                text(values, "severity", "a rule", offset),
                text(values, "cause", "a rule", offset),
                text(values, "key", "a rule", offset),
                optionalText(values, "effectiveFrom"),
                caps(values.get("caps")),
                stages(required(values, "stages", "a rule", offset)),
                text(values, "within", "a rule", offset),
                optionalText(values, "afterMatch"),
                sentences(required(values, "finding", "a rule", offset)),
                examples(values.get("examples")));
    }

    private List<RuleSyntax.Stage> stages(YamlNode node) {
        List<RuleSyntax.Stage> stages = new ArrayList<>();
        for (YamlNode element : elements(node, "stages", 1, MAX_STAGES)) {
            Map<String, YamlNode> values = mapping(element, "a stage", STAGE_NAMES);
            stages.add(new RuleSyntax.Stage(
                    element.offset(),
                    text(values, "name", "a stage", element.offset()),
                    alternatives(values, element.offset()),
                    optionalText(values, "contiguity"),
                    optionalText(values, "times"),
                    optionalText(values, "optional"),
                    optionalText(values, "absent"),
                    optionalText(values, "distinct")));
        }
        return List.copyOf(stages);
    }

    private List<RuleSyntax.Alternative> alternatives(Map<String, YamlNode> stage, int offset) {
        YamlNode anyOf = stage.get("anyOf");
        if (anyOf == null) {
            return List.of(alternative(stage, "a stage", offset));
        }
        for (String name : ALTERNATIVE_NAMES) {
            YamlNode beside = stage.get(name);
            if (beside != null) {
                throw source.error(
                        beside.offset(), "Cannot use " + name + " beside anyOf: each alternative has its own");
            }
        }
        List<RuleSyntax.Alternative> alternatives = new ArrayList<>();
        for (YamlNode element : elements(anyOf, "anyOf", 1, MAX_STAGES)) {
            alternatives.add(alternative(
                    mapping(element, "an alternative", ALTERNATIVE_NAMES), "an alternative", element.offset()));
        }
        return List.copyOf(alternatives);
    }

    private RuleSyntax.Alternative alternative(Map<String, YamlNode> values, String what, int offset) {
        return new RuleSyntax.Alternative(text(values, "kind", what, offset), optionalText(values, "where"));
    }

    private RuleSyntax.@Nullable Caps caps(@Nullable YamlNode node) {
        if (node == null) {
            return null;
        }
        Map<String, YamlNode> values = mapping(node, "caps", CAP_NAMES);
        return new RuleSyntax.Caps(optionalText(values, "openMatches"), optionalText(values, "evaluations"));
    }

    /** Asked first: a rule of a newer language may have names that mean nothing here. */
    private void checkLanguage(YamlNode root) {
        if (!(root instanceof YamlNode.Mapping mapping)) {
            return;
        }
        for (YamlNode.Entry entry : mapping.entries()) {
            if (entry.name().value().equals("language")) {
                ScalarSyntax written = scalar(entry.value(), "language");
                if (!written.value().matches("[1-9][0-9]{0,8}")) {
                    throw written.error("Cannot use language: " + written.value() + ". It is a whole number from 1");
                }
                if (Integer.parseInt(written.value()) > LANGUAGE) {
                    throw written.error("Cannot read a rule of language " + written.value() + ": this version knows "
                            + LANGUAGE + ", a newer one is needed");
                }
            }
        }
    }

    private List<ScalarSyntax> sentences(YamlNode node) {
        if (node instanceof YamlNode.Scalar single) {
            return List.of(single.scalar());
        }
        List<ScalarSyntax> sentences = new ArrayList<>();
        for (YamlNode element : elements(node, "finding", 1, MAX_SENTENCES)) {
            sentences.add(scalar(element, "a sentence of finding"));
        }
        return List.copyOf(sentences);
    }

    private List<RuleSyntax.Example> examples(@Nullable YamlNode node) {
        if (node == null) {
            return List.of();
        }
        List<RuleSyntax.Example> examples = new ArrayList<>();
        for (YamlNode element : elements(node, "examples", 0, MAX_EXAMPLES)) {
            Map<String, YamlNode> values = mapping(element, "an example", EXAMPLE_NAMES);
            List<RuleSyntax.Row> rows = new ArrayList<>();
            for (YamlNode row :
                    elements(required(values, "given", "an example", element.offset()), "given", 0, MAX_ROWS)) {
                rows.add(row(row));
            }
            examples.add(new RuleSyntax.Example(
                    text(values, "name", "an example", element.offset()),
                    List.copyOf(rows),
                    text(values, "expect", "an example", element.offset())));
        }
        return List.copyOf(examples);
    }

    private RuleSyntax.Row row(YamlNode node) {
        if (!(node instanceof YamlNode.Mapping mapping)) {
            throw source.error(node.offset(), "Cannot read a given milestone from " + node.description());
        }
        List<RuleSyntax.Cell> cells = new ArrayList<>();
        for (YamlNode.Entry entry : mapping.entries()) {
            cells.add(new RuleSyntax.Cell(
                    entry.name(), scalar(entry.value(), entry.name().value())));
        }
        return new RuleSyntax.Row(mapping.offset(), List.copyOf(cells));
    }

    private Map<String, YamlNode> mapping(YamlNode node, String what, List<String> allowed) {
        if (!(node instanceof YamlNode.Mapping mapping)) {
            throw source.error(node.offset(), "Cannot read " + what + " from " + node.description());
        }
        for (YamlNode.Entry entry : mapping.entries()) {
            String name = entry.name().value();
            if (!allowed.contains(name)) {
                throw entry.name()
                        .error("Cannot find name in " + what + ": " + name + Spelling.suggestion(name, allowed));
            }
        }
        return mapping.entries().stream()
                .collect(Collectors.toMap(entry -> entry.name().value(), YamlNode.Entry::value));
    }

    private List<YamlNode> elements(YamlNode node, String what, int least, int most) {
        if (!(node instanceof YamlNode.Sequence sequence)) {
            throw source.error(node.offset(), "Cannot read " + what + " from " + node.description() + ": write a list");
        }
        int size = sequence.elements().size();
        if (size < least || size > most) {
            throw source.error(
                    node.offset(),
                    "Cannot use " + size + " entries of " + what + ": " + least + " to " + most + " are allowed");
        }
        return sequence.elements();
    }

    private YamlNode required(Map<String, YamlNode> values, String name, String what, int offset) {
        YamlNode value = values.get(name);
        if (value == null) {
            throw source.error(offset, "Cannot read " + what + " without a name it needs: " + name);
        }
        return value;
    }

    private ScalarSyntax text(Map<String, YamlNode> values, String name, String what, int offset) {
        return scalar(required(values, name, what, offset), name);
    }

    private @Nullable ScalarSyntax optionalText(Map<String, YamlNode> values, String name) {
        return values.containsKey(name) ? scalar(Objects.requireNonNull(values.get(name)), name) : null;
    }

    private ScalarSyntax scalar(YamlNode node, String name) {
        if (!(node instanceof YamlNode.Scalar scalar)) {
            throw source.error(node.offset(), "Cannot read " + name + " from " + node.description() + ": write a text");
        }
        if (scalar.scalar().value().isBlank()) {
            throw scalar.scalar().error("Cannot use an empty value: " + name);
        }
        return scalar.scalar();
    }
}
