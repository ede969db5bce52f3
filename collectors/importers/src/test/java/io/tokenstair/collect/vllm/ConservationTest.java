package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.ImportSummary;
import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is done to the lines of a capture: read = accepted + rejected, and each refusal is one event. */
class ConservationTest {
    private static final List<String> FILES = List.of(
            "steps.jsonl",
            "client.jsonl",
            "kv_events.jsonl",
            "kv_replay.jsonl",
            "host_sched.jsonl",
            "statlog.jsonl",
            "metrics_after.prom");

    /** Mutations of every kind in each file, some 60 a run. */
    private static final int MUTATIONS_PER_FILE = 60;

    private static final int LINES_PER_FILE = 120;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void nothingIsLostOrCountedTwice(long seed) throws IOException {
        Random random = new Random(seed);
        Path run = Files.createDirectories(folder.resolve("run"));
        long records = 0;
        for (String name : FILES) {
            List<byte[]> lines = lines("abort_and_n2", name);
            for (int i = 0; i < MUTATIONS_PER_FILE; i++) {
                int at = random.nextInt(lines.size());
                lines.set(at, mutate(lines.get(at), random));
            }
            try (var out = Files.newOutputStream(run.resolve(name))) {
                for (byte[] line : lines) {
                    out.write(line);
                    out.write('\n');
                }
            }
            if (!name.equals("kv_replay.jsonl") && !name.endsWith(".prom")) {
                records += nonBlankLines(run.resolve(name));
            }
        }
        Imported imported = Imported.of(run, folder.resolve("log"));
        ImportSummary summary = imported.summary();
        assertThat(summary.read()).isEqualTo(summary.accepted() + summary.rejected());
        assertThat(imported.all(Rejected.class)).hasSize((int) summary.rejected());
        assertThat(summary.read()).isGreaterThanOrEqualTo(records);
        for (String layer : List.of("steps", "client", "host-scheduling", "statlog")) {
            assertThat(imported.layer(layer).accepted()).as(layer).isPositive();
        }
        EventHeader previous = null;
        for (LoggedEvent logged : imported.events()) {
            if (previous != null) {
                assertThat(EventHeader.ORDER.compare(previous, logged.header())).isNegative();
            }
            previous = logged.header();
        }
        for (Rejected rejected : imported.all(Rejected.class)) {
            assertThat(rejected.reason()).isNotEmpty().hasSizeLessThan(400);
            if (rejected.excerpt() != null) {
                assertThat(rejected.excerpt().length()).isLessThanOrEqualTo(200);
            }
        }
    }

    private static List<byte[]> lines(String scenario, String name) throws IOException {
        Path file = Objects.requireNonNull(new CaptureFolder(Imported.captures().resolve(scenario), "").find(name));
        List<byte[]> lines = new ArrayList<>();
        try (LineSource source = new LineSource(file, LineSource.Limits.DEFAULT)) {
            while (lines.size() < LINES_PER_FILE && source.next()) {
                lines.add(Arrays.copyOf(source.bytes(), source.length()));
            }
        }
        return lines;
    }

    private static long nonBlankLines(Path file) throws IOException {
        long count = 0;
        try (LineSource source = new LineSource(file, LineSource.Limits.DEFAULT)) {
            while (source.next()) {
                count++;
            }
        }
        return count;
    }

    private static byte[] mutate(byte[] line, Random random) {
        if (line.length == 0) {
            return line;
        }
        byte[] mutated = line.clone();
        int at = random.nextInt(line.length);
        switch (random.nextInt(7)) {
            case 0 -> mutated[at] = (byte) random.nextInt(256);
            case 1 -> mutated[at] = (byte) ('0' + random.nextInt(10));
            case 2 -> mutated = Arrays.copyOf(line, at);
            case 3 ->
                mutated = (new String(line, StandardCharsets.UTF_8).substring(0, Math.min(at, line.length))
                                + "-99999999999999999999" + new String(line, StandardCharsets.UTF_8).substring(at))
                        .getBytes(StandardCharsets.UTF_8);
            case 4 -> mutated = digits(line, random);
            case 5 ->
                mutated = new String(line, StandardCharsets.UTF_8)
                        .replaceFirst("\"[a-z_]+\":", "\"other\":")
                        .getBytes(StandardCharsets.UTF_8);
            default ->
                mutated = new String(line, StandardCharsets.UTF_8)
                        .replaceFirst(":\\d+", random.nextBoolean() ? ":null" : ":[1]")
                        .getBytes(StandardCharsets.UTF_8);
        }
        return mutated;
    }

    private static byte[] digits(byte[] line, Random random) {
        byte[] mutated = line.clone();
        for (int i = 0; i < mutated.length; i++) {
            if (mutated[i] >= '0' && mutated[i] <= '9' && random.nextInt(20) == 0) {
                mutated[i] = (byte) ('0' + random.nextInt(10));
            }
        }
        return mutated;
    }
}
