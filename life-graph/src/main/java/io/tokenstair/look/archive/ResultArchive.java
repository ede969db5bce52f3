package io.tokenstair.look.archive;

import io.tokenstair.archive.ArchiveException;
import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.event.SpanRecorded;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.duckdb.DuckDBConnection;
import org.jspecify.annotations.Nullable;

/**
 * The result tables of an archive. Rows are streamed: memory does not grow with the archive, sorts that do not fit spill to a
 * temporary folder that {@link #close} removes. The database may read the archive's folder and nothing else; every value from outside
 * is a bind parameter. Safe for several threads: each query takes a connection of its own.
 */
public final class ResultArchive implements AutoCloseable {
    private static final String MEMORY_LIMIT = "512MB";
    private static final int THREADS = 2;

    private static final String SLOW = "(t.cause is not null and t.cause <> 'MULTI_TOKEN_CHUNK')";
    private static final String SAME_SEQUENCE =
            "t.request_id = r.request_id and t.lifetime = r.lifetime" + " and t.sequence_index = r.sequence_index";
    private static final String SEQUENCE_ORDER =
            "r.from_epoch_nanos nulls last, r.request_id, r.lifetime, r.sequence_index";
    private static final String FINDING_ORDER = "f.from_epoch_nanos nulls last, f.engine_id nulls first,"
            + " f.request_id nulls first, f.lifetime nulls first, f.sequence_index nulls first, f.rule, f.finding_id";
    private static final String SEVERITY_RANK =
            "(case f.severity when 'critical' then 2 when 'warning' then 1 else 0 end)";
    /** The worst state wins where several tokens share a place. */
    static final String STATE_RANK = "(case t.state when 'recompute' then 4 when 'kv-miss' then 3"
            + " when 'stalled' then 2 when 'unknown' then 1 else 0 end)";

    private static final List<String> STATES_BY_RANK = List.of("normal", "unknown", "stalled", "kv-miss", "recompute");

    private final Path directory;
    private final Path link;
    private final Path spillDirectory;
    private final Connection root;

    private ResultArchive(Path directory, Path link, Path spillDirectory, Connection root) {
        this.directory = directory;
        this.link = link;
        this.spillDirectory = spillDirectory;
        this.root = root;
    }

    /**
     * Opens the results of an archive.
     *
     * @throws UnusableInputException when the folder is absent, holds no results, or its files cannot be read
     */
    public static ResultArchive open(Path archive) {
        return open(archive, List.of());
    }

    /**
     * The same, with tables beside {@link ResultTable#ALL}. Files in one of them are results too.
     *
     * @throws UnusableInputException when the folder is absent, holds no results, or its files cannot be read
     */
    public static ResultArchive open(Path archive, List<ResultTable<?>> more) {
        Path directory;
        boolean hasResults;
        try {
            directory = archive.toRealPath();
            hasResults = ArchiveLayout.hasResults(directory)
                    || more.stream()
                            .filter(table -> table != ResultTable.REFUSED)
                            .anyMatch(table -> !ArchiveLayout.files(directory, table.name())
                                    .isEmpty());
        } catch (IOException absent) {
            throw new UnusableInputException(
                    "Cannot open archive " + archive + ": no such folder. Give the folder that replay or run wrote",
                    absent);
        } catch (ArchiveException unlisted) {
            throw new UnusableInputException(firstLine(unlisted.getMessage()), unlisted);
        }
        if (!Files.isDirectory(directory)) {
            throw new UnusableInputException(
                    "Cannot open archive " + archive + ": not a folder. Give the folder that replay or run wrote");
        }
        if (!hasResults) {
            throw new UnusableInputException("Cannot find results in archive " + archive
                    + ": write them first with: tokenstair replay --archive " + archive + " --out DIR");
        }
        Path spillDirectory;
        try {
            spillDirectory = Files.createTempDirectory("tokenstair-look-");
        } catch (IOException failure) {
            throw new UncheckedIOException("Cannot create a temporary folder: " + failure.getMessage(), failure);
        }
        Connection root = null;
        try {
            // A link of our own making leads to the archive: paths then hold no pattern character of the archive's
            // name.
            Path link = Files.createSymbolicLink(spillDirectory.resolve("archive"), directory);
            Properties properties = new Properties();
            properties.setProperty("jdbc_stream_results", "true");
            root = DriverManager.getConnection("jdbc:duckdb:", properties);
            ResultArchive opened = new ResultArchive(directory, link, spillDirectory, root);
            opened.defineTables(more);
            return opened;
        } catch (SQLException | IOException | ArchiveException failure) {
            closeQuietly(root);
            deleteFolder(spillDirectory);
            throw new UnusableInputException(
                    "Cannot read archive " + archive + ": "
                            + firstLine(failure.getMessage())
                                    .replace(spillDirectory.resolve("archive").toString(), directory.toString()),
                    failure);
        }
    }

