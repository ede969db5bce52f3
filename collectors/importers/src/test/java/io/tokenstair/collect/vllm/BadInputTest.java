package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.StepCompleted;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damaged captures: what is broken is refused with place and reason, the rest is imported. */
class BadInputTest {
    @TempDir
    Path folder;

    private Path run = Path.of("");

    @BeforeEach
    void copyARecordedRun() throws IOException {
        run = folder.resolve("run");
        Path source = Imported.captures().resolve("quiet");
        try (Stream<Path> entries = Files.walk(source)) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                Path target = run.resolve(source.relativize(entry).toString());
                if (Files.isDirectory(entry)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(entry, target);
                }
            }
        }
    }

    private Imported read() {
        Imported imported = Imported.of(run, folder.resolve("log"));
        assertThat(imported.summary().read())
                .isEqualTo(imported.summary().accepted() + imported.summary().rejected());
        assertThat(imported.all(Rejected.class))
                .hasSize((int) imported.summary().rejected());
        return imported;
    }

    private void addLine(String file, String line) throws IOException {
        Files.writeString(
                run.resolve(file.replace(".gz", "")),
                new String(Objects.requireNonNull(plain(file)), StandardCharsets.UTF_8) + line + "\n");
        Files.deleteIfExists(run.resolve(file.endsWith(".gz") ? file : file + ".gz"));
    }

    private byte[] plain(String file) throws IOException {
        byte[] bytes = Files.readAllBytes(run.resolve(file));
        if (!file.endsWith(".gz")) {
            return bytes;
        }
        try (var in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return in.readAllBytes();
        }
    }

    @Test
    void aCutGzipFileIsReadAsFarAsItGoes() throws IOException {
        byte[] whole = Files.readAllBytes(run.resolve("steps.jsonl.gz"));
        Files.write(run.resolve("steps.jsonl.gz"), Arrays.copyOf(whole, whole.length / 2));
        Imported imported = read();
        assertThat(imported.layer("steps").accepted()).isBetween(200L, 800L);
        assertThat(imported.layer("steps").rejected()).isEqualTo(1);
        Rejected rejected = imported.only(Rejected.class);
        assertThat(rejected.source()).isEqualTo("steps.jsonl.gz");
        assertThat(rejected.lineNumber()).isEqualTo(imported.layer("steps").read());
        assertThat(rejected.reason()).isEqualTo("the gzip file is cut: its stream ends early");
        assertThat(imported.layer("client").rejected()).isZero();
    }

    @Test
    void aDamagedGzipFileIsReadAsFarAsItGoes() throws IOException {
        byte[] bytes = Files.readAllBytes(run.resolve("client.jsonl.gz"));
        Arrays.fill(bytes, bytes.length / 2, bytes.length / 2 + 200, (byte) 0x55);
        Files.write(run.resolve("client.jsonl.gz"), bytes);
        Imported imported = read();
        assertThat(imported.layer("client").accepted()).isPositive();
        assertThat(imported.layer("client").rejected()).isPositive();
    }

    @Test
    void aFileThatIsNoGzipIsRefused() throws IOException {
        Files.write(run.resolve("steps.jsonl.gz"), new byte[] {0x1e, (byte) 0x8b, 8, 0, 0});
        assertThat(read().reasons()).containsExactly("not a gzip file, though its name ends with .gz");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whetherAFileIsGzippedIsReadOffItsContentAndNotItsName(boolean nameSaysGzip) throws IOException {
        Path zipped = run.resolve("client.jsonl.gz");
        byte[] bytes = Files.readAllBytes(zipped);
        Files.delete(zipped);
        if (nameSaysGzip) {
            try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
                Files.write(zipped, in.readAllBytes());
            }
        } else {
            Files.write(run.resolve("client.jsonl"), bytes);
        }
        Imported imported = read();
        assertThat(imported.layer("client").accepted()).isGreaterThan(100);
        assertThat(imported.layer("client").rejected()).isZero();
    }

    @Test
    void anEmptyGzipFileIsRefused() throws IOException {
        Files.write(run.resolve("steps.jsonl.gz"), new byte[0]);
        assertThat(read().reasons()).containsExactly("the gzip file is cut in its header");
    }

    @Test
    void aCutLastLineIsOneRefusal() throws IOException {
        byte[] plain = plain("client.jsonl.gz");
        Files.delete(run.resolve("client.jsonl.gz"));
        Files.write(run.resolve("client.jsonl"), Arrays.copyOf(plain, plain.length - 40));
        Imported imported = read();
        assertThat(imported.reasons()).containsExactly("not valid JSON: it ends inside a value (cut?)");
        assertThat(imported.layer("client").accepted()).isEqualTo(882);
    }

    @Test
    void brokenLinesAreRefusedWhereTheyStandAndTextIsNotShown() throws IOException {
        addLine("client.jsonl.gz", "{\"type\":\"event\",\"req\":\"a\",\"prompt\":\"my secret\",\"bytes\":oops}");
        Rejected rejected = read().only(Rejected.class);
        assertThat(rejected.source()).isEqualTo("client.jsonl");
        assertThat(rejected.lineNumber()).isEqualTo(884);
        assertThat(rejected.reason()).startsWith("not valid JSON at column").doesNotContain("oops");
        assertThat(rejected.excerpt())
                .startsWith("{\"type\":\"event\",\"req\":\"a\"")
                .doesNotContain("secret");
    }

    @Test
    void textThatIsNoJsonIsNotShownAtAll() throws IOException {
        addLine("client.jsonl.gz", "Dear model, my secret is");
        Rejected rejected = read().only(Rejected.class);
        assertThat(rejected.excerpt()).isNull();
        assertThat(rejected.reason()).doesNotContain("Dear");
    }

    @Test
    void aRequestIdOfAMegabyteIsRefused() throws IOException {
        addLine("client.jsonl.gz", "{\"type\":\"event\",\"req\":\"" + "x".repeat(1 << 20) + "\",\"ev\":1,\"bytes\":1}");
        Rejected rejected = read().only(Rejected.class);
        assertThat(rejected.reason()).isEqualTo("field req: 1048576 bytes, at most 256");
        assertThat(rejected.excerpt()).hasSizeLessThanOrEqualTo(200);
    }

    @Test
    void aLineOfMoreThanEightMegabytesIsPassedOver() throws IOException {
        addLine("client.jsonl.gz", "{\"type\":\"event\",\"req\":\"" + "x".repeat(9 << 20) + "\"}");
        addLine(
                "client.jsonl",
                "{\"type\":\"event\",\"req\":\"quiet-x\",\"ev\":0,\"bytes\":1,\"mono_ns\":1943090145559,"
                        + "\"done\":true}");
        Imported imported = read();
        assertThat(imported.reasons()).containsExactly("a line longer than 8388608 bytes");
        assertThat(imported.layer("client").accepted()).isEqualTo(884);
    }

    @Test
    void deepJsonIsRefused() throws IOException {
        addLine("statlog.jsonl.gz", "{\"mono_ns\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}");
        assertThat(read().reasons()).containsExactly("JSON nested deeper than 64");
    }

    @Test
    void oneFieldTwiceIsRefused() throws IOException {
        addLine("statlog.jsonl.gz", "{\"mono_ns\":1,\"mono_ns\":2}");
        assertThat(read().reasons()).containsExactly("a JSON object with one field twice");
    }

    @Test
    void bytesThatAreNoUtf8AreRefused() throws IOException {
        byte[] plain = plain("statlog.jsonl.gz");
        byte[] bad = "{\"mono_ns\":1,\"x\":\"?\"}\n".getBytes(StandardCharsets.UTF_8);
        bad[bad.length - 4] = (byte) 0xff;
        byte[] both = Arrays.copyOf(plain, plain.length + bad.length);
        System.arraycopy(bad, 0, both, plain.length, bad.length);
        Files.delete(run.resolve("statlog.jsonl.gz"));
        Files.write(run.resolve("statlog.jsonl"), both);
        assertThat(read().reasons()).hasSize(1).first().asString().startsWith("not valid JSON");
    }

    @Test
    void halfASurrogatePairInAnIdIsRefused() throws IOException {
        addLine("client.jsonl.gz", "{\"type\":\"event\",\"req\":\"a\\ud800\",\"ev\":1}");
        assertThat(read().reasons()).containsExactly("field req: half of a surrogate pair");
    }

    @Test
    void aNewerHeaderIsRefusedAndTheStepsAreKept() throws IOException {
        String steps = new String(plain("steps.jsonl.gz"), StandardCharsets.UTF_8);
        Files.delete(run.resolve("steps.jsonl.gz"));
        Files.writeString(run.resolve("steps.jsonl"), steps.replaceFirst("\"v\":1", "\"v\":2"));
        Imported imported = read();
        assertThat(imported.reasons()).containsExactly("field v: version 2 is newer than 1, the newest known");
        assertThat(imported.all(StepCompleted.class)).hasSize(816);
    }

    @Test
    void anArrayOfTooManyRowsIsRefused() throws IOException {
        StringBuilder rows = new StringBuilder("{}");
        for (int i = 0; i < 1 << 16; i++) {
            rows.append(",{}");
        }
        addLine(
                "steps.jsonl.gz",
                "{\"type\":\"step\",\"step\":9999,\"sched_start_mono_ns\":1943090145559,"
                        + "\"update_end_mono_ns\":1943090145559,\"emitted\":[],\"reqs\":[" + rows + "]}");
        assertThat(read().reasons()).containsExactly("field reqs: 65537 entries, at most 65536");
    }

    @Test
    void missingLayersAreToldAndTheRestIsImported() throws IOException {
        for (String file : List.of("kv_events.jsonl", "kv_replay.jsonl", "host_sched.jsonl.gz", "statlog.jsonl.gz")) {
            Files.delete(run.resolve(file));
        }
        Imported imported = read();
        assertThat(imported.missing()).containsExactly("kv-events", "host-scheduling", "statlog");
        assertThat(imported.layer("kv-events")).isEqualTo(new LayerCount("kv-events", 0, 0, 0, true));
        assertThat(imported.all(StepCompleted.class)).hasSize(816);
    }

    @Test
    void withoutStepsTheClientsChunksStillCome() throws IOException {
        Files.delete(run.resolve("steps.jsonl.gz"));
        Files.delete(run.resolve("meta.json"));
        Imported imported = read();
        assertThat(imported.missing()).containsExactly("steps");
        assertThat(imported.all(ChunkDelivered.class)).isNotEmpty();
    }

    @Test
    void aBrokenMetaFileIsRefusedAndTheRunIsKept() throws IOException {
        Files.writeString(run.resolve("meta.json"), "{\"versions\": {");
        Imported imported = read();
        assertThat(imported.only(Rejected.class).source()).isEqualTo("meta.json");
        assertThat(imported.layer("meta")).isEqualTo(new LayerCount("meta", 1, 0, 1, false));
        assertThat(imported.all(RequestReceived.class)).isNotEmpty();
    }

    @Test
    void aBombIsReadOnlyUpToTheLimit() throws IOException {
        String line = "{\"mono_ns\":1,\"wall_ns\":1795967042762009748}\n";
        Files.write(
                run.resolve("statlog.jsonl.gz"),
                Imported.gzip(line.repeat(200_000).getBytes(StandardCharsets.UTF_8)));
        Imported imported = Imported.of(List.of(run), folder.resolve("log"), new LineSource.Limits(8 << 20, 1 << 20));
        assertThat(imported.layer("statlog").accepted()).isBetween(20_000L, 25_000L);
        assertThat(imported.layer("statlog").rejected()).isEqualTo(1);
        assertThat(imported.reasons())
                .contains("more than 1048576 bytes come out of the gzip file; the rest was not read");
    }

    @Test
    void idsWithControlCharactersStayRaw() throws IOException {
        addLine(
                "client.jsonl.gz",
                "{\"type\":\"request\",\"req\":\"a\\u001b]0;x\\u0007\\r\\n\",\"send_mono_ns\":1943090145559,"
                        + "\"send_wall_ns\":1795967309098156867}");
        List<String> ids = read().all(RequestReceived.class).stream()
                .map(RequestReceived::requestId)
                .toList();
        assertThat(ids).contains("a\u001b]0;x\u0007\r\n");
    }

    @Test
    void excerptsEscapeControlCharacters() throws IOException {
        addLine("client.jsonl.gz", "{\"type\":\"x\u001b[31m\"}");
        Event rejected = read().only(Rejected.class);
        assertThat(rejected.toString()).doesNotContain("\u001b");
    }
}
