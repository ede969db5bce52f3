package io.tokenstair.look.rule;

import io.tokenstair.look.CommandFailures;
import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.look.text.Quantity;
import io.tokenstair.look.text.Terminal;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.lint.LintProblem;
import io.tokenstair.rule.lint.RuleLint;
import io.tokenstair.rule.syntax.RuleParser;
import io.tokenstair.rule.syntax.RuleSyntax;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
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
            "Exit codes: 0 no error (warnings are told); 2 an error in a rule, wrong usage or unreadable input.",
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
        List<LintProblem> problems = problems(read);
        boolean failed = problems.stream().anyMatch(RulesLintCommand::isError);
        if (options.json()) {
            output.bytes(out -> {
                try (JsonWriter json = new JsonWriter(out, false)) {
                    for (LintProblem problem : problems) {
                        json.beginObject();
                        json.text("file", problem.file());
                        json.number("line", problem.line());
                        json.number("column", problem.column());
                        json.text("level", problem.level().levelName());
                        json.text("problem", problem.headline());
                        json.endObject();
                        json.endLine();
                    }
                }
            });
        } else {
            tell(problems, spec.commandLine().getErr());
            output.text(terminal -> summary(terminal, read, problems));
        }
        return failed ? CommandFailures.UNUSABLE : 0;
    }

    private static void summary(Terminal terminal, List<RuleFile> read, List<LintProblem> problems) throws IOException {
        Set<String> wrong = problems.stream()
                .filter(RulesLintCommand::isError)
                .map(LintProblem::file)
                .collect(Collectors.toSet());
        for (RuleFile file : read) {
            BoundRule rule = file.rule();
            if (rule != null && !wrong.contains(file.name())) {
                long warnings = problems.stream()
                        .filter(problem -> problem.file().equals(file.name()))
                        .count();
                terminal.line(file.name() + ": ok, rule " + rule.id() + " version " + rule.revision()
                        + (warnings == 0 ? "" : ", " + Quantity.counted(warnings, "warning")));
            }
        }
        if (!wrong.isEmpty()) {
            terminal.line(
                    wrong.size() + " of " + read.size() + (read.size() == 1 ? " file has" : " files have") + " errors");
        }
    }

    /** What is wrong with files, in their order: why one is no rule, or what is wrong with the rule. */
    static List<LintProblem> problems(List<RuleFile> read) {
        List<LintProblem> ofRules = RuleLint.lint(
                read.stream().map(RuleFile::rule).filter(Objects::nonNull).toList());
        List<LintProblem> problems = new ArrayList<>();
        for (RuleFile file : read) {
            RuleException refused = file.refused();
            if (refused != null) {
                problems.add(new LintProblem(LintProblem.Level.ERROR, refused));
            }
            ofRules.stream()
                    .filter(problem -> problem.file().equals(file.name()))
                    .forEach(problems::add);
            BoundRule rule = file.rule();
            if (rule != null) {
                problems.addAll(failingExamples(rule));
            }
        }
        return List.copyOf(problems);
    }

    private static List<LintProblem> failingExamples(BoundRule rule) {
        List<ExampleRun> runs = ExampleRun.all(rule);
        if (runs.stream().allMatch(ExampleRun::ok)) {
            return List.of();
        }
        String file = rule.source().file();
        List<RuleSyntax.Example> written =
                RuleParser.parse(file, rule.source().text()).examples();
        List<LintProblem> problems = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            ExampleRun run = runs.get(i);
            if (!run.ok()) {
                problems.add(new LintProblem(
                        LintProblem.Level.ERROR,
                        written.get(i)
                                .name()
                                .error("This example expects " + run.expected() + " and finds " + run.found()
                                        + ". See: tokenstair rules test " + file)));
            }
        }
        return problems;
    }

    /** True where a rule must not be used. */
    static boolean isError(LintProblem problem) {
        return problem.level() == LintProblem.Level.ERROR;
    }

    /** Writes problems with place, line and caret. */
    static void tell(List<LintProblem> problems, PrintWriter errors) {
        for (LintProblem problem : problems) {
            String text = problem.text();
            String place = problem.file() + ":" + problem.line() + ":" + problem.column() + ": ";
            errors.println(
                    isError(problem) || !text.startsWith(place)
                            ? text
                            : place + "warning: " + text.substring(place.length()));
        }
        errors.flush();
    }
}
