package io.tokenstair.job.rule;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.rule.bound.BoundRule;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.MapFunction;

/** Writes a match that flink-cep found as a finding. No state. */
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
        return RuleFindings.of(rule, match.matched());
    }
}
