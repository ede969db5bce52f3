package io.tokenstair.collector;

import io.tokenstair.collect.otlp.receive.LogOutletWay;
import io.tokenstair.log.LogOutlet;
import io.tokenstair.server.HealthFigure;
import io.tokenstair.server.HealthPage;
import io.tokenstair.server.HealthText;
import io.tokenstair.spelling.NearestName;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** The command {@code tokenstair collect}: one collector by its options, or all that a configuration file names. */
public final class CollectMain {
    private static final String COMMAND = "tokenstair collect";

    private final List<Collector> known;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);

    CollectMain(List<Collector> known) {
        this.known = known;
    }

    /** Runs until it is stopped: exit 0, or 2 for a wrong use. */
    public static void main(String[] arguments) {
        CollectMain collect = new CollectMain(Collectors.all());
        Thread ending = new Thread(collect::endAndWait, "tokenstair-collect-end");
        Runtime.getRuntime().addShutdownHook(ending);
        int code = collect.commandLine().execute(arguments);
        collect.stopped.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(ending);
        } catch (IllegalStateException alreadyEnding) {
            return;
        }
        System.exit(code);
    }

    private void endAndWait() {
        stop.countDown();
        try {
            if (!stopped.await(30, TimeUnit.SECONDS)) {
                System.err.println(COMMAND + ": did not end within 30 s: what was queued may be missing");
            }
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends what runs. */
    void end() {
        stop.countDown();
    }

    CommandLine commandLine() {
        CommandSpec root = CommandSpec.create().name(COMMAND);
        root.usageMessage()
                .description("Collects from what runs, into the log, until it is stopped.")
                .synopsisHeading("Usage: ")
                .sortOptions(false)
                .footer("", "Example:", "  tokenstair collect gateway --to ./log --upstream http://127.0.0.1:8000");
        root.addOption(OptionSpec.builder("--config")
                .paramLabel("FILE")
                .type(Path.class)
                .description("run all collectors that this file names")
                .build());
        root.addOption(OptionSpec.builder("--to")
                .paramLabel("LOG")
                .type(String.class)
                .description("the log: kafka://host:port/topic or a folder; goes before what the file says")
                .build());
        root.addOption(OptionSpec.builder("--check")
                .type(boolean.class)
                .description("only check the file")
                .build());
        root.addOption(OptionSpec.builder("--print-config")
                .type(boolean.class)
                .description("print a file with every setting and its default")
                .build());
        root.addOption(help());
        CommandLine line = new CommandLine(root);
        for (Collector collector : known) {
            line.addSubcommand(collector.type(), new CommandLine(spec(collector)));
        }
        return line.setExecutionStrategy(this::execute)
                .setParameterExceptionHandler(
                        (problem, arguments) -> refuse(problem.getCommandLine(), explained(problem)));
    }

    private String explained(CommandLine.ParameterException problem) {
        String message = String.valueOf(problem.getMessage());
        if (problem instanceof CommandLine.UnmatchedArgumentException unmatched
                && !unmatched.getUnmatched().isEmpty()) {
            String word = unmatched.getUnmatched().get(0);
            List<String> candidates = problem.getCommandLine().getParent() == null && !word.startsWith("-")
                    ? known.stream().map(Collector::type).toList()
                    : problem.getCommandLine().getCommandSpec().options().stream()
                            .map(OptionSpec::longestName)
                            .toList();
            String nearest = NearestName.of(word, candidates);
            return "Unknown: " + word
                    + (nearest != null
                            ? ": did you mean " + nearest + "?"
                            : ". There are: " + String.join(", ", candidates));
        }
        return message;
    }

    private static OptionSpec help() {
        return OptionSpec.builder("--help")
                .usageHelp(true)
                .type(boolean.class)
                .description("print this")
                .build();
    }

    private static CommandSpec spec(Collector collector) {
        CommandSpec spec = CommandSpec.create().name(collector.type());
        spec.usageMessage()
                .description(collector.summary())
                .sortOptions(false)
                .synopsisHeading("Usage: ")
                .abbreviateSynopsis(true);
        spec.addOption(OptionSpec.builder("--to")
                .paramLabel("LOG")
                .type(String.class)
                .required(true)
                .description("the log: kafka://host:port/topic or a folder")
                .build());
        spec.addOption(OptionSpec.builder("--name")
                .paramLabel("NAME")
                .type(String.class)
                .description("its name in the log (default: " + collector.type() + "-0)")
                .build());
        spec.addOption(OptionSpec.builder("--" + Plan.METRICS_LISTEN)
                .paramLabel("PORT|HOST:PORT")
                .type(String.class)
                .description("where /metrics of this process is served; a port alone: on 127.0.0.1 (default: nowhere)")
                .build());
        for (Option option : collector.options()) {
            spec.addOption(OptionSpec.builder("--" + option.name())
                    .paramLabel(option.label())
                    .type(String.class)
                    .required(option.required())
                    .description(option.description()
                            + (option.defaultText() == null ? "" : " (default: " + option.defaultText() + ")"))
                    .build());
        }
        spec.addOption(help());
        return spec;
    }

    private int execute(ParseResult parsed) {
        CommandLine top = parsed.commandSpec().commandLine();
        Integer helped = CommandLine.executeHelpRequest(parsed);
        if (helped != null) {
            return helped;
        }
        try {
            if (parsed.hasSubcommand()) {
                return run(one(parsed.subcommand()), top);
            }
            if (parsed.hasMatchedOption("--print-config")) {
                top.getOut().print(ConfigFile.sample(known));
                top.getOut().flush();
                return CommandLine.ExitCode.OK;
            }
            Path file = parsed.matchedOptionValue("--config", null);
            if (file == null) {
                throw new CollectorException("name a collector or --config FILE. Collectors: "
                        + String.join(", ", known.stream().map(Collector::type).toList()));
            }
            Plan plan = ConfigFile.read(file, known, parsed.<String>matchedOptionValue("--to", null));
            if (parsed.hasMatchedOption("--check")) {
                int count = plan.collectors().size();
                top.getOut()
                        .println(file + ": " + count + (count == 1 ? " collector" : " collectors") + ", to "
                                + plan.to());
                top.getOut().flush();
                return CommandLine.ExitCode.OK;
            }
            return run(plan, top);
        } catch (CollectorException unusable) {
            return refuse(top, String.valueOf(unusable.getMessage()));
        }
    }

    private Plan one(ParseResult parsed) throws CollectorException {
        String type = parsed.commandSpec().name();
        for (Collector collector : known) {
            if (collector.type().equals(type)) {
                Map<String, String> given = new HashMap<>();
                for (Option option : collector.options()) {
                    String text = parsed.matchedOptionValue("--" + option.name(), (String) null);
                    if (text != null) {
                        given.put(option.name(), text);
                    }
                }
                String name = parsed.matchedOptionValue("--name", type + "-0");
                return new Plan(
                        parsed.matchedOptionValue("--to", ""),
                        LogOutlet.Settings.DEFAULT.queueEvents(),
                        metricsListen(parsed),
                        List.of(new Plan.Planned(name, collector, new OptionValues(collector.options(), given, type))));
            }
        }
        throw new CollectorException("unknown collector: " + type);
    }

    private static @Nullable String metricsListen(ParseResult parsed) throws CollectorException {
        String text = parsed.matchedOptionValue("--" + Plan.METRICS_LISTEN, (String) null);
        String problem = text == null ? null : Plan.metricsListenProblem(text);
        if (problem != null) {
            throw new CollectorException(Plan.METRICS_LISTEN + ": " + problem + ": " + text);
        }
        return text;
    }

    /** The page of this process's own figures; null where none is wanted. */
    private static @Nullable HealthPage page(Plan plan, LogOutlet outlet, Map<String, Collector.Running> runningByName)
            throws CollectorException {
        String listen = plan.metricsListen();
        if (listen == null) {
            return null;
        }
        String address = Plan.metricsAddress(listen);
        try {
            return new HealthPage(OptionKind.host(address), OptionKind.port(address), () -> {
                Map<String, List<HealthFigure>> figures = new LinkedHashMap<>();
                runningByName.forEach((name, running) -> figures.put(name, running.health()));
                return LogOutletWay.metrics(outlet) + HealthText.of(figures);
            });
        } catch (IOException failed) {
            throw new CollectorException(Plan.METRICS_LISTEN + ": " + failed.getMessage(), failed);
        }
    }

    private int run(Plan plan, CommandLine line) throws CollectorException {
        LogOutlet.Settings usual = LogOutlet.Settings.DEFAULT;
        LogOutlet outlet;
        try {
            outlet = LogOutlet.open(
                    plan.to(),
                    new LogOutlet.Settings(plan.queueEvents(), usual.linger(), usual.retry(), usual.closeWait()));
        } catch (IllegalArgumentException noAddress) {
            throw new CollectorException(String.valueOf(noAddress.getMessage()), noAddress);
        }
        PrintWriter err = line.getErr();
        Deque<Collector.Running> running = new ArrayDeque<>();
        Map<String, Collector.Running> runningByName = new ConcurrentSkipListMap<>();
        HealthPage page = null;
        try {
            page = page(plan, outlet, runningByName);
            if (page != null) {
                err.println("Its own figures: port " + page.port() + ", /metrics");
            }
            for (Plan.Planned planned : plan.collectors()) {
                Collector.Running started = planned.collector().start(planned.name(), planned.values(), outlet);
                running.push(started);
                runningByName.put(planned.name(), started);
                err.println(planned.name() + ": " + started.status());
                if (!started.cannotKnow().isEmpty()) {
                    err.println(planned.name() + " cannot know: " + started.cannotKnow());
                }
            }
            err.println("Collecting to " + plan.to() + ", until this is stopped with Ctrl-C.");
            err.flush();
            watch(outlet, err);
        } finally {
            if (page != null) {
                page.close();
            }
            running.forEach(Collector.Running::close);
            outlet.close();
            LogOutlet.Status status = outlet.status();
            err.println("offered " + status.offeredCount() + ", kept " + status.keptCount() + ", lost "
                    + status.lostCount());
            err.flush();
        }
        return CommandLine.ExitCode.OK;
    }

    /** Waits for the end and says when the log goes away and comes back. */
    private void watch(LogOutlet outlet, PrintWriter err) {
        String told = null;
        long toldLost = 0;
        try {
            while (!stop.await(1, TimeUnit.SECONDS)) {
                LogOutlet.Status status = outlet.status();
                String trouble = status.trouble();
                if (isNews(told, trouble) || (trouble == null && status.lostCount() > toldLost)) {
                    err.println(
                            trouble != null
                                    ? "The log cannot be written to, trying again: " + trouble
                                    : "The log is written to. Lost so far: " + status.lostCount());
                    err.flush();
                    toldLost = status.lostCount();
                }
                told = trouble;
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isNews(@Nullable String told, @Nullable String trouble) {
        return (told == null) != (trouble == null);
    }

    private static int refuse(CommandLine line, String problem) {
        CommandLine top = line.getParent() == null ? line : line.getParent();
        line.getErr()
                .println(COMMAND + ": " + problem.replace("\n", "\n" + COMMAND + ": ")
                        + (problem.endsWith(".") || problem.endsWith("?") ? "" : ".") + " See: "
                        + (line == top ? COMMAND : COMMAND + " " + line.getCommandName()) + " --help");
        line.getErr().flush();
        return CommandLine.ExitCode.USAGE;
    }
}
