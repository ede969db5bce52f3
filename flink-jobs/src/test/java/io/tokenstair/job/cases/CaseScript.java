package io.tokenstair.job.cases;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.Finish;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes down what one report says happened: the engine's steps with the lengths that the report gives, and what clients, gateways,
 * scrapes and devices saw. Requests and the engine carry the name of the case, so that all cases can share one run of the job.
 */
final class CaseScript {
    static final long EPOCH_MILLIS = 1_790_000_000_000L;
    static final long MS = 1_000_000L;
    static final long SECOND = 1_000 * MS;
    static final String CLOCK = "host/mono";

    final String name;
    final String engineId;
    final List<LoggedEvent> events = new ArrayList<>();
    long nowNanos = SECOND;

    @Nullable
    String graphMode;

    @Nullable
    Integer paddedBatch;

    long kvUsed = 100;
    long kvTotal = 100_000;

    @Nullable
    Integer running;

    @Nullable
    Integer waiting;

    @Nullable
    Long kvBatch;

    @Nullable
    Long budget;

    @Nullable
    Integer seats;

    private final Map<String, Sequence> sequences = new HashMap<>();
    private final Map<String, Long> sequenceNumbers = new HashMap<>();
    private final Map<String, Integer> chunkIndex = new HashMap<>();
    private long stepId;

    private static final class Sequence {
        final int handle;
        final String engineRequestId;
        int context;
        int tokens;
        boolean scheduled;
        boolean resumes;

        Sequence(int handle, String engineRequestId) {
            this.handle = handle;
            this.engineRequestId = engineRequestId;
        }
    }

    /** What a step does for one sequence. */
    record Row(
            String request,
            Phase phase,
            int computed,
            int tokens,
            @Nullable Integer cached) {
        /** One more token. */
        static Row decode(String request) {
            return new Row(request, Phase.DECODE, 1, 1, null);
        }

        /** Several tokens at once, as speculative decoding gives them. */
        static Row decode(String request, int tokens) {
            return new Row(request, Phase.DECODE, tokens, tokens, null);
        }

        /** A piece of the prompt that is not the last. */
        static Row chunk(String request, int tokens) {
            return new Row(request, Phase.PREFILL, tokens, 0, null);
        }

        /** The last piece of the prompt: the first token comes with it. */
        static Row prompt(String request, int tokens) {
            return new Row(request, Phase.PREFILL, tokens, 1, null);
        }

        /** A first piece of which this much was found in the cache. */
        Row cached(int tokens) {
            return new Row(request, phase, computed, this.tokens, tokens);
        }

        /** Computes again what a preemption took; a token comes with the last piece. */
        static Row again(String request, int tokens, boolean last) {
            return new Row(request, Phase.RECOMPUTE, tokens, last ? 1 : 0, null);
        }
    }

    CaseScript(String name) {
        this(name, name);
    }

    /** What another engine of the same case did. */
    CaseScript(String name, String engineId) {
        this.name = name;
        this.engineId = engineId;
    }

    String id(String request) {
        return name + "-" + request;
    }

    // ---- the engine

    CaseScript configured(@Nullable Long tokenBudget, @Nullable Integer maxSequences, @Nullable Integer maxGraphBatch) {
        budget = tokenBudget;
        seats = maxSequences;
        return engine(new EngineConfigured(
                engineId,
                0,
                "vllm",
                null,
                tokenBudget,
                maxSequences,
                kvTotal,
                16,
                "priority",
                false,
                true,
                "model",
                1,
                maxGraphBatch));
    }

    CaseScript queued(String request, long promptTokens) {
        return queued(request, promptTokens, null);
    }

    CaseScript queued(String request, long promptTokens, @Nullable Integer priority) {
        Sequence sequence = new Sequence(
                sequences.size() + 1, "cmpl-" + id(request) + "-0-" + String.format("%08x", sequences.size() + 1));
        sequences.put(request, sequence);
        return engine(new RequestQueued(
                engineId, 0, sequence.handle, sequence.engineRequestId, null, promptTokens, null, priority));
    }

