package io.tokenstair.rule.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleExample;
import io.tokenstair.rule.bound.RuleOracle;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The built-in rules: their files are listed, and their examples hold. */
class RuleLibraryTest {
    @TestFactory
    Stream<DynamicTest> everyExampleOfABuiltInRuleHolds() {
        return RuleLibrary.builtIn().rules().stream()
                .flatMap(rule -> rule.examples().stream()
                        .map(example -> DynamicTest.dynamicTest(
                                rule.id() + ": " + example.name(),
                                () -> assertThat(example.holdsFor(rule)).isTrue())));
    }

    @Test
    void everyBuiltInRuleHasAnExampleThatMatchesAndOneThatDoesNot() {
        assertThat(RuleLibrary.builtIn().rules())
                .allSatisfy(rule -> assertThat(rule.examples().stream().map(RuleExample::matchExpected))
                        .as("outcomes of %s", rule.id())
                        .contains(true, false));
    }

    @Test
    void everyFileOfTheFolderIsListedAndNamedLikeItsRule() throws IOException, URISyntaxException {
        Path folder = Path.of(
                Objects.requireNonNull(RuleLibrary.class.getResource("/rules")).toURI());
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(
                            RuleLibrary.builtInFiles().toList());
        }
        assertThat(RuleLibrary.builtIn().rules().stream().map(rule -> rule.id() + ".yaml"))
                .containsExactlyElementsOf(RuleLibrary.builtInFiles().sorted().toList());
    }

    @Test
    void twoRulesOfOneIdAreRefused() {
        BoundRule rule = RuleLibrary.builtIn().rules().get(0);
        assertThatThrownBy(() -> RuleLibrary.of(List.of(rule, rule)))
                .hasMessage("Cannot hold two rules of one id: " + rule.id());
    }

    @Test
    void eachPreemptionWaitingAtOnceIsFoundWithItsOwnRecomputation() {
        BoundRule rule = RuleLibrary.builtIn().rules().stream()
                .filter(each -> each.id().equals("kv-pressure-then-recompute"))
                .findFirst()
                .orElseThrow();
        List<RuleOracle.Match> matches =
                RuleOracle.matches(rule, rule.examples().get(0).given());
        assertThat(matches)
                .extracting(match -> rule.narrative(match.matched()))
                .containsExactly(
                        "Request a (sequence 0) lost its KV blocks in step 40 [example/1/1]."
                                + " It was computed again up to token 12 in step 90, which came 700.0 ms after the token before"
                                + " [example/1/3].",
                        "Request b (sequence 0) lost its KV blocks in step 41 [example/1/2]."
                                + " It was computed again up to token 3 in step 95, which came 895.0 ms after the token before"
                                + " [example/1/4].");
    }
}
