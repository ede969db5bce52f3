package io.tokenstair.look.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.event.Field;
import io.tokenstair.look.SampleArchive;
import io.tokenstair.look.json.ExplainJson;
import io.tokenstair.look.json.JsonWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultArchiveTest {
    @TempDir
    static Path directory;

    private static ResultArchive archive;

    @BeforeAll
    static void open() {
        SampleArchive.write(directory);
        archive = ResultArchive.open(directory);
    }

    @AfterAll
    static void close() {
        archive.close();
    }

    @Test
    void sequencesComeByTimeUndatedLastThenByTheBytesOfTheirId() {
        List<RequestAnalysis> requests = drain(archive.requests(RequestFilter.ALL));

        assertThat(requests)
                .isSortedAccordingTo(Comparator.comparing(
                                RequestAnalysis::fromEpochNanos, Comparator.nullsLast(Comparator.naturalOrder()))
                        .thenComparing(
                                request -> request.requestId().getBytes(StandardCharsets.UTF_8),
                                Arrays::compareUnsigned)
                        .thenComparingInt(RequestAnalysis::sequenceIndex));
        assertThat(requests.get(requests.size() - 1).requestId()).isEqualTo("warm-up-1");
    }

    @Test
    void tokensFollowTheOrderOfTheirSequences() {
        List<SequenceKey> ofRequests = drain(archive.requests(RequestFilter.ALL)).stream()
                .filter(request -> !Long.valueOf(0).equals(request.tokenCount()))
                .map(SequenceKey::of)
                .toList();
        List<TokenAnalysis> tokens = drain(archive.tokens(RequestFilter.ALL));

        assertThat(tokens.stream().map(SequenceKey::of).distinct().toList()).isEqualTo(ofRequests);
        assertThat(tokens).hasSize(740);
    }

    /** The columns that an archive of before 2026-12 has in any case, as it has them. */
    public record RequestAnalysisBefore(
            @Field(1) String requestId,
            @Field(2) int lifetime,
            @Field(3) int sequenceIndex,
            @Field(4) List<String> aliases,
            @Field(5) List<String> engines,
            @Field(6) String state,
            @Field(7) String endReason,
            @Field(10) long tokenCount,
            @Field(15) List<String> requestCauses,
            @Field(16) boolean warmup,
            @Field(20) List<String> missingLayers) {}

    @Test
    void anArchiveWhoseTokenCountIsAlwaysThereIsReadBesideOneWhereItMayBeAbsent(@TempDir Path mixed)
            throws IOException {
        SampleArchive.write(mixed);
        ResultTableFixture.write(
                mixed,
                TableSchema.of("request_analysis", RequestAnalysisBefore.class),
                1_000L,
                List.of(new RequestAnalysisBefore(
                        "before", 0, 0, List.of(), List.of(), "complete", "stop", 7, List.of(), false, List.of())));
        ResultTableFixture.write(
                mixed,
                TableSchema.of("request_analysis", RequestAnalysis.class),
                90_000_000L,
                List.of(new RequestAnalysis(
                        "uncounted",
                        0,
                        0,
                        List.of(),
                        List.of(),
                        "complete",
                        "unknown",
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        List.of(),
                        false,
                        null,
                        null,
                        null,
                        List.of(),
                        null)));
        try (ResultArchive both = ResultArchive.open(mixed)) {
            List<RequestAnalysis> requests = drain(both.requests(RequestFilter.ALL));
            assertThat(requests)
                    .filteredOn(request -> request.requestId().equals("before"))
                    .singleElement()
                    .extracting(RequestAnalysis::tokenCount)
                    .isEqualTo(7L);
            assertThat(requests)
                    .filteredOn(request -> request.requestId().equals("uncounted"))
                    .singleElement()
                    .extracting(RequestAnalysis::tokenCount)
                    .isNull();
            RequestAnalysis uncounted = requests.stream()
                    .filter(request -> request.requestId().equals("uncounted"))
                    .findFirst()
                    .orElseThrow();
            ByteArrayOutputStream json = new ByteArrayOutputStream();
            try (JsonWriter writer = new JsonWriter(json, false)) {
                writer.beginObject();
                ExplainJson.fields(writer, uncounted);
                writer.endObject();
            }
            assertThat(json.toString(StandardCharsets.UTF_8))
                    .contains("\"endReason\":\"unknown\"")
                    .doesNotContain("tokenCount");
        }
    }

    @Test
    void theDatabaseReadsNothingBesideTheArchive(@TempDir Path elsewhere) throws IOException {
        Path secret = Files.writeString(elsewhere.resolve("secret.csv"), "a\n1\n");

        for (String sql : new String[] {
            "select * from read_csv('" + secret + "')",
            "select content from read_text('" + directory + "/../" + elsewhere.getFileName() + "/secret.csv')",
            "select content from read_text('/etc/hostname')",
            "set enable_external_access = true",
            "install httpfs"
        }) {
            assertThatThrownBy(() -> archive.all(sql, List.of(), row -> row.getString(1)))
                    .as(sql)
                    .isInstanceOf(UnusableInputException.class);
        }
    }

    @Test
    void closingRemovesTheTemporaryFolderAndKeepsTheArchive() {
        ResultArchive opened = ResultArchive.open(directory);
        assertThat(opened.spillDirectory()).isDirectory();
        opened.close();

        assertThat(opened.spillDirectory()).doesNotExist();
        assertThat(directory.resolve("table=finding")).isDirectory();
    }

    private static <R> List<R> drain(RowCursor<R> cursor) {
        List<R> rows = new ArrayList<>();
        try (cursor) {
            while (cursor.hasNext()) {
                rows.add(cursor.next());
            }
        }
        return rows;
    }
}
