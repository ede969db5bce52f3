package io.tokenstair.look.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.look.archive.RefusedRevision;
import io.tokenstair.look.archive.ResultTableFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What explain, backtest and list --running say of an archive. */
class RulesOverArchiveTest {
    private static final String BUILT_IN = "The archive does not say which rules its job ran with: these are the"
            + " built-in ones of this version.\n";

    @TempDir
    Path archive;

    @TempDir
    Path folder;

    @BeforeEach
    void writeArchive() {
        SampleRules.write(archive);
    }

    private void revised() {
        SampleRules.revisions(
                archive,
                List.of(
                        SampleRules.revision(0, 1, SampleRules.text(1, "500ms"), 0),
                        SampleRules.revision(1, 2, SampleRules.text(2, "10ms"), SampleRules.START_MILLIS + 400_000)));
    }

    @Test
    void aRequestIsExplainedByTheRevisionOfItsTime() {
        revised();

        RulesRun run = RulesRun.of("explain", "--archive", archive, "--request", "chat-1");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).isEqualTo("""
                slow-return version 1, request chat-1#0: 1 of 2 stages
                  stage 1 of 2  preempted  PREEMPTED at 2026-11-29 10:00:01.100Z, request chat-1, token 12, step 45 [engine/1/45]
                  stage 2 of 2  back       not reached within 60 s
                      RECOMPUTED at 2026-11-29 10:00:01.140Z, request chat-1, token 12, step 46 [engine/1/46]
                        does not hold: gap > 500ms (gap = 40.0 ms)
                """);
    }

    @Test
    void whatWasFoundIsToldWithItsSentences() {
        revised();

        RulesRun run = RulesRun.of("explain", "--archive", archive, "--request", "chat-2", "--rule", "slow-return");

        assertThat(run.out()).contains("request chat-2#0: found\n").contains("  Request chat-2 waited 700.0 ms [");
    }

    @Test
    void aRequestWithoutAMilestoneBeginsNothing() {
        revised();

        assertThat(RulesRun.of("explain", "--archive", archive, "--request", "late-3")
                        .out())
                .isEqualTo("""
                        slow-return version 1, request late-3#0: not begun
                          stage 1 of 2  preempted  not reached: no PREEMPTED came
                        """);
    }

    @Test
    void explainInJsonIsAnObjectPerRule() {
        revised();

        RulesRun run = RulesRun.of("explain", "--archive", archive, "--request", "chat-1", "--format", "json");

        assertThat(run.lines())
                .singleElement()
                .asString()
                .startsWith("{\"requestId\":\"chat-1\",\"lifetime\":0,\"rule\":\"slow-return\",\"ruleRevision\":1,"
                        + "\"key\":\"request\",\"keyValue\":\"chat-1#0\",\"found\":false,\"ofRequest\":true,\"stages\":2,"
                        + "\"stagesReached\":1,\"end\":\"out-of-time\"");
    }

    @Test
    void withoutArchivedRulesTheBuiltInOnesAreFollowedOverTheEngine() {
        RulesRun run = RulesRun.of(
                "explain", "--archive", archive, "--request", "chat-2", "--rule", "kv-pressure-then-recompute");

        assertThat(run.err()).isEqualTo(BUILT_IN);
        assertThat(run.out())
                .startsWith("kv-pressure-then-recompute version 1, engine engine-0: found\n")
                .contains("stage 1 of 2  preempted   PREEMPTED at 2026-11-29 10:00:01.000Z, request chat-2");
    }

    @Test
    void theFunnelIsWorkedOutWhereTheJobDidNotWriteIt() {
        revised();

        RulesRun run = RulesRun.of("explain", "--archive", archive);

        assertThat(run.out()).isEqualTo("""
                rule         version    found  expired   broken      cut   failed  matches that reached each stage
                slow-return        1        1        0        0        0        0  preempted 3 > back 1
                """);
    }

    @Test
    void theFunnelOfTheJobIsSummedOverItsMinutes() {
        revised();
        SampleRules.activity(
                archive,
                List.of(
                        new RuleMinute("slow-return", 1, 60_000L, 5, 2, List.of(3L, 1L), 1, 1, 0, 0, 0, 0, 0, 2L),
                        new RuleMinute("slow-return", 1, 120_000L, 9, 2, List.of(4L), 0, 2, 0, 4, 1, 2, 1, 3L)));

        RulesRun run = RulesRun.of("explain", "--archive", archive, "--format", "json");

        assertThat(run.out())
                .isEqualTo(
                        "{\"rule\":\"slow-return\",\"ruleRevision\":1,\"milestones\":14,"
                                + "\"stages\":[{\"stage\":\"preempted\",\"reached\":7},{\"stage\":\"back\",\"reached\":1}],"
                                + "\"begun\":7,\"found\":1,\"expired\":3,\"broken\":1,\"cut\":7,\"open\":0,\"failedEvaluations\":5}\n");
    }

    @Test
    void theRunningRulesAreListedWithTheirInstantsAndCounts() {
        revised();
        SampleRules.activity(
                archive,
                List.of(new RuleMinute("slow-return", 1, 60_000L, 5, 2, List.of(3L, 1L), 1, 1, 0, 4, 0, 0, 0, 6L)));

        RulesRun run = RulesRun.of("list", "--running", "--archive", archive);

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).isEqualTo("""
                slow-return    1  request  PREEMPTION  warning   from the beginning             found 1, open 1, cut 4, not evaluated 6
                slow-return    2  request  PREEMPTION  warning   from 2026-11-29 10:06:40.000Z  nothing looked at yet
                """);
        assertThat(RulesRun.of("list", "--running", "--archive", archive, "--format", "json")
                        .lines()
                        .get(0))
                .contains("\"effectiveMillis\":0,\"source\":\"slow-return.yaml\",\"begun\":3,\"found\":1");
    }

    @Test
    void whatTheJobRefusedIsListedWithItsReason() {
        revised();
        List<RefusedRevision> refused = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            refused.add(new RefusedRevision(
                    "rules/partition-0000",
                    i,
                    "r.yaml",
                    "record " + i + ": there is no rule slow-returm\u001b[2J",
                    null));
        }
        refused.add(new RefusedRevision("decode/partition-0000", 99, "partition-0000", "no revision at all", null));
        ResultTableFixture.write(
                archive, TableSchema.of("rejected", RefusedRevision.class), SampleRules.START_MILLIS, refused);

        RulesRun run = RulesRun.of("list", "--running", "--archive", archive);

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.lines()).hasSize(2 + 10 + 1);
        assertThat(run.lines().get(11))
                .startsWith("refused  r.yaml: record 11: there is no rule slow-returm")
                .doesNotContain("\u001b");
        assertThat(run.out())
                .endsWith("2 more refused before: table rejected of the archive\n")
                .doesNotContain("at all");
        assertThat(RulesRun.of("list", "--running", "--archive", archive, "--format", "json")
                        .out())
                .contains("{\"refused\":\"record 11: there is no rule slow-returm");
    }

    @Test
    void aConditionThatCannotBeEvaluatedIsExplained() throws IOException {
        SampleRules.revisions(
                archive, List.of(SampleRules.revision(0, 1, SampleRules.text(1, "1ms && stepId / lifetime > 3"), 0)));

        assertThat(RulesRun.of("explain", "--archive", archive, "--request", "chat-1")
                        .out())
                .contains("cannot be evaluated, division by zero: stepId / lifetime > 3 (stepId = 46, lifetime = 0)");
        assertThat(RulesRun.of("explain", "--archive", archive, "--request", "chat-1", "--format", "json")
                        .out())
                .contains("\"error\":\"division by zero\"");
        assertThat(RulesRun.of("explain", "--archive", archive).lines().get(1))
                .containsPattern("slow-return +1 +0 +0 +0 +0 +2 ");
    }

    @Test
    void aRetiredRuleRunsNoMore() {
        SampleRules.revisions(
                archive,
                List.of(
                        SampleRules.revision(0, 1, SampleRules.text(1, "500ms"), 0),
                        SampleRules.revision(1, 1, null, SampleRules.START_MILLIS + 1)));

        assertThat(RulesRun.of("list", "--running", "--archive", archive).out()).isEmpty();
    }

    @Test
    void anArchiveThatDoesNotSayItsRulesIsRefusedPlainly() {
        RulesRun run = RulesRun.of("list", "--running", "--archive", archive);

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).startsWith("Cannot tell the rules of archive ").contains("no table rule_revised");
        assertThat(RulesRun.of("list", "--running").err()).contains("Give --running and --archive DIR together");
    }

    @Test
    void aBacktestTellsWhatIsNewLostAndChanged() throws IOException {
        revised();
        SampleRules.revisions(archive, List.of(SampleRules.revision(0, 1, SampleRules.text(1, "500ms"), 0)));
        Path wider = Files.writeString(folder.resolve("wider.yaml"), SampleRules.text(2, "10ms"));
        Path narrower = Files.writeString(folder.resolve("narrower.yaml"), SampleRules.text(2, "800ms"));
        Path other = Files.writeString(
                folder.resolve("other.yaml"), SampleRules.text(2, "500ms").replace("waited", "was away for"));

        assertThat(RulesRun.of("backtest", wider, "--archive", archive).out()).isEqualTo("""
                slow-return version 2 finds 2; version 1, in force, finds 1
                1 new, 0 lost, 0 changed, 1 the same

                new
                  2026-11-29 10:00:01.100Z  chat-1#0
                    PREEMPTION warning: Request chat-1 waited 40.0 ms [engine/1/46].
                """);
        assertThat(RulesRun.of("backtest", narrower, "--archive", archive).out())
                .isEqualTo("""
                slow-return version 2 finds 0; version 1, in force, finds 1
                0 new, 1 lost, 0 changed, 0 the same

                lost
                  2026-11-29 10:00:01.000Z  chat-2#0
                    PREEMPTION warning: Request chat-2 waited 700.0 ms [engine/1/90].
                      stage back is not reached: does not hold: gap > 800ms (gap = 700.0 ms)
                """);
        assertThat(RulesRun.of("backtest", other, "--archive", archive).out()).contains("""
                changed
                  2026-11-29 10:00:01.000Z  chat-2#0
                  - PREEMPTION warning: Request chat-2 waited 700.0 ms [engine/1/90].
                  + PREEMPTION warning: Request chat-2 was away for 700.0 ms [engine/1/90].
                """);
    }

    @Test
    void aBacktestInJsonBeginsWithItsSummary() throws IOException {
        Path rule = Files.writeString(folder.resolve("rule.yaml"), SampleRules.text(1, "500ms"));

        RulesRun run = RulesRun.of("backtest", rule, "--archive", archive, "--format", "json");

        assertThat(run.lines().get(0))
                .isEqualTo("{\"change\":\"summary\",\"rule\":\"slow-return\",\"ruleRevision\":1,\"found\":1,"
                        + "\"currentFound\":0,\"new\":1,\"lost\":0,\"changed\":0,\"same\":0}");
        assertThat(run.lines().get(1))
                .startsWith("{\"change\":\"new\",\"key\":\"chat-2#0\"")
                .contains("\"says\":\"PREEMPTION warning: Request chat-2 waited 700.0 ms [engine/1/90].\"")
                .endsWith("\"evidence\":[\"engine/1/40\",\"engine/1/90\"]}");
    }

    @Test
    void whatIsNotThereIsRefusedInOneLine() {
        assertRefused(
                RulesRun.of("explain", "--archive", archive, "--request", "chat-9"),
                "Cannot find request chat-9 in archive");
        assertRefused(RulesRun.of("explain", "--archive", archive, "--rule", "none"), "Cannot find rule none");
        assertRefused(RulesRun.of("explain", "--archive", folder.resolve("no")), "Cannot open archive");
        assertRefused(
                RulesRun.of("backtest", folder.resolve("no.yaml"), "--archive", archive), "there is no such file");
        assertRefused(
                RulesRun.of("backtest", folder.resolve("no.yaml"), "--archive", archive, "--show", "-1"),
                "Cannot show -1 findings of each sort: give --show 0 or more");
    }

    private static void assertRefused(RulesRun run, String words) {
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().replace(BUILT_IN, "").lines())
                .singleElement()
                .asString()
                .contains(words);
    }
}
