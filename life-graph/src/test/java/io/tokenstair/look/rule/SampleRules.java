package io.tokenstair.look.rule;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.look.SampleArchive;
import io.tokenstair.look.archive.ResultTableFixture;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The sample archive with milestones and, where wanted, the rules its job ran with. */
final class SampleRules {
    static final long START_MILLIS = SampleArchive.START_EPOCH_NANOS / 1_000_000;

    private SampleRules() {}

    /** Writes results and milestones: chat-2 is preempted and comes back after 700 ms, chat-1 after 40 ms, doc-1 never. */
    static void write(Path directory) {
        SampleArchive.write(directory);
        List<Milestone> milestones = new ArrayList<>();
        milestones.add(milestone(MilestoneKind.PREEMPTED, 1_000, "chat-2", 40, null));
        milestones.add(milestone(MilestoneKind.PREEMPTED, 1_100, "chat-1", 45, null));
        milestones.add(milestone(MilestoneKind.RECOMPUTED, 1_140, "chat-1", 46, 40L));
        milestones.add(milestone(MilestoneKind.RECOMPUTED, 1_700, "chat-2", 90, 700L));
        milestones.add(milestone(MilestoneKind.PREEMPTED, 2_000, "doc-1", 95, null));
        milestones.add(milestone(MilestoneKind.CONTEXT_EXPANDED, 300_000, "share-5", 99, null));
        ResultTableFixture.write(directory, ResultTables.MILESTONE, START_MILLIS, milestones);
    }

    private static Milestone milestone(
            MilestoneKind kind, long afterMillis, String requestId, long stepId, @Nullable Long gapMillis) {
        return new Milestone(
                kind,
                START_MILLIS + afterMillis,
                SampleArchive.START_EPOCH_NANOS + afterMillis * 1_000_000,
                afterMillis * 1_000_000,
                SampleArchive.ENGINE,
                requestId,
                0,
                0,
                12,
                stepId,
                null,
                gapMillis == null ? null : Long.valueOf(gapMillis * 1_000_000),
                null,
                null,
                null,
                null,
                null,
                List.of("engine/1/" + stepId));
    }

    /** Writes revisions a job took: texts from the beginning, then those of later instants, a null text retiring the rule. */
    static void revisions(Path directory, List<RuleRevised> revisions) {
        ResultTableFixture.write(directory, TableSchema.of("rule_revised", RuleRevised.class), START_MILLIS, revisions);
    }

    static RuleRevised revision(int index, int version, @Nullable String text, long effectiveMillis) {
        return new RuleRevised(
                "slow-return",
                version,
                text == null ? RuleRevised.RETIRE : RuleRevised.SET,
                text,
                null,
                effectiveMillis,
                (long) index,
                "slow-return.yaml");
    }

    static void activity(Path directory, List<RuleMinute> minutes) {
        ResultTableFixture.write(directory, ResultTables.RULE_ACTIVITY, START_MILLIS, minutes);
    }

    /** A rule that finds a request whose token after a preemption came later than this. */
    static String text(int version, String least) {
        return """
                id: slow-return
                version: %d
                description: >
                  A preempted request
                  took long.
                severity: warning
                cause: PREEMPTION
                key: request
                stages:
                  - {name: preempted, kind: PREEMPTED}
                  - {name: back, kind: RECOMPUTED, where: gap > %s}
                within: 60s
                finding: "Request {back.requestId} waited {back.gap}."
                examples:
                  - name: a long wait
                    given:
                      - {kind: PREEMPTED, at: 0ms, requestId: a, stepId: 40}
                      - {kind: RECOMPUTED, at: 700ms, requestId: a, stepId: 90, tokenIndex: 12, gap: 700ms}
                    expect: match
                  - name: a short wait
                    given:
                      - {kind: PREEMPTED, at: 0ms, requestId: a, stepId: 40}
                      - {kind: RECOMPUTED, at: 40ms, requestId: a, stepId: 43, tokenIndex: 12, gap: 40ms}
                    expect: no-match
                """.formatted(version, least);
    }
}
