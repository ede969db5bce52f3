package io.tokenstair.collect.engine.trtllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.SequenceLedger;
import io.tokenstair.collect.live.EventsOut;
import io.tokenstair.event.Event;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.io.IOException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Iteration statistics of TensorRT-LLM, one after another. With {@code requestStats} a step has a row per scheduled request, without them
 * counts only. A stamp is local time of an unknown zone: it orders and spaces iterations, and dates nothing. One of whole seconds, or none,
 * does not space them: then each begins where the one before ended. State: at most {@value #MAX_REQUESTS} requests under way.
 */
public final class Iterations {
    private static final int MAX_REQUESTS = 1 << 16;
    private static final DateTimeFormatter STAMP = new DateTimeFormatterBuilder()
            .appendPattern("MM-dd-uuuu HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
            .toFormatter(Locale.ROOT);

    private final String source;
    private final String engine;
    private final EventsOut events;
    private final String clockId;
    private final SequenceLedger numbers = SequenceLedger.fromFirstSeen();
    private final Map<String, Request> requests = new HashMap<>();
    private int handles;
    private long known;
    private long order;
    private boolean backToBack;
    private boolean recognized;
    private @Nullable Boolean stamped;
    private long endNanos;
    private long startNanos;

    /**
     * Iterations of which none was read.
     *
     * @param source what the samples are said to be of, and the name of the clock of the stamps
     * @param engine what the engine is called
     * @param events takes what they say
     */
    public Iterations(String source, String engine, EventsOut events) {
        this.source = source;
        this.engine = engine;
        this.events = events;
        this.clockId = source + "/iterations";
    }

    /** Takes an iteration; one whose number was read before is refused. */
    public void accept(Fields iteration) throws RejectedRecordException, IOException {
        recognized |= iteration.has("iter");
        long number = iteration.ordinal("iter");
        Long latency = Quantities.optionalNanos(iteration, "iterLatencyMS", 1_000_000L);
        if (latency == null) {
            throw iteration.refuse("iterLatencyMS", "missing");
        }
        if (numbers.seen(number)) {
            throw iteration.refuse("iter", "iteration " + number + " was read before");
        }
        Integer rank = iteration.optionalCount("attentionDpRank");
        Fields kv = iteration.optionalObject("kvCacheStats");
        Fields batching = iteration.optionalObject("inflightBatchingStats");
        Integer active = iteration.optionalCount("numActiveRequests");
        Integer waiting = iteration.optionalCount("numQueuedRequests");
        Integer most = iteration.optionalCount("maxNumActiveRequests");
        Integer used = kv == null ? null : kv.optionalCount("usedNumBlocks");
        Integer total = kv == null ? null : kv.optionalCount("maxNumBlocks");
        Integer blockTokens = kv == null ? null : kv.optionalCount("tokensPerBlock");
        Integer contexts = batching == null ? null : batching.optionalCount("numContextRequests");
        Integer contextTokens = batching == null ? null : batching.optionalCount("numCtxTokens");
        Integer generations = batching == null ? null : batching.optionalCount("numGenRequests");
        Integer scheduled = batching == null ? null : batching.optionalCount("numScheduledRequests");
        Integer paused = batching == null ? null : batching.optionalCount("numPausedRequests");
        if (used != null && total != null && used > total) {
            throw iteration.refuse("kvCacheStats.usedNumBlocks", "more than maxNumBlocks");
        }
        boolean works = (scheduled != null && scheduled > 0)
                || (contexts != null && contexts > 0)
                || (generations != null && generations > 0)
                || (batching == null && active != null && active > 0);
        if (works && latency == 0) {
            throw iteration.refuse("iterLatencyMS", "0 with requests in the iteration: no measurement");
        }
        List<Fields> stats = iteration.optionalObjects("requestStats");
        check(stats);
        long end = end(iteration.optionalText("timestamp"), latency);
        long start = end - latency;
        int dpRank = rank == null ? 0 : rank;
        List<HandleAnnounced> announced = new ArrayList<>();
        List<SequenceRow> rows = new ArrayList<>();
        List<Event> before = new ArrayList<>();
        List<Event> after = new ArrayList<>();
        for (Fields stat : stats) {
            row(stat, dpRank, number, blockTokens, announced, rows, before, after);
        }
        known++;
        numbers.note(number, end, null);
        endNanos = end;
        for (Event event : before) {
            events.add(clockId, order++, start, null, event);
        }
        String mode = contexts == null && generations == null
                ? null
                : contexts != null && contexts > 0
                        ? generations != null && generations > 0 ? "mixed" : "prefill"
                        : generations != null && generations > 0 ? "decode" : "idle";
        events.add(
                clockId,
                order++,
                end,
                null,
                new StepCompleted(
                        engine,
                        dpRank,
                        number,
                        start,
                        null,
                        null,
                        end,
                        mode,
                        null,
                        null,
                        generations == null ? null : Long.valueOf(generations),
                        contextTokens == null ? null : Long.valueOf(contextTokens),
                        null,
                        scheduled != null ? scheduled : active,
                        waiting,
                        used == null ? null : Long.valueOf(used),
                        total == null ? null : Long.valueOf(total),
                        null,
                        null,
                        announced,
                        SequenceRows.of(rows)));
        for (Event event : after) {
            events.add(clockId, order++, end, null, event);
        }
        sample("num_active_requests", active == null ? null : Double.valueOf(active), end);
        sample("num_queued_requests", waiting == null ? null : Double.valueOf(waiting), end);
        sample("max_num_active_requests", most == null ? null : Double.valueOf(most), end);
        sample("num_paused_requests", paused == null ? null : Double.valueOf(paused), end);
        sample(
                "kv_cache_utilization",
                used == null || total == null || total == 0 ? null : Double.valueOf((double) used / total),
                end);
    }

    /** Refuses the iteration before anything of it is taken. */
    private void check(List<Fields> stats) throws RejectedRecordException {
        int fresh = 0;
        for (Fields stat : stats) {
            String id = Quantities.optionalName(stat, "id");
            if (id == null) {
                throw stat.refuse("id", "missing");
            }
            Integer generated = stat.optionalCount("numGeneratedTokens");
            stat.optionalText("stage");
            stat.optionalCount("contextPrefillPosition");
            stat.optionalCount("reusedBlocksPerRequest");
            stat.optionalBoolean("scheduled");
            stat.optionalBoolean("paused");
            Request request = requests.get(id);
            if (request == null) {
                fresh++;
            } else if (generated != null && generated < request.generated) {
                throw stat.refuse("numGeneratedTokens", "fewer than before, " + generated);
            }
        }
        if (requests.size() + fresh > MAX_REQUESTS) {
            throw new RejectedRecordException("more than " + MAX_REQUESTS + " requests under way at once");
        }
    }

    /** On the stamps' axis where the first stamp is fine enough; else behind the one before. */
    private long end(@Nullable String timestamp, long latency) throws RejectedRecordException {
        Long stamp = null;
        if (timestamp != null && timestamp.indexOf('.') > 0) {
            try {
                LocalDateTime local = LocalDateTime.parse(timestamp.strip(), STAMP);
                stamp = Math.addExact(
                        Math.multiplyExact(local.toEpochSecond(ZoneOffset.UTC), 1_000_000_000L), local.getNano());
            } catch (DateTimeParseException | ArithmeticException e) {
                throw new RejectedRecordException("field timestamp: no stamp of the form 11-29-2026 13:00:00.000000");
            }
        }
        if (stamped == null) {
            stamped = stamp != null;
            endNanos = stamp == null ? startNanos : stamp - latency;
            backToBack = stamp == null;
        }
        if (!stamped) {
            return endNanos + latency;
        }
        if (stamp == null) {
            throw new RejectedRecordException("field timestamp: missing, or of whole seconds, where others are finer");
        }
        return stamp;
    }

    private void row(
            Fields stat,
            int dpRank,
            long number,
            @Nullable Integer blockTokens,
            List<HandleAnnounced> announced,
            List<SequenceRow> rows,
            List<Event> before,
            List<Event> after)
            throws RejectedRecordException {
        String id = Quantities.optionalName(stat, "id");
        if (id == null) {
            throw stat.refuse("id", "missing");
        }
        String stage = stat.optionalText("stage");
        Integer generated = stat.optionalCount("numGeneratedTokens");
        Integer position = stat.optionalCount("contextPrefillPosition");
        Integer reused = stat.optionalCount("reusedBlocksPerRequest");
        boolean scheduled = Boolean.TRUE.equals(stat.optionalBoolean("scheduled"));
        boolean paused = Boolean.TRUE.equals(stat.optionalBoolean("paused"));
        Request request = requests.get(id);
        boolean first = request == null;
        if (request == null) {
            request = new Request(handles++);
            requests.put(id, request);
            announced.add(new HandleAnnounced(request.handle, id));
            if ("QUEUED".equals(stage) || (generated != null && generated <= 1)) {
                before.add(new RequestQueued(engine, dpRank, request.handle, id, null, null, null, null));
            } else {
                // It was under way before: what it had then is not known.
                request.generated = generated == null ? 0 : generated;
                request.prefilled = position == null ? 0 : position;
                request.cachedTold = true;
            }
        }
        if (paused && !request.paused) {
            request.preemptions++;
            request.resumes = true;
            before.add(new RequestPreempted(
                    engine,
                    dpRank,
                    id,
                    number,
                    "paused",
                    null,
                    null,
                    (long) request.generated,
                    request.preemptions,
                    null));
        }
        request.paused = paused;
        int had = request.generated;
        int now = generated == null ? had : generated;
        int prefilledBefore = request.prefilled;
        int prefilled = position == null ? prefilledBefore : position;
        if (scheduled && (now > had || prefilled != prefilledBefore || !first)) {
            int made = now - had;
            int computedPrompt = Math.max(0, prefilled - (request.resumes ? 0 : prefilledBefore));
            boolean prompt = computedPrompt > 0 || now == 0 || (made > 0 && had == 0);
            Phase phase = request.resumes ? Phase.RESUMED : prompt ? Phase.PREFILL : Phase.DECODE;
            Integer cached = null;
            if (!request.cachedTold && reused != null && blockTokens != null) {
                cached = (int) Math.min(Integer.MAX_VALUE, (long) reused * blockTokens);
                request.cachedTold = true;
            }
            int context = (int) Math.min(Integer.MAX_VALUE, (long) prefilled + now);
            rows.add(new SequenceRow(
                    request.handle,
                    made > 0 ? had : null,
                    made,
                    context,
                    prompt || request.resumes ? Math.max(computedPrompt, made) : Math.max(1, made),
                    phase,
                    cached,
                    request.preemptions,
                    null));
            request.resumes = false;
        }
        request.generated = now;
        request.prefilled = prefilled;
        if ("GENERATION_COMPLETE".equals(stage)) {
            requests.remove(id);
            after.add(new RequestFinished(engine, dpRank, id, "unknown", (long) now, number));
        }
    }

    private void sample(String name, @Nullable Double value, long nanos) throws IOException {
        if (value != null) {
            events.add(
                    clockId,
                    order++,
                    nanos,
                    null,
                    new MetricSampled(source, "trtllm:" + name, LabelText.of("engine", engine), value));
        }
    }

    /** Iterations so far. */
    public long knownCount() {
        return known;
    }

    /** Whether anything looked like an iteration. */
    public boolean isRecognized() {
        return recognized;
    }

    /** Whether there are no stamps that space them: then each begins where the one before ended. */
    public boolean isBackToBack() {
        return backToBack;
    }

    /** The numbers that never came; those that come later all the same are refused. */
    public List<SequenceLedger.Missing> takeMissing() {
        return numbers.takeMissing();
    }

    /** Whether an iteration of this number was read, or is lost. */
    public boolean isKnown(long number) {
        return numbers.seen(number);
    }

    /** The clock of the iterations. */
    public String clockId() {
        return clockId;
    }

    /** End of the last iteration by that clock, in ns. */
    public long endNanos() {
        return endNanos;
    }

    /** Where no stamps space them: the next begins no earlier than this by their clock. */
    public void beginAt(long nanos) {
        if (known == 0 || backToBack) {
            endNanos = Math.max(endNanos, nanos);
            startNanos = endNanos;
        }
    }

    /** A request as the iterations before left it. */
    private static final class Request {
        private final int handle;
        private int generated;
        private int prefilled;
        private int preemptions;
        private boolean paused;
        private boolean resumes;
        private boolean cachedTold;

        Request(int handle) {
            this.handle = handle;
        }
    }
}
