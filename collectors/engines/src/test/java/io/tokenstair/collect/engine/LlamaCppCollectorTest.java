package io.tokenstair.collect.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.engine.llamacpp.LlamaCppCollector;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** llama.cpp live, by what a real server wrote and answered, over HTTP and a file that grows. */
@Timeout(120)
class LlamaCppCollectorTest {
    @TempDir
    Path folder;

    private final Heard heard = new Heard();

    private LlamaCppCollector collector(@Nullable URI metrics, @Nullable URI slots, @Nullable Path log, boolean end) {
        return new LlamaCppCollector(
                new LlamaCppCollector.Settings(
                        "llama", "llamacpp", metrics, Duration.ofMillis(50), slots, Duration.ofMillis(50), log, end),
                heard);
    }

    private List<Double> samples(String name) {
        return heard.all(MetricSampled.class).stream()
                .filter(sample -> sample.name().equals(name))
                .map(MetricSampled::sampledValue)
                .toList();
    }

    @Test
    void metricsAreOfTheEngineThatIsNamed() throws Exception {
        HttpServer server = Heard.serving(List.of(Heard.recorded("llamacpp-metrics.txt.gz")));
        try (LlamaCppCollector collector = collector(Heard.at(server, "/metrics"), null, null, true)) {
            heard.await(event ->
                    event instanceof MetricSampled sample && sample.name().equals("llamacpp:n_decode_total"));
            assertThat(collector.status()).startsWith("metrics ");
        } finally {
            server.stop(0);
        }
        assertThat(samples("llamacpp:prompt_tokens_total")).contains(548.0);
        assertThat(samples("llamacpp:tokens_predicted_total")).contains(406.0);
        assertThat(heard.all(MetricSampled.class))
                .allSatisfy(sample -> assertThat(sample.labels()).isEqualTo("engine=\"llamacpp\""));
    }

    @Test
    void slotsSayWhichTaskIsHowFarAndAServerThatFailsIsToldOnce() throws Exception {
        List<byte[]> answers = new ArrayList<>();
        answers.add(new byte[0]);
        answers.add(new byte[0]);
        Heard.lines("llamacpp-slots.json.gz").forEach(line -> answers.add(line.getBytes(StandardCharsets.UTF_8)));
        answers.add("{\"error\":1}".getBytes(StandardCharsets.UTF_8));
        answers.add("[]".getBytes(StandardCharsets.UTF_8));
        HttpServer server = Heard.serving(answers);
        try (LlamaCppCollector collector = collector(null, Heard.at(server, "/slots"), null, true)) {
            heard.await(event -> event instanceof MetricSampled sample
                    && sample.name().equals("llamacpp:slots")
                    && sample.sampledValue() == 0);
            assertThat(collector.status()).startsWith("slots ").contains("rejected 2");
        } finally {
            server.stop(0);
        }
        assertThat(heard.all(EngineConfigured.class))
                .singleElement()
                .satisfies(engine -> assertThat(engine.maxSequencesCount()).isEqualTo(4));
        assertThat(samples("llamacpp:slots_processing").subList(0, 3)).containsExactly(4.0, 4.0, 1.0);
        assertThat(heard.all(MetricSampled.class))
                .contains(new MetricSampled(
                        heard.all(MetricSampled.class).get(0).source(),
                        "llamacpp:slot_n_prompt_tokens_cache",
                        "engine=\"llamacpp\",slot=\"3\",task=\"10\"",
                        100))
                .noneMatch(sample -> sample.labels().contains("seed"));
        assertThat(heard.all(Rejected.class).stream().map(Rejected::reason).toList())
                .containsExactly("HTTP status 503", "not a JSON array");
    }

