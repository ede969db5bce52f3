package io.tokenstair.look.archive;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Severity;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * First tokens and gaps beyond a limit. A gap is the time between the ends of the engine's steps, or between the arrivals of the two
 * tokens where both are known, whichever is longer: gap + delivery of this one - delivery of the one before. The time to a first
 * token is that of its request; where it is unknown nothing is beyond a limit.
 */
public final class SloQueries {
    private static final List<String> DELIVERY = List.of(
            "delivery_nanos",
            "delivery_output_nanos",
            "delivery_gateway_nanos",
            "delivery_network_nanos",
            "delivery_client_nanos",
            "delivery_unexplained_nanos");
    private static final String KEY = "request_id, lifetime, sequence_index";
    private static final int OWN_COLUMNS = 10;

    private final ResultArchive archive;

    /** Questions to an archive. */
    public SloQueries(ResultArchive archive) {
        this.archive = archive;
    }

    /**
     * What is beyond a limit, in the order of findings: from, undated last; engine; request; lifetime; sequence; gaps before first
     * tokens; then by token.
     *
     * @param bySeverity true puts the critical ones first
     */
    public RowCursor<SloRow> asFindings(SloFilter filter, boolean bySeverity) {
        List<Object> values = new ArrayList<>();
        String rows = rows(filter, values);
        return archive.query(
                rows + " order by " + (bySeverity ? "b.critical desc, " : "") + "b.from_nanos nulls last,"
                        + " b.engine nulls first, b.request_id, b.lifetime, b.sequence_index, b.is_first, b.token_index",
                values,
                SloQueries::row);
    }

    /** What is beyond a limit in the order of {@link ResultArchive#tokens}, of one sequence index where it is given. */
    public RowCursor<SloRow> bySequence(SloFilter filter, @Nullable Integer sequenceIndex) {
        List<Object> values = new ArrayList<>();
        String rows = rows(filter, values);
        if (sequenceIndex != null) {
            rows += " where b.sequence_index = ?";
            values.add(sequenceIndex);
        }
        return archive.query(
                rows
                        + " order by b.sequence_from nulls last, b.request_id, b.lifetime, b.sequence_index, b.token_index,"
                        + " b.is_first desc",
                values,
                SloQueries::row);
    }

    /** How many sequences have a known time to their first token: an unknown one is no breach, and not held either. */
    public long knownFirstTokens() {
        return archive.all(
                        "select count(*) from request_analysis r where r.ttft_nanos is not null",
                        List.of(),
                        row -> row.getLong(1))
                .get(0);
    }

    /** How many gaps are known, first tokens left out. */
    public long knownGaps() {
        return archive.all(
                        "select count(*) from token_analysis t where t.token_index > 0 and t.gap_nanos is not null",
                        List.of(),
                        row -> row.getLong(1))
                .get(0);
    }

