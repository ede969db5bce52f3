package io.tokenstair.rule;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.tokenstair.cause.Cause;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.FieldCatalog;
import io.tokenstair.rule.bound.RuleCaps;
import io.tokenstair.rule.syntax.RuleParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The schema by which editors complete rules knows what the binder knows, and accepts what it accepts. */
class RuleSchemaTest {
    private static final Pattern SNIPPET = Pattern.compile("```yaml\\n(.*?)```", Pattern.DOTALL);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonNode DOCUMENT = document();
    private static final Schema SCHEMA = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
            .getSchema(DOCUMENT);

    @Test
    void listsOfTheSchemaAreThoseOfTheBinder() {
        assertThat(names(DOCUMENT.at("/properties"))).containsExactlyElementsOf(RuleParser.RULE_NAMES);
        assertThat(texts(DOCUMENT.at("/required"))).containsExactlyElementsOf(RuleParser.NEEDED_RULE_NAMES);
        assertThat(names(DOCUMENT.at("/$defs/stage/properties"))).containsExactlyElementsOf(RuleParser.STAGE_NAMES);
        assertThat(names(DOCUMENT.at("/$defs/stage/properties/anyOf/items/properties")))
                .containsExactlyElementsOf(RuleParser.ALTERNATIVE_NAMES);
        assertThat(names(DOCUMENT.at("/properties/caps/properties"))).containsExactlyElementsOf(RuleParser.CAP_NAMES);
        assertThat(names(DOCUMENT.at("/properties/examples/items/properties")))
                .containsExactlyElementsOf(RuleParser.EXAMPLE_NAMES);
        assertThat(texts(DOCUMENT.at("/$defs/kind/enum")))
                .containsExactlyElementsOf(
                        Arrays.stream(MilestoneKind.values()).map(Enum::name).toList());
        assertThat(texts(DOCUMENT.at("/$defs/causeName/enum")))
                .containsExactlyElementsOf(
                        Arrays.stream(Cause.values()).map(Enum::name).toList());
        assertThat(texts(DOCUMENT.at("/$defs/stage/properties/distinct/enum")))
                .containsExactlyElementsOf(FieldCatalog.names());
        List<String> cells = new ArrayList<>(FieldCatalog.names());
        cells.removeAll(List.of("engineTime", "kvUsedRatio"));
        cells.addAll(0, List.of("kind", "at"));
        assertThat(names(DOCUMENT.at("/properties/examples/items/properties/given/items/properties")))
                .containsExactlyElementsOf(cells);
        assertThat(DOCUMENT.at("/properties/caps/properties/openMatches/maximum")
                        .asInt())
                .isEqualTo(RuleCaps.MAX_OPEN_MATCHES);
        assertThat(DOCUMENT.at("/properties/caps/properties/evaluations/maximum")
                        .asInt())
                .isEqualTo(RuleCaps.MAX_EVALUATIONS);
        assertThat(DOCUMENT.at("/properties/language/const").asInt()).isEqualTo(RuleParser.LANGUAGE);
    }

    @ParameterizedTest
    @MethodSource("rightRules")
    void rulesOfTheProductAndOfThePageAreValid(String rule) {
        assertThat(problems(rule)).isEmpty();
    }

    @Test
    void randomRulesOfTheWholeLanguageAreValid() {
        RandomRules.rules(5, 300)
                .forEach(rule -> assertThat(problems(rule.source().text()))
                        .as(rule.source().text())
                        .isEmpty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "unknown-name",
                "unknown-kind",
                "unknown-cause",
                "cause-without-its-stage",
                "unknown-severity",
                "unknown-key",
                "unknown-distinct",
                "unknown-cap",
                "unknown-name-in-alternative",
                "missing-name",
                "bad-id",
                "bad-version",
                "bad-language",
                "newer-language",
                "no-stages",
                "a-list",
                "times-of-nothing",
                "times-too-many",
                "cap-raised",
                "kind-beside-any-of",
                "effective-from-without-zone",
                "optional-that-is-no-truth",
                "sentence-without-full-stop",
                "example-with-unknown-field",
                "example-with-unknown-outcome",
                "list-for-text"
            })
    void wrongRulesAreNot(String name) throws IOException {
        assertThat(problems(Files.readString(Path.of("src/test/resources/errors", name + ".yaml"))))
                .isNotEmpty();
    }

    static Stream<String> rightRules() throws IOException {
        List<String> rules = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/rules"))) {
            for (Path file : files.sorted().toList()) {
                rules.add(Files.readString(file));
            }
        }
        SNIPPET.matcher(Files.readString(Path.of("..", "docs", "rules.md")))
                .results()
                .map(snippet -> snippet.group(1))
                .filter(snippet -> snippet.startsWith("id:"))
                .forEach(rules::add);
        return rules.stream();
    }

    private static List<String> problems(String yaml) {
        Object read = new Load(LoadSettings.builder().build()).loadFromString(yaml);
        return SCHEMA.validate(JSON.<JsonNode>valueToTree(read)).stream()
                .map(Error::toString)
                .toList();
    }

    private static JsonNode document() {
        try {
            return JSON.readTree(
                    Objects.requireNonNull(RuleSchemaTest.class.getResource("/schema/tokenstair-rule-1.schema.json")));
        } catch (IOException e) {
            throw new IllegalStateException("Cannot read the schema of rules", e);
        }
    }

    private static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(element -> texts.add(element.asText()));
        return texts;
    }
}
