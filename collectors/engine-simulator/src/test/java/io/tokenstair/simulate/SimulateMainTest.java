package io.tokenstair.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.log.FolderLogReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SimulateMainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int run(String... args) {
        return SimulateMain.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    @Test
    void writesALogAndTheTruthBesideIt() throws IOException, WireException {
        Path dir = folder.resolve("run");

        assertThat(run("--scenario", "mixed", "--seed", "7", "--requests", "40", "--out", dir.toString()))
                .isZero();

        int read = 0;
        try (FolderLogReader reader = new FolderLogReader(dir.resolve("log/partition-0000"), 0)) {
            for (byte[] record = reader.next(); record != null; record = reader.next()) {
                EventCodec.decode(record);
                read++;
            }
        }
        Simulation run = Simulation.run(Scenario.MIXED, 7, 40, Layers.ALL);
        assertThat(read).isEqualTo(run.events().size());
        assertThat(Files.readAllLines(dir.resolve("truth/tokens.jsonl")))
                .hasSize(run.tokens().size());
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void theFieldsOfTheTruthAreThoseOfTheContract() throws IOException {
        Path dir = folder.resolve("run");
        run("--scenario", "kv-pressure", "--seed", "1", "--out", dir.toString());

        assertThat(fields(dir.resolve("truth/tokens.jsonl")))
                .containsExactly(
                        "requestId",
                        "sequenceIndex",
                        "tokenIndex",
                        "gapNanos",
                        "baselineNanos",
                        "contributions",
                        "dominantCause",
                        "culpritRequestId");
        assertThat(fields(dir.resolve("truth/staircases.jsonl")))
                .containsExactly("level", "key", "class", "kvDriven", "onsetTokenOrStep");
        assertThat(Files.readAllLines(dir.resolve("truth/faults.jsonl"))).isNotEmpty();
        assertThat(fields(dir.resolve("truth/requests.jsonl")))
                .containsExactly(
                        "requestId",
                        "sequenceIndex",
                        "ttftNanos",
                        "preemptions",
                        "loopRecomputedTokens",
                        "loopGainedTokens",
                        "overtakenCount",
                        "passedOverCount",
                        "promptTokens",
                        "prefixFoundTokens",
                        "prefixLostTokens");
        assertThat(fields(dir.resolve("truth/steps.jsonl")))
                .containsExactly(
                        "engineId",
                        "stepId",
                        "sequences",
                        "computedTokens",
                        "recomputedTokens",
                        "preemptions",
                        "lawNanos");
    }

    /** The fields of the line that has most of them. */
    private static List<String> fields(Path file) throws IOException {
        List<String> most = List.of();
        for (String line : Files.readAllLines(file)) {
            List<String> names = new ArrayList<>();
            try (JsonParser parser = new JsonFactory().createParser(line)) {
                int depth = 0;
                for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                    depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
                    if (token == JsonToken.FIELD_NAME && depth == 1) {
                        names.add(parser.currentName());
                    }
                }
            }
            most = names.size() > most.size() ? names : most;
        }
        return most;
    }

    @Test
    void listsOneScenarioALine() {
        assertThat(run("--list")).isZero();

        assertThat(out.toString().lines())
                .hasSize(Scenario.values().length)
                .allMatch(line -> line.matches("[a-z-]+ +\\S.*"));
        for (Scenario scenario : Scenario.values()) {
            assertThat(Scenario.named(scenario.scenarioName())).isEqualTo(scenario);
        }
    }

    @Test
    void thePageListsTheSameScenarios() throws IOException {
        List<String> listed = Files.readAllLines(Path.of("../../docs/simulator.md")).stream()
                .filter(line -> line.matches("\\| [a-z-]+ \\| .* \\| [A-Z_-]+ \\|"))
                .toList();

        assertThat(listed).hasSize(Scenario.values().length);
        for (Scenario scenario : Scenario.values()) {
            Object cause = scenario.tokenCause() == null ? "-" : scenario.tokenCause();
            assertThat(listed)
                    .contains("| " + scenario.scenarioName() + " | " + scenario.description() + " | " + cause + " |");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--scenario healthy --out DIR",
                "--scenario healthy --seed 1",
                "--seed 1 --out DIR",
                "--scenario nonsense --seed 1 --out DIR",
                "--scenario HEALTHY --seed 1 --out DIR",
                "--scenario ../../etc/passwd --seed 1 --out DIR",
                "--scenario healthy --seed 1.5 --out DIR",
                "--scenario healthy --seed x --out DIR",
                "--scenario healthy --seed 99999999999999999999 --out DIR",
                "--scenario healthy --seed 1 --requests 0 --out DIR",
                "--scenario healthy --seed 1 --requests -3 --out DIR",
                "--scenario healthy --seed 1 --requests 999999999 --out DIR",
                "--scenario healthy --seed 1 --requests 3000000000 --out DIR",
                "--scenario healthy --seed 1 --layers some --out DIR",
                "--scenario healthy --seed 1 --out DIR --speed 3",
                "--scenario healthy --scenario healthy --seed 1 --out DIR",
                "--scenario healthy --seed 1 --out USED",
                "--scenario healthy --seed 1 --out FILE",
                "--scenario healthy --seed 1 --out FILE/below",
                "--scenario",
                "surplus"
            })
    void whatCannotBeDoneIsSaidInOneLine(String line) throws IOException {
        Files.writeString(folder.resolve("file"), "x");
        String[] args = line.replace("DIR", folder.resolve("new").toString())
                .replace("USED", folder.toString())
                .replace("FILE", folder.resolve("file").toString())
                .split(" ");

        assertThat(run(args)).isEqualTo(2);

        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).doesNotContain("Exception");
        assertThat(folder.resolve("new")).doesNotExist();
    }

    @Test
    void anExtremeSeedIsASeed() {
        assertThat(run(
                        "--scenario",
                        "healthy",
                        "--seed",
                        "-9223372036854775808",
                        "--requests",
                        "1",
                        "--out",
                        folder.resolve("x").toString()))
                .isZero();
    }

    @Test
    void withoutArgumentsItSaysHow() {
        assertThat(run()).isEqualTo(2);
        assertThat(out.toString()).contains("--scenario", "Example:");
    }
}