    /** The id of a request comes again while it is still in use: the engine's own name of this use differs. */
    CaseScript queuedAgain(String request, String use, long promptTokens) {
        Sequence sequence = new Sequence(
                sequences.size() + 1, "cmpl-" + id(request) + "-0-" + String.format("%08x", sequences.size() + 1));
        sequences.put(use, sequence);
        return engine(new RequestQueued(
                engineId, 0, sequence.handle, sequence.engineRequestId, null, promptTokens, null, null));
    }

    /** The engine's own name of a request. */
    String engineRequestId(String request) {
        return sequence(request).engineRequestId;
    }

    private Sequence sequence(String request) {
        Sequence sequence = sequences.get(request);
        if (sequence == null) {
            throw new IllegalArgumentException("Cannot find " + request + ": queue it first");
        }
        return sequence;
    }

    /** Runs a step that begins now and takes so long. */
    CaseScript step(long stepNanos, Row... rows) {
        return step(stepNanos, List.of(rows));
    }

    CaseScript step(long stepNanos, List<Row> rows) {
        long start = nowNanos;
        nowNanos += stepNanos;
        List<SequenceRow> lines = new ArrayList<>();
        long decodes = 0;
        long prefill = 0;
        long recompute = 0;
        for (Row row : rows) {
            Sequence sequence = sequence(row.request());
            Phase phase = row.phase();
            Integer cached = row.cached();
            if (phase == Phase.RECOMPUTE && sequence.resumes) {
                phase = Phase.RESUMED;
                sequence.resumes = false;
                sequence.context = 0;
                cached = cached == null ? 0 : cached;
            } else if (phase == Phase.PREFILL && !sequence.scheduled) {
                cached = cached == null ? 0 : cached;
            }
            sequence.scheduled = true;
            sequence.context += row.computed() + (cached == null ? 0 : cached);
            decodes += phase == Phase.DECODE ? row.computed() : 0;
            prefill += phase == Phase.PREFILL ? row.computed() : 0;
            recompute += phase == Phase.RESUMED || phase == Phase.RECOMPUTE ? row.computed() : 0;
            lines.add(new SequenceRow(
                    sequence.handle,
                    row.tokens() == 0 ? null : sequence.tokens,
                    row.tokens(),
                    sequence.context,
                    row.computed(),
                    phase,
                    cached,
                    null,
                    null));
            sequence.tokens += row.tokens();
        }
        String mode = decodes == 0 ? "prefill" : prefill + recompute == 0 ? "decode" : "mixed";
        return engine(new StepCompleted(
                engineId,
                0,
                stepId++,
                start,
                start + stepNanos / 100,
                nowNanos - stepNanos / 100,
                nowNanos,
                mode,
                graphMode,
                paddedBatch,
                decodes,
                prefill,
                recompute,
                running == null ? Integer.valueOf(rows.size()) : running,
                waiting,
                kvUsed,
                kvTotal,
                kvBatch,
                null,
                List.of(),
                SequenceRows.of(lines)));
    }

    /** Steps that each give every one of these requests a token; every step a little longer or shorter than the last. */
    CaseScript decode(int steps, long stepNanos, String... requests) {
        List<Row> rows = new ArrayList<>();
        for (String request : requests) {
            rows.add(Row.decode(request));
        }
        for (int i = 0; i < steps; i++) {
            step(about(stepNanos, stepId), rows);
        }
        return this;
    }

    /** A length within 1 % of this one. */
    static long about(long nanos, long n) {
        return nanos + nanos / 100 * (n * 7919 % 201 - 100) / 100;
    }

