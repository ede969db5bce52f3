package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Cause;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Which built-in rules match on which case: the half of docs/rules-matrix.md that is about cases. */
final class RuleTable {
    /** The cause of each rule as it has it: one that takes its milestone's has no name that a case could have. */
    private static final Map<String, String> CAUSE_OF_RULE = RuleLibrary.builtIn().rules().stream()
            .collect(Collectors.toMap(BoundRule::id, BoundRule::causeText, (one, other) -> one, TreeMap::new));

    /** A preempted request waits in the queue again. */
    private static final Map<String, String> ALSO = Map.of("priority-inversion", Cause.PREEMPTED_THEN_OVERTAKEN.name());

    private RuleTable() {}

    /** Whether a finding's rule is one of the built-in rules and no detector. */
    static boolean isRule(String rule) {
        return CAUSE_OF_RULE.containsKey(rule);
    }

    /** Each rule that matches on a case has a cause that detectors name there too, and the page says which rules match. */
    static void check(List<String> names, CaseResults results) throws IOException {
        StringBuilder table = new StringBuilder();
        for (String name : names) {
            CaseResults of = results.of(name);
            List<Finding> told = of.findings().stream()
                    .filter(finding -> !CAUSE_OF_RULE.containsKey(finding.rule()))
                    .toList();
            Set<String> causes = new CaseResults(name, of.tokens(), of.requests(), told).causes();
            Set<String> matched = new TreeSet<>();
            for (Finding finding : of.findings()) {
                if (isRule(finding.rule())) {
                    matched.add(finding.rule());
                    assertThat(causes)
                            .as("%s matches on %s", finding.rule(), name)
                            .containsAnyOf(finding.cause(), ALSO.getOrDefault(finding.rule(), finding.cause()));
                }
            }
            Set<String> silent = new TreeSet<>();
            CAUSE_OF_RULE.forEach((rule, cause) -> {
                if (!matched.contains(rule) && causes.contains(cause)) {
                    silent.add(rule);
                }
            });
            table.append("| %s | %s | %s |%n".formatted(name, String.join(", ", matched), String.join(", ", silent)));
        }
        assertThat(Files.readString(Path.of("..", "docs", "rules-matrix.md"))).contains(table);
    }
}
