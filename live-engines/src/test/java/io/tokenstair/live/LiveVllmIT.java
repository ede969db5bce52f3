package io.tokenstair.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.FolderLogReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real vLLM from its scheduler to the explanation: its probe, its KV events and its metrics go to a log, the job reads it, and every
 * token that a client received is found once, under its request. Where the machine cannot run the engine the test says why and is
 * skipped.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LiveVllmIT {
    private static final int PENDING_MESSAGES = 4;

    private Path work;

    private LiveVllm vllm;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        work = folder;
        try {
            vllm = LiveVllm.start(LiveVllm.environment(), work, PENDING_MESSAGES);
        } catch (LiveVllm.CannotRunException why) {
            System.out.println("live-engines: vLLM cannot run here: " + why.getMessage());
            abort("vLLM cannot run here: " + why.getMessage());
        }
    }

    @AfterAll
    void stop() throws Exception {
        if (vllm != null) {
            vllm.close();
        }
    }

    private static List<LoggedEvent> events(Path log) throws Exception {
        List<LoggedEvent> events = new ArrayList<>();
        for (Path partition : FolderLogReader.partitions(log)) {
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                    events.add(EventCodec.decode(bytes));
                }
            }
        }
        return events;
    }

    private static <T extends Event> List<T> only(List<LoggedEvent> events, Class<T> type) {
        return events.stream().map(LoggedEvent::event).filter(type::isInstance).map(type::cast).toList();
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
                String id = ids.get(logged.header().collectorId()).get(step.rows().requestHandle(i));
                assertThat(id).as("a row without its request in step %s", step.stepId()).isNotNull();
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

    /** Sends small requests until the collector has seen one: from then on it hears all, what came before may be lost. */
    private void attach(Path log) throws Exception {
        for (int i = 0; i < 60 && finished(log) == 0; i++) {
            vllm.client().stream("warm" + i, 1, 32, 4);
            new ProcessBuilder("sleep", "0.5").start().waitFor();
        }
        assertThat(finished(log)).isPositive();
        new ProcessBuilder("sleep", "2").start().waitFor();
    }

    private static int finished(Path log) throws Exception {
        return Files.isDirectory(log) ? only(events(log), RequestFinished.class).size() : 0;
    }

    private void waitFor(Path log, int finished) throws Exception {
        // The last steps are sent when nothing is open any more, and written within the outlet's pause.
        for (int i = 0; i < 100; i++) {
            if (Files.isDirectory(log) && only(events(log), RequestFinished.class).size() >= finished) {
                return;
            }
            new ProcessBuilder("sleep", "0.3").start().waitFor();
        }
    }

    @Test
    void everyTokenIsExplainedUnderItsRequest() throws Exception {
        Path log = work.resolve("log");
        Map<String, Integer> received = new TreeMap<>();
        try (ChildProcess collector = vllm.collect(log, work.resolve("collector.log"))) {
            attach(log);
            int before = finished(log);
            received.putAll(vllm.client().stream("press", 8, 200, 250));
            received.putAll(vllm.client().stream("big", 3, 900, 40));
            received.putAll(vllm.client().stream("again", 3, 900, 40));
            waitFor(log, received.size() + before);
            new ProcessBuilder("sleep", "3").start().waitFor();
        }
        List<LoggedEvent> events = events(log);

        assertThat(only(events, Rejected.class)).isEmpty();
        Map<String, Integer> seen = new TreeMap<>();
        tokens(events).forEach((id, indices) -> {
            if (!id.startsWith("cmpl-warm")) {
                assertThat(indices).contains(0, indices.size() - 1);
            }
            assertThat(seen.put(clientId(id), indices.size())).as("two requests of one name").isNull();
        });
        seen.keySet().removeIf(id -> id.startsWith("warm"));
        assertThat(seen).isEqualTo(received);
        assertThat(only(events, RequestPreempted.class)).isNotEmpty();
        List<KvBlocksEvicted> evicted = only(events, KvBlocksEvicted.class);
        assertThat(evicted).isNotEmpty().allSatisfy(eviction -> {
            assertThat(eviction.reason()).isIn("admission", "capacity", "context-jump");
            assertThat(eviction.wantedByEngineRequestId()).startsWith("cmpl-");
        });

        Map<String, JsonNode> live = explained(log, "live");
        assertThat(live.keySet()).containsAll(received.keySet());
        received.forEach((id, count) -> {
            JsonNode request = live.get(id);
            assertThat(request.get("tokenCount").asInt()).as(id).isEqualTo(count);
            assertThat(request.get("state").asText()).as(id).isEqualTo("complete");
            assertThat(request.get("tokens").size()).as(id).isEqualTo(count);
        });
        assertThat(replayed("live")).isEqualTo(live);
    }

    /** Runs the job over a log, and gives what it says of each request. */
    private Map<String, JsonNode> explained(Path log, String name) throws Exception {
        Path archive = work.resolve(name);
        run("job-" + name, "io.tokenstair.job.JobMain", "run", "--once", "--from", log.toString(), "--archive", archive.toString());
        return explanations(archive, name);
    }

    private Map<String, JsonNode> replayed(String name) throws Exception {
        Path again = work.resolve(name + "-again");
        run("replay-" + name, "io.tokenstair.job.JobMain", "replay", "--archive", work.resolve(name).toString(), "--out", again.toString());
        return explanations(again, name + "-again");
    }

    private Map<String, JsonNode> explanations(Path archive, String name) throws Exception {
        String text = run("explain-" + name, "io.tokenstair.look.LookMain", "explain", "--archive", archive.toString(), "--format", "json");
        Map<String, JsonNode> requests = new TreeMap<>();
        for (String line : text.lines().filter(line -> line.startsWith("{")).toList()) {
            JsonNode request = new ObjectMapper().readTree(line);
            requests.put(request.get("requestId").asText(), request);
        }
        return requests;
    }

    private String run(String name, String main, String... arguments) throws IOException, InterruptedException {
        Path output = work.resolve(name + ".out");
        try (ChildProcess child = ChildProcess.java(output, main, arguments)) {
            assertThat(child.await(600)).as(child.output()).isZero();
        }
        return Files.readString(output);
    }

    /** A collector that is frozen or not there does not stop the engine, and what it misses is counted to the record. */
    @Test
    void whatACollectorMissesIsCountedExactly() throws Exception {
        Path log = work.resolve("missed");
        try (ChildProcess collector = vllm.collect(log, work.resolve("frozen.log"))) {
            attach(log);
            collector.signal("STOP");
            for (int i = 0; i < 4; i++) {
                assertThat(vllm.client().stream("frozen" + i, 4, 64, 100).values()).allMatch(count -> count == 100);
            }
            collector.signal("CONT");
            vllm.client().stream("thawed", 1, 32, 4);
            new ProcessBuilder("sleep", "3").start().waitFor();
        }
        long lostBefore = lostByTheProbe(events(log));
        assertThat(missing(events(log))).as("lost while frozen").isLessThanOrEqualTo(lostBefore);
        // Nobody is there: 4 messages wait, the rest is lost.
        for (int i = 0; i < 6; i++) {
            assertThat(vllm.client().stream("alone" + i, 4, 64, 100).values()).allMatch(count -> count == 100);
        }
        Path later = work.resolve("later");
        try (ChildProcess collector = vllm.collect(later, work.resolve("later.log"))) {
            // The probe finds the collector again within its reconnection pause.
            for (int i = 0; i < 10 && !Files.isDirectory(later); i++) {
                new ProcessBuilder("sleep", "0.5").start().waitFor();
            }
            vllm.client().stream("after", 2, 32, 20);
            new ProcessBuilder("sleep", "3").start().waitFor();
            vllm.client().stream("end", 1, 32, 4);
            new ProcessBuilder("sleep", "3").start().waitFor();
        }
        List<LoggedEvent> events = events(later);
        long lost = lostByTheProbe(events);
        System.out.println("live-engines: records lost while frozen " + lostBefore + ", while alone " + (lost - lostBefore)
                + ", missing at the collector " + missing(events));

        assertThat(lost).isGreaterThan(lostBefore);
        assertThat(missing(events)).isEqualTo(lost - lostBefore);
        assertThat(tokens(events)).anySatisfy((id, indices) -> {
            assertThat(id).startsWith("cmpl-end-0");
            assertThat(indices).hasSize(4);
        });
    }

    /** Records of the scheduler's source that the probe says it could not send, so far. */
    private static long lostByTheProbe(List<LoggedEvent> events) {
        return (long) only(events, MetricSampled.class).stream()
                .filter(metric -> metric.name().equals("tokenstair_probe_lost_records_total"))
                .filter(metric -> metric.source().startsWith("steps-"))
                .mapToDouble(MetricSampled::sampledValue)
                .max()
                .orElse(0);
    }

    /** Records of that source that the collector saw to be missing. */
    private static long missing(List<LoggedEvent> events) {
        return only(events, CollectorGap.class).stream()
                .filter(gap -> gap.source().startsWith("steps-"))
                .mapToLong(gap -> gap.lastMissingSequence() - gap.firstMissingSequence() + 1)
                .sum();
    }
}
