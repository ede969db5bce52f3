package io.tokenstair.look.rule;

import io.tokenstair.look.CommandFailures;
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
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tries a rule over an archive. */
@Command(
        name = "backtest",
        description =
                "What a rule would have found over an archive, against the revision in force: new, lost, changed.",
        sortOptions = false,
        footer = {
            "",
            "Exit codes: 0 done; 2 the file is no rule, wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair rules backtest my-rule.yaml --archive out"
        })
final class RulesBacktestCommand implements Callable<Integer> {
    private final CommandOutput output;

    @Parameters(arity = "1", paramLabel = "FILE", description = "The rule to try.")
    private Path file = Path.of("");

    @Option(
            names = "--archive",
            required = true,
            paramLabel = "DIR",
            description = "A folder that replay or run wrote, or run is writing.")
    private Path directory = Path.of(".");

    @Option(names = "--show", paramLabel = "N", description = "Findings shown of each sort, in text. Default: 3.")
    private int shown = 3;

    @Mixin
    private RulesOptions options = new RulesOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RulesBacktestCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        if (shown < 0) {
            throw new ParameterException(
                    spec.commandLine(), "Cannot show " + shown + " findings of each sort: give --show 0 or more");
        }
        RuleSet rules = RuleSet.of(List.of(file));
        rules.tellRefused(spec.commandLine().getErr());
        if (rules.exitCode() != 0) {
            return CommandFailures.UNUSABLE;
        }
        if (rules.rules().size() != 1) {
            throw new UnusableInputException("Cannot try " + rules.rules().size() + " rules at once: name one file");
        }
        BoundRule candidate = rules.rules().get(0);
        try (RuleQueries queries = RuleQueries.open(directory)) {
            ArchivedRules archived = ArchivedRules.of(queries);
            archived.tellDoubts(spec.commandLine().getErr());
            BoundRule current = archived.rulesAt(Long.MAX_VALUE).stream()
                    .filter(rule -> rule.id().equals(candidate.id()))
                    .findFirst()
                    .orElse(null);
            Backtest backtest = Backtest.of(queries, candidate, current);
            if (options.json()) {
                output.bytes(out -> {
                    try (JsonWriter json = new JsonWriter(out, false)) {
                        json(json, backtest);
                    }
                });
            } else {
                output.text(terminal -> text(terminal, backtest));
            }
        }
        return 0;
    }

    private void text(Terminal terminal, Backtest backtest) throws IOException {
        BoundRule candidate = backtest.candidate();
        BoundRule current = backtest.current();
        terminal.line(terminal.styled(Terminal.Style.BOLD, candidate.id()) + " version " + candidate.revision()
                + " finds " + Quantity.count(backtest.foundCount()) + "; "
                + (current == null
                        ? "no revision of it is in force"
                        : "version " + current.revision() + ", in force, finds "
                                + Quantity.count(backtest.currentCount())));
        terminal.line(Quantity.count(backtest.count(Backtest.Change.NEW)) + " new, "
                + Quantity.count(backtest.count(Backtest.Change.LOST)) + " lost, "
                + Quantity.count(backtest.count(Backtest.Change.CHANGED)) + " changed, "
                + Quantity.count(backtest.same()) + " the same");
        for (Backtest.Change change : Backtest.Change.values()) {
            List<Backtest.Difference> differences = backtest.differences().stream()
                    .filter(difference -> difference.change() == change)
                    .toList();
            if (differences.isEmpty()) {
                continue;
            }
            terminal.line();
            terminal.line(label(terminal, change));
            for (Backtest.Difference difference : differences.subList(0, Math.min(shown, differences.size()))) {
                write(terminal, candidate, difference);
            }
            if (differences.size() > shown) {
                terminal.line("  and " + (differences.size() - shown) + " more");
            }
        }
    }

    private static String label(Terminal terminal, Backtest.Change change) {
        return switch (change) {
            case NEW -> terminal.styled(Terminal.Style.GREEN, "new");
            case LOST -> terminal.styled(Terminal.Style.RED, "lost");
            case CHANGED -> terminal.styled(Terminal.Style.YELLOW, "changed");
        };
    }

    private static void write(Terminal terminal, BoundRule candidate, Backtest.Difference difference)
            throws IOException {
        Backtest.Found found = difference.shown();
        terminal.line("  " + Quantity.stamp(stampNanos(found.taken().get(0))) + "  " + terminal.fit(found.key(), 40));
        boolean both = difference.change() == Backtest.Change.CHANGED;
        if (both) {
            says(terminal, "  - ", Objects.requireNonNull(difference.current()));
        }
        says(terminal, both ? "  + " : "    ", found);
        if (difference.change() == Backtest.Change.LOST) {
            for (String line : Terminal.wrapped(
                    TraceText.stopped(RuleTrace.of(candidate, found.taken())), terminal.columns() - 6)) {
                terminal.line("      " + terminal.styled(Terminal.Style.DIM, line));
            }
        }
    }

    private static void says(Terminal terminal, String margin, Backtest.Found found) throws IOException {
        String before = margin;
        for (String line : Terminal.wrapped(found.says(), terminal.columns() - margin.length())) {
            terminal.line(before + line);
            before = " ".repeat(margin.length());
        }
    }

    private static long stampNanos(Milestone milestone) {
        Long epochNanos = milestone.epochNanos();
        return epochNanos == null ? milestone.coarseEpochMillis() * 1_000_000 : epochNanos;
    }

    private static void json(JsonWriter json, Backtest backtest) throws IOException {
        json.beginObject();
        json.text("change", "summary");
        json.text("rule", backtest.candidate().id());
        json.number("ruleRevision", backtest.candidate().revision());
        BoundRule current = backtest.current();
        json.number("currentRevision", current == null ? null : Integer.valueOf(current.revision()));
        json.number("found", Long.valueOf(backtest.foundCount()));
        json.number("currentFound", Long.valueOf(backtest.currentCount()));
        for (Backtest.Change change : Backtest.Change.values()) {
            json.number(change.name().toLowerCase(Locale.ROOT), Long.valueOf(backtest.count(change)));
        }
        json.number("same", Long.valueOf(backtest.same()));
        json.endObject();
        json.endLine();
        for (Backtest.Difference difference : backtest.differences()) {
            json.beginObject();
            json.text("change", difference.change().name().toLowerCase(Locale.ROOT));
            Backtest.Found found = difference.shown();
            json.text("key", found.key());
            json.epoch("fromEpochNanos", found.taken().get(0).epochNanos());
            json.epoch(
                    "toEpochNanos", found.taken().get(found.taken().size() - 1).epochNanos());
            says(json, "says", difference.candidate());
            says(json, "saidBefore", difference.current());
            json.texts(
                    "evidence",
                    found.taken().stream()
                            .flatMap(milestone -> milestone.evidence().stream())
                            .distinct()
                            .toList());
            json.endObject();
            json.endLine();
        }
    }

    private static void says(JsonWriter json, String name, Backtest.@Nullable Found found) throws IOException {
        json.text(name, found == null ? null : found.says());
    }
}
