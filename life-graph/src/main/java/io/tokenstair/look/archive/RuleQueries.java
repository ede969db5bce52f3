package io.tokenstair.look.archive;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.milestone.Milestone;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the commands about rules ask an archive: its milestones, the rules a job took, and what became of their matches. */
public final class RuleQueries implements AutoCloseable {
    private static final String MILESTONES = "select " + ResultTable.MILESTONES.selectList("m") + " from milestone m ";

    private final ResultArchive archive;

    private RuleQueries(ResultArchive archive) {
        this.archive = archive;
    }

    /**
     * Opens an archive; one that a job is writing to shows what is finished.
     *
     * @throws UnusableInputException when the folder is absent, holds no results, or its files cannot be read
     */
    public static RuleQueries open(Path archive) {
        return new RuleQueries(ResultArchive.open(archive, ResultTable.OF_RULES));
    }

    /** The archive itself. */
    public ResultArchive archive() {
        return archive;
    }

    /** Milestones by event time; inside a millisecond in no order. */
    public RowCursor<Milestone> milestones() {
        return archive.query(MILESTONES + "order by m.coarse_epoch_millis", List.of(), ResultTable.MILESTONES::row);
    }

    /** The milestones between two instants, both included, by event time. */
    public List<Milestone> milestonesBetween(long fromEpochMillis, long toEpochMillis) {
        return archive.all(
                MILESTONES + "where m.coarse_epoch_millis between ? and ? order by m.coarse_epoch_millis",
                List.of(fromEpochMillis, toEpochMillis),
                ResultTable.MILESTONES::row);
    }

    /** The milestones of a request, by event time. */
    public List<Milestone> milestonesOf(String requestId) {
        return archive.all(
                MILESTONES + "where m.request_id = ? order by m.coarse_epoch_millis",
                List.of(requestId),
                ResultTable.MILESTONES::row);
    }

    /** Event time of the newest milestone, in ms; absent where there is none. */
    public @Nullable Long newestMilestoneMillis() {
        return archive.all("select max(m.coarse_epoch_millis) from milestone m", List.of(), row ->
                        new @Nullable Long[] {ResultArchive.optionalLong(row, 1)})
                .get(0)[0];
    }

    /** The sequences of a request, by its id or an alias. */
    public List<RequestAnalysis> sequences(String request) {
        List<RequestAnalysis> sequences = new ArrayList<>();
        try (RowCursor<RequestAnalysis> cursor = archive.requests(new RequestFilter(request, null, null))) {
            while (cursor.hasNext()) {
                sequences.add(cursor.next());
            }
        }
        return sequences;
    }

    /** The revisions a job took, in the order it took them; empty where the archive holds none. */
    public List<RuleRevised> revisions() {
        return archive.all(
                "select distinct " + ResultTable.RULES.selectList("r")
                        + " from rule_revised r where r.schedule_index is not null order by r.schedule_index",
                List.of(),
                ResultTable.RULES::row);
    }

    /** What each revision of a rule did minute by minute, in no order; empty where the archive does not say. */
    public RowCursor<RuleMinute> activity() {
        return archive.query(
                "select " + ResultTable.RULE_MINUTES.selectList("r") + " from rule_activity r",
                List.of(),
                ResultTable.RULE_MINUTES::row);
    }

    /** Revisions of rules that a job refused, by the part of the log and their place there; at most so many, the newest. */
    public List<RefusedRevision> refused(int most) {
        List<RefusedRevision> newestFirst = archive.all(
                "select distinct " + ResultTable.REFUSED.selectList("r")
                        + " from rejected r where r.collector_id like 'rules/%'"
                        + " order by r.sequence desc, r.collector_id desc, r.reason limit " + most,
                List.of(),
                ResultTable.REFUSED::row);
        List<RefusedRevision> refused = new ArrayList<>(newestFirst);
        Collections.reverse(refused);
        return List.copyOf(refused);
    }

    /** How many there are in all. */
    public long refusedCount() {
        return archive.all(
                        "select count(*) from (select distinct r.collector_id, r.sequence from rejected r"
                                + " where r.collector_id like 'rules/%')",
                        List.of(), row -> row.getLong(1))
                .get(0);
    }

    @Override
    public void close() {
        archive.close();
    }
}
