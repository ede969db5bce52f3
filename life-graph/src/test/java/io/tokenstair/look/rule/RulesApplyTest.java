package io.tokenstair.look.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.FolderLogReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What apply sends to a folder log, and what it refuses to send. */
class RulesApplyTest {
    @TempDir
    Path folder;

    private Path log() {
        return folder.resolve("log");
    }

    @Test
    void aRuleIsSentWithItsTextAndTheUserIsToldHowToSeeIt() throws Exception {
        Path file = Files.writeString(folder.resolve("a.yaml"), SampleRules.text(3, "500ms"));

        RulesRun run = RulesRun.of("apply", file, "--to", log(), "--effective-from", "2026-12-01T10:00:00Z");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .startsWith("sent to " + log() + ": rule slow-return version 3, not before 2026-12-01 10:00:00.000Z\n")
                .contains("tokenstair rules list --running --archive DIR");
        assertThat(sent()).singleElement().satisfies(logged -> {
            assertThat(logged.event())
                    .isEqualTo(new RuleRevised(
                            "slow-return",
                            3,
                            RuleRevised.SET,
                            SampleRules.text(3, "500ms"),
                            1_796_119_200_000L,
                            null,
                            null,
                            file.toString()));
            assertThat(logged.header().collectorId()).isEqualTo("rules-apply");
            assertThat(logged.header().coarseEpochMillis()).isNull();
        });
    }

