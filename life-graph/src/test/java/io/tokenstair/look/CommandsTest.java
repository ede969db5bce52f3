package io.tokenstair.look;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandsTest {
    @TempDir
    static Path archive;

    @BeforeAll
    static void writeArchive() {
        SampleArchive.write(archive);
    }

    @Test
    void findingsInJsonKeepTheirPublicForm() throws IOException {
        assertThat(run("findings", "--format", "json").out()).isEqualTo(golden("findings-v1.jsonl"));
    }

    @Test
    void aTokenInJsonKeepsItsPublicForm() throws IOException {
        assertThat(run("explain", "--request", "chat-2", "--token", "96", "--format", "json")
                        .out())
                .isEqualTo(golden("explain-token-v1.jsonl"));
    }

    @Test
    void aTokenWithoutStampsAndLayersLeavesOutWhatIsUnknown() throws IOException {
        assertThat(run("explain", "--request", "proxy-7", "--token", "11", "--format", "json")
                        .out())
                .isEqualTo(golden("explain-unknown-v1.jsonl"));
    }

    @Test
    void findingsAsTextBeginWithTheArchiveAndTheMostSevere() throws IOException {
        assertThat(withoutPath(run("findings").out())).isEqualTo(golden("findings-v1.txt"));
    }

    @Test
    void aTokenAsTextIsAWaterfallAndTheChain() throws IOException {
        assertThat(run("explain", "--request", "chat-2", "--token", "96").out())
                .isEqualTo(golden("explain-token-v1.txt"));
    }

    @Test
    void aRequestAsTextIsItsGapsAndItsSlowTokens() throws IOException {
        assertThat(run("explain", "--request", "chat-2").out()).isEqualTo(golden("explain-request-v1.txt"));
    }

    @Test
    void whereTheBoundsOfTwoClocksOverlapTheOrderIsSaidToBeUndecidable() throws Exception {
        String token = Integer.toString(SampleArchive.UNDECIDABLE_TOKEN);
        String before = Integer.toString(SampleArchive.UNDECIDABLE_TOKEN - 1);
        assertThat(run("explain", "--request", "chat-2", "--token", token).out())
                .contains("order undecidable");
        assertThat(run("explain", "--request", "chat-2", "--token", token, "--format", "json")
                        .out())
                .contains("\"deliveredBoundNanos\":500000")
                .contains("\"deliveredSigmaNanos\":250,\"orderUndecidable\":true");
        assertThat(run("explain", "--request", "chat-2", "--token", before).out())
                .doesNotContain("undecidable");
    }

    @Test
    void withoutARequestTextIsATableOfAll() throws IOException {
        assertThat(run("explain").out()).isEqualTo(golden("explain-v1.txt"));
    }

    @Test
    void aLocaleWithoutUtf8GetsPlainAsciiDrawings() {
        CommandRun run =
                CommandRun.with(Map.of("LANG", "C"), "explain", "--archive", archive.toString(), "--request", "chat-2");

        assertThat(run.out()).isNotEmpty().matches("(?s)[\\x00-\\x7f]*");
    }

    @Test
    void everySequenceIsOneJsonObjectInItsPublicOrder() {
        CommandRun run = run("explain", "--format", "json");

        assertThat(run.lines()).hasSize(12).allMatch(line -> line.startsWith("{\"requestId\":") && line.endsWith("]}"));
        assertThat(run.lines().get(0)).startsWith("{\"requestId\":\"chat-1\"");
        assertThat(run.lines().get(11))
                .startsWith("{\"requestId\":\"warm-up-1\"")
                .endsWith("\"tokens\":[]}");
        assertThat(run.lines())
                .filteredOn(line -> line.contains("\"requestId\":\"fan-out\""))
                .hasSize(2);
    }

    @Test
    void partsSumToTheGapOfEveryToken() {
        Pattern token = Pattern.compile("\"gapNanos\":(\\d+),[^\\[]*\"parts\":(\\[.*?\\}\\])");
        Pattern nanos = Pattern.compile("\"nanos\":(-?\\d+)");
        Matcher tokens = token.matcher(run("explain", "--format", "json").out());
        int seen = 0;
        while (tokens.find()) {
            long sum = nanos.matcher(tokens.group(2))
                    .results()
                    .mapToLong(part -> Long.parseLong(part.group(1)))
                    .sum();
            assertThat(sum).isEqualTo(Long.parseLong(tokens.group(1)));
            seen++;
        }
        assertThat(seen).isEqualTo(710);
    }

    @Test
    void theSameArchiveGivesTheSameBytes() {
        assertThat(run("explain", "--format", "json").out())
                .isEqualTo(run("explain", "--format", "json").out());
    }

    @Test
    void anAliasFindsItsRequest() {
        CommandRun run = run("findings", "--request", "cmpl-chat-2-0", "--format", "json");

        assertThat(run.lines()).singleElement().asString().contains("\"requestId\":\"chat-2\"");
    }

    @Test
    void hostileIdsReachTheTerminalEscaped() {
        CommandRun text = run("explain", "--request", SampleArchive.HOSTILE);
        CommandRun json = run("explain", "--request", SampleArchive.HOSTILE, "--format", "json");
        CommandRun unknown = run("explain", "--request", "\u001b]0;x\u0007");

        assertThat(text.out())
                .contains("<script>alert(1)</script>\\u001b[31m\\u202e")
                .doesNotContain("\u001b", "\u202e");
        assertThat(json.out()).contains("\\u001B[31m\\u202E").matches("[ -~\n]*");
        assertThat(unknown.err()).contains("\\u001b]0;x\\u0007").doesNotContain("\u001b", "\u0007");
    }

    @Test
    void anIdOf256BytesIsFoundAndShownShortened() {
        assertThat(run("explain", "--request", SampleArchive.LONGEST).exitCode())
                .isZero();
        assertThat(run("explain").lines()).anyMatch(line -> line.startsWith("long-xxxxxxxxx…xxxxxxxxxxxxx "));
    }

    @ParameterizedTest
    @CsvSource({"critical,1", "warning,1", "info,1"})
    void failOnGivesOneWhereSuchAFindingIsPrinted(String severity, int exitCode) {
        assertThat(run("findings", "--fail-on", severity).exitCode()).isEqualTo(exitCode);
    }

    @Test
    void failOnLooksAtPrintedFindingsOnly() {
        assertThat(run("findings", "--request", "proxy-7", "--fail-on", "warning")
                        .exitCode())
                .isZero();
        assertThat(run("findings", "--request", "chat-1", "--severity", "critical", "--fail-on", "info")
                        .exitCode())
                .isZero();
    }

    @Test
    void severityIsTheLeastShown() {
        assertThat(run("findings", "--severity", "warning", "--format", "json").lines())
                .hasSize(3);
        assertThat(run("findings", "--severity", "CRITICAL", "--format", "json").lines())
                .hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({"2026-11-29T10:00:05Z,2", "2026-11-29T11:00:05+01:00,2", "2026-11-29,3", "2026-11-30,0", "4s,1", "1h,3"
    })
    void sinceKeepsWhatLastedUntilThen(String since, int findings) {
        assertThat(run("findings", "--since", since, "--format", "json").lines())
                .hasSize(findings);
    }

    @Test
    void textSaysHowManyUndatedFindingsSinceLeavesOut() {
        assertThat(run("findings", "--since", "1h").out())
                .endsWith("3 findings shown; 1 undated finding left out by --since\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"yesterday", "2026-13-01", "9999999999d", "12000-01-01T00:00:00Z", "-5m", ""})
    void anUnreadableSinceIsRefusedInOneLine(String since) {
        CommandRun run = run("findings", "--since=" + since);

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).singleElement().asString().contains("--since");
    }

    @Test
    void anArchiveWithoutResultsNamesReplay(@TempDir Path empty) throws IOException {
        Files.createDirectories(empty.resolve("table=step_completed/date=2026-11-29/hour=10"));
        for (String command : new String[] {"findings", "explain", "view"}) {
            CommandRun run = CommandRun.of(command, "--archive", empty.toString());

            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.err().lines()).singleElement().asString().contains("tokenstair replay --archive " + empty);
        }
    }

    @Test
    void anAbsentArchiveIsSaidInOneLine() {
        CommandRun run = CommandRun.of(
                "findings", "--archive", archive.resolve("nowhere").toString());

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err().lines()).singleElement().asString().contains("no such folder");
    }

    @Test
    void aBrokenFileIsNamedAndNoStackTraceIsShown(@TempDir Path broken) throws IOException {
        Path folder = Files.createDirectories(broken.resolve("table=finding/date=2026-11-29/hour=10"));
        Files.writeString(folder.resolve("part-0.parquet"), "not parquet at all");
        CommandRun run = CommandRun.of("findings", "--archive", broken.toString());

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err().lines()).singleElement().asString().contains("part-0.parquet");
    }

    @Test
    void anArchiveWhoseNameIsAPatternIsReadAsItself(@TempDir Path parent) {
        Path odd = parent.resolve("a[b]'*?");
        SampleArchive.write(odd);

        assertThat(CommandRun.of("findings", "--archive", odd.toString(), "--format", "json")
                        .lines())
                .hasSize(4);
    }

    @Test
    void tablesWithoutAFileAreEmpty(@TempDir Path partial) throws IOException {
        SampleArchive.write(partial);
        try (Stream<Path> files = Files.walk(partial.resolve("table=finding"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
        CommandRun run = CommandRun.of("findings", "--archive", partial.toString());

        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("findings    none");
    }

    @Test
    void anUnknownRequestIsRefusedWithThoseThatLookLikeIt() {
        CommandRun run = run("explain", "--request", "chat2");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("Close to it: chat-2, chat-1");
    }

    @Test
    void anAbsentTokenOrSequenceIsRefusedWithTheRange() {
        assertThat(run("explain", "--request", "chat-2", "--token", "246").err())
                .contains("it has 246, from 0 to 245");
        assertThat(run("explain", "--request", "refused-1", "--token", "0").err())
                .contains("it has no token");
        assertThat(run("explain", "--request", "chat-2", "--sequence", "3").exitCode())
                .isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"findings --severity bad", "explain --token x", "explain --lang fr", "findings --nope", "nope"})
    void wrongUsageIsOneLineAndTwo(String arguments) {
        CommandRun run = run(arguments.split(" "));

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err().lines()).singleElement().asString().contains("--help");
    }

    @ParameterizedTest
    @ValueSource(strings = {"findings", "explain", "view"})
    void helpFitsAScreenAndEndsWithAnExample(String command) {
        CommandRun run = CommandRun.of(command, "--help");

        assertThat(run.exitCode()).isZero();
        assertThat(run.lines()).hasSizeLessThan(25);
        assertThat(run.lines().get(run.lines().size() - 1)).startsWith("  tokenstair " + command + " --archive");
    }

    @Test
    void aReaderThatGoesAwayEndsTheCommandQuietly() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        String[] arguments = {"explain", "--archive", archive.toString(), "--format", "json"};

        assertThat(LookMain.run(arguments, closed, err, Map.of())).isZero();
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void colourIsLeftOutWithoutATerminal() {
        assertThat(run("findings").out()).doesNotContain("\u001b");
    }

    private static CommandRun run(String... arguments) {
        String[] all = Stream.concat(
                        Stream.of(arguments).limit(1),
                        Stream.concat(
                                Stream.of("--archive", archive.toString()),
                                Stream.of(arguments).skip(1)))
                .toArray(String[]::new);
        return CommandRun.of(all);
    }

    private static String withoutPath(String text) {
        return text.replace(archive.toString(), "ARCHIVE");
    }

    private static String golden(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(
                CommandsTest.class.getResourceAsStream("/golden/" + name), () -> "Cannot find golden file: " + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
