package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tokenstair.collect.Imported;
import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The recorded runs against what the scheduler's own record says of them. */
class RecordedCapturesTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern ENGINE_ID = Pattern.compile("(?:(\\d+)_)?cmpl-(.+)-\\d+-[0-9a-f]{8}");

    @TempDir
    Path folder;

    static Stream<String> scenarios() throws IOException {
        try (Stream<Path> entries = Files.list(Imported.captures())) {
            return entries
                    .filter(Files::isDirectory)
                    .map(entry -> entry.getFileName().toString())
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    /** One output token of the engine. */
    private record Token(String stream, int index, long stepId, long endNanos, int contextTokens) {}

    private static String stream(String engineId) {
        Matcher matcher = ENGINE_ID.matcher(engineId);
        assertThat(matcher.matches()).as(engineId).isTrue();
        String choice = matcher.group(1);
        return choice == null || choice.equals("0") ? matcher.group(2) : matcher.group(2) + "#" + choice;
    }

    private static List<Token> tokens(Imported imported) {
        Map<Integer, String> streams = new HashMap<>();
        List<Token> tokens = new ArrayList<>();
        for (LoggedEvent logged : imported.events()) {
            if (logged.event() instanceof RequestQueued queued) {
                streams.put(queued.requestHandle(), stream(queued.engineRequestId()));
            }
            if (logged.event() instanceof StepCompleted step) {
                for (HandleAnnounced announced : step.announcements()) {
                    assertThat(streams).containsEntry(announced.requestHandle(), stream(announced.engineRequestId()));
                }
                for (int i = 0; i < step.rows().count(); i++) {
                    for (int k = 0; k < step.rows().tokenCount(i); k++) {
                        tokens.add(new Token(
                                Objects.requireNonNull(streams.get(step.rows().requestHandle(i))),
                                step.rows().firstTokenIndex(i) + k,
                                step.stepId(),
                                step.updateEndNanos(),
                                step.rows().contextTokens(i)));
                    }
                }
            }
        }
        return tokens;
    }

    private static Set<String> warmUps(Imported imported) {
        Set<String> warmUps = new HashSet<>();
        for (RequestReceived received : imported.all(RequestReceived.class)) {
            if (received.warmup()) {
                warmUps.add(received.requestId());
            }
        }
        return warmUps;
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void everythingIsAcceptedAndCountsEqualTheTruth(String scenario) throws IOException {
        Path capture = Imported.captures().resolve(scenario);
        Imported imported = Imported.of(capture, folder.resolve("log"));
        JsonNode truth = JSON.readTree(Files.readAllBytes(capture.resolve("truth.json")));
        JsonNode meta = JSON.readTree(Files.readAllBytes(capture.resolve("meta.json")));
        long begin = meta.path("scenario_begin").path("mono_ns").longValue();
        JsonNode counts = truth.path("counts");

        assertThat(imported.reasons()).isEmpty();
        assertThat(imported.missing()).isEmpty();
        assertThat(imported.summary().read()).isEqualTo(imported.summary().accepted());
        assertThat(imported.summary().layers()).hasSize(7);

        assertThat(imported.all(StepCompleted.class).stream()
                        .filter(step -> Objects.requireNonNull(step.scheduleStartNanos()) >= begin)
                        .count())
                .isEqualTo(counts.path("steps").longValue());
        assertThat(imported.all(RequestReceived.class).stream()
                        .filter(request -> !request.warmup())
                        .count())
                .isEqualTo(counts.path("requests").longValue());
        assertThat(imported.all(RequestPreempted.class))
                .hasSize(counts.path("preemptions").intValue());
        assertThat(imported.all(RequestFinished.class).stream()
                        .filter(finished -> finished.endReason().equals("aborted"))
                        .count())
                .isEqualTo(counts.path("client_closed_or_aborted").longValue());
        assertThat(imported.from("vllm-kv").stream()
                        .filter(logged ->
                                logged.event() instanceof KvBlocksEvicted && Imported.clockNanos(logged) >= begin)
                        .mapToLong(logged ->
                                ((KvBlocksEvicted) logged.event()).blockHashes().size())
                        .sum())
                .isEqualTo(counts.path("evicted_blocks").longValue());

        Map<String, Integer> engineTokens = new TreeMap<>();
        Set<String> warmUps = warmUps(imported);
        for (Token token : tokens(imported)) {
            if (!warmUps.contains(token.stream())) {
                engineTokens.merge(token.stream(), 1, Integer::sum);
            }
        }
        Map<String, Integer> clientTokens = new TreeMap<>();
        for (ChunkDelivered record : imported.all(ChunkDelivered.class)) {
            if (!warmUps.contains(record.requestId())) {
                for (Chunk chunk : record.chunks()) {
                    String stream =
                            record.requestId() + (chunk.sequenceIndex() == 0 ? "" : "#" + chunk.sequenceIndex());
                    clientTokens.merge(stream, chunk.tokenCount(), Integer::sum);
                }
            }
        }
        Map<String, Integer> expectedEngine = new TreeMap<>();
        Map<String, Integer> expectedClient = new TreeMap<>();
        truth.path("stream_match").properties().forEach(match -> {
            expectedEngine.put(
                    match.getKey(), match.getValue().path("engine_tokens").intValue());
            expectedClient.put(
                    match.getKey(), match.getValue().path("client_tokens").intValue());
        });
        assertThat(engineTokens).isEqualTo(expectedEngine);
        assertThat(clientTokens).isEqualTo(expectedClient);
        assertThat(engineTokens.values().stream().mapToInt(Integer::intValue).sum())
                .isEqualTo(counts.path("tokens").intValue());
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void everyTokenHasTheIndexTheStepAndTheContextOfTheTruth(String scenario) throws IOException {
        Path capture = Imported.captures().resolve(scenario);
        Imported imported = Imported.of(capture, folder.resolve("log"));
        Set<String> warmUps = warmUps(imported);
        List<Token> actual = tokens(imported).stream()
                .filter(token -> !warmUps.contains(token.stream()))
                .toList();
        Path file = Objects.requireNonNull(new CaptureFolder(capture, "").find("truth_tokens.jsonl"));
        List<Token> expected = new ArrayList<>();
        try (LineSource lines = new LineSource(file, LineSource.Limits.DEFAULT)) {
            while (lines.next()) {
                JsonNode token = JSON.readTree(lines.bytes(), 0, lines.length());
                int choice = token.path("choice").intValue();
                expected.add(new Token(
                        token.path("req").textValue() + (choice == 0 ? "" : "#" + choice),
                        token.path("tok").intValue(),
                        token.path("step").longValue(),
                        token.path("emitted_mono_ns").longValue(),
                        token.path("context").intValue()));
            }
        }
        assertThat(actual).containsExactlyInAnyOrderElementsOf(expected);
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void theLogIsInOrderAndSequencesHaveNoHole(String scenario) {
        Imported imported = Imported.of(Imported.captures().resolve(scenario), folder.resolve("log"));
        Map<String, EventHeader> last = new HashMap<>();
        EventHeader previous = null;
        for (LoggedEvent logged : imported.events()) {
            EventHeader header = logged.header();
            if (previous != null) {
                assertThat(EventHeader.ORDER.compare(previous, header)).isNegative();
            }
            previous = header;
            EventHeader before = last.put(header.collectorId(), header);
            assertThat(header.sequence()).isEqualTo(before == null ? 0 : before.sequence() + 1);
            assertThat(header.coarseEpochMillis()).isNotNull();
        }
    }

    @Test
    void importingTwiceGivesTheSameBytes() throws IOException {
        List<Path> captures = List.of(
                Imported.captures().resolve("abort_and_n2"), Imported.captures().resolve("quiet"));
        Imported first = Imported.of(captures, folder.resolve("one"), LineSource.Limits.DEFAULT);
        Imported.of(captures, folder.resolve("two"), LineSource.Limits.DEFAULT);
        assertThat(folder.resolve("one/partition-0000/segment-0000000000.log"))
                .hasSameBinaryContentAs(folder.resolve("two/partition-0000/segment-0000000000.log"));
        assertThat(first.all(StepCompleted.class).stream()
                        .map(StepCompleted::engineId)
                        .distinct())
                .containsExactlyInAnyOrder("vllm-0", "vllm-1");
        assertThat(first.events().stream()
                        .map(logged -> logged.header().clockId())
                        .distinct())
                .containsExactlyInAnyOrder("monotonic@0", "monotonic@1");
        assertThat(first.events().stream()
                        .map(logged -> logged.header().collectorEpoch())
                        .distinct())
                .hasSize(2);
        for (LoggedEvent logged : first.events()) {
            assertThat(EventCodec.encode(logged)).isNotEmpty();
        }
    }

    @Test
    void noTruthAndNoTokenIdsReachTheLog() throws IOException {
        Path run = folder.resolve("run");
        Files.createDirectories(run);
        for (String name : List.of("steps.jsonl.gz", "client.jsonl.gz", "meta.json")) {
            Files.copy(Imported.captures().resolve("quiet").resolve(name), run.resolve(name));
        }
        Imported plain = Imported.of(run, folder.resolve("one"));
        Files.writeString(run.resolve("truth.json"), "broken {");
        Files.writeString(run.resolve("truth_tokens.jsonl"), "broken {");
        Files.writeString(run.resolve("token_ids.jsonl"), "broken {");
        Files.writeString(run.resolve("server.log"), "broken {");
        Imported with = Imported.of(run, folder.resolve("two"));
        assertThat(with.events()).isEqualTo(plain.events());
    }
}
