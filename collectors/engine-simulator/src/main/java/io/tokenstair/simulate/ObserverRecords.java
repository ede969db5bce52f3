package io.tokenstair.simulate;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Finish;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What the gateway and the client write down about one request. */
final class ObserverRecords {
    private static final String GATEWAY_COLLECTOR = "sim-gateway";
    private static final String CLIENT_COLLECTOR = "sim-client";
    private static final String GATEWAY = "gateway";
    private static final String CLIENT = "client";
    private static final long MAX_RECORD_NANOS = 100_000_000L;
    private static final int CHUNK_BYTES = 243;
    private static final int HTTP_OK = 200;

    private final Settings settings;
    private final Hosts hosts;
    private final EventLog log;

    ObserverRecords(Settings settings, Hosts hosts, EventLog log) {
        this.settings = settings;
        this.hosts = hosts;
        this.log = log;
    }

    /**
     * Writes down a request.
     *
     * @param hops the way of each chunk of each sequence
     * @param closedNanos when the client went away; {@link Long#MAX_VALUE} when it stayed
     */
    void request(RequestPlan plan, long gatewayNanos, List<List<DeliveryPath.Hop>> hops, long closedNanos) {
        received(CLIENT_COLLECTOR, hosts.client, CLIENT, plan, plan.sentNanos());
        received(GATEWAY_COLLECTOR, hosts.gateway, GATEWAY, plan, gatewayNanos);
        long heardNanos = closedNanos == Long.MAX_VALUE ? closedNanos : closedNanos + settings.clientNetworkNanos;
        chunks(GATEWAY_COLLECTOR, hosts.gateway, GATEWAY, plan, hops, true, heardNanos);
        chunks(CLIENT_COLLECTOR, hosts.client, CLIENT, plan, hops, false, closedNanos);
        long written = Long.MIN_VALUE;
        long arrived = Long.MIN_VALUE;
        for (List<DeliveryPath.Hop> sequence : hops) {
            if (sequence.isEmpty()) {
                continue;
            }
            DeliveryPath.Hop last = sequence.get(sequence.size() - 1);
            written = Math.max(written, last.writeEndNanos());
            arrived = Math.max(arrived, last.clientNanos());
        }
        boolean closed = closedNanos != Long.MAX_VALUE;
        completed(
                GATEWAY_COLLECTOR,
                hosts.gateway,
                GATEWAY,
                plan,
                closed ? heardNanos + 15_000 : written + 15_000,
                closed);
        completed(CLIENT_COLLECTOR, hosts.client, CLIENT, plan, closed ? closedNanos : arrived + 5_000, closed);
    }

    private void received(String collector, HostClock clock, String observer, RequestPlan plan, long atNanos) {
        log.add(
                collector,
                clock,
                atNanos,
                new RequestReceived(
                        observer,
                        plan.requestId(),
                        null,
                        null,
                        "llama-3-8b",
                        "/v1/completions",
                        settings.priorityPolicy || settings.priorities > 1 ? plan.priority() : null,
                        (long) plan.promptTokens(),
                        (long) plan.outputTokens(),
                        plan.choices(),
                        false));
    }

    private void completed(
            String collector, HostClock clock, String observer, RequestPlan plan, long atNanos, boolean closed) {
        long tokens = 0;
        for (int choice = 0; choice < plan.choices(); choice++) {
            tokens += plan.outputTokens(choice);
        }
        log.add(
                collector,
                clock,
                atNanos,
                new RequestCompleted(
                        observer,
                        plan.requestId(),
                        closed ? "client-closed" : "complete",
                        HTTP_OK,
                        null,
                        closed ? null : Long.valueOf(tokens),
                        closed ? null : Long.valueOf(tokens),
                        null,
                        closed ? Long.valueOf(clock.read(atNanos)) : null));
    }

    /** One chunk as an observer sees it. */
    private record Seen(int choice, int token, boolean last, DeliveryPath.Hop hop, long arrivedNanos) {}

    private void chunks(
            String collector,
            HostClock clock,
            String observer,
            RequestPlan plan,
            List<List<DeliveryPath.Hop>> hops,
            boolean gateway,
            long untilNanos) {
        List<Seen> all = new ArrayList<>();
        for (int choice = 0; choice < hops.size(); choice++) {
            List<DeliveryPath.Hop> sequence = hops.get(choice);
            for (int token = 0; token < sequence.size(); token++) {
                DeliveryPath.Hop hop = sequence.get(token);
                long arrived = gateway ? hop.gatewayNanos() : hop.clientNanos();
                if (arrived <= untilNanos) {
                    all.add(new Seen(choice, token, token == plan.outputTokens(choice) - 1, hop, arrived));
                }
            }
        }
        all.sort(Comparator.comparingLong(Seen::arrivedNanos).thenComparingInt(Seen::choice));
        List<Chunk> open = new ArrayList<>();
        long firstNanos = 0;
        for (int number = 0; number < all.size(); number++) {
            Seen seen = all.get(number);
            long arrived = seen.arrivedNanos();
            if (!open.isEmpty()
                    && (open.size() == ChunkDelivered.MAX_CHUNKS || arrived - firstNanos > MAX_RECORD_NANOS)) {
                log.add(collector, clock, firstNanos, new ChunkDelivered(observer, plan.requestId(), open));
                open = new ArrayList<>();
            }
            if (open.isEmpty()) {
                firstNanos = arrived;
            }
            open.add(new Chunk(
                    seen.choice(),
                    number,
                    seen.token(),
                    1,
                    CHUNK_BYTES,
                    clock.read(arrived),
                    seen.last() ? Finish.LENGTH : Finish.NONE,
                    gateway ? Long.valueOf(clock.read(seen.hop().writeStartNanos())) : null,
                    gateway ? Long.valueOf(clock.read(seen.hop().writeEndNanos())) : null));
        }
        if (!open.isEmpty()) {
            log.add(collector, clock, firstNanos, new ChunkDelivered(observer, plan.requestId(), open));
        }
    }
}
