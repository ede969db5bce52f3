package io.tokenstair.look.rule;

import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.rule.bound.BoundRule;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints rules, a line each. */
@Command(
        name = "list",
        description = "One rule a line: id, version, key, cause, severity, what it finds.",
        sortOptions = false,
        footer = {
            "",
            "Exit codes: 0 done; 2 a file is no rule, wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair rules list my-rules/"
        })
final class RulesListCommand implements Callable<Integer> {
    private final CommandOutput output;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE|FOLDER",
            description = "Rule files, or folders of them. Default: the built-in rules.")
    private List<Path> files = List.of();

    @Option(
            names = "--running",
            description = "The rules a job has in force, from when, and what they found; then what it refused.")
    private boolean running;

    @Option(
            names = "--archive",
            paramLabel = "DIR",
            description = "With --running: the archive the job writes or wrote.")
    private @Nullable Path directory;

    @Mixin
    private RulesOptions options = new RulesOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RulesListCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        Path archive = directory;
        if (running != (archive != null)) {
            throw new ParameterException(spec.commandLine(), "Give --running and --archive DIR together");
        }
        if (archive != null) {
            if (!files.isEmpty()) {
                throw new ParameterException(spec.commandLine(), "Give rule files or --running, not both");
            }
            new RunningRules(output)
                    .print(archive, options.json(), spec.commandLine().getErr());
            return 0;
        }
        RuleSet rules = RuleSet.of(files);
        rules.tellRefused(spec.commandLine().getErr());
        if (options.json()) {
            output.bytes(out -> {
                try (JsonWriter json = new JsonWriter(out, false)) {
                    for (BoundRule rule : rules.rules()) {
                        json.beginObject();
                        RuleJson.fields(json, rule);
                        json.endObject();
                        json.endLine();
                    }
                }
            });
        } else {
            output.text(terminal -> {
                RuleColumns columns = RuleColumns.of(rules.rules());
                for (BoundRule rule : rules.rules()) {
                    columns.line(terminal, rule);
                }
            });
        }
        return rules.exitCode();
    }
}
