package io.tokenstair.look.rule;

import io.tokenstair.look.CommandFailures;
import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleExample;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Checks rule files without running them. */
@Command(
        name = "lint",
        description = "Whether rule files are rules, and whether they can do what they say.",
        sortOptions = false,
        footer = {
            "",
            "Exit codes: 0 nothing wrong; 2 an error in a rule, wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair rules lint my-rules/"
        })
final class RulesLintCommand implements Callable<Integer> {
    private final CommandOutput output;

    @Parameters(arity = "1..*", paramLabel = "FILE|FOLDER", description = "Rule files, or folders of them.")
    private List<Path> files = List.of();

    @Mixin
    private RulesOptions options = new RulesOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RulesLintCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        List<RuleFile> read = RuleFile.read(files);
        List<Problem> problems = problems(read);
        if (options.json()) {
            output.bytes(out -> {
                try (JsonWriter json = new JsonWriter(out, false)) {
                    for (Problem problem : problems) {
                        json.beginObject();
                        json.text("file", problem.file());
                        json.number("line", problem.line());
                        json.number("column", problem.column());
                        json.text("level", "error");
                        json.text("problem", problem.headline());
                        json.endObject();
                        json.endLine();
                    }
                }
            });
        } else {
            PrintWriter errors = spec.commandLine().getErr();
            problems.forEach(problem -> errors.println(problem.text()));
            errors.flush();
            output.text(terminal -> {
                long wrong = problems.stream().map(Problem::file).distinct().count();
                for (RuleFile file : read) {
                    BoundRule rule = file.rule();
                    if (rule != null
                            && problems.stream()
                                    .noneMatch(problem -> problem.file().equals(file.name()))) {
                        terminal.line(file.name() + ": ok, rule " + rule.id() + " version " + rule.revision());
                    }
                }
                if (wrong > 0) {
                    terminal.line(wrong + " of " + read.size() + (read.size() == 1 ? " file has" : " files have")
                            + " errors");
                }
            });
        }
        return problems.isEmpty() ? 0 : CommandFailures.UNUSABLE;
    }

    /** What is wrong with files, in their order. */
    static List<Problem> problems(List<RuleFile> read) {
        List<Problem> problems = new ArrayList<>();
        Map<String, String> fileOfId = new LinkedHashMap<>();
        for (RuleFile file : read) {
            RuleException refused = file.refused();
            BoundRule rule = file.rule();
            if (refused != null) {
                problems.add(new Problem(
                        file.name(), refused.line(), refused.column(), String.valueOf(refused.getMessage())));
            } else if (rule != null) {
                check(file, rule, fileOfId, problems);
            }
        }
        return List.copyOf(problems);
    }

    private static void check(RuleFile file, BoundRule rule, Map<String, String> fileOfId, List<Problem> problems) {
        String other = fileOfId.putIfAbsent(rule.id(), file.name());
        if (other != null) {
            problems.add(Problem.of(file, "Cannot use the id of another rule: " + rule.id() + " is also in " + other));
        }
        boolean positive = rule.examples().stream().anyMatch(RuleExample::matchExpected);
        boolean negative = rule.examples().stream().anyMatch(example -> !example.matchExpected());
        if (!positive || !negative) {
            problems.add(Problem.of(
                    file,
                    "Cannot accept a rule without an example that expects "
                            + (positive ? "no-match" : negative ? "match" : "match and one that expects no-match")));
        }
        for (ExampleRun run : ExampleRun.all(rule)) {
            if (!run.ok()) {
                problems.add(Problem.of(
                        file,
                        "Example \"" + run.example().name() + "\" expects " + run.expected() + " and finds "
                                + run.found() + ". See: tokenstair rules test " + file.name()));
            }
        }
    }

    /**
     * Something wrong with a rule file.
     *
     * @param file the file
     * @param line from 1
     * @param column from 1
     * @param text for people: place, what is wrong, and where it helps the line and a caret
     */
    record Problem(String file, int line, int column, String text) {
        static Problem of(RuleFile file, String problem) {
            return new Problem(
                    file.name(), 1, 1, String.valueOf(new RuleException(file.name(), 1, 1, problem, "").getMessage()));
        }

        /** What is wrong, without the place. */
        String headline() {
            String first = text.lines().findFirst().orElse("");
            return first.substring((file + ":" + line + ":" + column + ": ").length());
        }
    }
}
