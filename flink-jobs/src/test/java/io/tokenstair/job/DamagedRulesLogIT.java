package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.capture.Captures;
import io.tokenstair.job.capture.JobRuns;
import io.tokenstair.log.FolderLogAppender;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A control log that was damaged: what can be read holds, what cannot is refused with its reason, and the job goes on. */
class DamagedRulesLogIT {
    /** What happened to a log of three rules. */
    enum Damage {
        LENGTH_IN_THE_MIDDLE(2, "no bytes"),
        HUGE_LENGTH_IN_THE_MIDDLE(2, "no bytes"),
        BYTE_IN_THE_MIDDLE(2, "no bytes"),
        TORN_END(2, "no bytes"),
        RANDOM_BYTES(0, "no bytes"),
        ZERO_BYTES(0, "no bytes"),
        TEXT(0, "no bytes"),
        RANDOM_RECORDS(0, "not a log record");

        private final int left;
        private final String reason;

        Damage(int left, String reason) {
            this.left = left;
            this.reason = reason;
        }
    }

    @TempDir
    Path folder;

    private static byte[] rule(int number) {
        String text =
                "id: ends-" + number + "\nversion: 1\ndescription: d\nseverity: info\ncause: PREEMPTION\nkey: request"
                        + "\nstages:\n  - name: end\n    kind: FINISHED\nwithin: 1s\nfinding: Request {end.requestId} ended.\n";
        return EventCodec.encode(new LoggedEvent(
                new EventHeader("rules-apply", 1, number, "none", null, null),
                new RuleRevised("ends-" + number, 1, RuleRevised.SET, text, null, null, null, "r.yaml")));
    }

    private static byte[] random(int length) {
        byte[] random = new byte[length];
        new Random(length).nextBytes(random);
        // No length of a record.
        random[0] = (byte) 0x9d;
        return random;
    }

    private static void write(Path log, Damage damage) throws Exception {
        if (damage == Damage.RANDOM_RECORDS) {
            FolderLogAppender.append(log, List.of(random(40), random(4_000), new byte[] {0}));
            return;
        }
        FolderLogAppender.append(log, List.of(rule(0), rule(1), rule(2)));
        Path segment = log.resolve("partition-0000/segment-0000000000.log");
        byte[] whole = Files.readAllBytes(segment);
        int second = 8 + rule(0).length;
        switch (damage) {
            case LENGTH_IN_THE_MIDDLE -> whole[second + 2] ^= 1;
            case HUGE_LENGTH_IN_THE_MIDDLE -> whole[second] = 0x7f;
            case BYTE_IN_THE_MIDDLE -> whole[second + 20] ^= 1;
            case TORN_END -> whole = Arrays.copyOf(whole, whole.length - 5);
            case RANDOM_BYTES -> whole = random(10_000);
            case ZERO_BYTES -> whole = new byte[10_000];
            case TEXT -> whole = "id: ends-0\nversion: 1\n".repeat(100).getBytes("UTF-8");
            case RANDOM_RECORDS -> throw new IllegalStateException();
        }
        Files.write(segment, whole);
    }

    private static List<String> refused(Path archive) throws Exception {
        List<String> reasons = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, "rejected")) {
            try (RawTableReader reader = RawTableReader.open("rejected", file)) {
                while (reader.hasNext()) {
                    LoggedEvent row = EventCodec.decode(reader.next().wireBytes());
                    if (row.header().collectorId().startsWith("rules/")) {
                        reasons.add(((Rejected) row.event()).reason());
                    }
                }
            }
        }
        return reasons;
    }

    private static TreeSet<String> found(Path archive) throws Exception {
        TreeSet<String> rules = new TreeSet<>();
        for (String row : JobRuns.rows(archive, ResultTables.FINDING)) {
            for (int i = 0; i < 4; i++) {
                if (row.contains("rule=ends-" + i + ",")) {
                    rules.add("ends-" + i);
                }
            }
        }
        return rules;
    }

    @ParameterizedTest
    @EnumSource(Damage.class)
    void theJobGoesOnWithWhatCanBeRead(Damage damage) throws Exception {
        Path log = Captures.log("kv_pressure_preemption", folder.resolve("log"));
        Path control = folder.resolve("control");
        Path archive = folder.resolve("archive");
        write(control, damage);
        // What is applied after the damage.
        FolderLogAppender.append(control, List.of(rule(3)));

        int code = JobMain.run(
                "run",
                "--once",
                "--from",
                log.toString(),
                "--rules-from",
                control.toString(),
                "--archive",
                archive.toString());

        assertThat(code).isZero();
        assertThat(refused(archive))
                .isNotEmpty()
                .allSatisfy(reason -> assertThat(reason).startsWith("record ").contains(": "))
                .anySatisfy(reason -> assertThat(reason).contains(damage.reason));
        assertThat(found(archive)).hasSize(damage.left + 1).contains("ends-3");
    }

    @Test
    void foldersAndFilesThatAreNoPartsOfALogDoNotHinderIt() throws Exception {
        Path log = Captures.log("kv_pressure_preemption", folder.resolve("log"));
        Path control = folder.resolve("control");
        Path archive = folder.resolve("archive");
        FolderLogAppender.append(control, List.of(rule(0)));
        Files.write(control.resolve("partition-0007"), random(100));
        Files.createDirectories(control.resolve("partition-0008/segment-0000000000.log"));
        Files.createDirectories(control.resolve("partition-x"));
        Files.write(control.resolve("partition-0000/notes.txt"), random(100));

        assertThat(JobMain.run(
                        "run",
                        "--once",
                        "--from",
                        log.toString(),
                        "--rules-from",
                        control.toString(),
                        "--archive",
                        archive.toString()))
                .isZero();
        assertThat(refused(archive)).isEmpty();
        assertThat(found(archive)).containsExactly("ends-0");
    }
}
