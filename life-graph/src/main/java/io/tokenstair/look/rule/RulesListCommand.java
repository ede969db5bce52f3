package io.tokenstair.look.rule;

import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.rule.bound.BoundRule;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
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

    @Mixin
    private RulesOptions options = new RulesOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RulesListCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() {
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
