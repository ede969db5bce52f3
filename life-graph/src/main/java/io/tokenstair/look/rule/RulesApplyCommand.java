package io.tokenstair.look.rule;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.look.CommandFailures;
import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.archive.RuleQueries;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.look.text.Quantity;
import io.tokenstair.look.text.Terminal;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.rule.lint.LintProblem;
import io.tokenstair.spelling.NearestName;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Sends revisions of rules to a running job. */
@Command(
        name = "apply",
        description = "Sends rules to a running job, which takes them up without a restart; or takes one out of force,"
                + " or brings its version before back. Files are linted first: one wrong file, and nothing is sent.",
        sortOptions = false,
        footer = {
            "",
            "The job reads LOG with: tokenstair run --rules-from LOG",
            "",
            "Exit codes: 0 sent; 2 nothing sent: an error in a rule, wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair rules apply my-rule.yaml --to rules-log"
        })
final class RulesApplyCommand implements Callable<Integer> {
    /** Who sends: all sendings of this command on all machines; the epoch tells them apart. */
    static final String COLLECTOR_ID = "rules-apply";

    private final CommandOutput output;
    private final EpochClock clock;

    @Parameters(arity = "0..*", paramLabel = "FILE|FOLDER", description = "Rule files, or folders of them.")
    private List<Path> files = List.of();

    @Option(names = "--retire", paramLabel = "ID", description = "Take this rule out of force.")
    private @Nullable String retire;

    @Option(
            names = "--roll-back",
            paramLabel = "ID",
            description = "Bring back the version of this rule before the one in force, as --archive has it.")
    private @Nullable String rollBack;

    @Option(
            names = "--archive",
            paramLabel = "DIR",
            description = "The archive the job writes: for --roll-back, and to know the rule of --retire.")
    private @Nullable Path directory;

    @Option(
            names = "--to",
            required = true,
            paramLabel = "LOG",
            description = "kafka://host:port/topic, or the folder of an embedded log; a new one is made.")
    private String log = "";

    @Option(
            names = "--effective-from",
            paramLabel = "T",
            description = "Not before this event time: 2026-11-29 or 2026-11-29T10:00:00Z. Default: at once.")
    private @Nullable String effectiveFrom;

    @Mixin
    private RulesOptions options = new RulesOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RulesApplyCommand(CommandOutput output, EpochClock clock) {
        this.output = output;
        this.clock = clock;
    }

    @Override
    public Integer call() {
        int asked = (files.isEmpty() ? 0 : 1) + (retire == null ? 0 : 1) + (rollBack == null ? 0 : 1);
        if (asked != 1) {
            throw new ParameterException(spec.commandLine(), "Give one of: rule files, --retire ID, --roll-back ID");
        }
        Long effectiveFromMillis = effectiveFrom == null ? null : Long.valueOf(millis(effectiveFrom));
        List<RuleRevised> revisions;
        if (retire != null) {
            revisions = List.of(retired(retire, effectiveFromMillis));
        } else if (rollBack != null) {
            revisions = List.of(rolledBack(rollBack, effectiveFromMillis));
        } else {
            List<RuleFile> read = RuleFile.read(files);
            List<LintProblem> problems = RulesLintCommand.problems(read);
            PrintWriter errors = spec.commandLine().getErr();
            RulesLintCommand.tell(problems, errors);
            if (problems.stream().anyMatch(RulesLintCommand::isError)) {
                errors.println("Nothing was sent.");
                errors.flush();
                return CommandFailures.UNUSABLE;
            }
            revisions = set(read, effectiveFromMillis);
        }
        send(revisions);
        tell(revisions);
        return 0;
    }

    private static List<RuleRevised> set(List<RuleFile> read, @Nullable Long effectiveFromMillis) {
        List<RuleRevised> revisions = new ArrayList<>();
        for (RuleFile file : read) {
            BoundRule rule = Objects.requireNonNull(file.rule());
            revisions.add(new RuleRevised(
                    rule.id(),
                    rule.revision(),
                    RuleRevised.SET,
                    rule.source().text(),
                    effectiveFromMillis,
                    null,
                    null,
                    file.name()));
        }
        return List.copyOf(revisions);
    }

    private RuleRevised retired(String ruleId, @Nullable Long effectiveFromMillis) {
        Path archive = directory;
        if (archive == null) {
            warnOfUnknown(ruleId);
        } else {
            try (RuleQueries queries = RuleQueries.open(archive)) {
                ArchivedRules rules = ArchivedRules.of(queries);
                if (rules.archived()) {
                    requireInForce(rules, ruleId, archive);
                } else {
                    warnOfUnknown(ruleId);
                }
            }
        }
        return new RuleRevised(
                ruleId, null, RuleRevised.RETIRE, null, effectiveFromMillis, null, null, "rules apply --retire");
    }

    /** A rule that will only hold from later on can be retired too. */
    private static void requireInForce(ArchivedRules rules, String ruleId, Path archive) {
        Map<String, ArchivedRules.Revision> last = new TreeMap<>();
        rules.revisions().forEach(revision -> last.put(revision.ruleId(), revision));
        ArchivedRules.Revision newest = last.get(ruleId);
        if (newest != null && newest.rule() != null) {
            return;
        }
        last.values().removeIf(revision -> revision.rule() == null);
        throw new UnusableInputException("Cannot retire rule " + Terminal.safe(ruleId) + ": "
                + (newest == null ? "it was never in force in " + archive : "it is retired already in " + archive)
                + nearest(ruleId, last.keySet())
                + " List those that are with: tokenstair rules list --running --archive " + archive);
    }