    /** Defines a view per table, empty where the archive has no file of it, and then takes all other access away. */
    private void defineTables(List<ResultTable<?>> more) throws SQLException {
        try (Statement statement = root.createStatement()) {
            statement.execute("set threads = " + THREADS);
            statement.execute("set memory_limit = " + literal(MEMORY_LIMIT));
            statement.execute("set temp_directory = " + literal(spillDirectory.toString()));
            statement.execute("set preserve_insertion_order = false");
            statement.execute("set allowed_directories = [" + literal(directory + "/") + ", "
                    + literal(spillDirectory + "/") + "]");
            statement.execute("set enable_external_access = false");
            for (ResultTable<?> table : ResultTable.ALL) {
                statement.execute(viewOf(table));
            }
            for (ResultTable<?> table : more) {
                statement.execute(viewOf(table));
            }
            statement.execute("set lock_configuration = true");
        }
    }

    private String viewOf(ResultTable<?> table) throws SQLException {
        String source = "";
        Set<String> present = new HashSet<>();
        List<Path> files = ArchiveLayout.files(link, table.name());
        if (!files.isEmpty()) {
            String names = files.stream()
                    .map(file -> literal(globSafe(file.toString())))
                    .collect(Collectors.joining(", "));
            source = "read_parquet([" + names + "], hive_partitioning = false, union_by_name = true)";
            // Preparing reads every footer, so that a broken file is named here.
            try (PreparedStatement columns = root.prepareStatement("select * from " + source)) {
                ResultSetMetaData description = columns.getMetaData();
                for (int column = 1; column <= description.getColumnCount(); column++) {
                    present.add(description.getColumnName(column));
                }
            }
        }
        String select = table.columns().stream()
                .map(column -> "cast(" + (present.contains(column.name()) ? column.name() : "null") + " as "
                        + column.sqlType() + ") as " + column.name())
                .collect(Collectors.joining(", "));
        return "create view " + table.name() + " as select " + select
                + (source.isEmpty() ? " where false" : " from " + source);
    }

    /** Where sorts spill to while this is open. */
    Path spillDirectory() {
        return spillDirectory;
    }

    /** The folder that was opened, without links. */
    public Path directory() {
        return directory;
    }

    /** The archive in numbers. */
    public ArchiveSummary summary() {
        String counts = "select (select count(*) from (select distinct request_id, lifetime from request_analysis)),"
                + " (select count(*) from request_analysis),"
                + " (select count(*) from request_analysis where token_count = 0),"
                + " (select count(*) from token_analysis),"
                + " (select count(*) from token_analysis t where " + SLOW + "),"
                + " (select count(*) from token_analysis t where t.delivery_cause is not null),"
                + " (select count(*) from finding where severity = 'critical'),"
                + " (select count(*) from finding where severity = 'warning'),"
                + " (select count(*) from finding where severity = 'info'),"
                + " (select min(from_epoch_nanos) from request_analysis),"
                + " (select max(to_epoch_nanos) from request_analysis)";
        List<LayerReport> missing = all(
                "select " + ResultTable.LAYERS.selectList("l")
                        + " from layer_report l where not l.reported order by l.engine_id nulls first, l.layer",
                List.of(),
                ResultTable.LAYERS::row);
        List<LayerReport> holed = all(
                "select " + ResultTable.LAYERS.selectList("l")
                        + " from layer_report l where l.lost_count > 0 order by l.engine_id nulls first, l.layer,"
                        + " l.first_lost_number",
                List.of(),
                ResultTable.LAYERS::row);
        return all(
                        counts,
                        List.of(),
                        row -> new ArchiveSummary(
                                row.getLong(1),
                                row.getLong(2),
                                row.getLong(3),
                                row.getLong(4),
                                row.getLong(5),
                                row.getLong(6),
                                row.getLong(7),
                                row.getLong(8),
                                row.getLong(9),
                                optionalLong(row, 10),
                                optionalLong(row, 11),
                                missing,
                                holed))
                .get(0);
    }

