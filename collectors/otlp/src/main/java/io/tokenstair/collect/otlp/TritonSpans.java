package io.tokenstair.collect.otlp;

import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.wire.Utf8;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The spans of Triton's trace mode {@code opentelemetry}, put together to what its trace files tell: how long each request waited, by the names that
 * the import of those files gives. A request is one span {@code InferRequest}; below it each model it went through has a span with
 * {@code QUEUE_START}, and below that one {@code compute} with {@code COMPUTE_START}, as events. A request is told once its own span has come and each
 * model below which there is no other has its {@code compute}: nothing is told of a request of which a part is missing. Children end, and are sent,
 * before their parents; any other order is understood as far as that can be seen. Of a span's events the first {@value SpanReader#MAX_EVENTS} are known: where
 * a request has more (a streamed answer), how often and how long it was answered is left out. State: at most
 * {@value #MOST} spans; beyond, the traces that came first are forgotten and counted.
 */
public final class TritonSpans {
    static final int MOST = 1 << 14;
    /** Nodes of one trace: a client may put all its requests into one. */
    private static final int MOST_OF_A_TRACE = 1 << 10;

    private static final int MOST_DEPTH = 64;
    private static final String ROOT = "InferRequest";
    private static final String COMPUTE = "compute";
    private static final String MODEL = "triton.model_name";

    private static final String QUEUE_START = "QUEUE_START";
    private static final String COMPUTE_START = "COMPUTE_START";
    private static final String RESPONSE = "INFER_RESPONSE_COMPLETE";
    /** In the order in which they must come. */
    private static final List<String> OF_A_MODEL = List.of(
            "REQUEST_START",
            QUEUE_START,
            COMPUTE_START,
            "COMPUTE_INPUT_END",
            "COMPUTE_OUTPUT_START",
            "COMPUTE_END",
            "REQUEST_END");

    private static final Set<String> USED = Set.of(
            "HTTP_RECV_START",
            "HTTP_RECV_END",
            RESPONSE,
            "HTTP_SEND_START",
            "HTTP_SEND_END",
            "GRPC_SEND_START",
            "GRPC_SEND_END");

    private final boolean serversTell;
    private final Map<String, Map<String, Node>> traces = new LinkedHashMap<>();
    private int held;
    private int handles;
    private long forgotten;

    private static final class Node {
        private final String spanId;
        private final @Nullable String parentId;
        private final boolean isRoot;
        private final boolean isCompute;
        private final String model;
        private final @Nullable String version;
        private final @Nullable String requestId;
        private final Map<String, Long> first = new HashMap<>();
        private final Map<String, Long> last = new HashMap<>();
        private final boolean isCut;
        private int answers;

        Node(SpanRecorded span) {
            this.spanId = span.spanId();
            this.parentId = span.parentSpanId();
            String name = SpanReader.attribute(span, MODEL);
            this.model = name == null ? "" : name;
            this.isRoot = isRoot(span);
            this.isCompute = model.isEmpty() && span.name().equals(COMPUTE);
            this.version = SpanReader.attribute(span, "triton.model_version");
            this.requestId = SpanReader.attribute(span, "triton.request_id");
            int events = 0;
            List<String> attributes = span.attributes();
            for (int i = 0; i + 3 < attributes.size(); i += 2) {
                String prefix = "event." + events + '.';
                if (attributes.get(i).equals(prefix + "name")) {
                    events++;
                    if (attributes.get(i + 2).equals(prefix + "time_unix_nano")) {
                        note(attributes.get(i + 1), attributes.get(i + 3));
                    }
                }
            }
            this.isCut = events >= SpanReader.MAX_EVENTS;
        }

        private void note(String name, String time) {
            if ((!USED.contains(name) && !OF_A_MODEL.contains(name)) || !time.matches("\\d{1,19}")) {
                return;
            }
            BigInteger nanos = new BigInteger(time);
            if (nanos.bitLength() < Long.SIZE
                    && nanos.longValue() >= SpanReader.EARLIEST_NANOS
                    && nanos.longValue() <= SpanReader.LATEST_NANOS) {
                first.merge(name, nanos.longValue(), Math::min);
                last.merge(name, nanos.longValue(), Math::max);
                answers += name.equals(RESPONSE) ? 1 : 0;
            }
        }

        /** Takes the stamps of a model's computation to those of the model. */
        void add(Node compute) {
            compute.first.forEach((name, nanos) -> first.merge(name, nanos, Math::min));
            compute.last.forEach((name, nanos) -> last.merge(name, nanos, Math::max));
        }

        @Nullable
        Long between(String from, String to) {
            Long begin = first.get(from);
            Long end = last.get(to);
            return begin == null || end == null || end < begin ? null : Long.valueOf(end - begin);
        }

        boolean isContradictory() {
            long before = Long.MIN_VALUE;
            for (String name : OF_A_MODEL) {
                Long nanos = first.get(name);
                if (nanos != null && nanos < before) {
                    return true;
                }
                before = nanos == null ? before : nanos;
            }
            return false;
        }
    }

    /**
     * No span yet.
     *
     * @param serversTell true where nothing else records the requests, so that when they were queued and ended is told too
     */
    public TritonSpans(boolean serversTell) {
        this.serversTell = serversTell;
    }

    private static boolean isRoot(SpanRecorded span) {
        return span.name().equals(ROOT) && SpanReader.attribute(span, MODEL) == null;
    }

    /** Takes what a request became; the samples of each request of Triton's that is complete with it go there. */
    public void accept(List<TimedEvent> events, Consumer<TimedEvent> output) {
        for (TimedEvent timed : events) {
            if (timed.event() instanceof SpanRecorded span
                    && (isRoot(span) || span.name().equals(COMPUTE) || SpanReader.attribute(span, MODEL) != null)) {
                accept(span, output);
            }
        }
    }

    private void accept(SpanRecorded span, Consumer<TimedEvent> output) {
        Map<String, Node> trace = traces.computeIfAbsent(span.traceId(), id -> new LinkedHashMap<>());
        Node node = new Node(span);
        held += trace.put(node.spanId, node) == null ? 1 : 0;
        Node root = root(trace, node);
        if (root.isRoot) {
            List<Node> tree = tree(trace, root);
            if (isComplete(tree)) {
                tree.forEach(done -> trace.remove(done.spanId));
                held -= tree.size();
                tell(root, tree, span.serviceName(), output);
            }
        }
        if (trace.isEmpty()) {
            traces.remove(span.traceId());
        } else if (trace.size() > MOST_OF_A_TRACE) {
            forget(span.traceId());
        }
        makeRoom(span.traceId());
    }

    private void makeRoom(String kept) {
        while (held > MOST) {
            Iterator<String> eldest = traces.keySet().iterator();
            String id = eldest.next();
            forget(id.equals(kept) && eldest.hasNext() ? eldest.next() : id);
        }
    }

    private void forget(String traceId) {
        Map<String, Node> trace = traces.remove(traceId);
        if (trace != null) {
            held -= trace.size();
            forgotten += trace.size();
        }
    }

    /** Spans of which a part of their request never came, and that were forgotten. */
    public long forgotten() {
        return forgotten;
    }

    /** Spans that wait for others of their request. */
    int held() {
        return held;
    }

    private static Node root(Map<String, Node> trace, Node node) {
        Node at = node;
        for (int steps = 0; steps < MOST_DEPTH && !at.isRoot; steps++) {
            Node above = at.parentId == null ? null : trace.get(at.parentId);
            if (above == null) {
                return at;
            }
            at = above;
        }
        return at;
    }

    private static List<Node> tree(Map<String, Node> trace, Node root) {
        List<Node> tree = new ArrayList<>();
        for (Node node : trace.values()) {
            if (root(trace, node) == root) {
                tree.add(node);
            }
        }
        return tree;
    }

    /** Whether each model below which there is no other has its computation; a request without a model never is. */
    private static boolean isComplete(List<Node> tree) {
        Set<String> above = new HashSet<>();
        tree.forEach(node -> {
            if (node.parentId != null) {
                above.add(node.parentId);
            }
        });
        boolean any = false;
        for (Node node : tree) {
            boolean isModel = !node.model.isEmpty();
            if (isModel && !above.contains(node.spanId)) {
                return false;
            }
            any |= isModel;
        }
        return any;
    }

    private void tell(Node root, List<Node> tree, @Nullable String service, Consumer<TimedEvent> output) {
        Map<String, Node> models = new LinkedHashMap<>();
        for (Node node : tree) {
            if (!node.model.isEmpty()) {
                models.put(node.spanId, node);
            }
        }
        for (Node node : tree) {
            Node model = node.parentId == null ? null : models.get(node.parentId);
            if (node.isCompute && model != null) {
                model.add(node);
            }
        }
        String source = service == null ? "otlp" : service;
        Teller teller = new Teller(source, requestId(root, models.values(), source), end(tree), output);
        for (Node model : models.values()) {
            if (!model.isContradictory()) {
                teller.sample("model_queue_seconds", model.between(QUEUE_START, COMPUTE_START), model);
                teller.sample("model_input_seconds", model.between(COMPUTE_START, "COMPUTE_INPUT_END"), model);
                teller.sample("model_infer_seconds", model.between("COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START"), model);
                teller.sample("model_output_seconds", model.between("COMPUTE_OUTPUT_START", "COMPUTE_END"), model);
                teller.sample("model_seconds", model.between("REQUEST_START", "REQUEST_END"), model);
            }
        }
        Node outer = outer(root, models.values());
        teller.sample("request_queue_seconds", waits(models.values()), null);
        teller.sample("request_receive_seconds", root.between("HTTP_RECV_START", "HTTP_RECV_END"), null);
        teller.sample("request_seconds", outer == null ? null : outer.between("REQUEST_START", "REQUEST_END"), null);
        if (!root.isCut) {
            Long http = root.between("HTTP_SEND_START", "HTTP_SEND_END");
            teller.sample(
                    "request_send_seconds",
                    http == null ? root.between("GRPC_SEND_START", "GRPC_SEND_END") : http,
                    null);
            if (root.answers > 0) {
                teller.value("request_responses", root.answers, null);
            }
        }
        if (serversTell && outer != null) {
            request(source, teller.requestId, outer, output);
        }
    }

    /** The model that was asked for: the one right below the request's own span. */
    private static @Nullable Node outer(Node root, Iterable<Node> models) {
        Node outer = null;
        for (Node model : models) {
            if (root.spanId.equals(model.parentId)) {
                outer = outer == null ? model : outer;
            }
        }
        return outer;
    }

    private void request(String source, String requestId, Node outer, Consumer<TimedEvent> output) {
        Long queued = outer.first.get(QUEUE_START);
        Long ended = outer.last.get("REQUEST_END");
        if (queued == null) {
            queued = outer.first.get("REQUEST_START");
        }
        if (queued != null) {
            output.accept(new TimedEvent(
                    new RequestQueued(source, 0, handles++, requestId, null, null, null, null), queued, queued));
            if (ended != null && ended >= queued) {
                output.accept(
                        new TimedEvent(new RequestFinished(source, 0, requestId, "unknown", null, null), ended, ended));
            }
        }
    }

    private static String requestId(Node root, Iterable<Node> models, String source) {
        Node outer = outer(root, models);
        return outer == null || outer.requestId == null ? source + '#' + root.spanId : outer.requestId;
    }

    private static long end(List<Node> tree) {
        long end = 0;
        for (Node node : tree) {
            for (long nanos : node.last.values()) {
                end = Math.max(end, nanos);
            }
        }
        return end;
    }

    /** Time in which any of the models' waits ran, ns; null where none is known. */
    private static @Nullable Long waits(Iterable<Node> models) {
        List<long[]> waits = new ArrayList<>();
        for (Node model : models) {
            Long from = model.first.get(QUEUE_START);
            Long to = model.first.get(COMPUTE_START);
            if (from != null && to != null && to >= from && !model.isContradictory()) {
                waits.add(new long[] {from, to});
            }
        }
        if (waits.isEmpty()) {
            return null;
        }
        waits.sort(Comparator.comparingLong(wait -> wait[0]));
        long sum = 0;
        long until = Long.MIN_VALUE;
        for (long[] wait : waits) {
            sum += Math.max(0, wait[1] - Math.max(until, wait[0]));
            until = Math.max(until, wait[1]);
        }
        return sum;
    }

    private record Teller(String source, String requestId, long atNanos, Consumer<TimedEvent> output) {
        void sample(String name, @Nullable Long nanos, @Nullable Node model) {
            if (nanos != null) {
                value(name, nanos / 1e9, model);
            }
        }

        void value(String name, double value, @Nullable Node model) {
            StringJoiner labels = new StringJoiner(",");
            labels.add(MetricReader.label("engine", source));
            if (model != null) {
                labels.add(MetricReader.label("model", Utf8.cut(model.model, 256)));
            }
            labels.add(MetricReader.label("request_id", requestId));
            if (model != null && model.version != null) {
                labels.add(MetricReader.label("version", model.version));
            }
            Long at = atNanos == 0 ? null : Long.valueOf(atNanos);
            output.accept(
                    new TimedEvent(new MetricSampled(source, "triton:" + name, labels.toString(), value), at, at));
        }
    }
}
