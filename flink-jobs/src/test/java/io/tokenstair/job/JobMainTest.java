package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What people meet who use the job's commands wrongly, or ask for help. No job is started. */
@Isolated("takes standard output and error")
class JobMainTest {
    private static final int WRONG_USAGE = 2;

    @TempDir
    Path folder;

    /** What a command printed and how it ended. */
    private record Ended(int code, List<String> out, List<String> err) {}

    private static Ended run(String... arguments) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
            int code = JobMain.run(arguments);
            return new Ended(
                    code,
                    printed.toString(StandardCharsets.UTF_8).lines().toList(),
                    complained.toString(StandardCharsets.UTF_8).lines().toList());
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }

    private String path(String name) {
        return folder.resolve(name).toString();
    }

    private static void isOneLineOfWrongUsage(Ended ended, String... says) {
        assertThat(ended.code()).isEqualTo(WRONG_USAGE);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err()).hasSize(1);
        assertThat(ended.err().get(0)).startsWith("tokenstair: ");
        for (String said : says) {
            assertThat(ended.err().get(0)).contains(said);
        }
    }

    @Test
    void aMissingOptionIsOneLineThatNamesItAndTheHelp() {
        isOneLineOfWrongUsage(run("replay", "--archive", path("a")), "--out", "tokenstair replay --help");
        isOneLineOfWrongUsage(run("run", "--archive", path("a")), "--from", "tokenstair run --help");
        isOneLineOfWrongUsage(run("archive", "--from", path("log")), "--archive");
    }

    @Test
    void anUnknownOptionIsOneLineThatNamesIt() {
        isOneLineOfWrongUsage(run("replay", "--archive", path("a"), "--out", path("o"), "--speed", "9"), "--speed");
    }

    @Test
    void anAddressThatIsNoneIsOneLineThatNamesIt() {
        isOneLineOfWrongUsage(
                run("run", "--from", path("log"), "--archive", path("a"), "--metrics-listen", "here"),
                "--metrics-listen",
                "here");
    }

    @Test
    void aNumberThatIsNoneIsOneLineThatNamesIt() {
        isOneLineOfWrongUsage(
                run("replay", "--archive", path("a"), "--out", path("o"), "--parallelism", "many"),
                "--parallelism",
                "many");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-3", "721"})
    void aParallelismThatCannotBeSaysWhatCan(String parallelism) {
        isOneLineOfWrongUsage(
                run("run", "--from", path("log"), "--archive", path("a"), "--parallelism", parallelism),
                parallelism,
                "1 to 720");
    }

    @Test
    void aFolderWithoutALogSaysWhatToGive() throws IOException {
        for (String command : List.of("archive", "run")) {
            isOneLineOfWrongUsage(
                    run(command, "--from", path("none"), "--archive", path("a")), path("none"), "partition-0000");
        }
        Path file = Files.writeString(folder.resolve("file"), "no log");
        isOneLineOfWrongUsage(run("run", "--from", file.toString(), "--archive", path("a")), file.toString());
        assertThat(folder.resolve("a")).doesNotExist();
    }

    @Test
    void aKafkaAddressThatIsNoneSaysItsForm() {
        for (String address : List.of(
                "kafka://broker", "kafka://broker:9092", "kafka://broker:9092/", "kafka://", "kafka://a b:1/topic")) {
            isOneLineOfWrongUsage(run("run", "--from", address, "--archive", path("a")), "kafka://host:port/topic");
        }
    }

    @Test
    void aPathThatCannotBeOneIsNoStackTrace() {
        isOneLineOfWrongUsage(run("run", "--from", "a\0b", "--archive", path("a")));
    }

    @Test
    void aFolderThatIsNoArchiveSaysSo() throws IOException {
        isOneLineOfWrongUsage(run("replay", "--archive", path("none"), "--out", path("o")), path("none"));
        Files.createDirectories(folder.resolve("empty"));
        isOneLineOfWrongUsage(run("replay", "--archive", path("empty"), "--out", path("o")), path("empty"));
        assertThat(folder.resolve("o")).doesNotExist();
    }

    @Test
    void anArchiveThatIsAFileSaysSo() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "");
        Files.createDirectories(folder.resolve("log/partition-0000"));
        isOneLineOfWrongUsage(
                run("archive", "--from", path("log"), "--archive", file.toString()), file.toString(), "give a folder");
    }

    @Test
    void aStackTraceIsShownOnlyWhereItIsAskedFor() {
        String[] wrong = {"replay", "--archive", path("none"), "--out", path("o")};
        assertThat(run(wrong).err()).noneMatch(line -> line.startsWith("\tat "));

        String[] debugged = {"replay", "--archive", path("none"), "--out", path("o"), "--debug"};
        Ended ended = run(debugged);
        assertThat(ended.code()).isEqualTo(WRONG_USAGE);
        assertThat(ended.err()).anyMatch(line -> line.startsWith("\tat "));
    }

    @Test
    void withoutACommandItSaysWhichThereAre() {
        Ended ended = run();

        assertThat(ended.code()).isEqualTo(WRONG_USAGE);
        assertThat(String.join("\n", ended.err())).contains("archive", "run", "replay");
    }

    @ParameterizedTest
    @ValueSource(strings = {"archive", "run", "replay"})
    void helpFitsAScreenAndEndsWithAnExample(String command) {
        Ended ended = run(command, "--help");

        assertThat(ended.code()).isZero();
        assertThat(ended.err()).isEmpty();
        assertThat(ended.out()).hasSizeLessThanOrEqualTo(24).allMatch(line -> line.length() <= 80);
        assertThat(ended.out().get(ended.out().size() - 2)).isEqualTo("Example:");
        assertThat(ended.out().get(ended.out().size() - 1)).startsWith("  tokenstair ");
    }
}