    private static String nearest(String ruleId, Collection<String> known) {
        String nearest = NearestName.of(ruleId, known);
        return nearest == null || nearest.equals(ruleId) ? "." : ". Did you mean " + nearest + "?";
    }

    /** Without an archive nobody here knows what the job has in force. */
    private void warnOfUnknown(String ruleId) {
        Set<String> known = new TreeSet<>(RuleLog.ruleIds(log));
        RuleLibrary.builtIn().rules().forEach(rule -> known.add(rule.id()));
        if (!known.contains(ruleId)) {
            PrintWriter errors = spec.commandLine().getErr();
            errors.println("warning: rule " + Terminal.safe(ruleId) + " is not built in, and "
                    + (RuleLog.isFolder(log)
                            ? "was never sent to " + Terminal.safe(log)
                            : "what is in the topic is not read")
                    + nearest(ruleId, known)
                    + " A job that does not know it refuses this. To check it first, give --archive DIR");
            errors.flush();
        }
    }

    private RuleRevised rolledBack(String ruleId, @Nullable Long effectiveFromMillis) {
        Path archive = directory;
        if (archive == null) {
            throw new ParameterException(
                    spec.commandLine(), "Give --archive DIR with --roll-back: it holds the version before");
        }
        try (RuleQueries queries = RuleQueries.open(archive)) {
            ArchivedRules rules = ArchivedRules.of(queries);
            if (!rules.archived()) {
                throw new UnusableInputException("Cannot roll back rule " + Terminal.safe(ruleId) + ": archive "
                        + archive + " has no table rule_revised, which holds the versions before");
            }
            List<ArchivedRules.Revision> history = history(rules, ruleId);
            if (history.isEmpty()) {
                throw new UnusableInputException("Cannot roll back rule " + Terminal.safe(ruleId)
                        + ": it was never in force in " + archive
                        + nearest(
                                ruleId,
                                rules.revisions().stream()
                                        .map(ArchivedRules.Revision::ruleId)
                                        .toList())
                        + " List those that are with: tokenstair rules list --running --archive " + archive);
            }
            BoundRule newest = history.get(history.size() - 1).rule();
            for (int i = history.size() - 2; i >= 0; i--) {
                BoundRule before = history.get(i).rule();
                boolean other = before != null
                        && (newest == null
                                || !before.source()
                                        .text()
                                        .equals(newest.source().text()));
                if (before != null && other) {
                    return new RuleRevised(
                            ruleId,
                            before.revision(),
                            RuleRevised.SET,
                            before.source().text(),
                            effectiveFromMillis,
                            null,
                            null,
                            "rules apply --roll-back");
                }
            }
            throw new UnusableInputException("Cannot roll back rule " + Terminal.safe(ruleId) + ": archive " + archive
                    + " holds no other version of it. Apply the file you want, or take it out of force with --retire "
                    + Terminal.safe(ruleId));
        }
    }

    private static List<ArchivedRules.Revision> history(ArchivedRules rules, String ruleId) {
        return rules.revisions().stream()
                .filter(revision -> revision.ruleId().equals(ruleId))
                .toList();
    }

    private void send(List<RuleRevised> revisions) {
        long epoch = clock.epochMillis();
        List<LoggedEvent> events = new ArrayList<>();
        for (RuleRevised revision : revisions) {
            events.add(
                    new LoggedEvent(new EventHeader(COLLECTOR_ID, epoch, events.size(), "none", null, null), revision));
        }
        RuleLog.append(log, events);
    }

    private void tell(List<RuleRevised> revisions) {
        if (options.json()) {
            output.bytes(out -> {
                try (JsonWriter json = new JsonWriter(out, false)) {
                    for (RuleRevised revision : revisions) {
                        json.beginObject();
                        json.text("rule", revision.ruleId());
                        json.number("ruleRevision", revision.version());
                        json.text("action", revision.action());
                        json.number("effectiveFromMillis", revision.effectiveFromMillis());
                        json.text("to", log);
                        json.endObject();
                        json.endLine();
                    }
                }
            });
            return;
        }
        output.text(terminal -> {
            for (RuleRevised revision : revisions) {
                terminal.line("sent to " + Terminal.safe(log) + ": "
                        + (revision.action().equals(RuleRevised.RETIRE) ? "retire rule " : "rule ")
                        + Terminal.safe(revision.ruleId())
                        + (revision.version() == null ? "" : " version " + revision.version())
                        + (revision.effectiveFromMillis() == null
                                ? ""
                                : ", not before " + Quantity.stamp(revision.effectiveFromMillis() * 1_000_000)));
            }
            terminal.line("The job says from when it holds. A request that runs keeps the version it began with.");
            terminal.line("What is in force, and what was refused:  tokenstair rules list --running --archive "
                    + (directory == null ? "DIR" : Terminal.safe(directory.toString())));
        });
    }

    private static long millis(String text) {
        try {
            Instant instant = text.length() == 10
                    ? LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC)
                    : OffsetDateTime.parse(text).toInstant();
            // Stamps are told in nanoseconds.
            return Math.multiplyExact(instant.toEpochMilli(), 1_000_000L) / 1_000_000L;
        } catch (DateTimeParseException | ArithmeticException unreadable) {
            throw new UnusableInputException(
                    "Cannot read --effective-from: " + Terminal.safe(text) + ". Use 2026-11-29 or 2026-11-29T10:00:00Z",
                    unreadable);
        }
    }
}
