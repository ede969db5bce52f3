package io.tokenstair.collect.engine.trtllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.EventsOut;
import io.tokenstair.event.Event;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Traces of Triton's own trace mode, put together from their records: a trace a model that a request went through; the one without a parent is
 * the request's, those of an ensemble's models have it as parent. What is told: when the request was queued and when it ended, and how long
 * it waited and was computed, as samples. A wait is from {@code QUEUE_START} to {@code COMPUTE_START}; that of a request is the time in which any of
 * its models' waits ran. Triton knows no tokens, and its stamps are of a clock that is no wall clock. State: at most {@value #MAX_TRACES} traces at once;
 * beyond, those that came first are told as they are.
 */
public final class TritonTraces {
    private static final int MAX_TRACES = 1 << 16;
    private static final long FARTHEST_NANOS = 400L * 86_400_000_000_000L;

    private final String source;
    private final String engine;
    private final String clockId;
    private final EventsOut events;
    private final int most;
    private final String unnamedAs;
    private final IntSupplier handles;
    private final LongSupplier latestNanos;
    private final Map<String, Trace> traces = new LinkedHashMap<>();
    private @Nullable Long referenceNanos;
    private @Nullable String lastId;
    private long requests;
    private long tensors;
    private long unnamed;
    private long withoutModel;
    private long contradictory;

    private static final class Trace {
        private final String id;
        private boolean named;
        private String model = "";
        private @Nullable Long version;
        private @Nullable String requestId;
        private @Nullable String parent;
        private final TritonStamps stamps = new TritonStamps();

        Trace(String id) {
            this.id = id;
        }
    }

    /**
     * Traces of a whole file, of which no record was read.
     *
     * @param source what the samples are said to be of
     * @param engine what the engine is called
     * @param clockId the clock of the stamps
     * @param events takes what they say
     */
    public TritonTraces(String source, String engine, String clockId, EventsOut events) {
        this(source, engine, clockId, events, MAX_TRACES);
    }

    /** With another bound of the state. */
    public TritonTraces(String source, String engine, String clockId, EventsOut events, int most) {
        this(source, source, engine, clockId, new AtomicInteger()::getAndIncrement, () -> Long.MAX_VALUE, events, most);
    }

    /**
     * Traces of a file that grows.
     *
     * @param unnamedAs what the ids of requests begin with that have none; no other run of the server has it
     * @param handles gives each request of the collector another number
     * @param latestNanos what is later than this has not happened yet by the clock of the stamps
     */
    TritonTraces(
            String source,
            String unnamedAs,
            String engine,
            String clockId,
            IntSupplier handles,
            LongSupplier latestNanos,
            EventsOut events) {
        this(source, unnamedAs, engine, clockId, handles, latestNanos, events, MAX_TRACES);
    }

    private TritonTraces(
            String source,
            String unnamedAs,
            String engine,
            String clockId,
            IntSupplier handles,
            LongSupplier latestNanos,
            EventsOut events,
            int most) {
        this.source = source;
        this.unnamedAs = unnamedAs;
        this.engine = engine;
        this.clockId = clockId;
        this.handles = handles;
        this.latestNanos = latestNanos;
        this.events = events;
        this.most = most;
    }

    /** Takes a record; changes nothing when it refuses. */
    public void accept(Fields record) throws RejectedRecordException, IOException {
        String id = Quantities.optionalName(record, "id");
        if (id == null) {
            throw record.refuse("id", "missing");
        }
        boolean names = record.has("model_name");
        List<Fields> stamps = record.optionalObjects("timestamps");
        if (!names && stamps.isEmpty()) {
            if (!record.has("activity")) {
                throw new RejectedRecordException(
                        "neither model_name nor timestamps nor activity: no record of a trace");
            }
            // What went in and came out is never taken over.
            tensors++;
            return;
        }
        String model = record.optionalText("model_name");
        Long version = record.optionalLong("model_version");
        String requestId = record.optionalText("request_id");
        String parent = Quantities.optionalName(record, "parent_id");
        Trace known = traces.get(id);
        if (names && known != null && known.named) {
            throw record.refuse("id", "trace " + id + " was named before");
        }
        if (id.equals(parent)) {
            throw record.refuse("parent_id", "the trace itself");
        }
        List<Long> nanos = new ArrayList<>(stamps.size());
        for (Fields stamp : stamps) {
            stamp.text("name");
            nanos.add(nanos(stamp));
        }
        lastId = id;
        Trace trace = known == null ? new Trace(id) : known;
        if (known == null) {
            makeRoom();
            traces.put(id, trace);
        }
        if (names && model != null) {
            trace.named = true;
            trace.model = model;
            trace.version = version;
            trace.requestId = requestId == null || requestId.isEmpty() ? null : requestId;
            trace.parent = "0".equals(parent) ? null : parent;
        }
        for (int i = 0; i < nanos.size(); i++) {
            note(trace, stamps.get(i).text("name"), nanos.get(i));
        }
    }

    private void note(Trace trace, String name, long nanos) {
        referenceNanos = referenceNanos == null ? Long.valueOf(nanos) : referenceNanos;
        trace.stamps.add(name, nanos);
    }