    /** The newest stamp of the archive's findings and requests; null where nothing is dated. */
    public @Nullable Long newestEpochNanos() {
        return all(
                        "select greatest((select max(coalesce(to_epoch_nanos, from_epoch_nanos)) from finding),"
                                + " (select max(coalesce(to_epoch_nanos, from_epoch_nanos)) from request_analysis))",
                        List.of(),
                        row -> new @Nullable Long[] {optionalLong(row, 1)})
                .get(0)[0];
    }

    /**
     * Findings in their public order: from, undated last; key; rule; finding id. Within a key absent comes first and ids compare as
     * UTF-8.
     */
    public RowCursor<Finding> findings(FindingFilter filter) {
        return findings(filter, FINDING_ORDER, "");
    }

    /** Findings, most severe first, then in their public order; at most {@code limit} after {@code offset}. */
    public RowCursor<Finding> findingsBySeverity(FindingFilter filter, long limit, long offset) {
        return findings(filter, SEVERITY_RANK + " desc, " + FINDING_ORDER, " limit " + limit + " offset " + offset);
    }

    private RowCursor<Finding> findings(FindingFilter filter, String order, String page) {
        List<Object> values = new ArrayList<>();
        String where = findingCondition(filter, values);
        return query(
                "select " + ResultTable.FINDINGS.selectList("f") + " from finding f where " + where + " order by "
                        + order + page,
                values,
                ResultTable.FINDINGS::row);
    }

    /** Remarks by subject and topic. */
    public RowCursor<Remark> remarks() {
        return query(
                "select " + ResultTable.REMARKS.selectList("r")
                        + " from remark r order by r.subject, r.from_epoch_nanos nulls last, r.topic, r.remark_id",
                List.of(),
                ResultTable.REMARKS::row);
    }

    /** How many findings the filter leaves out only because they have no time. */
    public long undatedFindings(FindingFilter filter) {
        List<Object> values = new ArrayList<>();
        String where = findingCondition(new FindingFilter(filter.request(), filter.atLeast(), null), values);
        return all(
                        "select count(*) from finding f where f.from_epoch_nanos is null and f.to_epoch_nanos is null and "
                                + where,
                        values,
                        row -> row.getLong(1))
                .get(0);
    }

    private static String findingCondition(FindingFilter filter, List<Object> values) {
        StringBuilder where = new StringBuilder("true");
        String request = filter.request();
        if (request != null) {
            where.append(" and (f.request_id = ? or f.request_id in (select a.request_id from request_analysis a"
                    + " where list_contains(a.aliases, ?)))");
            values.add(request);
            values.add(request);
        }
        if (filter.atLeast() != null) {
            where.append(" and ").append(SEVERITY_RANK).append(" >= ?");
            values.add(filter.atLeast().ordinal());
        }
        if (filter.sinceEpochNanos() != null) {
            where.append(" and coalesce(f.to_epoch_nanos, f.from_epoch_nanos) >= ?");
            values.add(filter.sinceEpochNanos());
        }
        return where.toString();
    }

