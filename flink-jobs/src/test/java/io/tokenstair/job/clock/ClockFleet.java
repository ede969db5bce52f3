package io.tokenstair.job.clock;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.Finish;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;

/**
 * Three hosts, a process and a device, each with a clock of its own, around one engine that serves one request after another. All
 * instants that are passed in are true time; what is logged are the clocks' readings of them.
 *
 * <pre>
 *   gpu-0 -- e/mono -- g/mono -- c/mono        x/mono
 *               |         |
 *            e/wall   g/proc-77
 * </pre>
 */
final class ClockFleet {
    static final long MS = 1_000_000L;
    static final long SECOND = 1_000 * MS;
    static final String ENGINE = "vllm-0";
    static final String ENGINE_CLOCK = "e/mono";
    static final String WALL = "e/wall";
    static final String GATEWAY_CLOCK = "g/mono";
    static final String PROCESS_CLOCK = "g/proc-77";
    static final String CLIENT_CLOCK = "c/mono";
    static final String STRANGER_CLOCK = "x/mono";
    static final String GPU_CLOCK = "gpu-0";

    /** When the client's host is suspended: its clock goes on a quarter of a second further. */
    static final long STEP_NANOS = 60 * SECOND;

    static final long STEP_SIZE_NANOS = 250 * MS;

    private static final long EPOCH_MILLIS = 1_790_000_000_000L;
    private static final long ROUND_NANOS = 20 * MS;
    private static final int PROMPT_TOKENS = 64;

    final List<LoggedEvent> events = new ArrayList<>();

    /** True time from the end of the step to the arrival, by request and token. */
    final Map<String, Long> truth = new HashMap<>();

    /** True time now. */
    long now = 10 * SECOND;

    private final Map<String, Long> sequenceNumbers = new HashMap<>();
    private final Map<String, Long> stepAtNanos = new HashMap<>();
    private final Map<String, Long> stepSizeNanos = new HashMap<>();
    private int tokensPerSample = 10;
    private long stepId;
    private int handles;
    private long stalledNanos;

    /** A clock steps at a true instant by so much. */
    ClockFleet steps(String clockId, long atNanos, long byNanos) {
        stepAtNanos.put(clockId, atNanos);
        stepSizeNanos.put(clockId, byNanos);
        return this;
    }

    /** While a request is served, clocks are sampled with every so many-th token of it. */
    ClockFleet samplesEvery(int tokens) {
        tokensPerSample = tokens;
        return this;
    }

    /** What a clock of this fleet reads at a true instant. */
    private long read(String clockId, long atNanos) {
        boolean stepped = atNanos >= stepAtNanos.getOrDefault(clockId, Long.MAX_VALUE);
        return reading(clockId, atNanos) + (stepped ? stepSizeNanos.getOrDefault(clockId, 0L) : 0);
    }

    /** What a clock reads at a true instant. */
    static long reading(String clockId, long atNanos) {
        return switch (clockId) {
            case WALL -> EPOCH_MILLIS * MS + atNanos;
            case ENGINE_CLOCK -> 5_000 * SECOND + atNanos;
            case GATEWAY_CLOCK -> 77 * SECOND + atNanos + atNanos / 125_000;
            case PROCESS_CLOCK -> 3 * SECOND + atNanos + atNanos / 125_000;
            case CLIENT_CLOCK ->
                900_000 * SECOND + atNanos - atNanos / 80_000 + (atNanos >= STEP_NANOS ? STEP_SIZE_NANOS : 0);
            case STRANGER_CLOCK -> 11 * SECOND + atNanos;
            case GPU_CLOCK -> Math.floorDiv(123 * SECOND + atNanos - atNanos / 200_000, 32) * 32;
            default -> throw new IllegalArgumentException("Cannot read " + clockId);
        };
    }

    private void add(String collectorId, String clockId, long atNanos, Event event) {
        long sequence = sequenceNumbers.merge(collectorId, 1L, Long::sum) - 1;
        events.add(new LoggedEvent(
                new EventHeader(collectorId, 1, sequence, clockId, read(clockId, atNanos), EPOCH_MILLIS + atNanos / MS),
                event));
    }

    /** Reads one clock across a link from another one. */
    void sample(String local, String remote, long thereNanos, long backNanos) {
        long read = now + thereNanos;
        long after = read + backNanos;
        add(
                "clocks@" + local,
                local,
                after,
                new ClockSampled(local, remote, read(local, now), read(remote, read), read(local, after), null));
    }

    /** Reads all clocks that are joined by anything. */
    private void sampleAll(boolean client) {
        long jitter = Math.floorMod(now / ROUND_NANOS * 7_919, 997L);
        sample(ENGINE_CLOCK, WALL, 60, 60);
        sample(ENGINE_CLOCK, GPU_CLOCK, 440 + jitter / 10, 440);
        sample(ENGINE_CLOCK, GATEWAY_CLOCK, 12_000 + jitter, 12_000 + 997 - jitter);
        sample(GATEWAY_CLOCK, PROCESS_CLOCK, 200, 200);
        if (client) {
            sample(CLIENT_CLOCK, GATEWAY_CLOCK, 30_000 + jitter, 30_000 + 997 - jitter);
        }
    }

