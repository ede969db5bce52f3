package io.tokenstair.look.rule;

import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.archive.RefusedRevision;
import io.tokenstair.look.archive.RuleQueries;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.look.text.Quantity;
import io.tokenstair.look.text.Terminal;
import io.tokenstair.rule.bound.BoundRule;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The rules that a job has in force, from when, and what became of their matches, as its archive says. */
final class RunningRules {
    private static final int SHOWN_REFUSED = 10;

    private final CommandOutput output;

    RunningRules(CommandOutput output) {
        this.output = output;
    }

    /**
     * Prints them.
     *
     * @throws UnusableInputException where the archive does not say
     */
    void print(Path directory, boolean asJson, PrintWriter errors) {
        try (RuleQueries queries = RuleQueries.open(directory)) {
            ArchivedRules rules = ArchivedRules.of(queries);
            if (!rules.archived()) {
                throw new UnusableInputException("Cannot tell the rules of archive " + directory
                        + ": it has no table rule_revised, which only tokenstair run writes. What a replay of imported"
                        + " files found: tokenstair rules explain --archive " + directory);
            }
            rules.unreadable().forEach(errors::println);
            errors.flush();
            Long newest = queries.newestMilestoneMillis();
            long now = newest == null ? Long.MIN_VALUE : newest;
            List<ArchivedRules.Revision> shown = new ArrayList<>(rules.at(now));
            rules.after(now).stream()
                    .filter(revision -> revision.rule() != null)
                    .forEach(shown::add);
            List<RuleFunnel> funnels = RuleFunnel.archived(queries, rules);
            List<RefusedRevision> refused = queries.refused(SHOWN_REFUSED);
            long more = queries.refusedCount() - refused.size();
            if (asJson) {
                json(shown, funnels, refused);
            } else {
                text(shown, funnels, refused, more);
            }
        }
    }

    private void json(List<ArchivedRules.Revision> shown, List<RuleFunnel> funnels, List<RefusedRevision> refused) {
        output.bytes(out -> {
            try (JsonWriter json = new JsonWriter(out, false)) {
                for (ArchivedRules.Revision revision : shown) {
                    BoundRule rule = Objects.requireNonNull(revision.rule());
                    json.beginObject();
                    RuleJson.fields(json, rule);
                    json.number("effectiveMillis", Long.valueOf(revision.effectiveMillis()));
                    json.text("source", revision.source());
                    RuleFunnel funnel = funnel(funnels, rule);
                    if (funnel != null) {
                        FunnelForm.counts(json, funnel);
                    }
                    json.endObject();
                    json.endLine();
                }
                for (RefusedRevision each : refused) {
                    json.beginObject();
                    json.text("refused", each.reason());
                    json.text("source", each.source());
                    json.text("excerpt", each.excerpt());
                    json.endObject();
                    json.endLine();
                }
            }
        });
    }

    private void text(
            List<ArchivedRules.Revision> shown, List<RuleFunnel> funnels, List<RefusedRevision> refused, long more) {
        output.text(terminal -> {
            RuleColumns columns = RuleColumns.of(shown.stream()
                    .map(revision -> Objects.requireNonNull(revision.rule()))
                    .toList());
            for (ArchivedRules.Revision revision : shown) {
                line(terminal, columns, revision, funnels);
            }
            for (RefusedRevision each : refused) {
                terminal.line(terminal.styled(Terminal.Style.RED, "refused") + "  "
                        + Terminal.safe(each.source() + ": " + each.reason()));
            }
            if (more > 0) {
                terminal.line(Quantity.count(more) + " more refused before: table rejected of the archive");
            }
        });
    }

    private static void line(
            Terminal terminal, RuleColumns columns, ArchivedRules.Revision revision, List<RuleFunnel> funnels)
            throws IOException {
        BoundRule rule = Objects.requireNonNull(revision.rule());
        String from = revision.effectiveMillis() <= 0
                ? "from the beginning"
                : "from " + Quantity.stamp(Math.multiplyExact(revision.effectiveMillis(), 1_000_000L));
        RuleFunnel funnel = funnel(funnels, rule);
        String counts = funnel == null ? "nothing looked at yet" : counts(terminal, funnel);
        terminal.line(columns.columns(terminal, rule) + "  " + Terminal.left(from, 29) + "  " + counts);
    }

    private static String counts(Terminal terminal, RuleFunnel funnel) {
        Long failed = funnel.failed();
        return "found " + Quantity.count(funnel.matched())
                + (funnel.open() == 0 ? "" : ", open " + Quantity.count(funnel.open()))
                + (funnel.cut() == 0
                        ? ""
                        : ", " + terminal.styled(Terminal.Style.RED, "cut " + Quantity.count(funnel.cut())))
                + (failed == null || failed == 0
                        ? ""
                        : ", " + terminal.styled(Terminal.Style.RED, "not evaluated " + Quantity.count(failed)));
    }

    private static @Nullable RuleFunnel funnel(List<RuleFunnel> funnels, BoundRule rule) {
        return funnels.stream()
                .filter(funnel -> funnel.ruleId().equals(rule.id()) && funnel.ruleRevision() == rule.revision())
                .findFirst()
                .orElse(null);
    }
}
