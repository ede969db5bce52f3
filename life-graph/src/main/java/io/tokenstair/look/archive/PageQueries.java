package io.tokenstair.look.archive;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The bounded questions of the life graph page. Safe for several threads. */
public final class PageQueries {
    /** Most sequences of one answer. */
    public static final int MAX_SEQUENCES = 500;
    /** Most places of one strip. */
    public static final int MAX_PLACES = 8_000;
    /** Most neighbours of one step. */
    public static final int MAX_NEIGHBOURS = 256;

    private static final String SAME_KEY = "t.request_id = ? and t.lifetime = ? and t.sequence_index = ?";

    private final ResultArchive archive;

    /** Questions to an archive; sums up its sequences once, which takes a scan. */
    public PageQueries(ResultArchive archive) {
        this.archive = archive;
        archive.keepSummaries();
    }

    /**
     * Sequences whose id or an alias contains the text, ignoring case.
     *
     * @param text empty for all
     * @param limit held to {@link #MAX_SEQUENCES}
     */
    public SequencePage search(String text, SequenceOrder order, int limit, long offset) {
        String where = " from sequence_summary s where (? = '' or contains(lower(s.request_id), lower(?))"
                + " or contains(lower(array_to_string(s.aliases, chr(10))), lower(?)))";
        List<Object> values = List.of(text, text, text);
        long total = archive.all("select count(*)" + where, values, row -> row.getLong(1))
                .get(0);
        List<Object> paged = new ArrayList<>(values);
        paged.add(Math.min(limit, MAX_SEQUENCES));
        paged.add(offset);
        return new SequencePage(
                total,
                archive.all(
                        "select s.*" + where + " order by " + order.sql() + " limit ? offset ?",
                        paged,
                        ResultArchive::summaryOf));
    }

    /** The first sequence that the id or alias and, where given, the sequence and lifetime name. */
    public Optional<RequestAnalysis> sequence(RequestFilter filter, int lifetime) {
        try (RowCursor<RequestAnalysis> requests = archive.requests(filter)) {
            while (requests.hasNext()) {
                RequestAnalysis request = requests.next();
                if (lifetime < 0 || request.lifetime() == lifetime) {
                    return Optional.of(request);
                }
            }
        }
        return Optional.empty();
    }

    /**
     * The tokens of a sequence from one index to another (exclusive), as at most {@code places} places: neighbours share one, and the
     * worst of them stands for all.
     */
    public List<StripPlace> strip(SequenceKey key, int from, int to, int places) {
        int limit = Math.max(1, Math.min(places, MAX_PLACES));
        long span = Math.max(1, (long) to - from);
        long perPlace = (span + limit - 1) / limit;
        String sql =
                "select - worst.place, tokens, gap_nanos, worst.expected, worst.reference, worst.state, worst.cause,"
                        + " worst.confidence, layer_missing, delivered_late from (select"
                        + " max({state_rank: " + ResultArchive.STATE_RANK + ", gap: coalesce(t.gap_nanos, -1),"
                        + " place: - t.token_index, expected: t.expected_nanos, reference: t.reference_nanos, state: t.state,"
                        + " cause: t.cause, confidence: t.confidence}) as worst, cast(count(*) as integer) as tokens,"
                        + " max(t.gap_nanos) as gap_nanos, bool_or(len(t.missing_layers) > 0) as layer_missing,"
                        + " bool_or(t.delivery_cause is not null) as delivered_late, (t.token_index - ?) // ? as place"
                        + " from token_analysis t where " + SAME_KEY + " and t.token_index >= ? and t.token_index < ?"
                        + " group by place) order by place";
        return archive.all(
                sql,
                List.of(from, perPlace, key.requestId(), key.lifetime(), key.sequenceIndex(), from, to),
                row -> new StripPlace(
                        row.getInt(1),
                        row.getInt(2),
                        ResultArchive.optionalLong(row, 3),
                        ResultArchive.optionalLong(row, 4),
                        ResultArchive.optionalLong(row, 5),
                        row.getString(6),
                        row.getString(7),
                        row.getString(8),
                        row.getBoolean(9),
                        row.getBoolean(10)));
    }

    /** One token. */
    public Optional<TokenAnalysis> token(SequenceKey key, int tokenIndex) {
        return archive
                .all(
                        "select " + ResultTable.TOKENS.selectList("t") + " from token_analysis t where " + SAME_KEY
                                + " and t.token_index = ? limit 1",
                        List.of(key.requestId(), key.lifetime(), key.sequenceIndex(), tokenIndex),
                        ResultTable.TOKENS::row)
                .stream()
                .findFirst();
    }

    /** The tokens that a step made, one per sequence, by request id; at most {@link #MAX_NEIGHBOURS}. */
    public List<SharedStep> madeBy(String engineId, long stepId) {
        return archive.all(
                "select t.request_id, t.lifetime, t.sequence_index, min(t.token_index),"
                        + " max({state_rank: " + ResultArchive.STATE_RANK + ", state: t.state}).state"
                        + " from token_analysis t where t.engine_id = ? and t.step_id = ?"
                        + " group by t.request_id, t.lifetime, t.sequence_index"
                        + " order by t.request_id, t.lifetime, t.sequence_index limit " + MAX_NEIGHBOURS,
                List.of(engineId, stepId),
                row -> new SharedStep(
                        new SequenceKey(row.getString(1), row.getInt(2), row.getInt(3)),
                        row.getInt(4),
                        row.getString(5)));
    }
}
