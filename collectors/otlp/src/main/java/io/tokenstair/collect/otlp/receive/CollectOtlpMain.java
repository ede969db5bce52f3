package io.tokenstair.collect.otlp.receive;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.log.LogOutlet;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code collect otlp}: what engines, gateways and clients export, into a log. */
@Command(
        name = "tokenstair collect otlp",
        description = {
            "Receives OpenTelemetry traces, metrics and logs over gRPC and HTTP, into a log.",
            "Listens on this machine only, unless told otherwise; there is no TLS and nobody is asked who they are.",
            "docs/engines/otlp.md has what comes of it.",
            ""
        },
        footer = {
            "",
            "Exit codes: 0 stopped by a signal or after --for; 2 wrong usage, or an address that cannot be used.",
            "",
            "Example:",
            "  tokenstair collect otlp --to /tmp/log"
        },
        sortOptions = false)
public final class CollectOtlpMain implements Callable<Integer> {
    private static final int UNUSABLE = 2;
    private static final int REPORT_SECONDS = 10;
    private static final String COLLECTOR = "otlp";

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--to",
            required = true,
            paramLabel = "LOG",
            description = "Where to: kafka://host:port/topic or a folder.")
    private String to;

    @Option(
            names = "--grpc",
            paramLabel = "HOST:PORT",
            description = "Where gRPC listens (default: ${DEFAULT-VALUE}); port 0: any free one.")
    private String grpc = "127.0.0.1:4317";

    @Option(
            names = "--http",
            paramLabel = "HOST:PORT",
            description = "Where HTTP listens, and /metrics (default: ${DEFAULT-VALUE}).")
    private String http = "127.0.0.1:4318";

    @Option(names = "--for", paramLabel = "SECONDS", description = "Stop after so long (default: when told to).")
    private long stopAfterSeconds = Long.MAX_VALUE;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli reads it.
    private boolean help;

    @SuppressWarnings("NullAway.Init") // picocli sets the fields.
    private CollectOtlpMain() {}

    /** Runs the command and exits with its code. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());
        PrintWriter err = new PrintWriter(System.err, true, Charset.defaultCharset());
        System.exit(run(out, err, args));
    }

    /** Runs the command and returns its exit code. */
    public static int run(PrintWriter out, PrintWriter err, String... args) {
        return new CommandLine(new CollectOtlpMain())
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler((problem, given) -> {
                    String message = problem.getMessage();
                    err.println("collect otlp: "
                            + (message == null
                                    ? ""
                                    : message.lines().findFirst().orElse(""))
                            + "; see tokenstair collect otlp --help");
                    return UNUSABLE;
                })
                .execute(args);
    }

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        CountDownLatch stopped = new CountDownLatch(1);
        LogOutlet outlet;
        LogOutletWay way;
        OtlpReceiver receiver;
        try {
            ReceiverSettings settings = ReceiverSettings.DEFAULT.on(grpc, http);
            outlet = LogOutlet.open(to);
            way = new LogOutletWay(outlet, COLLECTOR);
            receiver = OtlpReceiver.start(settings, way, EpochClock.system(), () -> LogOutletWay.metrics(outlet));
        } catch (IllegalArgumentException | IOException unusable) {
            err.println("collect otlp: " + unusable.getMessage());
            return UNUSABLE;
        }
        Thread finisher = new Thread(() -> {
            stopped.countDown();
            finish(receiver, outlet, err);
        });
        Runtime.getRuntime().addShutdownHook(finisher);
        err.println("collect otlp: gRPC on port " + receiver.grpcPort() + ", HTTP on port " + receiver.httpPort());
        long seconds = 0;
        String last = "";
        while (seconds < stopAfterSeconds
                && !stopped.await(Math.min(REPORT_SECONDS, stopAfterSeconds - seconds), TimeUnit.SECONDS)) {
            seconds += REPORT_SECONDS;
            String line = line(receiver, outlet);
            if (!line.equals(last)) {
                err.println(line);
                last = line;
            }
        }
        if (stopped.getCount() > 0) {
            Runtime.getRuntime().removeShutdownHook(finisher);
            finish(receiver, outlet, err);
        }
        return 0;
    }

    private static void finish(OtlpReceiver receiver, LogOutlet outlet, PrintWriter err) {
        receiver.close();
        outlet.close();
        err.println(line(receiver, outlet));
    }

    private static String line(OtlpReceiver receiver, LogOutlet outlet) {
        LogOutlet.Status status = outlet.status();
        return "collect otlp: read " + (receiver.acceptedCount() + receiver.rejectedCount()) + ", accepted "
                + receiver.acceptedCount() + ", rejected " + receiver.rejectedCount() + "; events "
                + status.offeredCount() + ", in the log " + status.keptCount() + ", lost " + status.lostCount()
                + (status.trouble() == null ? "" : "; log: " + status.trouble());
    }
}
