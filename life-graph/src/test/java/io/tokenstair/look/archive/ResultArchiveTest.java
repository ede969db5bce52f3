package io.tokenstair.look.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.look.SampleArchive;
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
                .filter(request -> request.tokenCount() > 0)
                .map(SequenceKey::of)
                .toList();
        List<TokenAnalysis> tokens = drain(archive.tokens(RequestFilter.ALL));

        assertThat(tokens.stream().map(SequenceKey::of).distinct().toList()).isEqualTo(ofRequests);
        assertThat(tokens).hasSize(740);
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