    /** Sequences in their public order: from, undated last; request id as UTF-8; lifetime; sequence. */
    public RowCursor<RequestAnalysis> requests(RequestFilter filter) {
        List<Object> values = new ArrayList<>();
        String where = requestCondition(filter, values);
        return query(
                "select " + ResultTable.REQUESTS.selectList("r") + " from request_analysis r where " + where
                        + " order by " + SEQUENCE_ORDER,
                values,
                ResultTable.REQUESTS::row);
    }

    /** The tokens of {@link #requests} in the order of their sequences, then by index. */
    public RowCursor<TokenAnalysis> tokens(RequestFilter filter) {
        List<Object> values = new ArrayList<>();
        String where = requestCondition(filter, values);
        if (filter.tokenIndex() != null) {
            where += " and t.token_index = ?";
            values.add(filter.tokenIndex());
        }
        return query(
                "select " + ResultTable.TOKENS.selectList("t") + " from token_analysis t join request_analysis r on "
                        + SAME_SEQUENCE + " where " + where + " order by " + SEQUENCE_ORDER + ", t.token_index",
                values,
                ResultTable.TOKENS::row);
    }

    /** Sequences with what their tokens add up to, in their public order. */
    public RowCursor<SequenceSummary> summaries(RequestFilter filter) {
        List<Object> values = new ArrayList<>();
        String where = requestCondition(filter, values);
        return query(
                summarySelect() + " where " + where + " order by " + SEQUENCE_ORDER, values, ResultArchive::summaryOf);
    }

    /** Keeps the summaries of all sequences in memory as the table {@code sequence_summary}, columns as {@link #summaryOf} reads them. */
    void keepSummaries() {
        try (Connection connection = connection();
                Statement statement = connection.createStatement()) {
            statement.execute("create or replace table sequence_summary as " + summarySelect());
        } catch (SQLException failure) {
            throw unreadable(failure);
        }
    }

    private static String summarySelect() {
        String excess = "coalesce(t.excess_nanos, t.gap_nanos, 0)";
        return "select " + ResultTable.REQUESTS.selectList("r")
                + ", coalesce(s.slow_tokens, 0) as slow_tokens, coalesce(s.late_tokens, 0) as late_tokens,"
                + " s.worst_gap_nanos, - s.worst.place as worst_token_index, s.worst.cause as worst_cause,"
                + " coalesce(s.lost_nanos, 0) as lost_nanos, s.state_rank"
                + " from request_analysis r left join (select t.request_id, t.lifetime, t.sequence_index,"
                + " count(*) filter (where " + SLOW + ") as slow_tokens,"
                + " count(*) filter (where t.delivery_cause is not null) as late_tokens,"
                + " max(t.gap_nanos) filter (where t.token_index > 0) as worst_gap_nanos,"
                + " max({excess: " + excess + ", place: - t.token_index, cause: t.cause}) filter (where " + SLOW
                + ") as worst,"
                + " cast(sum(greatest(" + excess + ", 0)) filter (where " + SLOW + ") as bigint) as lost_nanos,"
                + " max(" + STATE_RANK + ") as state_rank"
                + " from token_analysis t group by all) s on s.request_id = r.request_id"
                + " and s.lifetime = r.lifetime and s.sequence_index = r.sequence_index";
    }

    static SequenceSummary summaryOf(ResultSet row) throws SQLException {
        int first = ResultTable.REQUESTS.columns().size() + 1;
        Integer stateRank = (Integer) row.getObject(first + 6);
        return new SequenceSummary(
                ResultTable.REQUESTS.row(row),
                row.getLong(first),
                row.getLong(first + 1),
                optionalLong(row, first + 2),
                (Integer) row.getObject(first + 3),
                row.getString(first + 4),
                row.getLong(first + 5),
                stateRank == null ? null : STATES_BY_RANK.get(stateRank));
    }

    private static String requestCondition(RequestFilter filter, List<Object> values) {
        StringBuilder where = new StringBuilder("true");
        String request = filter.request();
        if (request != null) {
            where.append(" and (r.request_id = ? or list_contains(r.aliases, ?))");
            values.add(request);
            values.add(request);
        }
        if (filter.sequenceIndex() != null) {
            where.append(" and r.sequence_index = ?");
            values.add(filter.sequenceIndex());
        }
        return where.toString();
    }

