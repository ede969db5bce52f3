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
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    private static final String MODULE = "sglang::request";

    private final Map<String, Root> roots = new LinkedHashMap<>();
    private final Map<String, Thread> threads = new HashMap<>();
    private final List<Slice> slices = new ArrayList<>();
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

    private record Thread(String root, int dpRank) {}

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

    /** A request whose slices add up. */
    private static final class Traced {
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
            if (roots.size() < MOST_SLICES) {
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
            if (first && threads.size() < MOST_SLICES) {
                threads.put(
                        key(span, span.spanId()),
                        new Thread(key(span, parent), rank == null ? 0 : (int) Math.min(rank, 1 << 16)));
            }
            return;
        }
        if (span.name().equals("decode_loop")
                || span.name().equals("prefill_forward")
                || span.name().equals("chunked_prefill")
                || span.name().equals("prefill_waiting")) {
            if (slices.size() == MOST_SLICES) {
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
        Map<String, List<Traced>> engines = new LinkedHashMap<>();
        for (Traced request : traced()) {
            engines.computeIfAbsent(request.root.engine + '\0' + request.dpRank, name -> new ArrayList<>())
                    .add(request);
        }
        for (List<Traced> ofEngine : engines.values()) {
            tell(ofEngine, output);
        }
        slices.clear();
        threads.clear();
        roots.clear();
    }

    private List<Traced> traced() {
        Map<String, List<Slice>> byRoot = new LinkedHashMap<>();
        Map<String, Integer> ranks = new HashMap<>();
        for (Slice slice : slices) {
            Thread thread = threads.get(slice.thread());
            if (thread != null && roots.containsKey(thread.root())) {
                byRoot.computeIfAbsent(thread.root(), root -> new ArrayList<>()).add(slice);
                ranks.merge(thread.root(), thread.dpRank(), Math::max);
            }
        }
        List<Traced> all = new ArrayList<>();
        for (Map.Entry<String, List<Slice>> entry : byRoot.entrySet()) {
            Root root = roots.get(entry.getKey());
            if (root == null) {
                continue;
            }
            requests++;
            List<Slice> own = entry.getValue();
            own.sort(Comparator.comparingLong(Slice::endNanos).thenComparingLong(Slice::startNanos));
            List<Slice> producing = own.stream().filter(Slice::makesToken).toList();
            if (root.promptTokens() == null
                    || root.outputTokens() == null
                    || producing.isEmpty()
                    || producing.size() != root.outputTokens()) {
                unclear++;
                continue;
            }
            Traced request = new Traced(root, ranks.getOrDefault(entry.getKey(), 0), all.size() + 1, producing);
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
            all.add(request);
        }
        return all;
    }

    private void tell(List<Traced> ofEngine, Consumer<TimedEvent> output) {
        List<Place> places = new ArrayList<>();
        for (Traced request : ofEngine) {
            for (int i = 0; i < request.producing.size(); i++) {
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
        List<Step> made = steps(places);
        Set<Traced> announced = new HashSet<>();
        long[] ends = new long[made.size()];
        for (int id = 0; id < ends.length; id++) {
            ends[id] = made.get(id).endNanos;
            give(output, ends[id], step(made.get(id), id, announced));
        }
        for (Traced request : ofEngine) {
            tell(request, ends, output);
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

    private StepCompleted step(Step step, long id, Set<Traced> announced) {
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
            if (announced.add(request)) {
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

    private static void tell(Traced request, long[] ends, Consumer<TimedEvent> output) {
        Root root = request.root;
        Long queued = request.queuedNanos;
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
        for (int i = 0; i < request.retracted.size(); i++) {
            long at = request.retracted.get(i);
            long made = request.producing.stream()
                    .filter(slice -> slice.endNanos() <= at)
                    .count();
            give(
                    output,
                    at,
                    new RequestPreempted(
                            root.engine(),
                            request.dpRank,
                            root.rid(),
                            lastStepAt(ends, at),
                            "retract",
                            null,
                            null,
                            made,
                            i + 1,
                            null));
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

    private static long lastStepAt(long[] ends, long at) {
        int place = java.util.Arrays.binarySearch(ends, at);
        return Math.max(0, place >= 0 ? place : -place - 2);
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
