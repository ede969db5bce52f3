package io.tokenstair.collector;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.OtlpLimits;
import io.tokenstair.collect.otlp.receive.LogOutletWay;
import io.tokenstair.collect.otlp.receive.OtlpReceiver;
import io.tokenstair.collect.otlp.receive.ReceiverSettings;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.collector.reach.PortLook;
import io.tokenstair.log.LogOutlet;
import java.io.IOException;
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

    @Override
    public String type() {
        return "otlp";
    }

    @Override
    public String summary() {
        return "receives OpenTelemetry traces, metrics and logs over gRPC and HTTP";
    }

    @Override
    public List<Option> options() {
        return List.of(
                Option.of(GRPC, OptionKind.ADDRESS, "127.0.0.1:4317", "where gRPC listens"),
                Option.of(HTTP, OptionKind.ADDRESS, "127.0.0.1:4318", "where HTTP listens, and /metrics"),
                Option.of(MAX_REQUEST, OptionKind.BYTES, "4MiB", "most bytes of a request on the wire"),
                Option.of(MAX_UNZIPPED, OptionKind.BYTES, "16MiB", "most bytes of it after unzipping"),
                Option.of(MAX_HELD, OptionKind.BYTES, "64MiB", "most bytes of all requests that are not decoded yet"),
                Option.of(REQUEST_TIME, OptionKind.DURATION, "30s", "longest time for a request to arrive"),
                Option.of(MAX_CONNECTIONS, OptionKind.COUNT, "256", "most connections at once"));
    }

    @Override
    public Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException {
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
                ReceiverSettings.DEFAULT.futureTolerance());
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
        return List.of(
                PortLook.at(GRPC, values.host(GRPC), values.port(GRPC)),
                PortLook.at(HTTP, values.host(HTTP), values.port(HTTP)));
    }
}
