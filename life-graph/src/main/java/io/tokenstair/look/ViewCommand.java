package io.tokenstair.look;

import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.page.PageServer;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Serves the life graph page of an archive until the process is ended. */
@Command(
        name = "view",
        description = "The life graph: a page over an archive, on this machine only. Ends with Ctrl-C.",
        sortOptions = false,
        footer = {
            "",
            "Exit codes: 0 ended; 2 wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair view --archive out"
        })
final class ViewCommand implements Callable<Integer> {
    private final CommandOutput output;

    @Mixin
    private ReadingOptions options = new ReadingOptions();

    @Option(
            names = "--port",
            paramLabel = "N",
            description =
                    "Port on 127.0.0.1; 0 takes any free one. Default: 8642, or any free one where that is taken.")
    private @Nullable Integer port;

    ViewCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() throws InterruptedException {
        try (ResultArchive archive = options.open();
                PageServer server = PageServer.start(archive, port)) {
            PrintStream lines = new PrintStream(output.out(), true, StandardCharsets.UTF_8);
            lines.println("Life graph of " + options.archive() + ": " + server.url());
            lines.println("Metrics for Prometheus: " + server.url() + "metrics");
            lines.println("Ctrl-C ends it.");
            server.awaitEnd();
        }
        return 0;
    }
}
