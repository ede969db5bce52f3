package io.tokenstair.collector;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.OtlpLimits;
import io.tokenstair.collect.otlp.receive.LogOutletWay;
import io.tokenstair.collect.otlp.receive.OtlpReceiver;
import io.tokenstair.collect.otlp.receive.ReceiverSecurity;
import io.tokenstair.collect.otlp.receive.ReceiverSettings;
import io.tokenstair.collector.reach.CertificateLook;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.collector.reach.PortLook;
import io.tokenstair.collector.reach.Seen;
import io.tokenstair.log.LogOutlet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Receives OpenTelemetry from engines, gateways and clients. */
final class OtlpCollector implements Collector {
    private static final String GRPC = "grpc";
    private static final String HTTP = "http";
    private static final String MAX_REQUEST = "max-request";
    private static final String MAX_UNZIPPED = "max-unzipped";
    private static final String MAX_HELD = "max-held";
    private static final String REQUEST_TIME = "request-time";
    private static final String MAX_CONNECTIONS = "max-connections";
    private static final String TLS_CERT = "tls-cert";
    private static final String TLS_KEY = "tls-key";
    private static final String TLS_CLIENT_CA = "tls-client-ca";
    private static final String TOKEN = "token";
    private static final String TOKEN_HEADER = "token-header";

    @Override
    public String type() {
        return "otlp";
    }

    @Override
    public String summary() {
        return "Receives OpenTelemetry traces, metrics and logs over gRPC and HTTP.";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.of(GRPC, OptionKind.ADDRESS, "127.0.0.1:4317", "Where gRPC listens."),
                Option.of(HTTP, OptionKind.ADDRESS, "127.0.0.1:4318", "Where HTTP listens, and /metrics."),
                Option.optional(TLS_CERT, OptionKind.PATH, "PEM file of its certificate: clients speak TLS."),
                Option.optional(TLS_KEY, OptionKind.PATH, "PEM file of its private key."),
                Option.optional(
                        TLS_CLIENT_CA,
                        OptionKind.PATH,
                        "PEM file of who signs certificates of clients: each must show one."),
                Option.optional(
                        TOKEN,
                        OptionKind.SECRET,
                        "Where the secret lies that requests must bring: a variable, or the first line of a file."),
                Option.of(
                        TOKEN_HEADER,
                        OptionKind.TEXT,
                        "authorization",
                        "The header that brings it; Authorization has Bearer before it."),
                Option.of(MAX_REQUEST, OptionKind.BYTES, "4MiB", "Most bytes of a request on the wire."),
                Option.of(MAX_UNZIPPED, OptionKind.BYTES, "16MiB", "Most bytes of it after unzipping."),
                Option.of(MAX_HELD, OptionKind.BYTES, "64MiB", "Most bytes of all requests that are not decoded yet."),
                Option.of(REQUEST_TIME, OptionKind.DURATION, "30s", "Longest time for a request to arrive."),
                Option.of(MAX_CONNECTIONS, OptionKind.COUNT, "256", "Most connections at once."));
    }

    @Override
    public void check(OptionValues values) throws CollectorException {
        EngineOptions.check(() -> new ReceiverSecurity(
                values.optionalPath(TLS_CERT), values.optionalPath(TLS_KEY), values.optionalPath(TLS_CLIENT_CA), null));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
        String secret = values.optionalSecret(TOKEN);
        ReceiverSecurity security;
        try {
            security = new ReceiverSecurity(
                    values.readable(name, TLS_CERT),
                    values.readable(name, TLS_KEY),
                    values.readable(name, TLS_CLIENT_CA),
                    secret == null ? null : new ReceiverSecurity.Secret(values.text(TOKEN_HEADER), secret));
        } catch (IllegalArgumentException impossible) {
            throw new CollectorException(name + ": " + impossible.getMessage(), impossible);
        }
        ReceiverSettings settings = new ReceiverSettings(
                values.host(GRPC),
                values.port(GRPC),
                values.host(HTTP),
                values.port(HTTP),
                (int) Math.min(values.bytes(MAX_REQUEST), 1 << 30),
                new OtlpLimits((int) Math.min(values.bytes(MAX_UNZIPPED), 1 << 30), OtlpLimits.DEFAULT.messages()),
                values.bytes(MAX_HELD),
                values.duration(REQUEST_TIME),
                values.count(MAX_CONNECTIONS),
                ReceiverSettings.DEFAULT.futureTolerance(),
                security);
        LogOutletWay way = new LogOutletWay(outlet, name);
        OtlpReceiver receiver;
        try {
            receiver = OtlpReceiver.start(settings, way, EpochClock.system(), () -> LogOutletWay.metrics(outlet));
        } catch (IOException e) {
            throw new CollectorException(String.valueOf(e.getMessage()));
        }
        return new Running() {
            @Override
            public String status() {
                return String.format(
                        Locale.ROOT,
                        "gRPC on %d, HTTP on %d: %d items taken, %d refused, %d events lost",
                        receiver.grpcPort(),
                        receiver.httpPort(),
                        receiver.acceptedCount(),
                        receiver.rejectedCount(),
                        way.lostCount());
            }

            @Override
            public void close() {
                receiver.close();
            }
        };
    }

    @Override
    public List<Look> looks(OptionValues values) {
        List<Look> looks = new ArrayList<>();
        looks.add(PortLook.at(GRPC, values.host(GRPC), values.port(GRPC)));
        looks.add(PortLook.at(HTTP, values.host(HTTP), values.port(HTTP)));
        looks.addAll(CertificateLook.ofServer(
                values.optionalPath(TLS_CERT),
                values.optionalPath(TLS_KEY),
                TLS_CLIENT_CA,
                values.optionalPath(TLS_CLIENT_CA)));
        String place = values.optionalText(TOKEN);
        if (place != null) {
            looks.add(new Look(TOKEN, place, () -> {
                try {
                    values.optionalSecret(TOKEN);
                    return Seen.ok("there");
                } catch (CollectorException absent) {
                    return Seen.failed(String.valueOf(absent.getMessage()), "set it, or name another place");
                }
            }));
        }
        return looks;
    }
}
