package io.tokenstair.collect.otlp;

import io.tokenstair.event.Event;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.Utf8;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Engine steps out of SGLang's request traces at level 3: a slice {@code decode_loop} per request and decode step, a slice
 * {@code prefill_forward} that ends with a token, a span event {@code schedule} with the id of the batch, a span event {@code retract}. Slices of one
 * batch that ran at the same time are one step.
 *
 * <p>A request is taken only where its slices add up: as many of them make a token as the engine counted. Where they do not (speculative
 * decoding, lost spans, a request that goes on) its spans stay what they are, and it is counted. A trace says no context; it is the prompt and
 * the tokens so far, which is what attention reads. What a retracted request computes again is taken to be all of that: what it finds in the
 * cache on resuming is in no span. A prompt that was prefilled in chunks has no first step, because no span says how long its chunks are.
 * At most {@value #MOST_SLICES} slices are held.
 */
public final class SglangSteps {
    static final int MOST_SLICES = 1 << 21;

    /** How long live spans of one time may come after one another: exporters send them in batches. */
    static final long SETTLE_NANOS = 10_000_000_000L;

    /** How long a live slice is held for the rest of its request, whose root comes at the end. */
    static final long HOLD_NANOS = 600_000_000_000L;

    private static final int MOST_ENDS = 4_096;

    /** The root of threads whose slices say what those of the first rank say. */
    private static final String NO_ROOT = "";

    private static final String MODULE = "sglang::request";

    private final Map<String, Root> roots = new LinkedHashMap<>();
    private final Map<String, Thread> threads = new HashMap<>();
    private final List<Slice> slices = new ArrayList<>();
    private final Map<String, Engine> engines = new LinkedHashMap<>();
    private final int mostSlices;
    private int handles;
    private int held;
    private long leftOut;
    private long requests;
    private long unclear;
    private long steps;
    private long partial;

    private record Root(
            String rid,
            String engine,
            long endNanos,
            @Nullable Long arrivalNanos,
            @Nullable Long promptTokens,
            @Nullable Long cachedTokens,
            @Nullable Long outputTokens,
            @Nullable Long maxTokens,
            String endReason) {}

    private record Thread(String root, int dpRank, long endNanos) {}

    private record Slice(
            String thread,
            String name,
            long startNanos,
            long endNanos,
            @Nullable String batch,
            @Nullable Long scheduledNanos,
            @Nullable Integer batchSize,
            @Nullable String mode,
            List<Long> retractedNanos) {

        boolean makesToken() {
            return name.equals("decode_loop") || name.equals("prefill_forward");
        }
    }

    /** One rank of an engine: its requests that are not told to their end, and its last steps. */
    private static final class Engine {
        private final List<Traced> requests = new ArrayList<>();
        private final TreeMap<Long, Long> stepByEnd = new TreeMap<>();
        private long nextStep;
    }

    /** A request whose slices add up. */
    private static final class Traced {
        private final BitSet told = new BitSet();
        private boolean announced;
        private boolean queuedTold;
        private int retractionsTold;
        private final Root root;
        private final int dpRank;
        private final int handle;
        private final List<Slice> producing;
        private final List<Long> retracted = new ArrayList<>();
        private @Nullable Long queuedNanos;
        private boolean chunked;

        Traced(Root root, int dpRank, int handle, List<Slice> producing) {
            this.root = root;
            this.dpRank = dpRank;
            this.handle = handle;
            this.producing = producing;
        }
    }

    /** One sequence in one step. */
    private record Place(Traced request, int tokenIndex, Slice slice, int retractions) {}

    /** Slices of one batch that ran at the same time. */
    private static final class Step {
        private final List<Place> places = new ArrayList<>();
        private final Set<Traced> members = new HashSet<>();
        private long endNanos;
    }

    /** Steps of files, or of as many slices as are held. */
    public SglangSteps() {
        this(MOST_SLICES);
    }

    /** Steps of at most so many slices at once. */
    public SglangSteps(int mostSlices) {
        this.mostSlices = mostSlices;
    }

    /** Takes what a request became: its spans of SGLang are kept until the end. */
    public void accept(List<TimedEvent> events) {
        for (TimedEvent timed : events) {
            if (timed.event() instanceof SpanRecorded span
                    && span.startEpochNanos() != null
                    && span.endEpochNanos() != null) {
                accept(span, span.startEpochNanos(), span.endEpochNanos());
            }
        }
    }

    private void accept(SpanRecorded span, long start, long end) {
        String rid = SpanReader.attribute(span, "rid");
        if (rid != null && MODULE.equals(SpanReader.attribute(span, "module"))) {
            if (roots.size() < mostSlices) {
                roots.put(key(span, span.spanId()), root(span, rid, start, end));
            }
            return;
        }
        String parent = span.parentSpanId();
        if (parent == null) {
            return;
        }
        if (SpanReader.attribute(span, "thread_label") != null) {
            boolean first = isFirst(span, "tp_rank") && isFirst(span, "pp_rank");
            Long rank = SpanReader.count(span, List.of("dp_rank"));
            if (threads.size() < mostSlices) {
                threads.put(
                        key(span, span.spanId()),
                        new Thread(
                                first ? key(span, parent) : NO_ROOT,
                                rank == null ? 0 : (int) Math.min(rank, 1 << 16),
                                end));
            }
            return;
        }
        if (span.name().equals("decode_loop")
                || span.name().equals("prefill_forward")
                || span.name().equals("chunked_prefill")
                || span.name().equals("prefill_waiting")) {
            if (slices.size() + held >= mostSlices) {
                leftOut++;
                return;
            }
            slices.add(slice(span, key(span, parent), start, end));
        }
    }

    /** Each rank traces the same requests: one of them is enough. */
    private static boolean isFirst(SpanRecorded span, String rank) {
        String value = SpanReader.attribute(span, rank);
        return value == null || value.equals("0");
    }

    private static String key(SpanRecorded span, String spanId) {
        return span.traceId() + spanId;
    }

    private static Root root(SpanRecorded span, String rid, long start, long end) {
        String engine = span.serviceName() == null || span.serviceName().isEmpty() ? "sglang" : span.serviceName();
        return new Root(
                rid,
                Utf8.cut(engine, 200),
                end,
                start,
                SpanReader.count(span, GenAiNames.PROMPT_TOKENS),
                SpanReader.count(span, GenAiNames.CACHED_TOKENS),
                SpanReader.count(span, GenAiNames.OUTPUT_TOKENS),
                SpanReader.count(span, GenAiNames.MAX_TOKENS),
                endReason(SpanReader.attribute(span, GenAiNames.FINISH_REASONS)));
    }

    private static String endReason(@Nullable String reason) {
        if (reason == null) {
            return "unknown";
        }
        return switch (reason) {
            case "stop", "length", "error" -> reason;
            case "abort", "aborted" -> "aborted";
            default -> "unknown";
        };
    }

    private static Slice slice(SpanRecorded span, String thread, long start, long end) {
        String batch = null;
        Long scheduled = null;
        Integer size = null;
        String mode = null;
        List<Long> retracted = new ArrayList<>();
        for (int i = 0; i < SpanReader.MAX_EVENTS; i++) {
            String prefix = "event." + i + '.';
            String name = SpanReader.attribute(span, prefix + "name");
            if (name == null) {
                break;
            }
            String at = SpanReader.attribute(span, prefix + "time_unix_nano");
            Long time = at != null && at.matches("\\d{1,19}") && at.length() < 19 + 1 ? parsed(at) : null;
            if (name.equals("schedule") && batch == null) {
                batch = SpanReader.attribute(span, prefix + "bid");
                scheduled = time;
                Long count = SpanReader.count(span, List.of(prefix + "batch_size"));
                size = count == null ? null : Integer.valueOf((int) Math.min(count, 1 << 20));
                mode = SpanReader.attribute(span, prefix + "forward_mode");
            } else if (name.equals("retract") && time != null) {
                retracted.add(time);
            }
        }
        return new Slice(thread, span.name(), start, end, batch, scheduled, size, mode, retracted);
    }

    private static @Nullable Long parsed(String digits) {
        try {
            return Long.valueOf(digits);
        } catch (NumberFormatException beyond) {
            return null;
        }
    }

    /** Gives the events of the steps. Nothing may be added afterwards. */
    public void finish(Consumer<TimedEvent> output) {
        join(Long.MAX_VALUE);
        tell(Long.MAX_VALUE, output);
        slices.clear();
        threads.clear();
        roots.clear();
    }

    /**
     * Gives the events of what is complete, live: of steps before which no request is open any more. A request is told when its root has come
     * and its slices add up; one that still does not {@link #SETTLE_NANOS} ns after its end stays spans. A step of a request that is open for
     * longer than {@link #HOLD_NANOS} ns lacks that request.
     *
     * @param nowNanos the time of day, in ns since 1970
     */
    public void drain(long nowNanos, Consumer<TimedEvent> output) {
        long oldest = nowNanos - HOLD_NANOS;
        long rootless = nowNanos - 6 * SETTLE_NANOS;
        slices.removeIf(slice -> NO_ROOT.equals(rootOf(slice)));
        join(nowNanos - SETTLE_NANOS);
        int before = slices.size();
        slices.removeIf(slice -> slice.endNanos() < oldest || hasLostItsRoot(slice, rootless));
        leftOut += before - slices.size();
        long complete = nowNanos - SETTLE_NANOS;
        for (Slice slice : slices) {
            complete = Math.min(complete, slice.startNanos());
        }
        tell(complete, output);
        threads.values().removeIf(thread -> thread.endNanos() < oldest);
    }

    private @Nullable String rootOf(Slice slice) {
        Thread thread = threads.get(slice.thread());
        return thread == null ? null : thread.root();
    }

    /** Its thread ended long ago, and the root that comes right after has not come. */
    private boolean hasLostItsRoot(Slice slice, long beforeNanos) {
        Thread thread = threads.get(slice.thread());
        return thread != null && thread.endNanos() < beforeNanos && !roots.containsKey(thread.root());
    }

    /** Makes requests of the roots whose slices add up; gives up those that ended before this and still do not. */
    private void join(long settledNanos) {
        Map<String, List<Slice>> byRoot = new LinkedHashMap<>();
        Map<String, Integer> ranks = new HashMap<>();
        for (Slice slice : slices) {
            Thread thread = threads.get(slice.thread());
            if (thread != null && roots.containsKey(thread.root())) {
                byRoot.computeIfAbsent(thread.root(), root -> new ArrayList<>()).add(slice);
                ranks.merge(thread.root(), thread.dpRank(), Math::max);
            }
        }
        Set<Slice> taken = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Map.Entry<String, List<Slice>> entry : byRoot.entrySet()) {
            Root root = roots.get(entry.getKey());
            if (root == null) {
                continue;
            }
            List<Slice> own = entry.getValue();
            own.sort(Comparator.comparingLong(Slice::endNanos).thenComparingLong(Slice::startNanos));
            List<Slice> producing = own.stream().filter(Slice::makesToken).toList();
            boolean addsUp = root.promptTokens() != null
                    && root.outputTokens() != null
                    && !producing.isEmpty()
                    && producing.size() == root.outputTokens();
            if (!addsUp && root.endNanos() >= settledNanos && settledNanos < Long.MAX_VALUE) {
                continue;
            }
            requests++;
            taken.addAll(own);
            if (!addsUp) {
                unclear++;
                continue;
            }
            Traced request = new Traced(root, ranks.getOrDefault(entry.getKey(), 0), ++handles, producing);
            for (Slice slice : own) {
                request.retracted.addAll(slice.retractedNanos());
                if (slice.name().equals("prefill_waiting")) {
                    request.queuedNanos = request.queuedNanos == null
                            ? Long.valueOf(slice.startNanos())
                            : Long.valueOf(Math.min(request.queuedNanos, slice.startNanos()));
                }
                request.chunked |= slice.name().equals("chunked_prefill");
            }
            request.retracted.sort(Comparator.naturalOrder());
            held += producing.size();
            engines.computeIfAbsent(root.engine() + '\0' + request.dpRank, name -> new Engine())
                    .requests
                    .add(request);
        }
        slices.removeIf(taken::contains);
        roots.entrySet()
                .removeIf(entry -> byRoot.containsKey(entry.getKey())
                                && taken.contains(byRoot.get(entry.getKey()).get(0))
                        || entry.getValue().endNanos() < settledNanos - HOLD_NANOS);
    }

    private void tell(long beforeNanos, Consumer<TimedEvent> output) {
        for (Engine engine : engines.values()) {
            tell(engine, beforeNanos, output);
        }
        while (engines.size() > MOST_ENDS) {
            engines.remove(engines.keySet().iterator().next());
        }
    }

    private void tell(Engine engine, long beforeNanos, Consumer<TimedEvent> output) {
        List<Place> places = new ArrayList<>();
        for (Traced request : engine.requests) {
            for (int i = request.told.nextClearBit(0);
                    i < request.producing.size();
                    i = request.told.nextClearBit(i + 1)) {
                Slice slice = request.producing.get(i);
                int before = (int) request.retracted.stream()
                        .filter(at -> at <= slice.startNanos())
                        .count();
                places.add(new Place(request, i, slice, before));
            }
        }
        places.sort(Comparator.comparingLong((Place place) -> place.slice().endNanos())
                .thenComparing(place -> place.request().root.rid())
                .thenComparingInt(Place::tokenIndex));
        for (Step step : steps(places)) {
            if (step.endNanos >= beforeNanos && beforeNanos < Long.MAX_VALUE) {
                break;
            }
            long id = engine.nextStep++;
            engine.stepByEnd.put(step.endNanos, id);
            give(output, step.endNanos, step(step, id));
            for (Place place : step.places) {
                place.request().told.set(place.tokenIndex());
                held--;
            }
        }
        for (Traced request : engine.requests) {
            tell(request, engine, beforeNanos, output);
        }
        engine.requests.removeIf(request -> request.told.cardinality() == request.producing.size());
        while (beforeNanos < Long.MAX_VALUE && engine.stepByEnd.size() > MOST_ENDS) {
            engine.stepByEnd.pollFirstEntry();
        }
    }

    /** Groups the slices of an engine, in the order of their ends, into steps in the order of their ends. */
    private static List<Step> steps(List<Place> places) {
        Map<String, Step> open = new HashMap<>();
        List<Step> all = new ArrayList<>();
        for (Place place : places) {
            String batch = place.slice().batch();
            Step step = batch == null ? null : open.get(batch);
            // A batch id may stand for several steps: one of them holds a request once, and none that began after it
            // ended.
            if (step == null
                    || step.members.contains(place.request())
                    || place.slice().startNanos() >= step.endNanos) {
                step = new Step();
                all.add(step);
                if (batch != null) {
                    open.put(batch, step);
                }
            }
            step.places.add(place);
            step.members.add(place.request());
            step.endNanos = place.slice().endNanos();
        }
        all.sort(Comparator.comparingLong(step -> step.endNanos));
        return all;
    }

    private StepCompleted step(Step step, long id) {
        List<SequenceRow> rows = new ArrayList<>();
        List<HandleAnnounced> handles = new ArrayList<>();
        Long scheduled = null;
        Integer batchSize = null;
        long decodes = 0;
        long prefilled = 0;
        long recomputed = 0;
        long start = Long.MAX_VALUE;
        for (Place place : step.places) {
            Traced request = place.request();
            if (!request.announced) {
                request.announced = true;
                handles.add(new HandleAnnounced(request.handle, request.root.rid()));
            }
            SequenceRow row = row(place);
            rows.add(row);
            switch (row.phase()) {
                case DECODE -> decodes++;
                case PREFILL -> prefilled += row.scheduledTokens();
                default -> recomputed += row.scheduledTokens();
            }
            Slice slice = place.slice();
            start = Math.min(start, slice.startNanos());
            scheduled = slice.scheduledNanos() == null
                    ? scheduled
                    : Long.valueOf(
                            scheduled == null ? slice.scheduledNanos() : Math.min(scheduled, slice.scheduledNanos()));
            batchSize = slice.batchSize() == null ? batchSize : slice.batchSize();
        }
        steps++;
        if (batchSize != null && batchSize > rows.size()) {
            partial++;
        }
        Traced any = step.places.get(0).request();
        boolean onlyDecodes = decodes == rows.size();
        return new StepCompleted(
                any.root.engine(),
                any.dpRank,
                id,
                scheduled == null
                        ? Long.valueOf(start)
                        : Long.valueOf(Math.max(start, Math.min(scheduled, step.endNanos))),
                null,
                null,
                step.endNanos,
                onlyDecodes ? "decode" : decodes == 0 ? "prefill" : "mixed",
                null,
                null,
                onlyDecodes && batchSize != null ? Long.valueOf(Math.max(decodes, batchSize)) : Long.valueOf(decodes),
                prefilled,
                recomputed,
                batchSize == null ? Integer.valueOf(rows.size()) : Integer.valueOf(Math.max(batchSize, rows.size())),
                null,
                null,
                null,
                null,
                null,
                handles,
                SequenceRows.of(rows));
    }

    private static SequenceRow row(Place place) {
        Traced request = place.request();
        long prompt = request.root.promptTokens() == null ? 0 : request.root.promptTokens();
        int context = (int) Math.min(Integer.MAX_VALUE, prompt + place.tokenIndex());
        Integer preemptions = place.retractions() == 0 ? null : Integer.valueOf(place.retractions());
        if (place.slice().name().equals("decode_loop")) {
            return new SequenceRow(
                    request.handle, place.tokenIndex(), 1, context, 1, Phase.DECODE, null, preemptions, null);
        }
        boolean resumed = place.tokenIndex() > 0;
        Long cached = resumed ? null : request.root.cachedTokens();
        int computed = (int) Math.max(1, context - (cached == null ? 0 : Math.min(cached, context)));
        return new SequenceRow(
                request.handle,
                place.tokenIndex(),
                1,
                context,
                computed,
                resumed ? Phase.RESUMED : Phase.PREFILL,
                cached == null ? null : Integer.valueOf((int) Math.min(cached, Integer.MAX_VALUE)),
                preemptions,
                null);
    }

    private static void tell(Traced request, Engine engine, long beforeNanos, Consumer<TimedEvent> output) {
        Root root = request.root;
        Long queued = request.queuedNanos;
        if (!request.queuedTold && request.announced) {
            request.queuedTold = true;
            if (queued != null && !request.chunked) {
                give(
                        output,
                        queued,
                        new RequestQueued(
                                root.engine(),
                                request.dpRank,
                                request.handle,
                                root.rid(),
                                root.arrivalNanos(),
                                root.promptTokens(),
                                root.maxTokens(),
                                null));
            }
        }
        boolean all = request.told.cardinality() == request.producing.size();
        for (int i = request.retractionsTold; i < request.retracted.size(); i++) {
            long at = request.retracted.get(i);
            if (!all && at >= beforeNanos) {
                break;
            }
            request.retractionsTold = i + 1;
            long made = request.producing.stream()
                    .filter(slice -> slice.endNanos() <= at)
                    .count();
            Map.Entry<Long, Long> last = engine.stepByEnd.floorEntry(at);
            give(
                    output,
                    at,
                    new RequestPreempted(
                            root.engine(),
                            request.dpRank,
                            root.rid(),
                            last == null ? 0 : last.getValue(),
                            "retract",
                            null,
                            null,
                            made,
                            i + 1,
                            null));
        }
        if (!all) {
            return;
        }
        long end = Math.max(
                root.endNanos(),
                request.producing.get(request.producing.size() - 1).endNanos());
        give(
                output,
                end,
                new RequestFinished(
                        root.engine(), request.dpRank, root.rid(), root.endReason(), root.outputTokens(), null));
    }

    private static void give(Consumer<TimedEvent> output, long at, Event event) {
        output.accept(new TimedEvent(event, at, at));
    }

    /** What became of the traces, in one line; null where there was none. */
    public @Nullable String line() {
        if (requests == 0) {
            return null;
        }
        return "SGLang traced " + requests + " requests: " + steps + " steps of " + (requests - unclear) + " of them"
                + (unclear == 0 ? "" : "; " + unclear + " whose slices do not add up to their tokens stay spans")
                + (partial == 0 ? "" : "; " + partial + " steps had more sequences than were traced")
                + (leftOut == 0 ? "" : "; " + leftOut + " slices are more than are held at once");
    }
}
