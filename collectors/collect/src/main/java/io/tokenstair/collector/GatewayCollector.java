package io.tokenstair.collector;

import io.tokenstair.collector.reach.CertificateLook;
import io.tokenstair.collector.reach.FoundServer;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.collector.reach.PortLook;
import io.tokenstair.collector.reach.UpstreamLook;
import io.tokenstair.gateway.Gateway;
import io.tokenstair.gateway.GatewaySettings;
import io.tokenstair.log.LogOutlet;
import io.tokenstair.server.HealthFigure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The gateway, as {@code tokenstair collect} knows it. */
final class GatewayCollector implements Collector {
    @Override
    public String type() {
        return "gateway";
    }

    @Override
    public String summary() {
        return "A streaming reverse proxy before an engine: stamps every chunk, counts its tokens, records no text.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.required("upstream", OptionKind.URL, "The engine."),
                Option.of("listen", OptionKind.ADDRESS, "127.0.0.1:8100", "Where clients connect."),
                Option.of(
                        "upstream-http2",
                        OptionKind.FLAG,
                        "false",
                        "Send everything to the engine by HTTP/2; gRPC always goes so."),
                Option.optional(
                        "tls-cert", OptionKind.PATH, "PEM file of the gateway's certificate: clients speak TLS."),
                Option.optional("tls-key", OptionKind.PATH, "PEM file of its private key."),
                Option.optional("upstream-ca", OptionKind.PATH, "PEM file of who signs the engine's certificate."),
                Option.choice(
                        "uncounted",
                        List.of("one", "none"),
                        "one",
                        "A chunk with text that nothing counts is one token, or is not told."),
                Option.of("threads", OptionKind.COUNT, "2", "Event loops."),
                Option.of("max-connections", OptionKind.COUNT, "4096", "Most connections of clients."),
                Option.of("max-header", OptionKind.BYTES, "64KiB", "Longest head of a request or an answer."),
                Option.of("max-body", OptionKind.BYTES, "64MiB", "Longest body of a request."),
                Option.of(
                        "header-timeout",
                        OptionKind.DURATION,
                        "20s",
                        "How long a client may take for the head of a request, and rest between two."),
                Option.of("body-timeout", OptionKind.DURATION, "60s", "How long it may take for the body."),
                Option.of(
                        "stall-timeout",
                        OptionKind.DURATION,
                        "10m",
                        "How long it may take nothing of an answer that waits for it."),
                Option.of(
                        "connect-timeout",
                        OptionKind.DURATION,
                        "5s",
                        "How long the engine may take to accept a connection."),
                Option.of("max-queued", OptionKind.BYTES, "64MiB", "Most bytes that wait to be looked into."));
    }

    @Override
    public void check(OptionValues values) throws CollectorException {
        EngineOptions.check(() -> settings(values));
    }

    private static GatewaySettings settings(OptionValues values) {
        return new GatewaySettings(
                values.host("listen"),
                values.port("listen"),
                values.url("upstream"),
                values.flag("upstream-http2"),
                values.optionalPath("tls-cert"),
                values.optionalPath("tls-key"),
                values.optionalPath("upstream-ca"),
                values.count("threads"),
                values.count("max-connections"),
                (int) Math.min(16 << 20, values.bytes("max-header")),
                values.bytes("max-body"),
                values.duration("header-timeout"),
                values.duration("body-timeout"),
                values.duration("stall-timeout"),
                values.duration("connect-timeout"),
                values.text("uncounted").equals("one"),
                values.bytes("max-queued"));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
        GatewaySettings settings;
        try {
            settings = settings(values);
        } catch (IllegalArgumentException impossible) {
            throw new CollectorException(name + ": " + impossible.getMessage(), impossible);
        }
        for (String file : List.of("tls-cert", "tls-key", "upstream-ca")) {
            values.readable(name, file);
        }
        try {
            Gateway gateway = Gateway.start(settings, outlet.feed(name));
            return new Running() {
                @Override
                public String status() {
                    return "listens on " + values.text("listen") + " for " + settings.upstream() + "; "
                            + gateway.openCount() + " requests open, " + gateway.requestCount() + " so far, "
                            + gateway.sentAgainCount() + " sent again, "
                            + gateway.brokenRecordCount() + " not recorded to their end";
                }

                @Override
                public List<HealthFigure> health() {
                    return gateway.health();
                }

                @Override
                public void close() {
                    gateway.close();
                }
            };
        } catch (IOException failed) {
            throw new CollectorException(name + ": " + failed.getMessage(), failed);
        }
    }

    @Override
    public List<Look> looks(OptionValues values) {
        List<Look> looks = new ArrayList<>();
        looks.add(UpstreamLook.at("upstream", values.url("upstream"), values.optionalPath("upstream-ca")));
        looks.add(PortLook.at("listen", values.host("listen"), values.port("listen")));
        looks.addAll(CertificateLook.ofServer(
                values.optionalPath("tls-cert"),
                values.optionalPath("tls-key"),
                "upstream-ca",
                values.optionalPath("upstream-ca")));
        return looks;
    }

    @Override
    public @Nullable String optionsFor(FoundServer server) {
        return switch (server.engine()) {
            case VLLM, SGLANG, LLAMA_CPP, TRTLLM, DYNAMO, TGI, OLLAMA -> "--upstream " + server.base();
            case TRITON -> server.base().getPort() == 8002 ? null : "--upstream " + server.base();
            case KAFKA, TOKENSTAIR, OTHER -> null;
        };
    }
}