    /** Whether any request carries this id, as its own or as an alias. */
    public boolean knowsRequest(String request) {
        return all(
                                "select count(*) from request_analysis r where r.request_id = ? or list_contains(r.aliases, ?)",
                                List.of(request, request),
                                row -> row.getLong(1))
                        .get(0)
                > 0;
    }

    /** Up to three request ids that look most like the given one; empty where none is close. */
    public List<String> similarRequests(String request) {
        return all(
                "select r.request_id, max(jaro_winkler_similarity(r.request_id, ?)) as likeness from request_analysis r"
                        + " group by r.request_id having likeness > 0.8 order by likeness desc, r.request_id limit 3",
                List.of(request),
                row -> row.getString(1));
    }

    /** The steps of this id on an engine, one per data-parallel rank, at most 8. */
    public List<StepAnalysis> steps(String engineId, long stepId) {
        return all(
                "select " + ResultTable.STEPS.selectList("s")
                        + " from step_analysis s where s.engine_id = ? and s.step_id = ? order by s.dp_rank limit 8",
                List.of(engineId, stepId),
                ResultTable.STEPS::row);
    }

    /** What observers recorded of the arrival of a request, oldest first; the archive was opened with that table. */
    public List<RequestArrival> arrivals(String requestId) {
        return all(
                "select " + ResultTable.ARRIVALS.selectList("a") + " from request_received a where a.request_id = ?"
                        + " order by a.coarse_epoch_millis nulls last, a.trace_id, a.parent_span_id limit 64",
                List.of(requestId),
                ResultTable.ARRIVALS::row);
    }

    /** Spans with this value among their attributes; the archive was opened with that table. */
    public List<SpanRecorded> spansNaming(String value) {
        return all(
                "select " + ResultTable.SPANS.selectList("s")
                        + " from span_recorded s where list_contains(s.attributes, ?)"
                        + " order by s.start_epoch_nanos nulls last, s.span_id limit 64",
                List.of(value),
                ResultTable.SPANS::row);
    }

    RuntimeException unreadable(SQLException failure) {
        return new UnusableInputException(
                "Cannot read archive " + directory + ": "
                        + firstLine(failure.getMessage()).replace(link.toString(), directory.toString()),
                failure);
    }

    <R> List<R> all(String sql, List<?> values, RowCursor.RowReader<R> reader) {
        List<R> rows = new ArrayList<>();
        try (RowCursor<R> cursor = query(sql, values, reader)) {
            while (cursor.hasNext()) {
                rows.add(cursor.next());
            }
        }
        return rows;
    }

    <R> RowCursor<R> query(String sql, List<?> values, RowCursor.RowReader<R> reader) {
        Connection connection = null;
        try {
            connection = connection();
            PreparedStatement statement = connection.prepareStatement(sql);
            for (int position = 0; position < values.size(); position++) {
                statement.setObject(position + 1, values.get(position));
            }
            return new RowCursor<>(this, connection, statement, statement.executeQuery(), reader);
        } catch (SQLException failure) {
            closeQuietly(connection);
            throw unreadable(failure);
        }
    }

    private Connection connection() throws SQLException {
        return root.unwrap(DuckDBConnection.class).duplicate();
    }

    static @Nullable Long optionalLong(ResultSet row, int column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }

    private static String literal(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    /** The text as a glob that matches only itself. */
    private static String globSafe(String path) {
        return path.replaceAll("([\\[*?])", "[$1]");
    }

    private static String firstLine(@Nullable String message) {
        return message == null ? "unknown reason" : message.lines().findFirst().orElse("unknown reason");
    }

    private static void closeQuietly(@Nullable Connection connection) {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException ignored) {
            // The failure that led here is the one to report.
        }
    }

    private static void deleteFolder(Path folder) {
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | UncheckedIOException ignored) {
            // A temporary folder that stays behind harms nobody.
        }
    }

    @Override
    public void close() {
        closeQuietly(root);
        deleteFolder(spillDirectory);
    }
}
