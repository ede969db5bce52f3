package io.tokenstair.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.FieldCatalog;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.bound.RuleOracle;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.rule.syntax.RuleParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What docs/rules.md says is so. */
class RulesDocumentTest {
    private static final Pattern BLOCK = Pattern.compile("```(\\w*)\\n(.*?)```", Pattern.DOTALL);

    private final String document = Files.readString(Path.of("..", "docs", "rules.md"));
    /** The tutorial has a test of its own, which runs its commands. */
    private final String reference = document.replaceFirst("(?s)## Your first rule.*?(?=\n## A rule\n)", "");

    private final List<String> blocks = BLOCK.matcher(reference)
            .results()
            .map((MatchResult block) -> block.group(2))
            .toList();

    RulesDocumentTest() throws IOException {}

    @Test
    void ruleOfThePageIsRightAndSaysWhatThePageSays() {
        BoundRule rule = RuleBinder.bind(RuleParser.parse("slow-return.yaml", blocks.get(1)));
        assertThat(rule.examples()).hasSize(2).allMatch(example -> example.holdsFor(rule));
        assertThat(RuleOracle.matches(rule, rule.examples().get(0).given()))
                .extracting(match -> rule.narrative(match.matched()))
                .containsExactly(blocks.stream()
                        .filter(block -> block.startsWith("Request a was preempted"))
                        .findFirst()
                        .orElse("")
                        .strip());
    }

    @Test
    void errorOfThePageIsTheErrorOfTheProduct() {
        String broken = blocks.get(1).replaceFirst("where: .*", "where: contxtTokens > 4096");
        RuleException refused = catchThrowableOfType(
                RuleException.class, () -> RuleBinder.bind(RuleParser.parse("my-rule.yaml", broken)));
        assertThat(refused).hasMessageContaining("Cannot find field: contxtTokens. Did you mean contextTokens?");
        assertThat(lastWords(blocks.get(0))).isEqualTo(lastWords(String.valueOf(refused.getMessage())));
    }

    @Test
    void everyFieldKindAndBuiltInRuleIsListed() {
        List<String> rows = FieldCatalog.fields().stream()
                .map(field -> "| `%s` | %s | %s |"
                        .formatted(field.name(), field.unit().unitName(), field.meaning()))
                .toList();
        assertThat(document).contains(String.join("\n", rows));
        assertThat(document)
                .contains("Kinds: "
                        + Arrays.stream(MilestoneKind.values())
                                .map(kind -> "`" + kind + "`")
                                .collect(Collectors.joining(", "))
                        + ".");
        RuleLibrary.builtIn().rules().forEach(rule -> assertThat(document).contains("| [" + rule.id() + "]("));
    }

    /** The words of an error without the place, which depends on the file. */
    private static String lastWords(String error) {
        return error.strip().replaceAll("[0-9]+", "").replaceAll("\\s+", " ");
    }
}
