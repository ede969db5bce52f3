package io.tokenstair.collect.otlp;

import io.tokenstair.collect.engine.trtllm.TritonStamps;
import io.tokenstair.event.Event;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.wire.Utf8;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    private static final int MAX_MODEL_BYTES = 256;
    private static final String ROOT = "InferRequest";
    private static final String COMPUTE = "compute";
    private static final String MODEL = "triton.model_name";

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
        private final TritonStamps stamps = new TritonStamps();
        private final boolean isCut;

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
            if (!TritonStamps.isUsed(name) || !time.matches("\\d{1,19}")) {
                return;
            }
            BigInteger nanos = new BigInteger(time);
            if (nanos.bitLength() < Long.SIZE
                    && nanos.longValue() >= SpanReader.EARLIEST_NANOS
                    && nanos.longValue() <= SpanReader.LATEST_NANOS) {
                stamps.add(name, nanos.longValue());
            }
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
                model.stamps.addAll(node.stamps);
            }
        }
        String source = service == null ? "otlp" : service;
        String requestId = requestId(root, models.values(), source);
        Long latest = latestNanos(tree);
        for (Node model : models.values()) {
            String name = Utf8.cut(model.model, MAX_MODEL_BYTES);
            model.stamps
                    .ofModel()
                    .forEach((sample, value) -> output.accept(timed(
                            TritonStamps.sample(source, source, requestId, name, model.version, sample, value),
                            latest)));
        }
        Node outer = outer(root, models.values());
        List<TritonStamps> stamps =
                models.values().stream().map(model -> model.stamps).toList();
        root.stamps
                .ofRequest(outer == null ? null : outer.stamps, stamps, !root.isCut)
                .forEach((sample, value) -> output.accept(
                        timed(TritonStamps.sample(source, source, requestId, null, null, sample, value), latest)));
        if (serversTell && outer != null) {
            request(source, requestId, outer.stamps, output);
        }
    }

    private static TimedEvent timed(Event event, @Nullable Long nanos) {
        return new TimedEvent(event, nanos, nanos);
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

    private void request(String source, String requestId, TritonStamps outer, Consumer<TimedEvent> output) {
        Long asked = outer.askedNanos();
        Long ended = outer.endNanos();
        if (asked != null) {
            output.accept(timed(new RequestQueued(source, 0, handles++, requestId, null, null, null, null), asked));
            if (ended != null && ended >= asked) {
                output.accept(timed(new RequestFinished(source, 0, requestId, "unknown", null, null), ended));
            }
        }
    }

    private static String requestId(Node root, Iterable<Node> models, String source) {
        Node outer = outer(root, models);
        return outer == null || outer.requestId == null ? source + '#' + root.spanId : outer.requestId;
    }

    private static @Nullable Long latestNanos(List<Node> tree) {
        Long latest = null;
        for (Node node : tree) {
            Long nanos = node.stamps.latestNanos();
            latest = nanos == null || (latest != null && latest > nanos) ? latest : nanos;
        }
        return latest;
    }
}
