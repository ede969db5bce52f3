package io.tokenstair.collect.otlp.receive;

import io.tokenstair.collect.otlp.OtlpLimits;
import java.time.Duration;

/** Receivers on free ports with one bound or another changed. */
final class Bounds {
    private static final ReceiverSettings FREE = ReceiverSettings.onLoopback(0, 0);

    private Bounds() {}

    static ReceiverSettings usual() {
        return FREE;
    }

    static ReceiverSettings holding(int wireBytes, OtlpLimits unzipped, long allBytes) {
        return of(wireBytes, unzipped, allBytes, FREE.requestTime(), FREE.connections(), ReceiverSecurity.NONE);
    }

    static ReceiverSettings within(Duration time, int connections) {
        return of(FREE.requestBytes(), FREE.limits(), FREE.heldBytes(), time, connections, ReceiverSecurity.NONE);
    }

    static ReceiverSettings holding(Duration time, int connections, long allBytes) {
        return of(FREE.requestBytes(), FREE.limits(), allBytes, time, connections, ReceiverSecurity.NONE);
    }

    static ReceiverSettings behind(ReceiverSecurity security) {
        return of(FREE.requestBytes(), FREE.limits(), FREE.heldBytes(), FREE.requestTime(), 256, security);
    }

    private static ReceiverSettings of(
            int wireBytes,
            OtlpLimits unzipped,
            long allBytes,
            Duration time,
            int connections,
            ReceiverSecurity security) {
        return new ReceiverSettings(
                FREE.grpcHost(),
                0,
                FREE.httpHost(),
                0,
                wireBytes,
                unzipped,
                allBytes,
                time,
                connections,
                FREE.futureTolerance(),
                security);
    }
}
