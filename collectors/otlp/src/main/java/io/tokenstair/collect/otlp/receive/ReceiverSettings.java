package io.tokenstair.collect.otlp.receive;

import io.tokenstair.collect.otlp.OtlpLimits;
import java.time.Duration;

/**
 * Where a receiver listens, and what it bears.
 *
 * @param grpcHost address that gRPC listens on
 * @param grpcPort port of gRPC; 0 for any free one
 * @param httpHost address that HTTP listens on
 * @param httpPort port of HTTP; 0 for any free one. Both ports take both protocols
 * @param requestBytes most bytes of one request on the wire
 * @param limits what one request may hold, after it was unzipped
 * @param heldBytes most bytes of all requests together that have arrived and are not decoded yet
 * @param requestTime longest time from the head of a request to its last byte
 * @param connections most connections at once
 * @param futureTolerance how far ahead of this machine's clock what is reported may lie
 */
public record ReceiverSettings(
        String grpcHost,
        int grpcPort,
        String httpHost,
        int httpPort,
        int requestBytes,
        OtlpLimits limits,
        long heldBytes,
        Duration requestTime,
        int connections,
        Duration futureTolerance) {
    /** The ports that OTLP names, on loopback; 4 MiB a request, 16 MiB unzipped, 64 MiB in all; 30 s; 256 connections; 10 minutes. */
    public static final ReceiverSettings DEFAULT = new ReceiverSettings(
            "127.0.0.1",
            4317,
            "127.0.0.1",
            4318,
            4 << 20,
            OtlpLimits.DEFAULT,
            64L << 20,
            Duration.ofSeconds(30),
            256,
            Duration.ofMinutes(10));

    /** The same on other ports. */
    public ReceiverSettings onPorts(int grpc, int http) {
        return new ReceiverSettings(
                grpcHost,
                grpc,
                httpHost,
                http,
                requestBytes,
                limits,
                heldBytes,
                requestTime,
                connections,
                futureTolerance);
    }

    /**
     * The same at other addresses.
     *
     * @throws IllegalArgumentException when one is not a host and a port
     */
    public ReceiverSettings on(String grpcAddress, String httpAddress) {
        return new ReceiverSettings(
                host(grpcAddress),
                port(grpcAddress),
                host(httpAddress),
                port(httpAddress),
                requestBytes,
                limits,
                heldBytes,
                requestTime,
                connections,
                futureTolerance);
    }

    private static String host(String address) {
        int colon = address.lastIndexOf(':');
        String host = colon < 0 ? "" : address.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        if (host.isEmpty()) {
            throw new IllegalArgumentException(
                    "Cannot listen at " + address + ": give host:port, such as 127.0.0.1:4318");
        }
        return host;
    }

    private static int port(String address) {
        String port = address.substring(address.lastIndexOf(':') + 1);
        if (!port.matches("\\d{1,5}") || Integer.parseInt(port) > 65_535) {
            throw new IllegalArgumentException("Cannot listen at " + address + ": give a port from 0 to 65535");
        }
        return Integer.parseInt(port);
    }

    /** The same with other bounds in bytes. */
    public ReceiverSettings holding(int wireBytes, OtlpLimits unzipped, long allBytes) {
        return new ReceiverSettings(
                grpcHost,
                grpcPort,
                httpHost,
                httpPort,
                wireBytes,
                unzipped,
                allBytes,
                requestTime,
                connections,
                futureTolerance);
    }

    /** The same with another time for a request. */
    public ReceiverSettings within(Duration time) {
        return new ReceiverSettings(
                grpcHost,
                grpcPort,
                httpHost,
                httpPort,
                requestBytes,
                limits,
                heldBytes,
                time,
                connections,
                futureTolerance);
    }
}
