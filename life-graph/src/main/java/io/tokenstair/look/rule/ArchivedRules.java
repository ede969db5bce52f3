package io.tokenstair.look.rule;

import io.tokenstair.event.RuleRevised;
import io.tokenstair.look.archive.RuleQueries;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.rule.syntax.RuleParser;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The rules that were in force over an archive: the revisions its job took, each from its instant; the built-in rules of this version
 * where the archive says nothing.
 *
 * @param revisions in the order the job took them; retired ones without a rule
 * @param archived true where the archive says them
 * @param unreadable why some cannot be read by this version
 */
record ArchivedRules(List<Revision> revisions, boolean archived, List<String> unreadable) {
    /**
     * A revision.
     *
     * @param ruleId the rule
     * @param rule the rule; absent where it is retired
     * @param effectiveMillis event time from which it holds, in ms; 0 for the beginning
     * @param source where it came from
     */
    record Revision(String ruleId, @Nullable BoundRule rule, long effectiveMillis, String source) {
        boolean holdsAt(long millis) {
            return effectiveMillis <= 0 || effectiveMillis <= millis;
        }
    }

    static ArchivedRules of(RuleQueries queries) {
        List<RuleRevised> archived = queries.revisions();
        if (archived.isEmpty()) {
            return new ArchivedRules(
                    RuleLibrary.builtIn().rules().stream()
                            .map(rule -> new Revision(rule.id(), rule, 0, "built-in"))
                            .toList(),
                    false,
                    List.of());
        }
        List<Revision> revisions = new ArrayList<>();
        List<String> unreadable = new ArrayList<>();
        for (RuleRevised revised : archived) {
            Long effective = revised.effectiveMillis();
            long effectiveMillis = effective == null ? 0 : effective;
            String text = revised.text();
            if (text == null) {
                revisions.add(new Revision(revised.ruleId(), null, effectiveMillis, revised.source()));
                continue;
            }
            try {
                BoundRule rule = RuleBinder.bind(RuleParser.parse(revised.ruleId() + ".yaml", text));
                revisions.add(new Revision(revised.ruleId(), rule, effectiveMillis, revised.source()));
            } catch (RuleException refused) {
                unreadable.add("Cannot read a revision of rule " + revised.ruleId() + " in the archive: "
                        + String.valueOf(refused.getMessage())
                                .lines()
                                .findFirst()
                                .orElse(""));
            }
        }
        return new ArchivedRules(List.copyOf(revisions), true, List.copyOf(unreadable));
    }

    /** The revisions in force at an event time, by rule: of those that hold, the one taken last. */
    List<Revision> at(long millis) {
        Map<String, Revision> byId = new TreeMap<>();
        for (Revision revision : revisions) {
            if (revision.holdsAt(millis)) {
                byId.put(revision.ruleId(), revision);
            }
        }
        return byId.values().stream()
                .filter(revision -> revision.rule() != null)
                .toList();
    }

    /** The rules in force at an event time, by id. */
    List<BoundRule> rulesAt(long millis) {
        List<BoundRule> rules = new ArrayList<>();
        for (Revision revision : at(millis)) {
            BoundRule rule = revision.rule();
            if (rule != null) {
                rules.add(rule);
            }
        }
        return List.copyOf(rules);
    }

    /** Revisions that hold only after an event time. */
    List<Revision> after(long millis) {
        return revisions.stream().filter(revision -> !revision.holdsAt(millis)).toList();
    }

    /** Says what could not be read, and where the rules are from if not from the archive. */
    void tellDoubts(PrintWriter errors) {
        unreadable.forEach(errors::println);
        if (!archived) {
            errors.println("The archive does not say which rules its job ran with: these are the built-in ones of this"
                    + " version.");
        }
        errors.flush();
    }
}
