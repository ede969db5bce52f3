package io.tokenstair.collect.otlp.receive;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.hostile.SmallProcess;
import io.tokenstair.log.LogOutlet;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A receiver in a process of its own: a log folder in, its port, counts and memory out, until its input ends. */
final class SmallReceiver {
    static final Duration REQUEST_TIME = Duration.ofSeconds(5);
    static final int CONNECTIONS = 256;
    static final long HELD_BYTES = 16L << 20;

    private SmallReceiver() {}

    public static void main(String[] arguments) throws Exception {
        try (LogOutlet outlet = LogOutlet.open(arguments[0]);
                OtlpReceiver receiver = OtlpReceiver.start(
                        Bounds.holding(REQUEST_TIME, CONNECTIONS, HELD_BYTES),
                        new LogOutletWay(outlet, "otlp-0"),
                        EpochClock.system(),
                        () -> "");
                BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = asked.readLine(); line != null; line = asked.readLine()) {
                switch (line) {
                    case "port" -> System.out.println(receiver.httpPort());
                    case "accepted" -> System.out.println(receiver.acceptedCount());
                    case "rejected" -> System.out.println(receiver.rejectedCount());
                    default -> System.out.println(SmallProcess.usedBytes());
                }
                System.out.flush();
            }
        }
    }
}
