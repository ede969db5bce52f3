package io.tokenstair.look.otlp;

import io.tokenstair.look.CommandOutput;
import io.tokenstair.look.ReadingOptions;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.ResultTable;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.text.Terminal;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Exports requests and findings as OpenTelemetry traces. */
@Command(
        name = "otlp",
        description = {
            "Requests, their slow tokens and findings as OpenTelemetry traces, in the trace that",
            "came with the request, so that they stand beside the spans of its engine.",
            "Findings also as log records that name the request's span."
        },
        sortOptions = false,
        footer = {
            "",
            "Exit codes: 0 done; 2 wrong usage, unreadable input, or nobody takes it.",
            "",
            "Examples:",
            "  tokenstair export otlp --archive out --to http://127.0.0.1:4318",
            "  tokenstair export otlp --archive out --request chat-17 --out traces.jsonl"
        })
final class OtlpExportCommand implements Callable<Integer> {
    private final CommandOutput output;
    private final Map<String, String> environment;

    @Mixin
    private ReadingOptions options = new ReadingOptions();

    @Option(names = "--request", paramLabel = "ID", description = "This request only: its id or an alias.")
    private @Nullable String request;

    @ArgGroup(multiplicity = "1")
    private Target target = new Target();

    /** Where it goes. */
    static final class Target {
        @Option(
                names = "--to",
                paramLabel = "URL",
                required = true,
                description = "An OTLP/HTTP endpoint: a Collector, Jaeger, Grafana Tempo.")
        private @Nullable String to;

        @Option(
                names = "--out",
                paramLabel = "FILE",
                required = true,
                description = "A file: JSON lines; protobuf where it ends with .pb; gzipped with .gz.")
        private @Nullable Path out;
    }

    @Option(
            names = "--header",
            paramLabel = "NAME=env:VAR|NAME=file:PATH",
            description = "A header to send, such as authorization=env:OTLP_AUTH; repeat it for more.")
    private List<String> headers = new ArrayList<>();

    @Option(names = "--ca", paramLabel = "FILE", description = "PEM file of who signs the endpoint's certificate.")
    private @Nullable Path authority;

    @Option(names = "--cert", paramLabel = "FILE", description = "PEM file of a certificate to show.")
    private @Nullable Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "PEM file of its private key, PKCS 8.")
    private @Nullable Path key;

    OtlpExportCommand(CommandOutput output, Map<String, String> environment) {
        this.output = output;
        this.environment = environment;
    }

    @Override
    public Integer call() {
        try (ResultArchive archive =
                ResultArchive.open(options.archive(), List.of(ResultTable.ARRIVALS, ResultTable.SPANS))) {
            ReadingOptions.demandKnown(archive, request);
            PrintStream lines = new PrintStream(output.out(), true, StandardCharsets.UTF_8);
            try (OtlpSink sink = sink()) {
                ArchiveTraces traces = new ArchiveTraces(archive, sink);
                traces.export(request);
                lines.println(traces.line());
                if (traces.undated() > 0) {
                    lines.println(traces.undated() + " without a time of day: no trace can show them");
                }
                if (sink.refusedSpans() > 0) {
                    lines.println(sink.refusedSpans() + " spans or log records were refused there");
                }
                if (traces.isWithoutLogs()) {
                    lines.println("no log records are taken there: findings went as spans only");
                }
            } catch (IOException failure) {
                throw new UnusableInputException(
                        "Cannot export: " + failure.getMessage()
                                + ". Check the address or the file, and that it takes OTLP over HTTP",
                        failure);
            }
        }
        return 0;
    }

    private OtlpSink sink() throws IOException {
        String to = target.to;
        Path out = target.out;
        if (to != null) {
            try {
                return new OtlpEndpoint(to, EndpointAccess.of(headers, authority, certificate, key, environment));
            } catch (IllegalArgumentException wrong) {
                throw new UnusableInputException(
                        Terminal.safe("Cannot send to " + to + ": " + wrong.getMessage()), wrong);
            }
        }
        if (out == null) {
            throw new IllegalStateException("Cannot export to nowhere: the command line asks for one of two places");
        }
        return new OtlpFile(out);
    }
}
