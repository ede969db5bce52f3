package io.tokenstair.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.live.LiveVllm.KvWay;
import io.tokenstair.live.StreamingClient.Streamed;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * A real vLLM from its scheduler to the explanation: the gateway before it, its probe, KV events, spans and metrics go to a log, the job
 * reads it, and every token that a client received is found once, under its request. Where the machine cannot run the engine the test says why and is
 * skipped.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class LiveVllmIT {
    private static final int PENDING_MESSAGES = 4;
    private static final int MINUTES = 5;

    private Path work;

    private Analysis analysis;

    private LiveVllm vllm;

    /** Collects from the engine's first moment on. */
    private LiveEngine.Collecting first;

    @BeforeAll
    void start() throws Exception {
        work = Machine.work("vllm");
        analysis = new Analysis(work);
        vllm = Machine.orSkip("vLLM", () -> {
            LiveVllm started = new LiveVllm(work, KvWay.PROBE);
            first = started.collect(new CollectedLog(work.resolve("log")));
            started.start(PENDING_MESSAGES);
            return started;
        });
    }

    @AfterAll
    void stop() throws Exception {
        if (first != null) {
            first.close();
        }
        if (vllm != null) {
            vllm.close();
        }
    }

    /** Output tokens by the engine's request id; fails where a token is there twice or has no request. */
    private static Map<String, Set<Integer>> tokens(List<LoggedEvent> events) {
        Map<String, Map<Integer, String>> ids = new HashMap<>();
        for (LoggedEvent logged : events) {
            Map<Integer, String> handles =
                    ids.computeIfAbsent(logged.header().collectorId(), unused -> new HashMap<>());
            if (logged.event() instanceof RequestQueued queued) {
                handles.put(queued.requestHandle(), queued.engineRequestId());
            } else if (logged.event() instanceof StepCompleted step) {
                step.announcements().forEach(a -> handles.put(a.requestHandle(), a.engineRequestId()));
            }
        }
        Map<String, Set<Integer>> tokens = new TreeMap<>();
        for (LoggedEvent logged : events) {
            if (!(logged.event() instanceof StepCompleted step)) {
                continue;
            }
            for (int i = 0; i < step.rows().count(); i++) {
                String id =
                        ids.get(logged.header().collectorId()).get(step.rows().requestHandle(i));
                assertThat(id)
                        .as("a row without its request in step %s", step.stepId())
                        .isNotNull();
                for (int t = 0; t < step.rows().tokenCount(i); t++) {
                    assertThat(tokens.computeIfAbsent(id, unused -> new HashSet<>())
                                    .add(step.rows().firstTokenIndex(i) + t))
                            .as("a token twice of %s", id)
                            .isTrue();
                }
            }
        }
        return tokens;
    }

    private static String clientId(String engineRequestId) {
        // cmpl-press-3-0-1a2b3c4d
        return engineRequestId.replaceFirst("^cmpl-", "").replaceFirst("-\\d+-[0-9a-f]{8}$", "");
    }

    @Test
    @Order(1)
    void everyTokenIsExplainedUnderItsRequest() throws Exception {
        CollectedLog log = first.log();
        StreamingClient client = first.client();
        Map<String, Streamed> streamed = new TreeMap<>(client.stream("press", 8, 200, 250));
        streamed.putAll(client.stream("big", 3, 900, 40));
        streamed.putAll(client.stream("again", 3, 900, 40));
        Map<String, Integer> received = StreamingClient.counts(streamed);
        assertThat(received.values()).containsOnly(250, 40);
        Machine.waitFor(
                MINUTES,
                () -> bySteps(log).equals(received)
                        && log.endedAtTheGateway() == received.size()
                        && log.only(RequestFinished.class).size() == received.size()
                        && log.only(SpanRecorded.class).size() >= received.size()
                        && !log.only(KvBlocksEvicted.class).isEmpty());
        first.close();

        List<LoggedEvent> events = log.events();
        assertThat(log.rejected()).isEmpty();
        assertThat(CollectedLog.only(events, CollectorGap.class)).isEmpty();
        assertThat(bySteps(log)).isEqualTo(received);
        assertThat(log.endedAtTheGateway()).isEqualTo(received.size());
        assertThat(CollectedLog.only(events, SpanRecorded.class)).hasSizeGreaterThanOrEqualTo(received.size());
        assertThat(CollectedLog.only(events, RequestPreempted.class)).isNotEmpty();
        assertThat(CollectedLog.only(events, KvBlocksEvicted.class))
                .isNotEmpty()
                .allSatisfy(eviction -> {
                    assertThat(eviction.reason()).isIn("admission", "capacity", "context-jump");
                    assertThat(eviction.wantedByEngineRequestId()).startsWith("cmpl-");
                });
        everyBlockEventIsThereOnce(events);
        Analysis.noTextIn(log, streamed);

        Path live = analysis.run(log, "live");
        analysis.everyTokenOnceAtItsRequest(live, streamed);
        assertThat(Analysis.rows(live, ResultTables.REQUEST_ANALYSIS)).allSatisfy(request -> {
            assertThat(request.engines()).as(request.requestId()).isNotEmpty();
            assertThat(request.missingLayers()).as(request.requestId()).doesNotContain("steps", "gateway");
        });
        assertThat(analysis.findings(live)).contains("PREEMPT");
        analysis.sameWords(live, analysis.replay(live, "live-again"));
    }

    /** Batches are numbered as the steps that published them say, none is missing, and no block goes that had not come. */
    private static void everyBlockEventIsThereOnce(List<LoggedEvent> events) {
        List<Long> published = CollectedLog.only(events, StepCompleted.class).stream()
                .map(StepCompleted::kvBatchSequence)
                .filter(Objects::nonNull)
                .toList();
        assertThat(published)
                .isNotEmpty()
                .containsExactlyElementsOf(
                        LongStream.range(0, published.size()).boxed().toList());
        Set<List<Long>> seen = new HashSet<>();
        Set<Long> batches = new HashSet<>();
        Set<Long> held = new HashSet<>();
        for (LoggedEvent logged : events) {
            if (logged.event() instanceof KvBlocksStored stored) {
                assertThat(seen.add(List.of(stored.batchSequence(), (long) stored.eventIndex())))
                        .isTrue();
                batches.add(stored.batchSequence());
                held.addAll(stored.blockHashes());
            } else if (logged.event() instanceof KvBlocksEvicted evicted) {
                assertThat(seen.add(List.of(evicted.batchSequence(), (long) evicted.eventIndex())))
                        .isTrue();
                batches.add(evicted.batchSequence());
                assertThat(held.removeAll(evicted.blockHashes())).isTrue();
            }
        }
        assertThat(batches).containsExactlyInAnyOrderElementsOf(published);
    }

    /** The other way to KV events: vLLM's own publisher. */
    @Test
    @Order(3)
    void kvEventsOfThePublisherAreJoinedWithWhatTheProbeKnows() throws Exception {
        vllm.close();
        Path other = Machine.work("vllm-publisher");
        CollectedLog log = new CollectedLog(other.resolve("log"));
        try (LiveVllm publishing = new LiveVllm(other, KvWay.PUBLISHER)) {
            LiveEngine.Collecting collecting = publishing.collect(log);
            try {
                publishing.start(PENDING_MESSAGES);
                Map<String, Integer> received =
                        StreamingClient.counts(publishing.client().stream("press", 8, 200, 250));
                Machine.waitFor(
                        MINUTES,
                        () -> bySteps(log).equals(received)
                                && log.only(RequestFinished.class).size() == received.size()
                                && !log.only(KvBlocksEvicted.class).isEmpty());
            } finally {
                collecting.close();
            }
        }
        assertThat(log.rejected()).isEmpty();
        assertThat(CollectedLog.only(log.events(), CollectorGap.class)).isEmpty();
        everyBlockEventIsThereOnce(log.events());
        assertThat(log.only(KvBlocksEvicted.class))
                .isNotEmpty()
                .allSatisfy(eviction -> assertThat(eviction.reason()).isIn("admission", "capacity", "context-jump"));
    }

    /** Output tokens that the steps have, by the client's request id. */
    private static Map<String, Integer> bySteps(CollectedLog log) throws IOException {
        Map<String, Integer> seen = new TreeMap<>();
        tokens(log.events()).forEach((id, indices) -> {
            assertThat(indices).contains(0, indices.size() - 1);
            assertThat(seen.put(clientId(id), indices.size()))
                    .as("two requests of one name")
                    .isNull();
        });
        return seen;
    }

    /** Sends small requests until the collector has seen the end of one: from then on it hears all. */
    private void attach(CollectedLog log, String name) throws Exception {
        AtomicInteger sent = new AtomicInteger();
        assertThat(Machine.waitFor(MINUTES, () -> {
                    vllm.client().stream(name + sent.incrementAndGet(), 1, 32, 4);
                    return !log.only(RequestFinished.class).isEmpty();
                }))
                .as("the collector hears of a request")
                .isTrue();
    }

    /**
     * Sends a request and waits until its four tokens are in the log: all that the probe told before is there too, or counted. Sends another
     * where it was lost itself.
     */
    private void flush(CollectedLog log, String name) throws Exception {
        for (int i = 0; i < MINUTES; i++) {
            String id = name + i;
            vllm.client().stream(id, 1, 32, 4);
            if (Machine.waitFor(
                    1,
                    () -> tokens(log.events()).entrySet().stream()
                            .anyMatch(request -> request.getKey().startsWith("cmpl-" + id + "-0-")
                                    && request.getValue().equals(Set.of(0, 1, 2, 3))))) {
                return;
            }
        }
        throw new AssertionError("No request named " + name + " reached the log whole");
    }

    /** A collector that is frozen or not there does not stop the engine, and what it misses is counted to the record. */
    @Test
    @Order(2)
    void whatACollectorMissesIsCountedExactly() throws Exception {
        first.close();
        CollectedLog log = new CollectedLog(work.resolve("missed"));
        try (LiveEngine.Collecting collecting = vllm.collect(log)) {
            attach(log, "warm");
            collecting.process().signal("STOP");
            for (int i = 0; i < 4; i++) {
                assertThat(StreamingClient.counts(vllm.client().stream("frozen" + i, 4, 64, 100))
                                .values())
                        .allMatch(count -> count == 100);
            }
            collecting.process().signal("CONT");
            flush(log, "thawed");
        }
        long lostBefore = lostByTheProbe(log.events());
        assertThat(missing(log.events())).as("lost while frozen").isLessThanOrEqualTo(lostBefore);
        // Nobody is there: 4 messages wait, the rest is lost.
        for (int i = 0; i < 10; i++) {
            assertThat(StreamingClient.counts(vllm.client().stream("alone" + i, 4, 64, 100))
                            .values())
                    .allMatch(count -> count == 100);
        }
        CollectedLog later = new CollectedLog(work.resolve("later"));
        try (LiveEngine.Collecting collecting = vllm.collect(later)) {
            attach(later, "after");
            flush(later, "end");
            Machine.waitFor(1, () -> missing(later.events()) == lostByTheProbe(later.events()) - lostBefore);
        }
        List<LoggedEvent> events = later.events();
        long lost = lostByTheProbe(events);
        System.out.println("live-engines: vLLM: records lost while frozen " + lostBefore + ", while alone "
                + (lost - lostBefore) + ", missing at the collector " + missing(events));

        assertThat(lost).isGreaterThan(lostBefore);
        assertThat(missing(events)).isEqualTo(lost - lostBefore);
    }

    /** Records of the scheduler's source that the probe says it could not send, so far. */
    private static long lostByTheProbe(List<LoggedEvent> events) {
        return (long) CollectedLog.only(events, MetricSampled.class).stream()
                .filter(metric -> metric.name().equals("tokenstair_probe_lost_records_total"))
                .filter(metric -> metric.source().startsWith("steps-"))
                .mapToDouble(MetricSampled::sampledValue)
                .max()
                .orElse(0);
    }

    /** Records of that source that the collector saw to be missing. */
    private static long missing(List<LoggedEvent> events) {
        return CollectedLog.only(events, CollectorGap.class).stream()
                .filter(gap -> gap.source().startsWith("steps-"))
                .mapToLong(gap -> gap.lastMissingSequence() - gap.firstMissingSequence() + 1)
                .sum();
    }
}