    /** A step whose only row names a handle that nobody announced. */
    CaseScript unannounced(int handle, long stepNanos) {
        long start = nowNanos;
        nowNanos += stepNanos;
        return engine(new StepCompleted(
                engineId,
                0,
                stepId++,
                start,
                null,
                null,
                nowNanos,
                "decode",
                null,
                null,
                1L,
                0L,
                0L,
                1,
                0,
                kvUsed,
                kvTotal,
                null,
                null,
                List.of(),
                SequenceRows.of(List.of(new SequenceRow(handle, 3, 1, 40, 1, Phase.DECODE, null, null, null)))));
    }

    /** Time in which no step runs. */
    CaseScript idle(long nanos) {
        nowNanos += nanos;
        return this;
    }

    CaseScript preempted(String victim, @Nullable String wantedBy) {
        Sequence sequence = sequence(victim);
        sequence.resumes = true;
        return engine(new RequestPreempted(
                engineId,
                0,
                sequence.engineRequestId,
                stepId,
                "no-blocks",
                wantedBy == null ? null : engineRequestId(wantedBy),
                (long) sequence.context,
                (long) sequence.tokens,
                null,
                0L));
    }

    CaseScript finished(String request, String reason) {
        Sequence sequence = sequence(request);
        return engine(
                new RequestFinished(engineId, 0, sequence.engineRequestId, reason, (long) sequence.tokens, stepId - 1));
    }

    int tokens(String request) {
        return sequence(request).tokens;
    }

    long lastStepId() {
        return stepId - 1;
    }

    /** An event of the engine's collector, now. */
    CaseScript engine(Event event) {
        return add(engineId + "/engine", CLOCK, nowNanos, event);
    }

    // ---- observers

    CaseScript received(String observer, String request, long atNanos) {
        return add(
                name + "/" + observer,
                CLOCK,
                atNanos,
                new RequestReceived(observer, id(request), null, null, "model", "/v1", null, null, null, 1, false));
    }

    /** A chunk with this many tokens from this index on; none for a role chunk. */
    CaseScript chunk(String observer, String request, int firstToken, int tokens, long atNanos, Finish finish) {
        return chunk(observer, request, firstToken, tokens, atNanos, finish, null, null);
    }

    CaseScript chunk(
            String observer,
            String request,
            int firstToken,
            int tokens,
            long atNanos,
            Finish finish,
            @Nullable Long writeStart,
            @Nullable Long writeEnd) {
        int index = chunkIndex.merge(observer + request, 1, Integer::sum) - 1;
        return add(
                name + "/" + observer,
                CLOCK,
                atNanos,
                new ChunkDelivered(
                        observer,
                        id(request),
                        List.of(new Chunk(
                                0,
                                index,
                                tokens == 0 ? null : firstToken,
                                tokens,
                                200,
                                atNanos,
                                finish,
                                writeStart,
                                writeEnd))));
    }

    CaseScript completed(String observer, String request, String outcome, long atNanos) {
        return add(
                name + "/" + observer,
                CLOCK,
                atNanos,
                new RequestCompleted(
                        observer,
                        id(request),
                        outcome,
                        200,
                        null,
                        null,
                        null,
                        null,
                        outcome.equals("client-closed") ? atNanos : null));
    }

    /** A scraped sample. */
    CaseScript metric(String metric, String labels, double value) {
        return add(
                name + "/metrics",
                "scraper/mono",
                nowNanos,
                new MetricSampled("http://" + name + "/metrics", metric, labels, value));
    }

    /** The engine's clock against the wall. */
    CaseScript clockSampled() {
        long wall = EPOCH_MILLIS * MS + nowNanos;
        return engine(new ClockSampled(CLOCK, "host/wall", nowNanos - 500, wall, nowNanos + 500, null, name));
    }

    CaseScript add(String collectorId, String clockId, long clockNanos, Event event) {
        long sequence = sequenceNumbers.merge(collectorId, 1L, Long::sum) - 1;
        events.add(new LoggedEvent(
                new EventHeader(
                        collectorId, 1, sequence, clockId, clockNanos, EPOCH_MILLIS + Math.floorDiv(clockNanos, MS)),
                event));
        return this;
    }
}
