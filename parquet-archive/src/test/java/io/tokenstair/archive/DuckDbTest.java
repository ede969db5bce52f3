package io.tokenstair.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Another program reads the archive with no code of ours. */
class DuckDbTest {
    @TempDir
    Path archive;

    @SuppressWarnings("NullAway.Init")
    private Connection duckDb;

    @BeforeEach
    void open() throws SQLException {
        duckDb = DriverManager.getConnection("jdbc:duckdb:");
    }

    @AfterEach
    void close() throws SQLException {
        duckDb.close();
    }

    @Test
    void everyTableIsReadWithItsColumnsAndRows() throws Exception {
        writeRaw();
        writeResults();

        for (String table : RawTables.all()) {
            assertThat(columns(table)).as(table).containsExactlyElementsOf(names(RawTables.columnsOf(table)));
            assertThat(query("SELECT count(*) FROM " + ArchiveViews.source(archive, table) + " WHERE late")
                            .get(0))
                    .as(table)
                    .isNotEqualTo("0");
        }
        for (TableSchema<?> schema : ResultTables.all()) {
            assertThat(columns(schema.table())).as(schema.table()).containsExactlyElementsOf(names(schema.columns()));
            assertThat(query("SELECT count(*) FROM " + ArchiveViews.source(archive, schema.table())))
                    .as(schema.table())
                    .containsExactly("300");
        }
    }

    @Test
    void valuesAndTheirAbsenceAreRead() throws Exception {
        writeRaw();

        assertThat(query(
                        "SELECT request_id, priority, prompt_tokens, max_tokens, warmup, clock_nanos, coarse_epoch_millis,"
                                + " late FROM " + ArchiveViews.source(archive, "request_received")
                                + " ORDER BY collector_id, sequence"))
                .containsExactly(
                        "req-1 | 0 | 0 | 128 | true | 123456789 | 1790000000123 | true",
                        "req-1 | null | null | null | false | null | null | false");
        assertThat(query("SELECT record_index, chunk_index, first_token_index, token_count, arrived_nanos, finish FROM "
                        + ArchiveViews.source(archive, "chunk_delivered") + " WHERE late ORDER BY record_index"))
                .containsExactly(
                        "0 | 0 | null | 0 | 1000 | none", "1 | 1 | 0 | 1 | 2000 | none", "2 | 2 | 1 | 3 | -5 | length");
        assertThat(query(
                        "SELECT request_handle, first_token_index, context_tokens, phase, cached_tokens, preemption_count,"
                                + " wait_nanos FROM " + ArchiveViews.source(archive, "step_sequence")
                                + " ORDER BY record_index"))
                .containsExactly(
                        "0 | 0 | 1000 | prefill | 0 | null | 0",
                        "1 | null | 1001 | decode | null | 2 | 1",
                        "2 | 2 | 1002 | resumed | null | null | null");
        assertThat(query("SELECT block_hashes, parent_block_hash FROM "
                        + ArchiveViews.source(archive, "kv_blocks_stored") + " ORDER BY collector_id"))
                .containsExactly("[1, -1, -9223372036854775808] | 0", "[] | null");
    }

    @Test
    void datesAndHoursArePartitions() throws Exception {
        writeRaw();

        assertThat(query("SELECT date, hour, count(*) FROM " + ArchiveViews.source(archive, "id_aliased")
                        + " GROUP BY ALL ORDER BY 1"))
                .containsExactly("2026-09-21 | 14 | 1", "undated | undated | 1");
    }

    @Test
    void partitionsArePlainHive() throws Exception {
        writeRaw();

        assertThat(query("SELECT count(*) FROM read_parquet('" + archive
                        + "/table=id_aliased/**/*.parquet', hive_partitioning = true)"))
                .containsExactly("2");
    }

    @Test
    void handlesAreJoinedToNames() throws Exception {
        writeRaw();
        write("id_aliased", "alias", EventExamples.logged(new IdAliased("req-2", "cmpl-req-2-0", "engine"), 99), false);
        views();

        assertThat(query("SELECT request_handle, engine_request_id, request_id FROM step_sequence_named ORDER BY 1"))
                .containsExactly("0 | cmpl-req-1-0 | null", "1 | cmpl-req-2-0 | req-2", "2 | null | null");
    }

