package io.tokenstair.collect.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.engine.trtllm.TrtllmCollector;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Trace files that a Triton writes, followed while they grow; by the source of its tracer, as no server of it can run here. */
@Timeout(120)
class FollowedTritonTest {
    private static final long AGO = System.nanoTime() - 60_000_000_000L;

    @TempDir
    Path folder;

    private final Heard heard = new Heard();

    private TrtllmCollector following(String pattern, boolean fromEnd) {
        return new TrtllmCollector(
                new TrtllmCollector.Settings(
                        "t",
                        "trtllm",
                        null,
                        Duration.ofSeconds(1),
                        List.of(),
                        Duration.ofSeconds(1),
                        folder.resolve(pattern),
                        "triton",
                        fromEnd),
                heard);
    }

    private static String stamp(long id, String name, long nanos) {
        return ",{\"id\":" + id + ",\"timestamps\":[{\"name\":\"" + name + "\",\"ns\":" + (AGO + nanos) + "}]}";
    }

    /** A request that waited so long in its one model; 7 records, as the tracer writes them. */
    private static String request(long id, String name, long waitNanos) {
        return "{\"id\":" + id + ",\"model_name\":\"m\",\"model_version\":1"
                + (name.isEmpty() ? "" : ",\"request_id\":\"" + name + "\"") + "}"
                + stamp(id, "HTTP_RECV_START", 0)
                + stamp(id, "REQUEST_START", 5)
                + stamp(id, "QUEUE_START", 10)
                + stamp(id, "COMPUTE_START", 10 + waitNanos)
                + stamp(id, "COMPUTE_END", 1_000_000)
                + stamp(id, "REQUEST_END", 1_000_100);
    }

    private void write(String name, String text) throws Exception {
        Files.write(
                folder.resolve(name),
                text.getBytes(StandardCharsets.UTF_8),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private List<Long> waits() {
        return heard.all(MetricSampled.class).stream()
                .filter(sample -> sample.name().equals("triton:request_queue_seconds"))
                .map(sample -> Math.round(sample.sampledValue() * 1e9))
                .toList();
    }

    private List<String> queued() {
        return heard.all(RequestQueued.class).stream()
                .map(RequestQueued::engineRequestId)
                .toList();
    }

    @Test
    void aRequestIsToldWhenItsRecordsAreWholeWhereverTheFileIsCut() throws Exception {
        String file = "[" + request(1, "a", 700) + "," + request(2, "b", 800) + "]";
        for (int cut = 0; cut < file.length(); cut += 31) {
            String name = "half-" + cut + ".json";
            Heard own = new Heard();
            TrtllmCollector.Settings settings = new TrtllmCollector.Settings(
                    "t",
                    "trtllm",
                    null,
                    Duration.ofSeconds(1),
                    List.of(),
                    Duration.ofSeconds(1),
                    folder.resolve(name),
                    "triton",
                    false);
            write(name, file.substring(0, cut));
            try (TrtllmCollector collector = new TrtllmCollector(settings, own)) {
                // So many records are whole when the next has begun.
                int whole = Math.max(0, file.substring(0, cut).split("\\{\"id\":", -1).length - 2);
                Heard.awaitText(collector::status, "trace records " + whole + ",");
                write(name, file.substring(cut));
                own.await(event -> event instanceof RequestFinished finished
                        && finished.engineRequestId().equals("b"));
                assertThat(collector.status()).contains("trace records 14, lost 0, rejected 0");
            }
            assertThat(own.all(RequestQueued.class).stream().map(RequestQueued::engineRequestId))
                    .as("cut at %s", cut)
                    .containsExactly("a", "b");
        }
    }

    @Test
    void numberedFilesAreReadOneAfterAnotherAndAnotherServersAreOtherRequests() throws Exception {
        try (TrtllmCollector collector = following("trace.json.*", false)) {
            for (int i = 0; i < 130; i++) {
                write("trace.json." + i, "[" + request(i + 1, i == 3 ? "" : "r" + i, 100 + i) + "]");
            }
            Heard.awaitText(collector::status, "trace records " + 130 * 7 + ", lost 0, rejected 0");
            heard.await(event -> event instanceof RequestFinished finished
                    && finished.engineRequestId().equals("r129"));
            assertThat(waits()).hasSize(130).doesNotHaveDuplicates();
            // The server starts again: ids and files from 0 and 1, the first of them let go long ago, others of the
            // same length.
            for (int i = 0; i < 130; i++) {
                Files.writeString(
                        folder.resolve("trace.json." + i),
                        ("[" + request(i + 1, i == 3 ? "" : "s" + i, 500 + i) + "]")
                                .replace(String.valueOf(AGO + 1_000_100), String.valueOf(AGO + 1_000_200)));
            }
            Heard.awaitText(collector::status, "trace records " + 260 * 7 + ", lost 0, rejected 0");
            heard.await(event -> event instanceof RequestFinished finished
                    && finished.engineRequestId().equals("s129"));
        }
        assertThat(queued()).hasSize(260).doesNotHaveDuplicates();
        assertThat(waits()).hasSize(260).doesNotHaveDuplicates();
        assertThat(queued().stream().filter(id -> id.startsWith("trace.json.3@")))
                .hasSize(2);
        assertThat(heard.all(RequestQueued.class).stream().map(RequestQueued::requestHandle))
                .doesNotHaveDuplicates();
        assertThat(heard.told())
                .filteredOn(told -> told.event() instanceof RequestQueued)
                .allSatisfy(told -> {
                    assertThat(told.clockId()).isEqualTo(HostClocks.elapsedId());
                    assertThat(told.clockNanos()).isEqualTo(AGO + 10);
                });
    }

    @Test
    void anOpenArrayTellsARequestWhenTheNextBeginsAndTheLastAtTheEnd() throws Exception {
        write("trace.json", "[" + request(1, "old", 1));
        try (TrtllmCollector collector = following("trace.json", true)) {
            Heard.awaitText(collector::status, "trace records 0");
            List<String> asked = new ArrayList<>();
            // The first look passes over what is there, and what comes until then.
            for (int i = 0; collector.status().startsWith("trace records 0,"); i++) {
                String name = "r" + i;
                asked.add(name);
                write("trace.json", "," + request(10 + i, name, 300));
            }
            write("trace.json", "," + request(1_000_000, "next", 400));
            heard.await(event -> event instanceof RequestFinished finished
                    && finished.engineRequestId().equals(asked.get(asked.size() - 1)));
            assertThat(queued()).doesNotContain("next", "old");
        }
        assertThat(queued()).contains("next").doesNotContain("old");
        assertThat(heard.all(Rejected.class)).isEmpty();
    }

    @Test
    void whatIsNoTraceOrOfAnotherMachineIsRefused() throws Exception {
        write("a.json", "not a trace of anything, but a long text that says nothing at all of what was traced");
        write("b.json", "[" + request(1, "future", Long.MAX_VALUE / 4) + "]");
        write("c.json", "[" + request(1, "sound", 5) + ",{\"id\":1,\"timest");
        try (TrtllmCollector collector = following("*.json", false)) {
            Heard.awaitText(collector::status, "trace records 13, lost 0, rejected 2");
        }
        assertThat(heard.all(Rejected.class).stream().map(Rejected::reason))
                .containsExactlyInAnyOrder(
                        "no trace file of Triton: no record begins in its first 64 bytes",
                        "b.json: field timestamps[0].ns: later than now: a clock of another machine",
                        "c.json: half a record at the end");
        assertThat(waits()).containsExactly(5L);
        assertThat(queued()).containsExactlyInAnyOrder("future", "sound");
    }
}
