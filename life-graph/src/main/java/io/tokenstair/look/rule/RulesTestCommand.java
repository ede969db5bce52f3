package io.tokenstair.look.rule;

import io.tokenstair.look.CommandFailures;
import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.look.text.Quantity;
import io.tokenstair.look.text.Terminal;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleKey;
import io.tokenstair.rule.trace.RuleTrace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs the examples of rules. */
@Command(
        name = "test",
        description = "Runs the examples in rule files; of one that fails, how far the rule got and what stopped it.",
        sortOptions = false,
        footer = {
            "",
            "Exit codes: 0 every example does what it expects; 2 one does not, a file is no",
            "rule, wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair rules test my-rule.yaml"
        })
final class RulesTestCommand implements Callable<Integer> {
    private static final int OUTCOME_WIDTH = 10;
    private static final int OK_WIDTH = 6;

    private final CommandOutput output;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE|FOLDER",
            description = "Rule files, or folders of them. Default: the built-in rules.")
    private List<Path> files = List.of();

    @Mixin
    private RulesOptions options = new RulesOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RulesTestCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        RuleSet rules = RuleSet.of(files);
        rules.tellRefused(spec.commandLine().getErr());
        rules.requireOneFilePerId();
        List<ExampleRun> runs = rules.rules().stream()
                .flatMap(rule -> ExampleRun.all(rule).stream())
                .toList();
        if (options.json()) {
            printJson(runs);
        } else {
            output.text(terminal -> printText(terminal, rules, runs));
        }
        return runs.stream().allMatch(ExampleRun::ok) ? rules.exitCode() : CommandFailures.UNUSABLE;
    }

    private static void printText(Terminal terminal, RuleSet set, List<ExampleRun> runs) throws IOException {
        List<BoundRule> rules = set.rules();
        int ruleWidth = Math.max(4, RuleColumns.of(rules).idWidth());
        int exampleWidth = Math.max(20, terminal.columns() - ruleWidth - 2 * OUTCOME_WIDTH - OK_WIDTH - 4);
        exampleWidth = Math.min(
                exampleWidth,
                Math.max(
                        7,
                        runs.stream()
                                .mapToInt(run ->
                                        Terminal.safe(run.example().name()).length())
                                .max()
                                .orElse(0)));
        terminal.line(terminal.styled(
                Terminal.Style.DIM,
                Terminal.left("rule", ruleWidth) + "  " + Terminal.left("example", exampleWidth) + "  "
                        + Terminal.left("expected", OUTCOME_WIDTH) + Terminal.left("found", OUTCOME_WIDTH) + "ok"));
        for (ExampleRun run : runs) {
            terminal.line(Terminal.left(run.rule().id(), ruleWidth) + "  "
                    + Terminal.left(terminal.cut(run.example().name(), exampleWidth), exampleWidth) + "  "
                    + Terminal.left(run.expected(), OUTCOME_WIDTH) + Terminal.left(run.found(), OUTCOME_WIDTH)
                    + (run.ok()
                            ? terminal.styled(Terminal.Style.GREEN, "ok")
                            : terminal.styled(Terminal.Style.RED, "FAILED")));
        }
        for (ExampleRun run : runs) {
            if (!run.ok()) {
                failed(terminal, run);
            }
        }
        long failed = runs.stream().filter(run -> !run.ok()).count();
        terminal.line();
        terminal.line(Quantity.counted(runs.size(), "example") + " of " + Quantity.counted(rules.size(), "rule") + ", "
                + (failed == 0 ? "all ok" : Quantity.count(failed) + " failed")
                + (set.refused().isEmpty()
                        ? ""
                        : "; " + Quantity.counted(set.refused().size(), "file") + " not tried: no rule"));
        for (BoundRule rule : rules) {
            if (rule.examples().isEmpty()) {
                terminal.line("rule " + rule.id() + " has no example");
            }
        }
    }

    private static void failed(Terminal terminal, ExampleRun run) throws IOException {
        terminal.line();
        terminal.line(terminal.styled(
                Terminal.Style.BOLD,
                run.rule().id() + ": " + Terminal.safe(run.example().name())));
        terminal.line("  - expected  " + run.expected());
        terminal.line("  + found     " + run.found());
        RuleTrace trace = run.furthest();
        if (trace == null) {
            terminal.line("  no given milestone has the rule's key: it names neither "
                    + (run.rule().key() == RuleKey.ENGINE ? "an engineId" : "a requestId"));
            return;
        }
        new TraceText(terminal, RulesTestCommand::sinceBegin).write(trace, "  ");
    }

    /** Examples count time from their own beginning. */
    private static String sinceBegin(Milestone milestone) {
        return "at " + TraceText.duration(milestone.coarseEpochMillis());
    }

    private void printJson(List<ExampleRun> runs) {
        output.bytes(out -> {
            try (JsonWriter json = new JsonWriter(out, false)) {
                for (ExampleRun run : runs) {
                    json.beginObject();
                    json.text("rule", run.rule().id());
                    json.number("ruleRevision", run.rule().revision());
                    json.text("example", run.example().name());
                    json.text("expected", run.expected());
                    json.text("found", run.found());
                    json.truth("ok", run.ok());
                    RuleTrace trace = run.furthest();
                    if (trace != null) {
                        TraceJson.fields(json, trace);
                    }
                    json.endObject();
                    json.endLine();
                }
            }
        });
    }
}
