package io.tokenstair.job.step;

import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.clock.Segments;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes what the collector of a made-up engine logs while a test says what the scheduler does. A step takes {@link #FIXED_NANOS},
 * {@link #SEQUENCE_NANOS} a sequence, {@link #RESIDENT_NANOS} a context token of a decoding sequence and {@link #PROMPT_NANOS} a token
 * computed for a prompt or again, plus what the test adds. Event time is the engine's clock plus a constant.
 */
public final class EngineScript {
    public static final String ENGINE = "engine-0";
    public static final String CLOCK = "host-a/mono";
    public static final long FIXED_NANOS = 5_000_000;
    public static final long SEQUENCE_NANOS = 100_000;
    public static final long RESIDENT_NANOS = 1_000;
    public static final long PROMPT_NANOS = 150_000;
    public static final int BLOCK_TOKENS = 16;
    public static final long START_EPOCH_MILLIS = 1_790_000_000_000L;
    private static final long HOST_PERIOD_NANOS = 10_000_000;
    private static final long TICK_NANOS = 10_000_000;

    /** What the engine's threads do while time goes by. */
    public enum Threads {
        RUN,
        STAND_READY,
        STAND_STILL,
        /** Both wait for block I/O, which the kernel books when the wait has ended. */
        WAIT_FOR_BLOCK_IO,
        /** The engine core is stopped; the worker spins and has to wait for a core. */
        ENGINE_STILL_WORKER_READY
    }

    /** Time beyond the law of a step. */
    private record Extra(long nanos, Threads threads) {}

    private static final class Sequence {
        String engineRequestId = "";
        int handle;
        int promptTokens;
        int computedTokens;
        int madeTokens;
        int cachedTokens;
        boolean firstChunk = true;
        boolean resumes;
    }

    private final List<LoggedEvent> events = new ArrayList<>();
    private final Map<String, Sequence> sequences = new HashMap<>();
    private long nowNanos = 1_000_000_000;
    private long collectorEpoch = 1;
    private long nextSequence;
    private long hostSequence;
    private int nextHandle;
    private long stepId;
    private long lastEndNanos;
    private boolean hostSampled;
    private boolean undated;
    private long onCoreNanos;
    private long coreWaitNanos;
    private long workerWaitNanos;
    private boolean blockIoCounted;
    private long blockIoWaitNanos;
    private long nextHostNanos;
    private long kvUsedBlocks = 100;
    private long kvTotalBlocks = 10_000;
    private @Nullable Long kvBatch;
    private long recordSequence;
    /** How far the engine's clock has gone back: event time goes on. */
    private long backNanos;

    // ---- the engine

    /** Limits of the engine. */
    public EngineScript configured(@Nullable Long tokenBudget, @Nullable Integer seats) {
        return add(new EngineConfigured(
                ENGINE, 0, "vllm", null, tokenBudget, seats, kvTotalBlocks, BLOCK_TOKENS, "fcfs", true, true, "model"));
    }

    /** A reading of the engine's clock against the wall, exact to {@code boundNanos}. */
    public EngineScript clockSampled(long boundNanos) {
        long wall = START_EPOCH_MILLIS * 1_000_000 + nowNanos;
        return add(new ClockSampled(CLOCK, "wall", nowNanos - boundNanos, wall, nowNanos + boundNanos, null, ENGINE));
    }

    /** From here on the threads of the engine are sampled every 10 ms; until told otherwise they run. */
    public EngineScript hostSampled() {
        hostSampled = true;
        nextHostNanos = nowNanos;
        pass(0, Threads.RUN);
        return this;
    }

    /** Samples of threads say how long they waited for block I/O, in ticks of 10 ms as the kernel does. */
    public EngineScript blockIoCounted() {
        blockIoCounted = true;
        return this;
    }

    /** Events have no wall time. */
    public EngineScript undated() {
        undated = true;
        return this;
    }

    /** The threads are not sampled any more. */
    public EngineScript hostSampledNoMore() {
        hostSampled = false;
        return this;
    }

    /** Blocks in use and in all, as the next steps say. */
    public EngineScript kvBlocks(long used, long total) {
        kvUsedBlocks = used;
        kvTotalBlocks = total;
        return this;
    }

    /** The collector starts anew: other epoch, other handles; the engine goes on. */
    public EngineScript collectorRestarts() {
        collectorEpoch++;
        nextSequence = 0;
        nextHandle = 0;
        sequences.clear();
        return this;
    }

    /** Time in which the engine does nothing. */
    public EngineScript idle(long nanos) {
        return idle(nanos, Threads.RUN);
    }

    /** Time in which the engine has no step in flight. */
    public EngineScript idle(long nanos, Threads threads) {
        pass(nanos, threads);
        return this;
    }

    // ---- requests

    /** The scheduler takes a request in. */
    public EngineScript queue(String requestId, int promptTokens) {
        return queue(requestId, promptTokens, null);
    }

    /** The scheduler takes a request of a priority in; smaller is more urgent. */
    public EngineScript queue(String requestId, int promptTokens, @Nullable Integer priority) {
        Sequence sequence = sequence(requestId, promptTokens);
        return add(new RequestQueued(
                ENGINE, 0, sequence.handle, sequence.engineRequestId, null, (long) promptTokens, null, priority));
    }

    private Sequence sequence(String requestId, int promptTokens) {
        Sequence sequence = new Sequence();
        sequence.engineRequestId = engineRequestId(requestId);
        sequence.handle = nextHandle++;
        sequence.promptTokens = promptTokens;
        sequences.put(requestId, sequence);
        return sequence;
    }

    /** The engine's own id of a request: {@code 1_x} is the second sequence of x, {@code x~2} another use of the id. */
    public static String engineRequestId(String name) {
        int choice = name.indexOf('_');
        int use = name.indexOf('~');
        String requestId = name.substring(choice + 1, use < 0 ? name.length() : use);
        return name.substring(0, choice + 1) + "cmpl-" + requestId + "-0-"
                + String.format("%08x", name.substring(choice + 1).hashCode());
    }

    /** A running request loses its blocks in the next step's schedule, for another one or for itself. */
    public EngineScript preempt(String requestId, @Nullable String wantedBy) {
        Sequence sequence = the(requestId);
        RequestPreempted preempted = new RequestPreempted(
                ENGINE,
                0,
                sequence.engineRequestId,
                stepId,
                "kv-capacity",
                wantedBy == null ? null : the(wantedBy).engineRequestId,
                (long) sequence.computedTokens,
                (long) sequence.madeTokens,
                null,
                0L);
        lose(requestId);
        return add(preempted);
    }

    /** The schedule of the step {@code ahead} of the next one takes a request's blocks while the next one is in flight. */
    public EngineScript preemptInStep(int ahead, String requestId) {
        Sequence sequence = the(requestId);
        return add(new RequestPreempted(
                ENGINE,
                0,
                sequence.engineRequestId,
                stepId + ahead,
                "kv-capacity",
                null,
                (long) sequence.computedTokens,
                (long) sequence.madeTokens,
                null,
                0L));
    }

    /** A request loses its blocks and no record says so. */
    public EngineScript lose(String requestId) {
        Sequence sequence = the(requestId);
        sequence.computedTokens = 0;
        sequence.cachedTokens = 0;
        sequence.firstChunk = true;
        sequence.resumes = true;
        return this;
    }

    /** The first chunk of a request will find these tokens in the cache. */
    public EngineScript cached(String requestId, int tokens) {
        Sequence sequence = the(requestId);
        sequence.cachedTokens = tokens;
        sequence.computedTokens = tokens;
        return this;
    }

    /** The engine ends a request. */
    public EngineScript finish(String requestId, String endReason) {
        Sequence sequence = the(requestId);
        sequences.remove(requestId);
        return add(new RequestFinished(
                ENGINE, 0, sequence.engineRequestId, endReason, (long) sequence.madeTokens, stepId));
    }

    private Sequence the(String requestId) {
        Sequence sequence = sequences.get(requestId);
        if (sequence == null) {
            throw new IllegalArgumentException("Cannot find the request: " + requestId);
        }
        return sequence;
    }

    /** Requests that have not ended. */
    public List<String> open() {
        return sequences.keySet().stream().sorted().toList();
    }

    /** Prompt tokens of a request. */
    public int promptTokens(String requestId) {
        return the(requestId).promptTokens;
    }

    /** Output tokens that a request has so far. */
    public int madeTokens(String requestId) {
        return the(requestId).madeTokens;
    }

    /** Prompt tokens, or tokens lost, that a request still has to compute before its next token. */
    public int owedTokens(String requestId) {
        Sequence sequence = the(requestId);
        return sequence.madeTokens == 0 || sequence.resumes
                ? sequence.promptTokens + sequence.madeTokens - sequence.computedTokens
                : 0;
    }

    // ---- KV events

    /** The next step publishes its KV events under this number. */
    public EngineScript kvBatch(long batch) {
        kvBatch = batch;
        return this;
    }

    /** Blocks enter the prefix cache. */
    public EngineScript stored(@Nullable Long batch, Long... hashes) {
        return add(new KvBlocksStored(
                ENGINE,
                0,
                batch,
                null,
                0,
                "GPU",
                List.of(hashes),
                null,
                BLOCK_TOKENS,
                (long) hashes.length * BLOCK_TOKENS));
    }

    /** Blocks leave the prefix cache. */
    public EngineScript evicted(long batch, Long... hashes) {
        return add(new KvBlocksEvicted(ENGINE, 0, batch, null, 0, "GPU", List.of(hashes), false, null));
    }

    // ---- steps

    /** A step, to be filled and run. */
    public Step step() {
        return new Step();
    }

    /** Runs {@code count} steps in which these requests decode. */
    public EngineScript decode(int count, String... requestIds) {
        for (int i = 0; i < count; i++) {
            step().decode(requestIds).run();
        }
        return this;
    }

    /** Queues requests and computes their prompts, one step each. */
    public EngineScript start(int promptTokens, String... requestIds) {
        for (String requestId : requestIds) {
            queue(requestId, promptTokens);
            step().prefill(requestId, promptTokens).run();
        }
        return this;
    }

    /** One step while it is put together. */
    public final class Step {
        private final List<SequenceRow> rows = new ArrayList<>();
        private final List<HandleAnnounced> announcements = new ArrayList<>();
        private long residentTokens;
        private long promptTokens;
        private long extraNanos;
        private final List<Extra> extras = new ArrayList<>();
        private long overlapNanos;
        private int waitingCount;
        private @Nullable Integer runningCount;
        private boolean scheduleKnown = true;
        private @Nullable String graphMode;
        private @Nullable Integer paddedCount;

        /** These requests make a token each. */
        public Step decode(String... requestIds) {
            for (String requestId : requestIds) {
                decodeSeveral(requestId, 1);
            }
            return this;
        }

        /** A request makes several tokens. */
        public Step decodeSeveral(String requestId, int tokens) {
            Sequence sequence = the(requestId);
            sequence.computedTokens += tokens;
            residentTokens += sequence.computedTokens;
            row(sequence, tokens, tokens, Phase.DECODE);
            return this;
        }

        /** Computes prompt tokens; the last ones give the first output token. */
        public Step prefill(String requestId, int tokens) {
            return compute(requestId, tokens, Phase.PREFILL, Phase.PREFILL);
        }

        /** Computes lost tokens again; the last ones give the next output token. */
        public Step recompute(String requestId, int tokens) {
            return compute(requestId, tokens, Phase.RESUMED, Phase.RECOMPUTE);
        }

        private Step compute(String requestId, int tokens, Phase first, Phase later) {
            Sequence sequence = the(requestId);
            Phase phase = sequence.firstChunk ? first : later;
            sequence.computedTokens += tokens;
            promptTokens += tokens;
            boolean complete = sequence.computedTokens == sequence.promptTokens + sequence.madeTokens;
            row(sequence, complete ? 1 : 0, tokens, phase);
            if (complete) {
                sequence.resumes = false;
            }
            return this;
        }

        private void row(Sequence sequence, int tokens, int scheduled, Phase phase) {
            boolean first = sequence.firstChunk && phase != Phase.DECODE;
            rows.add(new SequenceRow(
                    sequence.handle,
                    tokens == 0 ? null : Integer.valueOf(sequence.madeTokens),
                    tokens,
                    sequence.computedTokens,
                    scheduled,
                    phase,
                    first ? Integer.valueOf(sequence.cachedTokens) : null,
                    null,
                    null));
            sequence.firstChunk = false;
            sequence.madeTokens += tokens;
        }

        /** A row of a request that was never announced. */
        public Step unknown(int handle) {
            return unknown(handle, 0);
        }

        /** A row of a request that was not announced yet, at token {@code index}. */
        public Step unknown(int handle, int index) {
            rows.add(new SequenceRow(handle, index, 1, 100, 1, Phase.DECODE, null, null, null));
            residentTokens += 100;
            return this;
        }

        /** A request that began before the collector did: announced with the step, decoding at token {@code made}. */
        public Step announce(String requestId, int promptTokens, int made) {
            Sequence sequence = sequence(requestId, promptTokens);
            sequence.madeTokens = made;
            sequence.computedTokens = promptTokens + made - 1;
            sequence.firstChunk = false;
            announcements.add(new HandleAnnounced(sequence.handle, sequence.engineRequestId));
            return this;
        }

        /** The name of a request is said again. */
        public Step again(String requestId) {
            announcements.add(new HandleAnnounced(the(requestId).handle, the(requestId).engineRequestId));
            return this;
        }

        /** The step takes longer than the law says. */
        public Step late(long nanos) {
            return late(nanos, Threads.RUN);
        }

        /** The step takes longer than the law says, more each time this is said; what the threads do meanwhile. */
        public Step late(long nanos, Threads meanwhile) {
            extraNanos += nanos;
            extras.add(new Extra(nanos, meanwhile));
            return this;
        }

        /** The step was scheduled this long before the one before it ended. */
        public Step overlapping(long nanos) {
            overlapNanos = nanos;
            return this;
        }

        /** The engine did not stamp its schedule. */
        public Step withoutSchedule() {
            scheduleKnown = false;
            return this;
        }

        /** How its kernels are launched: eager, piecewise or full. */
        public Step graph(String mode) {
            graphMode = mode;
            return this;
        }

        /** How its kernels are launched, and for how many sequences. */
        public Step graph(String mode, int padded) {
            graphMode = mode;
            paddedCount = padded;
            return this;
        }

        /** Requests that wait, and run, after scheduling. */
        public Step counts(int running, int waiting) {
            runningCount = running;
            waitingCount = waiting;
            return this;
        }

        /** The time that the law gives the step. */
        public long lawNanos() {
            return FIXED_NANOS
                    + SEQUENCE_NANOS * rows.size()
                    + RESIDENT_NANOS * residentTokens
                    + PROMPT_NANOS * promptTokens
                    + extraNanos;
        }

        /** Runs the step. */
        public EngineScript run() {
            long begin = nowNanos;
            pass(lawNanos() - extraNanos, Threads.RUN);
            extras.forEach(extra -> pass(extra.nanos(), extra.threads()));
            long end = nowNanos;
            long scheduled = begin - overlapNanos;
            StepCompleted step = new StepCompleted(
                    ENGINE,
                    0,
                    stepId++,
                    scheduleKnown ? scheduled : null,
                    scheduleKnown ? scheduled + 100_000 : null,
                    scheduleKnown ? end - 100_000 : null,
                    end,
                    null,
                    graphMode,
                    paddedCount,
                    null,
                    null,
                    null,
                    runningCount == null ? Integer.valueOf(rows.size()) : runningCount,
                    waitingCount,
                    kvUsedBlocks,
                    kvTotalBlocks,
                    kvBatch,
                    null,
                    announcements,
                    SequenceRows.of(rows));
            kvBatch = null;
            lastEndNanos = end;
            return add(step);
        }
    }

    // ---- time and events

    /** The engine's clock. */
    public long nowNanos() {
        return nowNanos;
    }

    /** End of the last step. */
    public long lastEndNanos() {
        return lastEndNanos;
    }

    /** Event time of a reading of the engine's clock. */
    public static long coarseEpochMillis(long nanos) {
        return START_EPOCH_MILLIS + nanos / 1_000_000;
    }

    private void pass(long nanos, Threads threads) {
        long until = nowNanos + nanos;
        while (hostSampled && nextHostNanos <= until) {
            move(nextHostNanos, threads);
            for (String role : List.of("engine", "worker")) {
                events.add(new LoggedEvent(
                        new EventHeader("host-a", 1, hostSequence++, CLOCK, nowNanos, coarseEpochMillis(nowNanos)),
                        new HostSampled(
                                "host-a",
                                role,
                                "main",
                                onCoreNanos,
                                role.equals("worker") ? workerWaitNanos : coreWaitNanos,
                                0L,
                                ENGINE,
                                blockIoCounted ? Long.valueOf(blockIoWaitNanos / TICK_NANOS * TICK_NANOS) : null,
                                null,
                                null)));
            }
            nextHostNanos += HOST_PERIOD_NANOS;
        }
        move(until, threads);
        blockIoWaitNanos += threads == Threads.WAIT_FOR_BLOCK_IO ? nanos : 0;
    }

    private void move(long until, Threads threads) {
        long nanos = until - nowNanos;
        onCoreNanos += threads == Threads.RUN ? nanos : 0;
        coreWaitNanos += threads == Threads.STAND_READY ? nanos : 0;
        workerWaitNanos += threads == Threads.STAND_READY || threads == Threads.ENGINE_STILL_WORKER_READY ? nanos : 0;
        nowNanos = until;
    }

    /** The engine's own collector logs something else. */
    public EngineScript logged(Event event) {
        return add(event);
    }

    private EngineScript add(Event event) {
        events.add(new LoggedEvent(
                new EventHeader(
                        ENGINE,
                        collectorEpoch,
                        nextSequence++,
                        CLOCK,
                        nowNanos,
                        undated ? null : Long.valueOf(coarseEpochMillis(nowNanos + backNanos))),
                event));
        return this;
    }

    /** Another collector of the engine's host logs a record, stamped at a reading of the engine's clock. */
    public EngineScript recorded(long stampNanos, Event event) {
        return recorded(CLOCK, stampNanos, event);
    }

    /** Another collector logs a record, with a stamp of the clock that it names. */
    public EngineScript recorded(String clockId, long stampNanos, Event event) {
        events.add(new LoggedEvent(
                new EventHeader(
                        "records-a",
                        1,
                        recordSequence++,
                        clockId,
                        stampNanos,
                        undated ? null : Long.valueOf(coarseEpochMillis(stampNanos))),
                event));
        return this;
    }

    /** The engine's clock goes back. */
    public EngineScript back(long nanos) {
        nowNanos -= nanos;
        backNanos += nanos;
        return this;
    }

    /** The step that was logged last. */
    public Event lastStep() {
        return events.stream()
                .map(LoggedEvent::event)
                .filter(StepCompleted.class::isInstance)
                .reduce((before, after) -> after)
                .orElseThrow();
    }

    /** The handle of a request will stand for the next one. */
    public EngineScript reuseHandle(String requestId) {
        nextHandle = the(requestId).handle;
        sequences.remove(requestId);
        return this;
    }

    /** Number of the next step. */
    public long nextStepId() {
        return stepId;
    }

    /** Everything that was logged, in total order. */
    public List<LoggedEvent> events() {
        return events.stream()
                .sorted((a, b) -> EventHeader.ORDER.compare(a.header(), b.header()))
                .toList();
    }

    /** Feeds everything to a timeline. */
    public Told told() {
        return told(new EngineState());
    }

    /** Feeds everything to a timeline over a state. */
    public Told told(EngineState state) {
        state.engineId = ENGINE;
        Told told = new Told();
        EngineTimeline timeline =
                new EngineTimeline(state, told, Segments.of(events).graph());
        for (LoggedEvent event : events()) {
            timeline.accept(event, EventCodec.encode(event));
        }
        timeline.finish();
        return told;
    }
}
