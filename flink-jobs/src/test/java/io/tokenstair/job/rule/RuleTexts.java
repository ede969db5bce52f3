package io.tokenstair.job.rule;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Small rules, their revisions as events, and milestones for them. */
final class RuleTexts {
    private RuleTexts() {}

    /** A rule of an engine or request: a preemption, then a recomputation less than a second later whose context is above a size. */
    static String text(String id, int version, String key, int contextTokens) {
        return "id: " + id + "\nversion: " + version
                + "\ndescription: d\nseverity: info\ncause: "
                + (key.equals("engine") ? "KV_PRESSURE" : "PREEMPTION") + "\nkey: " + key
                + "\nstages:\n  - name: gone\n    kind: PREEMPTED\n  - name: back\n    kind: RECOMPUTED\n    where: contextTokens > "
                + contextTokens + "\nwithin: 1s\nfinding: It came back.\n";
    }

    static BoundRule bound(String text) {
        return RuleBinder.bind(RuleParser.parse("rule.yaml", text));
    }

    /** A revision in force from an instant. */
    static ScheduledRule scheduled(String text, long index, long effectiveMillis) {
        BoundRule rule = bound(text);
        return new ScheduledRule(rule.id(), rule.revision(), index, effectiveMillis, rule.key(), "rule.yaml", text);
    }

    /** The end of a rule from an instant on. */
    static ScheduledRule retired(String id, long index, long effectiveMillis) {
        return new ScheduledRule(id, 0, index, effectiveMillis, null, "rule.yaml", null);
    }

    /** A revision as its sender says it. */
    static LoggedEvent event(
            long sequence, String id, String action, @Nullable String text, @Nullable Long effectiveFromMillis) {
        return new LoggedEvent(
                new EventHeader("apply", 1, sequence, "none", null, 1_000 + sequence),
                new RuleRevised(id, null, action, text, effectiveFromMillis, null, null, "rule.yaml"));
    }

    static RawRecord record(LoggedEvent event) {
        return RawRecord.of(EventCodec.encode(event), "control", event.header().sequence());
    }

    static Milestone milestone(
            MilestoneKind kind, long millis, String engineId, @Nullable String requestId, int contextTokens) {
        return new Milestone(
                kind,
                millis,
                millis * 1_000_000,
                millis * 1_000_000,
                engineId,
                requestId,
                requestId == null ? null : Integer.valueOf(0),
                requestId == null ? null : Integer.valueOf(0),
                1,
                millis,
                contextTokens,
                null,
                null,
                null,
                null,
                null,
                null,
                List.of("c/1/" + millis));
    }
}