    @Test
    void oneWrongFileAndNothingIsSent() throws Exception {
        Files.writeString(folder.resolve("a.yaml"), SampleRules.text(3, "500ms"));
        Files.writeString(
                folder.resolve("b.yaml"), SampleRules.text(1, "500ms").replace("id: slow-return", "id: other"));
        Path wrong = Files.writeString(
                folder.resolve("c.yaml"),
                SampleRules.text(1, "500ms")
                        .replace("id: slow-return", "id: third")
                        .replace("gap >", "gapp >"));

        RulesRun run = RulesRun.of("apply", folder, "--to", log());

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err())
                .contains(wrong + ":11:43: Cannot find field: gapp")
                .endsWith("Nothing was sent.\n");
        assertThat(log()).doesNotExist();
    }

    @Test
    void allSendingsLieInOnePartitionInTheirOrder() throws Exception {
        Path file = Files.writeString(folder.resolve("a.yaml"), SampleRules.text(3, "500ms"));

        RulesRun.of("apply", file, "--to", log());
        RulesRun run = RulesRun.of("apply", "--retire", "slow-return", "--to", log(), "--format", "json");

        assertThat(run.out()).isEqualTo("{\"rule\":\"slow-return\",\"action\":\"retire\",\"to\":\"" + log() + "\"}\n");
        assertThat(FolderLogReader.partitions(log())).hasSize(1);
        assertThat(sent())
                .extracting(logged -> ((RuleRevised) logged.event()).action())
                .containsExactly("set", "retire");
    }

    @Test
    void aRollBackSendsTheVersionBeforeTheOneInForce() throws Exception {
        Path archive = Files.createDirectory(folder.resolve("archive"));
        SampleRules.write(archive);
        SampleRules.revisions(
                archive,
                List.of(
                        SampleRules.revision(0, 1, SampleRules.text(1, "500ms"), 0),
                        SampleRules.revision(1, 2, SampleRules.text(2, "10ms"), SampleRules.START_MILLIS)));

        RulesRun run = RulesRun.of("apply", "--roll-back", "slow-return", "--archive", archive, "--to", log());

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(sent()).singleElement().satisfies(logged -> {
            RuleRevised revised = (RuleRevised) logged.event();
            assertThat(revised.version()).isEqualTo(1);
            assertThat(revised.text()).isEqualTo(SampleRules.text(1, "500ms"));
        });
        assertRefused(
                RulesRun.of("apply", "--roll-back", "other", "--archive", archive, "--to", log()),
                "Cannot roll back rule other: it was never in force");
        assertRefused(
                RulesRun.of("apply", "--retire", "other", "--archive", archive, "--to", log()),
                "Cannot retire rule other: it was never in force");
    }

    @Test
    void aRuleThatNobodyKnowsIsNotRetiredWhereThatIsKnown() throws Exception {
        Path archive = Files.createDirectory(folder.resolve("archive"));
        SampleRules.write(archive);
        SampleRules.revisions(archive, List.of(SampleRules.revision(0, 1, SampleRules.text(1, "500ms"), 0)));
        assertRefused(
                RulesRun.of("apply", "--retire", "slow-retrun", "--archive", archive, "--to", log()),
                "Cannot retire rule slow-retrun: it was never in force in " + archive
                        + ". Did you mean slow-return? List those that are with: tokenstair rules list --running");
        assertRefused(
                RulesRun.of("apply", "--roll-back", "slow-retrun", "--archive", archive, "--to", log()),
                ". Did you mean slow-return? List");
        SampleRules.revisions(
                archive,
                List.of(
                        SampleRules.revision(0, 1, SampleRules.text(1, "500ms"), 0),
                        SampleRules.revision(1, 1, null, 5)));
        assertRefused(
                RulesRun.of("apply", "--retire", "slow-return", "--archive", archive, "--to", log()),
                "Cannot retire rule slow-return: it is retired already in " + archive);
        assertThat(log()).doesNotExist();
    }

    @Test
    void withoutAnArchiveARuleThatNobodySentIsWarnedOf() throws Exception {
        Path file = Files.writeString(folder.resolve("a.yaml"), SampleRules.text(3, "500ms"));
        assertThat(RulesRun.of("apply", file, "--to", log()).exitCode()).isZero();

        assertThat(RulesRun.of("apply", "--retire", "slow-return", "--to", log())
                        .err())
                .isEmpty();
        assertThat(RulesRun.of("apply", "--retire", "preemption-storm-begins", "--to", log())
                        .err())
                .isEmpty();
        RulesRun unknown = RulesRun.of("apply", "--retire", "slow-retrun", "--to", log());
        assertThat(unknown.exitCode()).isZero();
        assertThat(unknown.err())
                .isEqualTo("warning: rule slow-retrun is not built in, and was never sent to " + log()
                        + ". Did you mean slow-return? A job that does not know it refuses this. To check it first, give"
                        + " --archive DIR\n");
    }

    @Test
    void aVersionThatWasRetiredIsBroughtBack() throws Exception {
        Path archive = Files.createDirectory(folder.resolve("archive"));
        SampleRules.write(archive);
        SampleRules.revisions(
                archive,
                List.of(
                        SampleRules.revision(0, 1, SampleRules.text(1, "500ms"), 0),
                        SampleRules.revision(1, 1, null, SampleRules.START_MILLIS)));

        RulesRun.of("apply", "--roll-back", "slow-return", "--archive", archive, "--to", log());

        assertThat(sent())
                .extracting(logged -> ((RuleRevised) logged.event()).version())
                .containsExactly(1);
    }

    @Test
    void wrongUsageIsOneLine() throws Exception {
        Path file = Files.writeString(folder.resolve("a.yaml"), SampleRules.text(3, "500ms"));
        assertRefused(RulesRun.of("apply", "--to", log()), "Give one of: rule files, --retire ID, --roll-back ID");
        assertRefused(RulesRun.of("apply", file), "Missing required option: '--to=LOG'");
        assertRefused(RulesRun.of("apply", "--roll-back", "x", "--to", log()), "Give --archive DIR with --roll-back");
        assertRefused(
                RulesRun.of("apply", file, "--to", log(), "--effective-from", "soon"),
                "Cannot read --effective-from: soon");
        assertRefused(RulesRun.of("apply", file, "--to", "kafka://nowhere"), "give kafka://host:port/topic");
        assertRefused(RulesRun.of("apply", file, "--to", file), "it is no folder");
    }

    private List<LoggedEvent> sent() throws Exception {
        List<LoggedEvent> sent = new ArrayList<>();
        for (Path partition : FolderLogReader.partitions(log())) {
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                    sent.add(EventCodec.decode(bytes));
                }
            }
        }
        return sent;
    }

    private static void assertRefused(RulesRun run, String words) {
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).singleElement().asString().contains(words);
    }
}
