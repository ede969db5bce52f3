package io.tokenstair.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.live.StreamingClient.Streamed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Runs the job and what reads its results, as the commands do, each in a process of its own. */
record Analysis(Path work) {
    private static final String JOB = "io.tokenstair.job.JobMain";
    private static final String LOOK = "io.tokenstair.look.LookMain";
    private static final int MINUTES = 15;

    /** Output characters that are looked for together in the log. */
    private static final int TEXT_PIECE = 16;

    /** {@code run --once}: an archive of this name. */
    Path run(CollectedLog log, String name) throws IOException, InterruptedException {
        Path archive = work.resolve(name);
        command(
                name + "-run",
                JOB,
                "run",
                "--once",
                "--from",
                log.folder().toString(),
                "--archive",
                archive.toString());
        return archive;
    }

    /** {@code import tokenstair}: a log into an archive that only holds events. */
    Path archived(CollectedLog log, String name) throws IOException, InterruptedException {
        Path archive = work.resolve(name);
        command(name + "-archive", JOB, "archive", "--from", log.folder().toString(), "--archive", archive.toString());
        return archive;
    }

    /** {@code import FORMAT FILE...} into an archive, and what came of it; nothing may be refused. */
    CollectedLog imported(String format, Path archive, String... inputs) throws IOException, InterruptedException {
        String name = archive.getFileName() + "-" + format;
        Path log = work.resolve(name + "-log");
        List<String> arguments = new ArrayList<>(List.of(format));
        arguments.addAll(List.of(inputs));
        arguments.addAll(List.of("--log", log.toString(), "--strict"));
        command(name, "io.tokenstair.collect.ImportMain", arguments.toArray(String[]::new));
        command(name + "-archive", JOB, "archive", "--from", log.toString(), "--archive", archive.toString());
        return new CollectedLog(log);
    }

    /** {@code replay}: results of this name. */
    Path replay(Path archive, String name) throws IOException, InterruptedException {
        Path results = work.resolve(name);
        command(name + "-replay", JOB, "replay", "--archive", archive.toString(), "--out", results.toString());
        return results;
    }

    /** What {@code explain} prints, a line a request. */
    String explained(Path results) throws IOException, InterruptedException {
        return command(
                results.getFileName() + "-explain",
                LOOK,
                "explain",
                "--archive",
                results.toString(),
                "--format",
                "json");
    }

    /** What {@code findings} prints, a line a finding. */
    String findings(Path results) throws IOException, InterruptedException {
        return command(
                results.getFileName() + "-findings",
                LOOK,
                "findings",
                "--archive",
                results.toString(),
                "--format",
                "json");
    }

    /** Asserts that two analyses say the same, byte for byte. */
    void sameWords(Path results, Path others) throws IOException, InterruptedException {
        assertThat(explained(others)).isEqualTo(explained(results));
        assertThat(findings(others)).isEqualTo(findings(results));
    }

    /** Asserts that each token which a client got is there once, at its request, and that there is no other and none in doubt. */
    void everyTokenOnceAtItsRequest(Path results, Map<String, Streamed> streamed)
            throws IOException, InterruptedException {
        Map<String, Integer> received = StreamingClient.counts(streamed);
        Map<String, Set<Integer>> told = new TreeMap<>();
        for (TokenAnalysis token : rows(results, ResultTables.TOKEN_ANALYSIS)) {
            assertThat(received).as("a token without its request").containsKey(token.requestId());
            assertThat(token.lifetime()).isZero();
            assertThat(token.sequenceIndex()).isZero();
            assertThat(token.deliveredEpochNanos())
                    .as("delivery of %s", token.requestId())
                    .isNotNull();
            assertThat(told.computeIfAbsent(token.requestId(), unused -> new HashSet<>())
                            .add(token.tokenIndex()))
                    .as("token %s of %s once", token.tokenIndex(), token.requestId())
                    .isTrue();
        }
        Map<String, Integer> counted = new TreeMap<>();
        told.forEach((id, tokens) -> {
            assertThat(tokens).contains(0, tokens.size() - 1);
            counted.put(id, tokens.size());
        });
        assertThat(counted).isEqualTo(received);
        Set<String> requests = new HashSet<>();
        for (RequestAnalysis request : rows(results, ResultTables.REQUEST_ANALYSIS)) {
            String id = request.requestId();
            assertThat(requests.add(id)).as("%s once", id).isTrue();
            assertThat(request.state()).as(id).isEqualTo("complete");
            assertThat(request.droppedChunks()).as("ambiguous chunks of %s", id).isNull();
            assertThat(request.droppedTokens()).as("ambiguous tokens of %s", id).isNull();
            assertThat(request.tokenCount())
                    .as(id)
                    .isEqualTo(received.getOrDefault(id, -1).longValue());
        }
        assertThat(requests).isEqualTo(received.keySet());
        Map<String, JsonNode> explained = new TreeMap<>();
        for (String line :
                explained(results).lines().filter(line -> line.startsWith("{")).toList()) {
            JsonNode request = new ObjectMapper().readTree(line);
            explained.put(request.get("requestId").asText(), request);
        }
        assertThat(explained.keySet()).isEqualTo(received.keySet());
        received.forEach((id, count) ->
                assertThat(explained.get(id).get("tokens").size()).as(id).isEqualTo(count));
    }

    /** Asserts that neither what was asked nor what was generated is anywhere in a log. */
    static void noTextIn(CollectedLog log, Map<String, Streamed> streamed) throws IOException {
        for (Map.Entry<String, Streamed> request : streamed.entrySet()) {
            String prompt = request.getValue().prompt();
            assertThat(log.holds(prompt.substring(1, Math.min(prompt.length() - 1, 1 + TEXT_PIECE))))
                    .as("prompt of %s", request.getKey())
                    .isFalse();
            String text = request.getValue().text();
            for (int from = 0; from + TEXT_PIECE <= text.length() && from < 4 * TEXT_PIECE; from += TEXT_PIECE) {
                String piece = text.substring(from, from + TEXT_PIECE);
                // A row of zeros is in every file.
                assertThat(piece.chars().distinct().count() > 4 && log.holds(piece))
                        .as("text of %s", request.getKey())
                        .isFalse();
            }
        }
    }

    static <R extends Record> List<R> rows(Path archive, TableSchema<R> schema) throws IOException {
        List<R> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, schema.table())) {
            try (TableReader<R> reader = TableReader.open(schema, file)) {
                reader.forEachRemaining(rows::add);
            }
        }
        return rows;
    }

    private String command(String name, String main, String... arguments) throws IOException, InterruptedException {
        Path output = work.resolve(name + ".out");
        try (ChildProcess child = ChildProcess.java(output, main, arguments)) {
            assertThat(child.await(MINUTES * 60L)).as(child.output()).isZero();
        }
        return Files.readString(output);
    }
}
