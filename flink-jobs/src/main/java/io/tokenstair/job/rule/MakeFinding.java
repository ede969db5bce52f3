package io.tokenstair.job.rule;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Confidence;
import io.tokenstair.job.finding.Findings;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.MapFunction;

/** Writes a rule's match as a finding. No state. */
public final class MakeFinding implements MapFunction<RuleMatch, Finding> {
    private static final long serialVersionUID = 1L;

    private final Map<String, BoundRule> rules = new TreeMap<>();

    /** Writes findings of these rules. */
    public MakeFinding(List<BoundRule> rules) {
        for (BoundRule rule : rules) {
            this.rules.put(rule.id(), rule);
        }
    }

    @Override
    public Finding map(RuleMatch match) {
        BoundRule rule = rules.get(match.ruleId());
        if (rule == null) {
            throw new IllegalStateException("Cannot find the rule of a match: " + match.ruleId());
        }
        List<Milestone> matched = match.taken().milestones();
        Milestone first = matched.get(0);
        Milestone last = matched.get(matched.size() - 1);
        List<String> evidence = new ArrayList<>();
        for (Milestone milestone : matched) {
            for (String id : milestone.evidence()) {
                if (!evidence.contains(id)) {
                    evidence.add(id);
                }
            }
        }
        boolean ofRequest = rule.key() == RuleKey.REQUEST;
        return Findings.identified(new Finding(
                "",
                match.ruleId(),
                match.ruleRevision(),
                match.cause().name(),
                match.severity().severityName(),
                first.engineId(),
                ofRequest ? first.requestId() : null,
                ofRequest ? first.lifetime() : null,
                ofRequest ? first.sequenceIndex() : null,
                first.epochNanos(),
                last.epochNanos(),
                null,
                ofRequest ? first.tokenIndex() : null,
                ofRequest ? last.tokenIndex() : null,
                ofRequest ? null : first.requestId(),
                Confidence.ESTABLISHED.levelName(),
                Phrase.WHY_STAGES_MATCHED.say(),
                evidence,
                List.of(),
                List.of(),
                List.of(),
                rule.narrative(match.matched())));
    }
}
