package io.tokenstair.rule.library;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Translation;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleExample;
import io.tokenstair.rule.bound.RuleOracle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each built-in rule has a page that says what it finds and what to do, and tells its findings in Chinese too. */
class LibraryPagesTest {
    private static final Path PAGES = Path.of("..", "docs", "rules");

    @Test
    void eachRuleHasItsPageAndEachPageItsRule() throws IOException {
        try (Stream<Path> pages = Files.list(PAGES)) {
            assertThat(pages.map(page -> page.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(RuleLibrary.builtIn().rules().stream()
                            .map(rule -> rule.id() + ".md")
                            .toList());
        }
    }

    @Test
    void eachPageSaysWhatItMust() throws IOException {
        for (BoundRule rule : RuleLibrary.builtIn().rules()) {
            String page = Files.readString(PAGES.resolve(rule.id() + ".md"));
            assertThat(page.replaceAll("\\s+", " "))
                    .startsWith("# " + rule.id() + " ")
                    .contains(
                            "severity " + rule.severity().severityName(),
                            rule.causeText().startsWith("{") ? "cause of the milestone" : "[" + rule.causeText() + "]",
                            "**What it finds.**",
                            "**Why it matters.**",
                            "**Evidence.**",
                            "**Often confused with.**",
                            "**What to do.**");
        }
    }

    @Test
    void eachSentenceOfAFindingIsToldInChineseToo() {
        for (BoundRule rule : RuleLibrary.builtIn().rules()) {
            for (RuleExample example : rule.examples()) {
                for (RuleOracle.Match match : RuleOracle.matches(rule, example.given())) {
                    List<String> sentences = Translation.sentences(rule.narrative(match.matched()));
                    assertThat(sentences).isNotEmpty();
                    for (String sentence : sentences) {
                        assertThat(Translation.sentence(Language.ZH, sentence))
                                .as(rule.id())
                                .containsPattern("\\p{IsHan}")
                                .doesNotContainPattern("\\b[a-z]+ [a-z]+ [a-z]+\\b");
                    }
                }
            }
        }
    }
}