    @Test
    void partsAreRowsThatSumToTheGap() throws Exception {
        writeResults();
        views();

        assertThat(query("SELECT part, nanos FROM token_part LIMIT 2"))
                .containsExactly("reference | 21000000147", "queue-wait | 22000000154");
        assertThat(query("SELECT count(DISTINCT part) FROM token_part")).containsExactly("19");
        assertThat(query("SELECT DISTINCT part FROM token_delivery_part ORDER BY 1"))
                .containsExactly("client", "gateway", "network", "output", "unexplained");
        assertThat(query("SELECT count(*) FROM slow_token")).containsExactly("150");
    }

    @Test
    void theQueryOfTheDocumentationRuns() throws Exception {
        writeResults();
        String page = Files.readString(Path.of("..", "docs", "archive.md"));
        int start = page.indexOf("```sql") + "```sql".length();
        String sql = page.substring(start, page.indexOf(";", start)).replace("ARCHIVE", archive.toString());

        assertThat(query(sql)).containsExactly("text 17 | 150 | 1950.00001365");
        assertThat(query("SELECT make_timestamp_ns(1790000000000000123)"))
                .containsExactly("2026-09-21 14:13:20.000000123");
    }

    @Test
    void viewsWorkOnAnArchiveWithoutTables() throws Exception {
        views();

        for (String view : List.of(
                "step_sequence_named",
                "token_part",
                "token_delivery_part",
                "finding_part",
                "slow_token",
                "kernel_queue_wait",
                "rejected")) {
            assertThat(query("SELECT count(*) FROM " + view)).as(view).containsExactly("0");
        }
    }

    @Test
    void viewsSqlDeclaresEveryTableAsItIs() {
        for (String table : RawTables.all()) {
            assertThat(ArchiveViews.sharedViews()).contains(ArchiveViews.emptyView(table, RawTables.columnsOf(table)));
        }
        for (TableSchema<?> schema : ResultTables.all()) {
            assertThat(ArchiveViews.sharedViews()).contains(ArchiveViews.emptyView(schema.table(), schema.columns()));
        }
    }

    @Test
    void filesOfOtherProgramsAreReadBack() throws Exception {
        List<TokenAnalysis> rows =
                List.of(ResultExamples.row(TokenAnalysis.class, true), ResultExamples.row(TokenAnalysis.class, false));
        Path ours = archive.resolve("ours.parquet");
        write(ResultTables.TOKEN_ANALYSIS, ours, rows);
        for (String compression : List.of("snappy", "zstd", "uncompressed")) {
            Path theirs = archive.resolve(compression + ".parquet");
            try (Statement statement = duckDb.createStatement()) {
                statement.execute("COPY (SELECT * FROM '" + ours + "') TO '" + theirs
                        + "' (FORMAT parquet, COMPRESSION " + compression + ")");
            }

            List<TokenAnalysis> read = new ArrayList<>();
            try (TableReader<TokenAnalysis> reader = TableReader.open(ResultTables.TOKEN_ANALYSIS, theirs)) {
                reader.forEachRemaining(read::add);
            }
            assertThat(read).as(compression).containsExactlyElementsOf(rows);
        }
    }

    @Test
    void footersNameTableSchemaAndWriter() throws Exception {
        Path file = archive.resolve("f.parquet");
        write(ResultTables.TOKEN_ANALYSIS, file, List.of());

        assertThat(query("SELECT decode(key), decode(value) FROM parquet_kv_metadata('" + file + "') ORDER BY 1"))
                .contains("tokenstair.schema.version | 1", "tokenstair.table | token_analysis")
                .anyMatch(line -> line.matches("tokenstair\\.writer \\| tokenstair \\d+\\.\\d+\\.\\d+.*"));
    }

    @Test
    void columnsHaveTheirPermanentIds() throws Exception {
        Path file = archive.resolve("f.parquet");
        write(ResultTables.TOKEN_ANALYSIS, file, List.of());

        assertThat(query("SELECT name || ' ' || field_id FROM parquet_schema('" + file
                        + "') WHERE field_id IS NOT NULL ORDER BY field_id"))
                .containsExactlyElementsOf(ResultTables.TOKEN_ANALYSIS.columns().stream()
                        .map(column -> column.name() + " " + column.id())
                        .toList());
    }

