package io.tokenstair.look.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What list, test and lint print, and their exit codes. */
class RulesCommandsTest {
    @TempDir
    Path folder;

    @Test
    void listPrintsTheBuiltInRulesALineEachAndNoHeader() {
        RulesRun run = RulesRun.of("list");

        assertThat(run.exitCode()).isZero();
        List<String> ids =
                RuleLibrary.builtIn().rules().stream().map(BoundRule::id).toList();
        assertThat(run.lines()).hasSameSizeAs(ids);
        assertThat(run.lines().stream().map(line -> line.split(" +", 2)[0])).isEqualTo(ids);
        assertThat(run.out()).contains("KV_PRESSURE", "engine", "info");
    }

    @Test
    void listInJsonIsAnObjectALine() throws IOException {
        RulesRun run = RulesRun.of("list", "--format", "json", rule("a.yaml", "500ms"));

        assertThat(run.out())
                .isEqualTo("{\"rule\":\"slow-return\",\"ruleRevision\":2,\"key\":\"request\",\"cause\":\"PREEMPTION\","
                        + "\"severity\":\"warning\",\"description\":\"A preempted request took long.\"}\n");
    }

    @Test
    void aFolderStandsForItsRuleFiles() throws IOException {
        rule("b.yaml", "500ms");
        Files.writeString(folder.resolve("notes.txt"), "no rule");

        assertThat(RulesRun.of("list", folder).lines())
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith("slow-return"));
    }

    @Test
    void everyExampleOfTheBuiltInRulesHolds() {
        RulesRun run = RulesRun.of("test");

        assertThat(run.exitCode()).as(run.out()).isZero();
        assertThat(run.out()).contains("all ok").doesNotContain("FAILED");
    }

    @Test
    void theSumOfATestNamesTheFilesThatWereNotTried() throws IOException {
        rule("a.yaml", "500ms");
        Files.writeString(folder.resolve("b.yaml"), "no rule");
        RulesRun run = RulesRun.of("test", folder);

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).endsWith("2 examples of 1 rule, all ok; 1 file not tried: no rule\n");
    }

    @Test
    void twoFilesOfOneIdAreNotTried() throws IOException {
        Path one = rule("a.yaml", "500ms");
        Path two = rule("b.yaml", "10ms");

        for (String format : List.of("text", "json")) {
            RulesRun run = RulesRun.of("test", "--format", format, folder);
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.out()).isEmpty();
            assertThat(run.err())
                    .isEqualTo("Cannot use two rules of one id: slow-return is in " + one + " and in " + two
                            + ". Give one of them another id, or name one file\n");
        }
    }

    @Test
    void anExampleThatFailsIsToldWithTheConditionThatFailed() throws IOException {
        RulesRun run = RulesRun.of("test", rule("a.yaml", "900ms"));

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEqualTo("""
                rule         example       expected  found     ok
                slow-return  a long wait   match     no-match  FAILED
                slow-return  a short wait  no-match  no-match  ok

                slow-return: a long wait
                  - expected  match
                  + found     no-match
                  stage 1 of 2  preempted  PREEMPTED at 0 ms, request a, step 40 [example/1/1]
                  stage 2 of 2  back       not reached within 60 s
                      RECOMPUTED at 700 ms, request a, token 12, step 90 [example/1/2]
                        does not hold: gap > 900ms (gap = 700.0 ms)

                2 examples of 1 rule, 1 failed
                """);
    }

    @Test
    void anExampleThatMatchesAgainstItsWillIsToldWithWhatMatched() throws IOException {
        RulesRun run = RulesRun.of("test", rule("a.yaml", "10ms"));

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out())
                .contains("  - expected  no-match\n  + found     match\n")
                .contains(
                        "  stage 2 of 2  back       RECOMPUTED at 40 ms, request a, token 12, step 43 [example/1/2]\n")
                .contains("Request a waited 40.0 ms [example/1/2].");
    }

    @Test
    void testInJsonSaysHowFarTheRuleGot() throws IOException {
        RulesRun run = RulesRun.of("test", "--format", "json", rule("a.yaml", "900ms"));

        assertThat(run.lines().get(0))
                .startsWith(
                        "{\"rule\":\"slow-return\",\"ruleRevision\":2,\"example\":\"a long wait\",\"expected\":\"match\","
                                + "\"found\":\"no-match\",\"ok\":false,\"stages\":2,\"stagesReached\":1,\"end\":\"out-of-time\"")
                .contains("\"why\":\"condition\",\"condition\":\"gap > 900ms\",\"values\":{\"gap\":\"700.0 ms\"}");
    }

    @Test
    void aRightRuleLints() throws IOException {
        Path file = rule("a.yaml", "500ms");

        RulesRun run = RulesRun.of("lint", file);

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).isEqualTo(file + ": ok, rule slow-return version 2\n");
    }

    @Test
    void aMistakeIsShownWithItsPlaceAndACaret() throws IOException {
        Path file = rule("a.yaml", "500ms");
        Files.writeString(file, Files.readString(file).replace("gap > 500ms", "gapp > 500ms"));

        RulesRun run = RulesRun.of("lint", file);

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).isEqualTo("""
                %s:11:43: Cannot find field: gapp. Did you mean gap?
                  11 |   - {name: back, kind: RECOMPUTED, where: gapp > 500ms}
                     |                                           ^
                """.formatted(file));
    }

    @Test
    void examplesMustBeThereAndHoldAndIdsMustDiffer() throws IOException {
        Path failing = rule("a.yaml", "900ms");
        Path without = folder.resolve("b.yaml");
        Files.writeString(without, Files.readString(failing).replaceAll("(?s)examples:.*", ""));

        RulesRun run = RulesRun.of("lint", folder);

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err())
                .contains("a.yaml:15:11: This example expects match and finds no-match.")
                .contains("b.yaml:1:5: Cannot use the id of another rule: slow-return is also in ")
                .contains("b.yaml:1:5: Cannot accept a rule without an example that expects match and one that expects"
                        + " no-match");
        assertThat(run.out()).isEqualTo("2 of 2 files have errors\n");
    }

    @Test
    void whatCannotBeReadIsOneLine() {
        assertRefused(RulesRun.of("test", folder.resolve("none.yaml")), "there is no such file");
        assertRefused(RulesRun.of("lint", folder), "it has no file that ends in .yaml or .yml");
        assertRefused(RulesRun.of("lint"), "Missing required parameter");
        assertRefused(RulesRun.of("nonsense"), "nonsense");
        assertRefused(RulesRun.of(), "Missing command: ");
    }

    private static void assertRefused(RulesRun run, String words) {
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).singleElement().asString().contains(words);
    }

    private Path rule(String name, String least) throws IOException {
        return Files.writeString(folder.resolve(name), SampleRules.text(2, least));
    }
}