    private static String rows(SloFilter filter, List<Object> values) {
        List<String> kinds = new ArrayList<>();
        if (filter.ttftNanos() != null) {
            kinds.add("select r.request_id, r.lifetime, r.sequence_index, 0 as token_index, true as is_first,"
                    + " r.ttft_nanos as measured, true as is_delivered, "
                    + String.join(
                            ", ",
                            DELIVERY.stream()
                                    .map(column -> "null::bigint as before_" + column)
                                    .toList())
                    + " from request_analysis r where r.ttft_nanos > ?");
            values.add(filter.ttftNanos());
        }
        if (filter.gapNanos() != null) {
            kinds.add(
                    "select g.request_id, g.lifetime, g.sequence_index, g.token_index, false as is_first,"
                            + " greatest(g.gap_nanos, coalesce(g.arrival_gap, g.gap_nanos)) as measured,"
                            + " (g.gap_basis = 'delivered' or coalesce(g.arrival_gap > g.gap_nanos, false)) as is_delivered, "
                            + String.join(
                                    ", ",
                                    DELIVERY.stream()
                                            .map(column -> "g.before_" + column)
                                            .toList())
                            + " from (select t.request_id, t.lifetime, t.sequence_index, t.token_index, t.gap_nanos, t.gap_basis,"
                            + " case when lag(t.token_index) over w = t.token_index - 1"
                            + " then t.gap_nanos + t.delivery_nanos - lag(t.delivery_nanos) over w end as arrival_gap, "
                            + String.join(
                                    ", ",
                                    DELIVERY.stream()
                                            .map(column -> "lag(t." + column + ") over w as before_" + column)
                                            .toList())
                            + " from token_analysis t window w as (partition by t.request_id, t.lifetime, t.sequence_index"
                            + " order by t.token_index)) g where g.token_index > 0 and greatest(g.gap_nanos, coalesce(g.arrival_gap, g.gap_nanos)) > ?");
            values.add(filter.gapNanos());
        }
        if (kinds.isEmpty()) {
            throw new IllegalArgumentException("Cannot ask for what is beyond a limit without one");
        }
        String beyond = String.join(" union all ", kinds);
        String ended = "case when k.is_delivered then coalesce(t.delivered_epoch_nanos, t.produced_epoch_nanos)"
                + " else t.produced_epoch_nanos end";
        String from = "coalesce(" + ended + " - k.measured, case when k.is_first then r.from_epoch_nanos end)";
        long criticalTtft = times(filter.ttftNanos(), filter.criticalFactor());
        long criticalGap = times(filter.gapNanos(), filter.criticalFactor());
        StringBuilder where = new StringBuilder("true");
        FindingFilter findings = filter.findings();
        List<Object> conditions = new ArrayList<>();
        if (findings.request() != null) {
            where.append(" and (r.request_id = ? or list_contains(r.aliases, ?))");
            conditions.add(findings.request());
            conditions.add(findings.request());
        }
        if (findings.sinceEpochNanos() != null) {
            where.append(" and coalesce(")
                    .append(ended)
                    .append(", ")
                    .append(from)
                    .append(") >= ?");
            conditions.add(findings.sinceEpochNanos());
        }
        String critical = "k.measured >= (case when k.is_first then " + criticalTtft + " else " + criticalGap + " end)";
        if (findings.atLeast() == Severity.CRITICAL) {
            where.append(" and ").append(critical);
        }
        values.addAll(conditions);
        return "select b.* from (select k.request_id, k.lifetime, k.sequence_index,"
                + " coalesce(t.engine_id, r.engines[1]) as engine, k.is_first, k.measured, k.is_delivered, " + from
                + " as from_nanos, " + ended
                + " as ended_nanos, coalesce(t.missing_layers, r.missing_layers) as missing, "
                + String.join(
                        ", ",
                        DELIVERY.stream().map(column -> "k.before_" + column).toList()) + ", "
                + ResultTable.TOKENS
                        .selectList("t")
                        .replace("t.request_id", "t.request_id as token_request_id")
                        .replace("t.lifetime", "t.lifetime as token_lifetime")
                        .replace("t.sequence_index", "t.sequence_index as token_sequence_index")
                        .replace("t.token_index", "k.token_index")
                + ", " + critical + " as critical, r.from_epoch_nanos as sequence_from"
                + " from (" + beyond + ") k join request_analysis r using (" + KEY + ")"
                + " left join token_analysis t on t.request_id = k.request_id and t.lifetime = k.lifetime"
                + " and t.sequence_index = k.sequence_index and t.token_index = k.token_index where " + where + ") b";
    }

    private static long times(@Nullable Long limitNanos, int factor) {
        return limitNanos == null ? Long.MAX_VALUE : Math.multiplyExact(limitNanos.longValue(), (long) factor);
    }

    private static SloRow row(ResultSet row) throws SQLException {
        List<@Nullable Long> before = new ArrayList<>();
        for (int column = 0; column < DELIVERY.size(); column++) {
            before.add(ResultArchive.optionalLong(row, OWN_COLUMNS + 1 + column));
        }
        int first = OWN_COLUMNS + DELIVERY.size();
        TokenAnalysis token = row.getObject(first + 1) == null ? null : ResultTable.TOKENS.row(row, first);
        java.sql.Array missing = row.getArray(10);
        List<String> layers = new ArrayList<>();
        if (missing != null) {
            for (Object layer : (Object[]) missing.getArray()) {
                layers.add(String.valueOf(layer));
            }
        }
        return new SloRow(
                new SequenceKey(row.getString(1), row.getInt(2), row.getInt(3)),
                row.getString(4),
                row.getBoolean(5),
                row.getLong(6),
                row.getBoolean(7),
                ResultArchive.optionalLong(row, 8),
                ResultArchive.optionalLong(row, 9),
                layers,
                token,
                before);
    }
}