    private long nanos(Fields stamp) throws RejectedRecordException {
        long nanos = stamp.stamp("ns");
        if (nanos == 0) {
            throw stamp.refuse("ns", "0: no stamp");
        }
        if (nanos > latestNanos.getAsLong()) {
            throw stamp.refuse("ns", "later than now: a clock of another machine");
        }
        if (referenceNanos != null && Math.abs(nanos - referenceNanos) > FARTHEST_NANOS) {
            throw stamp.refuse("ns", nanos + " lies more than 400 days from the other stamps: another clock");
        }
        return nanos;
    }

    /** Tells the first half of what is held, whole requests, when there is no room. */
    private void makeRoom() throws IOException {
        if (traces.size() < most) {
            return;
        }
        Set<String> roots = new HashSet<>();
        int looked = 0;
        for (Trace trace : traces.values()) {
            if (looked++ == Math.max(1, most / 2)) {
                break;
            }
            roots.add(root(trace).id);
        }
        tell(roots);
    }

    /** All records were read. */
    public void end() throws IOException {
        tell(null);
    }

    /**
     * Tells the requests of which no more will come. A server writes the records of a request together: only that of the last record may go on, and
     * those whose models' request has not come yet.
     */
    void tellOver() throws IOException {
        Set<String> over = new HashSet<>();
        String last = lastId;
        Trace going = last == null ? null : traces.get(last);
        String goingRoot = going == null ? null : root(going).id;
        for (Trace trace : traces.values()) {
            Trace root = root(trace);
            if (!root.id.equals(goingRoot) && root.parent == null) {
                over.add(root.id);
            }
        }
        tell(over);
    }

    /** The request's own trace, or the farthest that is there. */
    private Trace root(Trace trace) {
        Trace at = trace;
        for (int steps = 0; steps < Fields.MAX_DEPTH; steps++) {
            Trace above = at.parent == null ? null : traces.get(at.parent);
            if (above == null) {
                return at;
            }
            at = above;
        }
        // They are in a ring, or deeper than any ensemble: each stands for itself.
        return trace;
    }

    private void tell(@Nullable Set<String> roots) throws IOException {
        Map<String, List<Trace>> trees = new LinkedHashMap<>();
        for (Trace trace : traces.values()) {
            String root = root(trace).id;
            if (roots == null || roots.contains(root)) {
                trees.computeIfAbsent(root, id -> new ArrayList<>()).add(trace);
            }
        }
        for (Map.Entry<String, List<Trace>> tree : trees.entrySet()) {
            Trace root = traces.get(tree.getKey());
            if (root != null) {
                request(root, tree.getValue());
            }
            tree.getValue().forEach(trace -> traces.remove(trace.id));
        }
    }

    private void request(Trace root, List<Trace> tree) throws IOException {
        Long begin = root.stamps.askedNanos();
        if (!root.named || begin == null) {
            // It was refused before any model had it, or its beginning is not in the file.
            withoutModel++;
            return;
        }
        requests++;
        String requestId = root.requestId;
        if (requestId == null) {
            unnamed++;
            requestId = unnamedAs + '#' + root.id;
        }
        add(begin, new RequestQueued(engine, 0, handles.getAsInt(), requestId, null, null, null, null));
        long latest = begin;
        for (Trace trace : tree) {
            Long nanos = trace.stamps.latestNanos();
            latest = nanos == null ? latest : Math.max(latest, nanos);
        }
        List<TritonStamps> models = new ArrayList<>();
        for (Trace trace : tree) {
            if (trace.named) {
                models.add(trace.stamps);
                contradictory += trace.stamps.isContradictory() ? 1 : 0;
                String version = trace.version == null ? null : String.valueOf(trace.version);
                samples(latest, requestId, trace.model, version, trace.stamps.ofModel());
            }
        }
        samples(latest, requestId, null, null, root.stamps.ofRequest(root.stamps, models, true));
        Long ended = root.stamps.endNanos();
        if (ended != null && ended >= begin) {
            add(ended, new RequestFinished(engine, 0, requestId, "unknown", null, null));
        }
    }

    private void samples(
            long nanos, String requestId, @Nullable String model, @Nullable String version, Map<String, Double> samples)
            throws IOException {
        for (Map.Entry<String, Double> sample : samples.entrySet()) {
            add(
                    nanos,
                    TritonStamps.sample(source, engine, requestId, model, version, sample.getKey(), sample.getValue()));
        }
    }

    private void add(long nanos, Event event) throws IOException {
        events.add(clockId, nanos, nanos, null, event);
    }

    /** Requests told so far. */
    public long requestCount() {
        return requests;
    }

    /** Requests that had no id of their client's. */
    public long unnamedCount() {
        return unnamed;
    }

    /** Records of tensors, which were passed over. */
    public long tensorCount() {
        return tensors;
    }

    /** Traces without a model, or without its beginning. */
    public long withoutModelCount() {
        return withoutModel;
    }

    /** Models whose stamps are in another order than they can be. */
    public long contradictoryCount() {
        return contradictory;
    }
}