    /** Time in which clocks are sampled and nothing else happens. */
    ClockFleet idle(long nanos, boolean client) {
        long until = now + nanos;
        while (now < until) {
            sampleAll(client);
            now += 200 * MS;
        }
        now = until;
        return this;
    }

    /** Time in which nothing at all happens. */
    ClockFleet silence(long nanos) {
        now += nanos;
        return this;
    }

    /** The step that makes a token of the next request waits for its device so long. */
    ClockFleet stalling(long nanos) {
        stalledNanos = nanos;
        return this;
    }

    /**
     * Serves a request, whose tokens an observer sees arrive so long after their steps.
     *
     * @param clockId the observer's clock
     * @param delay true ns from the end of the step of a token to its arrival
     */
    ClockFleet request(
            String id, String observer, String clockId, int tokens, boolean sampled, LongUnaryOperator delay) {
        return request(id, observer, clockId, tokens, sampled, delay, token -> 0);
    }

    /**
     * The same, with stamps of the observer that are wrong.
     *
     * @param wrong what the stamp of a token is off by
     */
    ClockFleet request(
            String id,
            String observer,
            String clockId,
            int tokens,
            boolean sampled,
            LongUnaryOperator delay,
            LongUnaryOperator wrong) {
        int handle = ++handles;
        String engineRequestId = "cmpl-" + id + "-0-" + String.format("%08x", handle);
        String engine = ENGINE + "/engine";
        String observed = observer + "@" + clockId;
        add(
                observed,
                clockId,
                now,
                new RequestReceived(observer, id, null, null, "model", "/v1", null, null, null, 1, false));
        now += MS;
        add(
                engine,
                ENGINE_CLOCK,
                now,
                new RequestQueued(ENGINE, 0, handle, engineRequestId, null, (long) PROMPT_TOKENS, null, null));
        long arrived = 0;
        for (int token = 0; token < tokens; token++) {
            long start = now;
            boolean stalls = stalledNanos > 0 && token == tokens - 5;
            now += ROUND_NANOS + token % 7 * 10_000 + (stalls ? stalledNanos : 0);
            if (stalls) {
                add(
                        ENGINE + "/gpu",
                        GPU_CLOCK,
                        now - MS,
                        new StreamStalled(
                                ENGINE,
                                "gpu-0",
                                null,
                                null,
                                "stream-sync",
                                read(GPU_CLOCK, now - MS - stalledNanos),
                                read(GPU_CLOCK, now - MS),
                                0,
                                null));
                stalledNanos = 0;
            }
            boolean first = token == 0;
            add(
                    engine,
                    ENGINE_CLOCK,
                    now,
                    new StepCompleted(
                            ENGINE,
                            0,
                            stepId++,
                            read(ENGINE_CLOCK, start),
                            read(ENGINE_CLOCK, start + MS),
                            read(ENGINE_CLOCK, now - MS),
                            read(ENGINE_CLOCK, now),
                            first ? "prefill" : "decode",
                            null,
                            null,
                            first ? 0L : 1L,
                            first ? (long) PROMPT_TOKENS : 0L,
                            0L,
                            1,
                            0,
                            100L,
                            10_000L,
                            null,
                            null,
                            List.of(),
                            SequenceRows.of(List.of(new SequenceRow(
                                    handle,
                                    token,
                                    1,
                                    PROMPT_TOKENS + token,
                                    first ? PROMPT_TOKENS : 1,
                                    first ? Phase.PREFILL : Phase.DECODE,
                                    first ? 0 : null,
                                    null,
                                    null)))));
            arrived = now + delay.applyAsLong(token);
            truth.put(id + "@" + token, delay.applyAsLong(token));
            add(
                    observed,
                    clockId,
                    arrived,
                    new ChunkDelivered(
                            observer,
                            id,
                            List.of(new Chunk(
                                    0,
                                    token,
                                    token,
                                    1,
                                    200,
                                    read(clockId, arrived) + wrong.applyAsLong(token),
                                    token == tokens - 1 ? Finish.LENGTH : Finish.NONE,
                                    null,
                                    null))));
            if (sampled && token % tokensPerSample == 0) {
                sampleAll(clockId.equals(CLIENT_CLOCK));
            }
        }
        add(
                engine,
                ENGINE_CLOCK,
                now,
                new RequestFinished(ENGINE, 0, engineRequestId, "length", (long) tokens, stepId - 1));
        now = Math.max(now, arrived) + MS;
        add(observed, clockId, now, new RequestCompleted(observer, id, "complete", 200, null, null, null, null, null));
        return this;
    }
}
