package io.tokenstair.vllm;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.log.LogOutlet;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code collect vllm}: what a running vLLM does, into a log. */
@Command(
        name = "tokenstair collect vllm",
        description = {
            "Collects a running vLLM into a log: what the probe in it sends, its KV events, its metrics, and what",
            "the kernel says of its processes. docs/engines/vllm.md has the engine's flags.",
            ""
        },
        footer = {
            "",
            "Exit codes: 0 stopped by a signal or after --for; 2 wrong usage, or an address that cannot be used.",
            "",
            "Example:",
            "  tokenstair collect vllm --to /tmp/log --probe tcp://127.0.0.1:5559 \\",
            "    --kv-events tcp://127.0.0.1:5557 --kv-replay tcp://127.0.0.1:5558 \\",
            "    --metrics http://127.0.0.1:8000/metrics"
        },
        sortOptions = false)
public final class CollectVllmMain implements Callable<Integer> {
    private static final int UNUSABLE = 2;
    private static final int REPORT_SECONDS = 10;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--to",
            required = true,
            paramLabel = "LOG",
            description = "Where to: kafka://host:port/topic or a folder.")
    private String to;

    @Option(
            names = "--probe",
            paramLabel = "ADDRESS",
            description = "Where the probe sends to (TOKENSTAIR_PROBE), such as tcp://127.0.0.1:5559.")
    private @Nullable String probe;

    @Option(
            names = "--kv-events",
            paramLabel = "ADDRESS",
            split = ",",
            description = "Publishers of KV events, one for each data-parallel rank.")
    private List<String> kvEvents = List.of();

    @Option(
            names = "--kv-replay",
            paramLabel = "ADDRESS",
            split = ",",
            description = "Their replay endpoints, in the same order: what was missed is asked for again.")
    private List<String> kvReplay = List.of();

    @Option(
            names = "--kv-topic",
            paramLabel = "TEXT",
            description = "Only messages whose topic begins so (default: all).")
    private String kvTopic = "";

    @Option(
            names = "--metrics",
            paramLabel = "URL",
            description = "Scrape this. Says how many run and wait; cannot say which request, step or token.")
    private @Nullable URI metrics;

    @Option(names = "--metrics-every", paramLabel = "MS", description = "How often (default: ${DEFAULT-VALUE}).")
    private long metricsEveryMillis = 1_000;

    @Option(
            names = "--host-every",
            paramLabel = "MS",
            description =
                    "How often the processes' core waits are read from /proc; 0: never (default: ${DEFAULT-VALUE}).")
    private long hostEveryMillis = 10;

    @Option(
            names = "--engine",
            paramLabel = "NAME",
            description = "What to call an engine without TOKENSTAIR_ENGINE_ID (default: ${DEFAULT-VALUE}).")
    private String engineName = "vllm-0";

    @Option(names = "--for", paramLabel = "SECONDS", description = "Stop after so long (default: when told to).")
    private long stopAfterSeconds = Long.MAX_VALUE;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli reads it.
    private boolean help;

    @SuppressWarnings("NullAway.Init") // picocli sets the fields.
    private CollectVllmMain() {}

    /** Runs the command and exits with its code. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());
        PrintWriter err = new PrintWriter(System.err, true, Charset.defaultCharset());
        System.exit(run(out, err, args));
    }

    /** Runs the command and returns its exit code. */
    public static int run(PrintWriter out, PrintWriter err, String... args) {
        return new CommandLine(new CollectVllmMain())
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler((problem, given) -> {
                    String message = problem.getMessage();
                    err.println("collect vllm: "
                            + (message == null
                                    ? ""
                                    : message.lines().findFirst().orElse(""))
                            + "; see tokenstair collect vllm --help");
                    return UNUSABLE;
                })
                .execute(args);
    }

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        CountDownLatch stopped = new CountDownLatch(1);
        LogOutlet outlet;
        VllmCollector collector;
        try {
            VllmSettings settings = new VllmSettings(
                    "vllm",
                    engineName,
                    probe,
                    kvEvents,
                    kvReplay,
                    kvTopic,
                    metrics,
                    Duration.ofMillis(Math.max(100, metricsEveryMillis)),
                    hostEveryMillis <= 0 ? null : Duration.ofMillis(hostEveryMillis));
            outlet = LogOutlet.open(to);
            outlet.feed("vllm").beat(HostClocks.sampler());
            collector = new VllmCollector(
                    settings, (id, clock, nanos, event) -> outlet.feed(id).offer(clock, nanos, event));
        } catch (IllegalArgumentException unusable) {
            err.println("collect vllm: " + unusable.getMessage());
            return UNUSABLE;
        }
        Thread finisher = new Thread(() -> {
            stopped.countDown();
            finish(collector, outlet, err);
        });
        Runtime.getRuntime().addShutdownHook(finisher);
        long seconds = 0;
        String last = "";
        while (seconds < stopAfterSeconds
                && !stopped.await(Math.min(REPORT_SECONDS, stopAfterSeconds - seconds), TimeUnit.SECONDS)) {
            seconds += REPORT_SECONDS;
            String line = line(collector, outlet);
            if (!line.equals(last)) {
                err.println(line);
                last = line;
            }
        }
        if (stopped.getCount() > 0) {
            Runtime.getRuntime().removeShutdownHook(finisher);
            finish(collector, outlet, err);
        }
        return 0;
    }

    private static void finish(VllmCollector collector, LogOutlet outlet, PrintWriter err) {
        collector.close();
        outlet.close();
        err.println(line(collector, outlet));
    }

    private static String line(VllmCollector collector, LogOutlet outlet) {
        LogOutlet.Status status = outlet.status();
        return "collect vllm: " + collector.status() + "; events " + status.offeredCount() + ", in the log "
                + status.keptCount() + ", lost " + status.lostCount()
                + (status.trouble() == null ? "" : "; log: " + status.trouble());
    }
}
