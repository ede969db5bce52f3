package io.tokenstair.look.rule;

import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.archive.RuleQueries;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.look.text.Quantity;
import io.tokenstair.look.text.Terminal;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.trace.RuleTrace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Tells how far rules got. */
@Command(
        name = "explain",
        description = "How far each rule got with a request, and what stopped it. Without --request: with all of them,"
                + " as a funnel per rule. Also while the job writes.",
        sortOptions = false,
        footer = {
            "",
            "Of the funnel: expired ran out of within, broken was ended by another milestone, cut is what caps cut,",
            "failed are conditions that could not be evaluated: a division by zero, a number beyond 64 bits.",
            "",
            "Exit codes: 0 done; 2 wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair rules explain --archive out --request chat-17"
        })
final class RulesExplainCommand implements Callable<Integer> {
    private static final int NUMBER_WIDTH = 9;

    private final CommandOutput output;

    @Option(
            names = "--archive",
            required = true,
            paramLabel = "DIR",
            description = "A folder that replay or run wrote, or run is writing.")
    private Path directory = Path.of(".");

    @Option(names = "--request", paramLabel = "ID", description = "This request only: its id or an alias.")
    private @Nullable String request;

    @Option(names = "--rule", paramLabel = "R", description = "This rule only.")
    private @Nullable String ruleId;

    @Mixin
    private RulesOptions options = new RulesOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RulesExplainCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        try (RuleQueries queries = RuleQueries.open(directory)) {
            ArchivedRules rules = ArchivedRules.of(queries);
            rules.tellDoubts(spec.commandLine().getErr());
            if (request == null) {
                funnels(queries, rules);
            } else {
                explain(queries, rules, request);
            }
        }
        return 0;
    }

    private void explain(RuleQueries queries, ArchivedRules rules, String asked) {
        List<RequestTrace> traces = RequestTrace.of(queries, rules, asked, wanted(rules));
        if (options.json()) {
            output.bytes(out -> {
                try (JsonWriter json = new JsonWriter(out, false)) {
                    for (RequestTrace trace : traces) {
                        json.beginObject();
                        json.text("requestId", trace.requestId());
                        json.number("lifetime", trace.lifetime());
                        json.text("rule", trace.rule().id());
                        json.number("ruleRevision", trace.rule().revision());
                        json.text("key", trace.rule().key().name().toLowerCase(Locale.ROOT));
                        json.text("keyValue", trace.key());
                        json.truth("found", trace.trace().matched());
                        json.truth("ofRequest", trace.about());
                        TraceJson.fields(json, trace.trace());
                        json.endObject();
                        json.endLine();
                    }
                }
            });
            return;
        }
        output.text(terminal -> {
            boolean first = true;
            for (RequestTrace trace : traces) {
                if (!first) {
                    terminal.line();
                }
                first = false;
                write(terminal, trace);
            }
        });
    }

    private static void write(Terminal terminal, RequestTrace found) throws IOException {
        BoundRule rule = found.rule();
        RuleTrace trace = found.trace();
        String outcome = trace.matched()
                ? terminal.styled(Terminal.Style.GREEN, "found")
                : trace.stagesReached() == 0
                        ? "not begun"
                        : terminal.styled(
                                Terminal.Style.YELLOW,
                                trace.stagesReached() + " of " + rule.stages().size() + " stages");
        if (trace.best() != null && !found.about()) {
            outcome += ", while this request ran but not of it";
        }
        terminal.line(terminal.styled(Terminal.Style.BOLD, rule.id()) + " version " + rule.revision() + ", "
                + rule.key().name().toLowerCase(Locale.ROOT) + " " + terminal.fit(found.key(), 40) + ": " + outcome);
        new TraceText(terminal, RulesExplainCommand::stamp).write(trace, "  ");
    }

    private static String stamp(Milestone milestone) {
        Long epochNanos = milestone.epochNanos();
        return "at " + Quantity.stamp(epochNanos == null ? milestone.coarseEpochMillis() * 1_000_000 : epochNanos);
    }

    private void funnels(RuleQueries queries, ArchivedRules rules) {
        @Nullable String wanted = wanted(rules);
        List<RuleFunnel> archived = RuleFunnel.archived(queries, rules);
        Long newest = queries.newestMilestoneMillis();
        List<RuleFunnel> all = archived.isEmpty()
                ? RuleFunnel.workedOut(queries, rules.rulesAt(newest == null ? Long.MAX_VALUE : newest))
                : archived;
        List<RuleFunnel> funnels = all.stream()
                .filter(funnel -> wanted == null || funnel.ruleId().equals(wanted))
                .toList();
        if (options.json()) {
            output.bytes(out -> {
                try (JsonWriter json = new JsonWriter(out, false)) {
                    for (RuleFunnel funnel : funnels) {
                        json.beginObject();
                        FunnelForm.json(json, funnel);
                        json.endObject();
                        json.endLine();
                    }
                }
            });
            return;
        }
        output.text(terminal -> {
            int ruleWidth = Math.max(
                    4,
                    funnels.stream()
                            .mapToInt(funnel -> funnel.ruleId().length())
                            .max()
                            .orElse(0));
            terminal.line(terminal.styled(
                    Terminal.Style.DIM,
                    Terminal.left("rule", ruleWidth) + Terminal.right("version", NUMBER_WIDTH)
                            + Terminal.right("found", NUMBER_WIDTH) + Terminal.right("expired", NUMBER_WIDTH)
                            + Terminal.right("broken", NUMBER_WIDTH) + Terminal.right("cut", NUMBER_WIDTH)
                            + Terminal.right("failed", NUMBER_WIDTH)
                            + "  matches that reached each stage"));
            for (RuleFunnel funnel : funnels) {
                String cut = Terminal.right(Quantity.count(funnel.cut()), NUMBER_WIDTH);
                Long failed = funnel.failed();
                String notEvaluated = Terminal.right(failed == null ? "unknown" : Quantity.count(failed), NUMBER_WIDTH);
                terminal.line(Terminal.left(funnel.ruleId(), ruleWidth)
                        + Terminal.right(Integer.toString(funnel.ruleRevision()), NUMBER_WIDTH)
                        + Terminal.right(Quantity.count(funnel.matched()), NUMBER_WIDTH)
                        + Terminal.right(Quantity.count(funnel.expired()), NUMBER_WIDTH)
                        + Terminal.right(Quantity.count(funnel.broken()), NUMBER_WIDTH)
                        + (funnel.cut() == 0 ? cut : terminal.styled(Terminal.Style.RED, cut))
                        + (failed == null || failed == 0
                                ? notEvaluated
                                : terminal.styled(Terminal.Style.RED, notEvaluated))
                        + "  " + FunnelForm.stages(funnel));
            }
        });
    }

    /** The rule asked for; refused where no revision of it was ever in force. */
    private @Nullable String wanted(ArchivedRules rules) {
        String wanted = ruleId;
        if (wanted != null
                && rules.revisions().stream()
                        .noneMatch(revision -> revision.ruleId().equals(wanted))) {
            throw new UnusableInputException("Cannot find rule " + Terminal.safe(wanted)
                    + " among those in force. List them with: tokenstair rules list --running --archive "
                    + directory);
        }
        return wanted;
    }
}
