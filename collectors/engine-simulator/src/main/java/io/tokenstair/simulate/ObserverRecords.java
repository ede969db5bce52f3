package io.tokenstair.simulate;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Finish;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.util.ArrayList;
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

    void request(RequestPlan plan, long gatewayNanos, List<DeliveryPath.Hop> hops) {
        received(CLIENT_COLLECTOR, hosts.client, CLIENT, plan, plan.sentNanos());
        received(GATEWAY_COLLECTOR, hosts.gateway, GATEWAY, plan, gatewayNanos);
        chunks(GATEWAY_COLLECTOR, hosts.gateway, GATEWAY, plan, hops, true);
        chunks(CLIENT_COLLECTOR, hosts.client, CLIENT, plan, hops, false);
        DeliveryPath.Hop last = hops.get(hops.size() - 1);
        completed(GATEWAY_COLLECTOR, hosts.gateway, GATEWAY, plan, last.writeEndNanos() + 15_000);
        completed(CLIENT_COLLECTOR, hosts.client, CLIENT, plan, last.clientNanos() + 5_000);
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
                        settings.priorityPolicy ? plan.priority() : null,
                        (long) plan.promptTokens(),
                        (long) plan.outputTokens(),
                        1,
                        false));
    }

    private void completed(String collector, HostClock clock, String observer, RequestPlan plan, long atNanos) {
        log.add(
                collector,
                clock,
                atNanos,
                new RequestCompleted(
                        observer,
                        plan.requestId(),
                        "complete",
                        HTTP_OK,
                        null,
                        (long) plan.outputTokens(),
                        (long) plan.outputTokens(),
                        null,
                        null));
    }

    private void chunks(
            String collector,
            HostClock clock,
            String observer,
            RequestPlan plan,
            List<DeliveryPath.Hop> hops,
            boolean gateway) {
        List<Chunk> open = new ArrayList<>();
        long firstNanos = 0;
        for (int token = 0; token < hops.size(); token++) {
            DeliveryPath.Hop hop = hops.get(token);
            long arrived = gateway ? hop.gatewayNanos() : hop.clientNanos();
            if (!open.isEmpty()
                    && (open.size() == ChunkDelivered.MAX_CHUNKS || arrived - firstNanos > MAX_RECORD_NANOS)) {
                log.add(collector, clock, firstNanos, new ChunkDelivered(observer, plan.requestId(), open));
                open = new ArrayList<>();
            }
            if (open.isEmpty()) {
                firstNanos = arrived;
            }
            open.add(new Chunk(
                    0,
                    token,
                    token,
                    1,
                    CHUNK_BYTES,
                    clock.read(arrived),
                    token == hops.size() - 1 ? Finish.LENGTH : Finish.NONE,
                    gateway ? Long.valueOf(clock.read(hop.writeStartNanos())) : null,
                    gateway ? Long.valueOf(clock.read(hop.writeEndNanos())) : null));
        }
        log.add(collector, clock, firstNanos, new ChunkDelivered(observer, plan.requestId(), open));
    }
}
