package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.collect.ImportMain;
import io.tokenstair.job.JobMain;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Outputs of real tools on their way through the product: import into an archive, replay, and what that says. */
final class ToolOutputs {
    static final Path REAL = Path.of("src/test/resources/real");

    private final Path folder;
    private final Path archive;
    private int imports;
    private String said = "";

    ToolOutputs(Path folder) {
        this.folder = folder;
        this.archive = folder.resolve("archive");
    }

    /** The right values of a folder, computed from its raw files by others. */
    static JsonNode expected(String name) throws IOException {
        return new ObjectMapper()
                .readTree(REAL.resolve(name).resolve("expected.json").toFile());
    }

    static String file(String name) {
        return REAL.resolve(name).toString();
    }

    /** Imports as a user does, where nothing may be refused. */
    ToolOutputs imported(String... command) throws Exception {
        Path log = folder.resolve("log-" + imports++);
        List<String> arguments = new ArrayList<>(Arrays.asList(command));
        arguments.addAll(List.of("--log", log.toString(), "--strict"));
        StringWriter errors = new StringWriter();
        StringWriter out = new StringWriter();
        int code = ImportMain.run(
                new PrintWriter(out, true), new PrintWriter(errors, true), false, arguments.toArray(String[]::new));
        assertThat(code).as(out + " " + errors).isZero();
        said += out;
        job("archive", "--from", log.toString(), "--archive", archive.toString());
        return this;
    }

    private static void job(String... arguments) {
        assertThat(JobMain.run(arguments)).isZero();
    }

    /** What the importers said. */
    String said() {
        return said;
    }

    Path archive() {
        return archive;
    }

    Path results() {
        return folder.resolve("results");
    }

    /** Replays the archive. */
    CaseResults replayed() throws Exception {
        job("replay", "--archive", archive.toString(), "--out", results().toString());
        return CaseResults.read(results());
    }

    List<StepAnalysis> steps() throws IOException {
        return rows(ResultTables.STEP_ANALYSIS);
    }

    List<Remark> remarks() throws IOException {
        return rows(ResultTables.REMARK);
    }

    List<LayerReport> layers() throws IOException {
        return rows(ResultTables.LAYER_REPORT);
    }

    private <R extends Record> List<R> rows(TableSchema<R> schema) throws IOException {
        List<R> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(results(), schema.table())) {
            try (TableReader<R> reader = TableReader.open(schema, file)) {
                reader.forEachRemaining(rows::add);
            }
        }
        return rows;
    }

    /** The request of this id or alias, which must be one. */
    static RequestAnalysis request(CaseResults results, String id) {
        List<RequestAnalysis> found = results.requests().stream()
                .filter(request ->
                        request.requestId().equals(id) || request.aliases().contains(id))
                .toList();
        assertThat(found).as(id).hasSize(1);
        return found.get(0);
    }

    /** Gaps of a request after its first token, or of all, in ns, sorted. */
    static List<Long> gaps(CaseResults results, @Nullable String requestId) {
        return results.tokens().stream()
                .filter(token -> requestId == null || token.requestId().equals(requestId))
                .filter(token -> token.tokenIndex() > 0)
                .map(token -> Objects.requireNonNull(token.gapNanos()))
                .sorted()
                .toList();
    }

    /** The token with the longest gap after the first. */
    static TokenAnalysis slowest(CaseResults results, @Nullable String requestId) {
        return results.tokens().stream()
                .filter(token -> requestId == null || token.requestId().equals(requestId))
                .filter(token -> token.tokenIndex() > 0)
                .max(Comparator.comparingLong(token -> Objects.requireNonNull(token.gapNanos())))
                .orElseThrow();
    }

    /** A percentile by linear interpolation, in ms. */
    static double percentile(List<Long> sortedNanos, double percent) {
        double place = (sortedNanos.size() - 1) * percent / 100;
        int below = (int) place;
        int above = Math.min(below + 1, sortedNanos.size() - 1);
        double low = sortedNanos.get(below);
        return (low + (sortedNanos.get(above) - low) * (place - below)) / 1e6;
    }
}
