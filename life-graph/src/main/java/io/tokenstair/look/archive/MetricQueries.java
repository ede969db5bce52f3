package io.tokenstair.look.archive;

import io.tokenstair.archive.TableSchema;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.Field;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The counts and quantiles that metrics are made of. Every answer is bounded: at most {@value #MOST_SERIES} rows, the largest first. */
public final class MetricQueries {
    /** Most rows of an answer. */
    public static final int MOST_SERIES = 200;

    private static final String LARGEST = " order by n desc, 1, 2, 3 limit " + MOST_SERIES;

    /** The raw tables, each as the few columns that are counted. */
    private static final List<ResultTable<RawRow>> RAW = Arrays.stream(EventKind.values())
            .map(kind -> ResultTable.of(TableSchema.of(kind.wireName(), RawRow.class)))
            .toList();

    /** The tables it reads beside those of results. */
    public static final List<ResultTable<?>> TABLES = tables();

    private final ResultArchive archive;

    /** Queries over an archive that was opened with {@link #TABLES}. */
    public MetricQueries(ResultArchive archive) {
        this.archive = archive;
    }

    /**
     * What is counted of a raw row.
     *
     * @param coarseEpochMillis event time, in ms since 1970; absent when undated
     * @param late true when it came after its lateness bound
     */
    public record RawRow(
            @Field(1006) @Nullable Long coarseEpochMillis,
            @Field(1007) @Nullable Boolean late) {}

    /**
     * A count under up to three names; those that do not apply are empty.
     *
     * @param first the first name
     * @param second the second
     * @param third the third
     * @param count how many, or how many ns
     */
    public record RowCount(String first, String second, String third, long count) {}

    /**
     * What a layer of an engine did.
     *
     * @param engine the engine; empty for what is of none
     * @param layer the layer
     * @param reported whether it reported
     * @param lost its records that never came
     */
    public record LayerState(String engine, String layer, boolean reported, long lost) {}

    /**
     * Quantiles of the newest window.
     *
     * @param scope what they are taken over
     * @param model the model; empty where they are over several
     * @param engine the engine; empty where they are over several
     * @param priority the priority; empty where they are over several
     * @param count how many durations
     * @param p50Nanos the median; absent below one duration
     * @param p90Nanos nine tenths are not longer; absent below one duration
     * @param p99Nanos the same of 0.99
     * @param p999Nanos the same of 0.999
     */
    public record WindowQuantiles(
            String scope,
            String model,
            String engine,
            String priority,
            long count,
            @Nullable Long p50Nanos,
            @Nullable Long p90Nanos,
            @Nullable Long p99Nanos,
            @Nullable Long p999Nanos) {}

    private static List<ResultTable<?>> tables() {
        List<ResultTable<?>> tables = new ArrayList<>(RAW);
        tables.add(ResultTable.QUANTILES);
        return List.copyOf(tables);
    }

    /** Findings by rule, cause and severity. */
    public List<RowCount> findings() {
        return counts("select rule, cause, severity, count(*) as n from finding group by all" + LARGEST);
    }

    /** Sequences by state, reason of their end, and whether they are warm-ups. */
    public List<RowCount> requests() {
        return counts(
                "select state, end_reason, cast(warmup as varchar), count(*) as n from request_analysis group by all"
                        + LARGEST);
    }

    /** Tokens by engine and state. */
    public List<RowCount> tokens() {
        return counts(
                "select coalesce(engine_id, ''), state, '', count(*) as n from token_analysis group by all" + LARGEST);
    }

    /** Slow tokens by engine and cause. */
    public List<RowCount> slowTokens() {
        return counts("select coalesce(engine_id, ''), cause, '', count(*) as n from token_analysis"
                + " where cause is not null and cause <> 'MULTI_TOKEN_CHUNK' group by all" + LARGEST);
    }

    /** What slow tokens took beyond the usual by engine and cause, in ns. */
    public List<RowCount> slowNanos() {
        return counts("select coalesce(engine_id, ''), cause, '',"
                + " cast(sum(greatest(coalesce(excess_nanos, 0), 0)) as bigint) as n from token_analysis"
                + " where cause is not null and cause <> 'MULTI_TOKEN_CHUNK' group by all" + LARGEST);
    }

    /** Late tokens by cause. */
    public List<RowCount> lateTokens() {
        return counts("select delivery_cause, '', '', count(*) as n from token_analysis"
                + " where delivery_cause is not null group by all" + LARGEST);
    }

    private List<RowCount> counts(String sql) {
        return archive.all(
                sql, List.of(), row -> new RowCount(text(row, 1), text(row, 2), text(row, 3), row.getLong(4)));
    }

    private static String text(ResultSet row, int column) throws SQLException {
        String text = row.getString(column);
        return text == null ? "" : text;
    }

    /** The durations of which there are quantiles. */
    public List<String> quantileMetrics() {
        return archive.all(
                "select distinct metric from quantile order by metric limit " + MOST_SERIES,
                List.of(),
                row -> row.getString(1));
    }

    /** The quantiles of a duration in the newest window of each model, engine and priority. */
    public List<WindowQuantiles> newestQuantiles(String metric) {
        return archive.all(
                "select scope, coalesce(model, ''), coalesce(engine_id, ''), coalesce(cast(priority as varchar), ''), count,"
                        + " p50_nanos, p90_nanos, p99_nanos, p999_nanos from quantile where metric = ?"
                        + " qualify row_number() over (partition by scope, model, engine_id, priority"
                        + " order by window_end_millis desc nulls last) = 1"
                        + " order by count desc, 1, 2, 3, 4 limit " + MOST_SERIES,
                List.of(metric),
                row -> new WindowQuantiles(
                        text(row, 1),
                        text(row, 2),
                        text(row, 3),
                        text(row, 4),
                        row.getLong(5),
                        ResultArchive.optionalLong(row, 6),
                        ResultArchive.optionalLong(row, 7),
                        ResultArchive.optionalLong(row, 8),
                        ResultArchive.optionalLong(row, 9)));
    }

    /** Rows of each raw table that has any. */
    public List<RowCount> rawRows() {
        return counts(overRaw("count(*)", "true"));
    }

    /** Late rows of each raw table that has any row. */
    public List<RowCount> lateRows() {
        return counts(overRaw("count(*) filter (where late)", "true"));
    }

    private static String overRaw(String what, String where) {
        StringBuilder sql = new StringBuilder();
        for (ResultTable<RawRow> table : RAW) {
            sql.append(sql.isEmpty() ? "" : " union all ")
                    .append("select '")
                    .append(table.name())
                    .append("' as a, '' as b, '' as c, ")
                    .append(what)
                    .append(" as n from ")
                    .append(table.name())
                    .append(" where ")
                    .append(where)
                    .append(" having count(*) > 0");
        }
        return sql + " order by 1";
    }

    /** The layers that could report. */
    public List<LayerState> layers() {
        return archive.all(
                "select coalesce(engine_id, ''), layer, bool_or(reported), cast(coalesce(sum(lost_count), 0) as bigint)"
                        + " from layer_report group by 1, 2 order by 1, 2 limit " + MOST_SERIES,
                List.of(),
                row -> new LayerState(text(row, 1), text(row, 2), row.getBoolean(3), row.getLong(4)));
    }

    /** Event time of the newest raw row, in ms since 1970; null where nothing is dated. */
    public @Nullable Long newestEpochMillis() {
        return archive.all(
                        "select max(n) from ("
                                + overRaw("max(coarse_epoch_millis)", "true").replace(" order by 1", "") + ")",
                        List.of(),
                        row -> new @Nullable Long[] {ResultArchive.optionalLong(row, 1)})
                .get(0)[0];
    }
}
