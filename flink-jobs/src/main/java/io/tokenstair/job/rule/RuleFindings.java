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
import org.jspecify.annotations.Nullable;

/** Writes a rule's match down as a finding. */
final class RuleFindings {
    private RuleFindings() {}

    /**
     * The finding of a match.
     *
     * @param rule the rule
     * @param byStage what each of its stages took, in stage order
     */
    static Finding of(BoundRule rule, List<List<Milestone>> byStage) {
        List<Milestone> matched = byStage.stream().flatMap(List::stream).toList();
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
                rule.id(),
                rule.revision(),
                rule.cause(byStage).name(),
                rule.severity().severityName(),
                first.engineId(),
                ofRequest ? first.requestId() : null,
                ofRequest ? first.lifetime() : null,
                ofRequest ? first.sequenceIndex() : null,
                first.epochNanos(),
                last.epochNanos(),
                null,
                ofRequest ? first.tokenIndex() : null,
                ofRequest ? last.tokenIndex() : null,
                culprit(matched, ofRequest),
                Confidence.ESTABLISHED.levelName(),
                Phrase.WHY_STAGES_MATCHED.say(),
                evidence,
                List.of(),
                List.of(),
                List.of(),
                rule.narrative(byStage)));
    }

    /** Who did it, as the last stage that knows says; where none does, of an engine or device the request that the match begins with. */
    private static @Nullable String culprit(List<Milestone> matched, boolean ofRequest) {
        for (int i = matched.size() - 1; i >= 0; i--) {
            Milestone milestone = matched.get(i);
            if (milestone.culpritRequestId() != null || milestone.deviceId() != null) {
                return milestone.culpritRequestId() != null ? milestone.culpritRequestId() : milestone.deviceId();
            }
        }
        return ofRequest ? null : matched.get(0).requestId();
    }
}
