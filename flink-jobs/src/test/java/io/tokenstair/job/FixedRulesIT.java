package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.event.EventKind;
import io.tokenstair.job.capture.Captures;
import io.tokenstair.job.capture.JobRuns;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules of a file, matched as they come and by the host that takes revisions: the commands {@code run} and {@code replay}. */
class FixedRulesIT {
    @TempDir
    Path folder;

    private static String text(String id, String key, String cause) {
        return "id: " + id + "\nversion: 1\ndescription: d\nseverity: info\ncause: " + cause + "\nkey: " + key
                + "\nstages:\n  - name: gone\n    kind: PREEMPTED\n  - name: back\n    kind: RECOMPUTED\n"
                + "    where: requestId == gone.requestId\nwithin: 300s\n"
                + "finding: Request {back.requestId} came back with {back.contextTokens} tokens.\n";
    }

    private static int run(List<String> common, String... arguments) {
        List<String> words = new ArrayList<>(List.of(arguments));
        words.addAll(common);
        return JobMain.run(words.toArray(String[]::new));
    }

    @Test
    void withFixedRulesTheSameIsFoundInAStreamAndInReplaysOfIt() throws Exception {
        Path log = Captures.log("kv_pressure_preemption", folder.resolve("log"));
        Path rules = Files.createDirectory(folder.resolve("rules"));
        Files.writeString(rules.resolve("engine.yaml"), text("of-engine", "engine", "KV_PRESSURE"));
        Files.writeString(rules.resolve("request.yaml"), text("of-request", "request", "PREEMPTION"));
        List<String> own = List.of("--rules", rules.toString());
        Path revised = folder.resolve("revised");
        Path fixed = folder.resolve("fixed");
        assertThat(run(own, "run", "--once", "--from", log.toString(), "--archive", revised.toString()))
                .isZero();
        assertThat(run(own, "run", "--once", "--fixed-rules", "--from", log.toString(), "--archive", fixed.toString()))
                .isZero();

        TreeSet<String> findings = JobRuns.rows(revised, ResultTables.FINDING);
        assertThat(findings)
                .anyMatch(row -> row.contains("rule=of-engine,"))
                .anyMatch(row -> row.contains("rule=of-request,"))
                .anyMatch(row -> row.contains("rule=kv-pressure-then-recompute,"));
        assertThat(JobRuns.difference(JobRuns.rows(fixed, ResultTables.FINDING), findings))
                .as("findings of a stream with fixed rules")
                .isEmpty();
        assertThat(ArchiveLayout.files(fixed, EventKind.RULE_REVISED.wireName()))
                .as("fixed rules have no history")
                .isEmpty();
        assertThat(JobRuns.rows(fixed, ResultTables.RULE_ACTIVITY)).isEmpty();

        TreeSet<String> activity = JobRuns.rows(revised, ResultTables.RULE_ACTIVITY);
        assertThat(activity).anyMatch(row -> row.contains("ruleId=of-engine, ruleRevision=1,"));
        for (int parallelism : new int[] {1, 2}) {
            Path hosted = folder.resolve("hosted-" + parallelism);
            Path stock = folder.resolve("stock-" + parallelism);
            String subtasks = String.valueOf(parallelism);
            assertThat(run(
                            own,
                            "replay",
                            "--archive",
                            fixed.toString(),
                            "--out",
                            hosted.toString(),
                            "--parallelism",
                            subtasks))
                    .isZero();
            assertThat(run(
                            own,
                            "replay",
                            "--fixed-rules",
                            "--archive",
                            fixed.toString(),
                            "--out",
                            stock.toString(),
                            "--parallelism",
                            subtasks))
                    .isZero();
            assertThat(JobRuns.difference(JobRuns.rows(hosted, ResultTables.FINDING), findings))
                    .as("findings of a replay at %d", parallelism)
                    .isEmpty();
            assertThat(JobRuns.difference(JobRuns.rows(stock, ResultTables.FINDING), findings))
                    .as("findings of a replay with fixed rules at %d", parallelism)
                    .isEmpty();
            assertThat(JobRuns.difference(JobRuns.rows(hosted, ResultTables.RULE_ACTIVITY), activity))
                    .as("activity of a replay at %d", parallelism)
                    .isEmpty();
            assertThat(JobRuns.rows(stock, ResultTables.RULE_ACTIVITY)).isEmpty();
        }
        Path builtIn = folder.resolve("built-in");
        assertThat(run(List.of(), "replay", "--archive", fixed.toString(), "--out", builtIn.toString()))
                .isZero();
        TreeSet<String> withoutOwn = new TreeSet<>(findings);
        withoutOwn.removeIf(row -> row.contains("rule=of-engine,") || row.contains("rule=of-request,"));
        assertThat(JobRuns.difference(JobRuns.rows(builtIn, ResultTables.FINDING), withoutOwn))
                .as("findings of a replay without the rules of the file")
                .isEmpty();

        String refused = folder.resolve("refused").toString();
        assertThat(run(own, "replay", "--archive", revised.toString(), "--out", refused))
                .as("other rules than the archive's own")
                .isEqualTo(2);
        assertThat(run(List.of(), "replay", "--fixed-rules", "--archive", revised.toString(), "--out", refused))
                .isEqualTo(2);
        assertThat(run(
                        List.of(),
                        "run",
                        "--once",
                        "--fixed-rules",
                        "--rules-from",
                        folder.resolve("control").toString(),
                        "--from",
                        log.toString(),
                        "--archive",
                        refused))
                .isEqualTo(2);
        assertThat(folder.resolve("refused")).doesNotExist();
    }
}
