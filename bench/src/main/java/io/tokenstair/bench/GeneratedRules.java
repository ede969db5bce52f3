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
    /** What their ids begin with; their numbers follow. */
    static final String ID_PREFIX = "generated-";

    private GeneratedRules() {}

    /** Some rules, the same for the same number. */
    static List<BoundRule> rules(int count) {
        List<BoundRule> rules = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rules.add(bound(text(i, 1)));
        }
        return rules;
    }

    /** The text of one of them in one of its versions, which differ in a condition. */
    static String text(int number, int version) {
        MilestoneKind[] kinds = MilestoneKind.values();
        boolean ofRequest = number % 2 == 0;
        return """
                id: %s
                version: %d
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
                        ID_PREFIX + number,
                        version,
                        ofRequest ? "PREEMPTION" : "KV_PRESSURE",
                        ofRequest ? "request" : "engine",
                        kinds[number % kinds.length],
                        kinds[(number / 2 + 1) % kinds.length],
                        64 * number + version,
                        10 + number,
                        kinds[(number / 3 + 2) % kinds.length],
                        5 + number,
                        number % 3 == 0,
                        kinds[(number + 3) % kinds.length],
                        10 + number);
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
