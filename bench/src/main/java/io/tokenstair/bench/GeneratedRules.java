package io.tokenstair.bench;

import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Rules as users write them: two or three stages of differing kinds, with conditions, half of them for requests, half for engines. */
final class GeneratedRules {
    private GeneratedRules() {}

    /** Some rules, the same for the same number. */
    static List<BoundRule> rules(int count) {
        MilestoneKind[] kinds = MilestoneKind.values();
        List<BoundRule> rules = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean ofRequest = i % 2 == 0;
            rules.add(bound("""
                    id: generated-%d
                    version: 1
                    description: A rule of a user, made up.
                    severity: info
                    cause: %s
                    key: %s
                    stages:
                      - {name: first, kind: %s}
                      - name: second
                        kind: %s
                        where: contextTokens > %d || gap > %dms
                      - name: third
                        kind: %s
                        where: engineTime - first.engineTime < %ds && requestId == second.requestId
                        optional: %s
                      - {name: last, kind: %s}
                    within: %ds
                    finding: "Request {last.requestId} met what was made up."
                    """.formatted(
                            i,
                            ofRequest ? "PREEMPTION" : "KV_PRESSURE",
                            ofRequest ? "request" : "engine",
                            kinds[i % kinds.length],
                            kinds[(i / 2 + 1) % kinds.length],
                            64 * i,
                            10 + i,
                            kinds[(i / 3 + 2) % kinds.length],
                            5 + i,
                            i % 3 == 0,
                            kinds[(i + 3) % kinds.length],
                            10 + i)));
        }
        return rules;
    }

    /** A rule that opens a match at every milestone of an engine, with many ways to go on at each, and closes none for a day. */
    static BoundRule explosive() {
        String any = Arrays.stream(MilestoneKind.values())
                .map(kind -> "{kind: " + kind + "}")
                .collect(Collectors.joining(", ", "[", "]"));
        return bound("""
                id: explosive
                version: 1
                description: As bad as a rule can be.
                severity: info
                cause: KV_PRESSURE
                key: engine
                stages:
                  - name: first
                    anyOf: %1$s
                  - name: many
                    anyOf: %1$s
                    times: 1..63
                  - name: more
                    anyOf: %1$s
                    times: 1..63
                    optional: true
                  - name: never
                    kind: FINISHED
                    where: requestId == "never" && tokenIndex > many.tokenIndex
                within: 24h
                finding: It happened.
                """.formatted(any));
    }

    private static BoundRule bound(String text) {
        return RuleBinder.bind(RuleParser.parse("generated.yaml", text));
    }
}
