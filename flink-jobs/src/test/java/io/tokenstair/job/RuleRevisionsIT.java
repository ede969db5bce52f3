package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawRow;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.capture.Captures;
import io.tokenstair.job.capture.JobRuns;
import io.tokenstair.log.FolderLogWriter;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules that are added, changed, retired and rolled back while a job runs, and its replay: the commands themselves. */
class RuleRevisionsIT {
    @TempDir
    Path folder;

    private static String text(String id, int version, String severity, String key) {
        return "id: " + id + "\nversion: " + version + "\ndescription: d\nseverity: " + severity + "\ncause: "
                + (key.equals("engine") ? "KV_PRESSURE" : "PREEMPTION") + "\nkey: " + key
                + "\nstages:\n  - name: end\n    kind: FINISHED\nwithin: 1s\nfinding: Request {end.requestId} ended.\n";
    }

    private static RuleRevised revised(String id, String action, @Nullable String text, @Nullable Long from) {
        return new RuleRevised(id, null, action, text, from, null, null, id + ".yaml");
    }

    @Test
    void everySubtaskSwitchesAtOneEventTimeAndAReplaySaysTheSameAtEveryParallelism() throws Exception {
        Path log = Captures.log("kv_pressure_preemption", folder.resolve("log"));
        run(
                "run",
                "--once",
                "--from",
                log.toString(),
                "--archive",
                folder.resolve("plain").toString());
        List<Long> ends = endsMillis(folder.resolve("plain"));
        assertThat(new TreeSet<>(ends))
                .as("ends of requests at different times")
                .hasSizeGreaterThan(5);
        long first = ends.get(ends.size() / 4);
        long second = ends.get(ends.size() / 2);
        long third = ends.get(3 * ends.size() / 4);
        Path control = folder.resolve("control");
        try (FolderLogWriter writer = new FolderLogWriter(control, 0)) {
            writer.append(new byte[] {1, 2, 3});
            List<Event> events = List.of(
                    new CollectorGap("s", 0, 1),
                    revised("ends", RuleRevised.SET, text("ends", 1, "info", "engine"), null),
                    revised("ends", RuleRevised.SET, text("ends", 2, "warning", "engine"), first),
                    revised("ends", RuleRevised.RETIRE, null, second),
                    revised("ends", RuleRevised.SET, text("ends", 1, "info", "engine"), third),
                    revised("broken", RuleRevised.SET, "id: broken\n", null),
                    revised("each", RuleRevised.SET, text("each", 1, "info", "request"), 5L));
            for (int i = 0; i < events.size(); i++) {
                writer.append(EventCodec.encode(
                        new LoggedEvent(new EventHeader("apply", 1, i, "none", null, 7_000L + i), events.get(i))));
            }
        }

        TreeSet<String> findings = null;
        TreeSet<String> activity = null;
        for (int parallelism : new int[] {2, 1, 4}) {
            Path archive = folder.resolve("stream-" + parallelism);
            run(
                    "run",
                    "--once",
                    "--from",
                    log.toString(),
                    "--rules-from",
                    control.toString(),
                    "--parallelism",
                    String.valueOf(parallelism),
                    "--archive",
                    archive.toString());
            if (findings == null || activity == null) {
                findings = JobRuns.rows(archive, ResultTables.FINDING);
                activity = JobRuns.rows(archive, ResultTables.RULE_ACTIVITY);
                assertThat(found(findings, "ends", 1))
                        .isEqualTo(ends.stream()
                                .filter(millis -> millis < first || millis >= third)
                                .count());
                assertThat(found(findings, "ends", 2))
                        .isEqualTo(ends.stream()
                                .filter(millis -> millis >= first && millis < second)
                                .count());
                assertThat(found(findings, "each", 1)).isEqualTo(ends.size());
                assertThat(activity).anyMatch(row -> row.contains("ruleId=ends, ruleRevision=2,"));
            }
            assertThat(JobRuns.difference(JobRuns.rows(archive, ResultTables.FINDING), findings))
                    .as("findings of a stream at %d", parallelism)
                    .isEmpty();
            assertThat(JobRuns.difference(JobRuns.rows(archive, ResultTables.RULE_ACTIVITY), activity))
                    .as("activity of a stream at %d", parallelism)
                    .isEmpty();
        }
        Path archive = folder.resolve("stream-2");
        List<String> history = new ArrayList<>();
        for (LoggedEvent row : raw(archive, "rule_revised")) {
            RuleRevised revision = (RuleRevised) row.event();
            history.add(row.header().collectorId() + " " + revision.ruleId() + " " + revision.action() + " "
                    + revision.version() + " " + revision.effectiveMillis());
        }
        assertThat(history)
                .contains(
                        "apply ends set 1 0",
                        "apply ends set 2 " + first,
                        "apply ends retire 2 " + second,
                        "apply ends set 1 " + third,
                        "apply each set 1 5")
                .anyMatch(row -> row.startsWith("rules/start kv-pressure-then-recompute set"));
        assertThat(raw(archive, "rejected"))
                .extracting(row -> ((Rejected) row.event()).reason())
                .anyMatch(reason -> reason.startsWith("record 0: "))
                .anyMatch(reason -> reason.contains("CollectorGap is no revision of a rule"))
                .anyMatch(reason -> reason.startsWith("record 6: broken.yaml:"));
        for (int parallelism : new int[] {1, 2, 4}) {
            Path again = folder.resolve("replay-" + parallelism);
            run(
                    "replay",
                    "--archive",
                    archive.toString(),
                    "--out",
                    again.toString(),
                    "--parallelism",
                    String.valueOf(parallelism));
            assertThat(JobRuns.difference(JobRuns.rows(again, ResultTables.FINDING), findings))
                    .as("findings of a replay at %d", parallelism)
                    .isEmpty();
            assertThat(JobRuns.difference(JobRuns.rows(again, ResultTables.RULE_ACTIVITY), activity))
                    .as("activity of a replay at %d", parallelism)
                    .isEmpty();
            assertThat(bytes(again))
                    .as("the history of revisions, byte for byte")
                    .isEqualTo(bytes(archive));
        }
    }