    @Test
    void manyRequestIdsGetABloomFilter() throws Exception {
        Path file = archive.resolve("table=id_aliased/part-0.parquet");
        Files.createDirectories(file.getParent());
        try (OutputStream out = Files.newOutputStream(file)) {
            RawTableWriter writer = RawTableWriter.open("id_aliased", out);
            for (int i = 0; i < 60_000; i++) {
                writer.write(
                        EventExamples.logged(new IdAliased("request-with-a-long-name-" + i, "alias " + i, "o"), i),
                        false);
            }
            writer.finish();
        }

        assertThat(query("SELECT bloom_filter_length > 0 FROM parquet_metadata('" + file
                        + "') WHERE path_in_schema = 'request_id'"))
                .containsExactly("true");
        assertThat(query("SELECT count(*) FROM '" + file + "' WHERE request_id = 'request-with-a-long-name-59999'"))
                .containsExactly("1");
        assertThat(query("SELECT count(*) FROM '" + file + "' WHERE request_id = 'nobody'"))
                .containsExactly("0");
    }

    private void views() throws SQLException {
        try (Statement statement = duckDb.createStatement()) {
            statement.execute(ArchiveViews.sql(archive));
        }
    }

    private void writeRaw() throws IOException {
        long sequence = 0;
        for (Event event : EventExamples.full()) {
            for (String table : RawTables.tablesOf(event.kind())) {
                write(table, "dated", EventExamples.logged(event, sequence), true);
            }
            sequence++;
        }
        for (Event event : EventExamples.sparse()) {
            for (String table : RawTables.tablesOf(event.kind())) {
                write(table, "undated", EventExamples.undated(event, sequence), false);
            }
            sequence++;
        }
    }

    private void write(String table, String name, LoggedEvent event, boolean late) throws IOException {
        EventHeader header = event.header();
        Path file = archive.resolve(ArchiveLayout.bucket(table, header.coarseEpochMillis()))
                .resolve(name + ".parquet");
        Files.createDirectories(file.getParent());
        try (OutputStream out = Files.newOutputStream(file)) {
            RawTableWriter writer = RawTableWriter.open(table, out);
            writer.write(event, late);
            writer.finish();
        }
    }

    private void writeResults() throws IOException {
        for (TableSchema<?> schema : ResultTables.all()) {
            writeResult(schema);
        }
    }

    private <R extends Record> void writeResult(TableSchema<R> schema) throws IOException {
        R known = ResultExamples.row(schema.recordType(), true);
        R unknown = ResultExamples.row(schema.recordType(), false);
        List<R> rows = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            rows.add(i % 2 == 0 ? known : unknown);
        }
        Path file = archive.resolve(ArchiveLayout.bucket(schema.table(), EventExamples.EPOCH_MILLIS))
                .resolve("part-0.parquet");
        write(schema, file, rows);
    }

    private static <R extends Record> void write(TableSchema<R> schema, Path file, List<R> rows) throws IOException {
        Files.createDirectories(file.getParent());
        try (OutputStream out = Files.newOutputStream(file)) {
            TableWriter<R> writer = TableWriter.open(schema, out);
            for (R row : rows) {
                writer.write(row);
            }
            writer.finish();
        }
    }

    private List<String> columns(String table) throws SQLException {
        return query(
                "SELECT column_name || ' ' || column_type FROM (DESCRIBE SELECT * EXCLUDE (\"table\", date, hour) FROM "
                        + ArchiveViews.source(archive, table) + ")");
    }

    private static List<String> names(List<Column> columns) {
        return columns.stream()
                .map(column -> column.name() + " " + column.type().sqlName())
                .toList();
    }

    private List<String> query(String sql) throws SQLException {
        List<String> lines = new ArrayList<>();
        try (Statement statement = duckDb.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            int columns = result.getMetaData().getColumnCount();
            while (result.next()) {
                List<String> values = new ArrayList<>();
                for (int i = 1; i <= columns; i++) {
                    values.add(String.valueOf(result.getObject(i)));
                }
                lines.add(String.join(" | ", values));
            }
        }
        return lines;
    }
}
