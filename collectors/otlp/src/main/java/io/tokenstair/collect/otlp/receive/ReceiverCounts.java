package io.tokenstair.collect.otlp.receive;

import io.tokenstair.collect.otlp.OtlpSignal;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** What a receiver has done so far, for its own metrics. Items: spans, data points, log records; accepted + rejected = read. */
final class ReceiverCounts {
    private final Map<OtlpSignal, Items> items = new EnumMap<>(OtlpSignal.class);
    private final Map<Answer.Kind, AtomicLong> requests = new EnumMap<>(Answer.Kind.class);
    private final AtomicLong receivedBytes = new AtomicLong();
    private final AtomicLong connections = new AtomicLong();
    private final AtomicLong refusedConnections = new AtomicLong();

    private static final class Items {
        private final AtomicLong accepted = new AtomicLong();
        private final AtomicLong rejected = new AtomicLong();
        private final AtomicLong passedOver = new AtomicLong();
    }

    ReceiverCounts() {
        for (OtlpSignal signal : OtlpSignal.values()) {
            items.put(signal, new Items());
        }
        for (Answer.Kind kind : Answer.Kind.values()) {
            requests.put(kind, new AtomicLong());
        }
    }

    private Items of(OtlpSignal signal) {
        Items counts = items.get(signal);
        if (counts == null) {
            throw new IllegalStateException("Cannot find the counts of " + signal);
        }
        return counts;
    }

    void items(OtlpSignal signal, long accepted, long rejected, long passedOver) {
        Items counts = of(signal);
        counts.accepted.addAndGet(accepted);
        counts.rejected.addAndGet(rejected);
        counts.passedOver.addAndGet(passedOver);
    }

    void answered(Answer.Kind kind) {
        AtomicLong count = requests.get(kind);
        if (count != null) {
            count.incrementAndGet();
        }
    }

    void received(long bytes) {
        receivedBytes.addAndGet(bytes);
    }

    /** Counts a connection; false when there are as many already. */
    boolean connected(int most) {
        if (connections.incrementAndGet() > most) {
            connections.decrementAndGet();
            refusedConnections.incrementAndGet();
            return false;
        }
        return true;
    }

    void disconnected() {
        connections.decrementAndGet();
    }

    long accepted(OtlpSignal signal) {
        return of(signal).accepted.get();
    }

    long rejected(OtlpSignal signal) {
        return of(signal).rejected.get();
    }

    /** The counts in the OpenMetrics text format, without its end mark. */
    void write(StringBuilder out, long heldBytes) {
        out.append("# HELP tokenstair_otlp_items Spans, data points and log records received.\n")
                .append("# TYPE tokenstair_otlp_items counter\n");
        items.forEach((signal, counts) -> {
            String name = signal.name().toLowerCase(Locale.ROOT);
            line(out, "tokenstair_otlp_items_total", name, "accepted", counts.accepted.get() - counts.passedOver.get());
            line(out, "tokenstair_otlp_items_total", name, "passed_over", counts.passedOver.get());
            line(out, "tokenstair_otlp_items_total", name, "rejected", counts.rejected.get());
        });
        out.append("# HELP tokenstair_otlp_requests Export requests answered.\n")
                .append("# TYPE tokenstair_otlp_requests counter\n");
        requests.forEach((kind, count) -> out.append("tokenstair_otlp_requests_total{answer=\"")
                .append(kind.name().toLowerCase(Locale.ROOT))
                .append("\"} ")
                .append(count.get())
                .append('\n'));
        out.append("# HELP tokenstair_otlp_received_bytes Bytes of requests received.\n")
                .append("# TYPE tokenstair_otlp_received_bytes counter\n")
                .append("# UNIT tokenstair_otlp_received_bytes bytes\n")
                .append("tokenstair_otlp_received_bytes_total ")
                .append(receivedBytes.get())
                .append('\n');
        out.append("# HELP tokenstair_otlp_held_bytes Bytes of requests that arrived and are not decoded yet.\n")
                .append("# TYPE tokenstair_otlp_held_bytes gauge\n")
                .append("# UNIT tokenstair_otlp_held_bytes bytes\n")
                .append("tokenstair_otlp_held_bytes ")
                .append(heldBytes)
                .append('\n');
        out.append("# HELP tokenstair_otlp_connections Connections open.\n")
                .append("# TYPE tokenstair_otlp_connections gauge\n")
                .append("tokenstair_otlp_connections ")
                .append(connections.get())
                .append('\n');
        out.append("# HELP tokenstair_otlp_refused_connections Connections refused, as too many were open.\n")
                .append("# TYPE tokenstair_otlp_refused_connections counter\n")
                .append("tokenstair_otlp_refused_connections_total ")
                .append(refusedConnections.get())
                .append('\n');
    }

    private static void line(StringBuilder out, String name, String signal, String outcome, long value) {
        out.append(name)
                .append("{signal=\"")
                .append(signal)
                .append("\",outcome=\"")
                .append(outcome)
                .append("\"} ")
                .append(value)
                .append('\n');
    }
}
