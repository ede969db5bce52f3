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
 * @param security TLS, and what requests must bring
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
        Duration futureTolerance,
        ReceiverSecurity security) {
    /** The ports that OTLP names, on loopback; 4 MiB a request, 16 MiB unzipped, 64 MiB in all; 30 s; 256 connections; 10 minutes. */
    public static final ReceiverSettings DEFAULT = onLoopback(4317, 4318);

    /** The usual bounds on ports of the loopback address; 0 for any free one. */
    public static ReceiverSettings onLoopback(int grpcPort, int httpPort) {
        return new ReceiverSettings(
                "127.0.0.1",
                grpcPort,
                "127.0.0.1",
                httpPort,
                4 << 20,
                OtlpLimits.DEFAULT,
                64L << 20,
                Duration.ofSeconds(30),
                256,
                Duration.ofMinutes(10),
                ReceiverSecurity.NONE);
    }
}
