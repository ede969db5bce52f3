package io.tokenstair.gateway;

import io.tokenstair.hostile.SmallProcess;
import io.tokenstair.log.LogOutlet;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A gateway in a process of its own: engine's port and log folder in, its port and memory out, until its input ends. */
final class SmallGateway {
    static final Duration TIMEOUT = Duration.ofSeconds(5);

    private SmallGateway() {}

    public static void main(String[] arguments) throws Exception {
        GatewaySettings usual = GatewaySettings.before(URI.create("http://127.0.0.1:" + arguments[0]));
        GatewaySettings settings = new GatewaySettings(
                usual.host(),
                0,
                usual.upstream(),
                false,
                null,
                null,
                null,
                2,
                usual.maxConnections(),
                usual.maxHeaderBytes(),
                usual.maxBodyBytes(),
                TIMEOUT,
                TIMEOUT,
                usual.stallTimeout(),
                usual.connectTimeout(),
                true,
                16 << 20);
        try (LogOutlet outlet = LogOutlet.open(arguments[1]);
                Gateway gateway = Gateway.start(settings, outlet.feed("gateway-0"));
                BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = asked.readLine(); line != null; line = asked.readLine()) {
                switch (line) {
                    case "port" -> System.out.println(gateway.port());
                    case "open" -> System.out.println(gateway.openCount());
                    case "requests" -> System.out.println(gateway.requestCount());
                    default -> System.out.println(SmallProcess.usedBytes());
                }
                System.out.flush();
            }
        }
    }
}