    private static void run(String... arguments) {
        assertThat(JobMain.run(arguments)).as(String.join(" ", arguments)).isZero();
    }

    private static long found(TreeSet<String> findings, String rule, int revision) {
        return findings.stream()
                .filter(row -> row.contains("rule=" + rule + ", ruleRevision=" + revision + ","))
                .count();
    }

    private static List<Long> endsMillis(Path archive) throws Exception {
        List<Long> ends = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, ResultTables.MILESTONE.table())) {
            try (TableReader<Milestone> reader = TableReader.open(ResultTables.MILESTONE, file)) {
                reader.forEachRemaining(milestone -> {
                    if (milestone.milestoneKind() == MilestoneKind.FINISHED) {
                        ends.add(milestone.coarseEpochMillis());
                    }
                });
            }
        }
        return ends.stream().sorted().toList();
    }

    private static List<LoggedEvent> raw(Path archive, String table) throws Exception {
        List<LoggedEvent> events = new ArrayList<>();
        for (byte[] row : rows(archive, table)) {
            events.add(EventCodec.decode(row));
        }
        return events;
    }

    private static List<byte[]> rows(Path archive, String table) throws Exception {
        List<byte[]> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, table)) {
            try (RawTableReader reader = RawTableReader.open(table, file)) {
                while (reader.hasNext()) {
                    RawRow row = reader.next();
                    rows.add(row.wireBytes());
                }
            }
        }
        return rows;
    }

    private static List<String> bytes(Path archive) throws Exception {
        List<String> bytes = new ArrayList<>();
        for (byte[] row : rows(archive, "rule_revised")) {
            bytes.add(HexFormat.of().formatHex(row));
        }
        return bytes.stream().sorted().toList();
    }
}
