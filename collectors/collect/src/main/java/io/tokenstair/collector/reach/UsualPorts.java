package io.tokenstair.collector.reach;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Looks at the ports of this machine's loopback address that known servers usually have. */
public final class UsualPorts {
    private static final String HOST = "127.0.0.1";

    private UsualPorts() {}

    /** What is usually at a port. */
    public enum Kind {
        /** An engine that speaks HTTP. */
        HTTP,
        /** An engine that speaks gRPC. */
        GRPC,
        /** Metrics only. */
        METRICS,
        /** Where OTLP is received. */
        OTLP,
        /** A broker of Kafka. */
        KAFKA
    }

    /**
     * A port.
     *
     * @param port its number
     * @param kind what is spoken there
     * @param whose whom it usually belongs to
     */
    public record Usual(int port, Kind kind, String whose) {}

    /** The ports of known servers, as their documentation has them. */
    public static final List<Usual> ALL = List.of(
            new Usual(8000, Kind.HTTP, "vLLM, Triton, Dynamo"),
            new Usual(8001, Kind.GRPC, "Triton over gRPC"),
            new Usual(8002, Kind.METRICS, "Triton's metrics"),
            new Usual(8080, Kind.HTTP, "llama.cpp"),
            new Usual(30000, Kind.HTTP, "SGLang"),
            new Usual(4317, Kind.OTLP, "OTLP over gRPC"),
            new Usual(4318, Kind.OTLP, "OTLP over HTTP"),
            new Usual(9092, Kind.KAFKA, "Kafka"));

    /**
     * Who is at a port.
     *
     * @param usual the port
     * @param isTaken true when somebody takes connections there
     * @param found what was found, in words
     * @param server the engine; absent where none is known
     */
    public record Found(
            Usual usual,
            boolean isTaken,
            String found,
            @Nullable FoundServer server) {}

    /** Who is at these ports, in their order, within the deadline of all looks. */
    public static List<Found> look(List<Usual> ports) throws InterruptedException {
        List<@Nullable Found> found = new ArrayList<>(Collections.nCopies(ports.size(), null));
        List<Look> looks = new ArrayList<>();
        for (int i = 0; i < ports.size(); i++) {
            int at = i;
            Usual usual = ports.get(i);
            looks.add(new Look(usual.whose(), HOST + ":" + usual.port(), () -> {
                Found one = look(usual);
                synchronized (found) {
                    found.set(at, one);
                }
                return Seen.ok(one.found());
            }));
        }
        List<Seen> seen = Looks.all(looks, Looks.DEADLINE);
        List<Found> all = new ArrayList<>();
        synchronized (found) {
            for (int i = 0; i < ports.size(); i++) {
                Found one = found.get(i);
                all.add(
                        one != null
                                ? one
                                : new Found(ports.get(i), true, seen.get(i).found(), null));
            }
        }
        return all;
    }

    private static Found look(Usual usual) throws InterruptedException, IOException, GeneralSecurityException {
        if (TcpPeer.absence(HOST, usual.port(), usual.whose()) != null) {
            return new Found(usual, false, "nobody listens", null);
        }
        URI base = URI.create("http://" + HOST + ":" + usual.port());
        FoundServer server = switch (usual.kind()) {
            case HTTP -> ServerIdentity.of(new HttpPeer(null), base);
            case METRICS -> scraped(base);
            case KAFKA ->
                BrokerPeer.answers(HOST, usual.port()) ? new FoundServer(base, Engine.KAFKA, null, List.of(), 0) : null;
            case GRPC, OTLP -> null;
        };
        if (server != null) {
            return new Found(usual, true, server.inWords(), server);
        }
        String owner = PortLook.owner(usual.port());
        return new Found(usual, true, "taken" + (owner == null ? "" : " by " + owner), null);
    }

    private static @Nullable FoundServer scraped(URI base) throws InterruptedException, GeneralSecurityException {
        try {
            HttpPeer.Answer answer = new HttpPeer(null).one(base.resolve("/metrics"));
            Engine engine = answer.status() != 200
                    ? null
                    : MetricsLook.engineOf(MetricsLook.names(new String(answer.body(), StandardCharsets.UTF_8)));
            return engine == null ? null : new FoundServer(base, engine, null, List.of(), answer.status());
        } catch (IOException noHttp) {
            return null;
        }
    }
}