    @Test
    void theLogOfARunningServerIsFollowedThroughARestart() throws Exception {
        List<String> lines = Heard.lines("llamacpp-main.log.gz");
        Path log = folder.resolve("llama.log");
        try (LlamaCppCollector collector = collector(null, null, log, true)) {
            Heard.awaitText(collector::status, "log lines 0");
            write(log, lines.subList(0, 20));
            Heard.awaitText(collector::status, "log lines 20,");
            write(log, lines.subList(20, lines.size()));
            Heard.awaitText(collector::status, "log lines " + lines.size() + ",");
            // What the answers' last chunks say of the same work: ExchangeRecordTest.
            assertThat(heard.all(IdAliased.class))
                    .filteredOn(aliased -> aliased.alias().startsWith("llamacpp:work:"))
                    .extracting(aliased -> aliased.requestId().replaceFirst(".*#", "") + " " + aliased.alias())
                    .contains(
                            "task-1 llamacpp:work:119:111.23:4:10.51",
                            "task-8 llamacpp:work:120:294.89:64:680.39",
                            "task-10 llamacpp:work:29:96.12:48:476.76",
                            "task-11 llamacpp:work:150:244.61:180:1207.15",
                            "task-12 llamacpp:work:42:55.23:40:539.35",
                            "task-18 llamacpp:work:59:67.20:30:300.79");
            // Another server with the same file name, the old one moved away.
            Files.move(log, folder.resolve("llama.log.1"), StandardCopyOption.ATOMIC_MOVE);
            write(log, lines);
            Heard.awaitText(collector::status, "log lines " + 2 * lines.size() + ",");
            // And one more, over the same file.
            Files.writeString(log, "0.00.000.001 I srv  x: y\n");
            Heard.awaitText(collector::status, "log lines " + (2 * lines.size() + 1) + ", lost 0, rejected 0");
        }
        List<RequestQueued> tasks = heard.all(RequestQueued.class);
        assertThat(tasks).hasSize(16);
        assertThat(tasks.stream().map(RequestQueued::engineRequestId)).doesNotHaveDuplicates();
        assertThat(heard.all(RequestFinished.class)).hasSize(16);
        assertThat(samples("llamacpp:context_shift_discarded_tokens")).containsExactly(127.0, 127.0);
        assertThat(heard.all(IdAliased.class)).isNotEmpty();
        // The clocks of both starts are joined to this machine's: by when lines were found, and by t_last.
        List<ClockSampled> clocks = heard.all(ClockSampled.class);
        assertThat(clocks)
                .allSatisfy(sample -> assertThat(sample.remoteClockId()).isEqualTo(HostClocks.elapsedId()));
        assertThat(clocks)
                .anySatisfy(sample -> assertThat(Objects.requireNonNull(sample.statedBoundNanos()))
                        .isGreaterThan(1_000_000L));
        assertThat(clocks)
                .anySatisfy(sample -> assertThat(sample.statedBoundNanos()).isEqualTo(1_000_000L));
        assertThat(clocks.stream().map(ClockSampled::localClockId).distinct()).hasSizeGreaterThan(1);
    }

    private static void write(Path log, List<String> lines) throws Exception {
        Files.write(
                log,
                (String.join("\n", lines) + "\n").getBytes(StandardCharsets.ISO_8859_1),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    @Test
    void whatWasThereBeforeIsPassedOverUnlessAskedFor() throws Exception {
        List<String> lines = Heard.lines("llamacpp-main.log.gz");
        Path log = folder.resolve("llama.log");
        write(log, lines);
        int more = 0;
        try (LlamaCppCollector collector = collector(null, null, log, true)) {
            // The first look passes over what is there, and what comes until then.
            for (; collector.status().startsWith("log lines 0,"); more++) {
                write(log, List.of("not stamped"));
            }
        }
        assertThat(heard.all(RequestQueued.class)).isEmpty();
        try (LlamaCppCollector collector = collector(null, null, log, false)) {
            Heard.awaitText(collector::status, "log lines " + (lines.size() + more) + ",");
        }
        assertThat(heard.all(RequestQueued.class)).hasSize(8);
    }

    @Test
    void nothingToCollectIsRefused() {
        assertThatThrownBy(() -> collector(null, null, null, true)).hasMessageContaining("Cannot collect nothing");
    }
}
