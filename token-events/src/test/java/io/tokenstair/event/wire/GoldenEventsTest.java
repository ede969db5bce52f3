package io.tokenstair.event.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.TextFormat;
import io.tokenstair.event.EventFixtures;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.proto.LogRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The bytes of version 1 of the wire form, kept as files: what was once written must always be read the same. The files are never
 * refreshed. A new kind, or a kind with a new field, gets a further file by running this test with {@code -Dgolden.add=true}, which
 * leaves the others alone: {@code clock_sampled.bin}, then {@code clock_sampled-2.bin}, and so on.
 */
class GoldenEventsTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden/wire-v1");
    private static final String HINT = "run with -Dgolden.add=true to add the files of a new kind or field";

    @BeforeAll
    static void addWhatIsMissing() throws Exception {
        if (!Boolean.getBoolean("golden.add")) {
            return;
        }
        for (EventKind kind : EventKind.values()) {
            add(kind.wireName(), full(kind));
            add(kind.wireName() + "-sparse", sparse(kind));
        }
    }

    private static void add(String base, LoggedEvent event) throws Exception {
        List<String> names = names(base);
        if (!names.isEmpty() && read(names.get(names.size() - 1)).equals(event)) {
            return;
        }
        String name = names.isEmpty() ? base : base + "-" + (names.size() + 1);
        byte[] bytes = EventCodec.encode(event);
        Files.write(binary(name), bytes, StandardOpenOption.CREATE_NEW);
        Files.writeString(
                text(name),
                TextFormat.printer().printToString(LogRecord.parseFrom(bytes)),
                StandardOpenOption.CREATE_NEW);
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void theNewestBytesOfEachKindAreThoseOfItsEvent(EventKind kind) throws Exception {
        checkNewest(kind.wireName(), full(kind));
        checkNewest(kind.wireName() + "-sparse", sparse(kind));
    }

    private static void checkNewest(String base, LoggedEvent expected) throws Exception {
        List<String> names = names(base);
        assertThat(names).as("%s: %s", base, HINT).isNotEmpty();
        String newest = names.get(names.size() - 1);
        assertThat(read(newest)).as("%s: %s", newest, HINT).isEqualTo(expected);
        assertThat(EventCodec.encode(expected)).as(newest).isEqualTo(Files.readAllBytes(binary(newest)));
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void allBytesEverWrittenAreReadAsTheirTextSaysAndWrittenTheSame(EventKind kind) throws Exception {
        List<String> names = new ArrayList<>(names(kind.wireName()));
        names.addAll(names(kind.wireName() + "-sparse"));
        for (String name : names) {
            byte[] golden = Files.readAllBytes(binary(name));
            LogRecord readable = TextFormat.parse(Files.readString(text(name)), LogRecord.class);

            assertThat(EventCodec.decode(golden)).as(name).isEqualTo(EventCodec.decode(readable));
            assertThat(EventCodec.encode(EventCodec.decode(golden))).as(name).isEqualTo(golden);
            assertThat(readable.toByteArray()).as("%s.txt", name).isEqualTo(golden);
        }
    }

    @Test
    void thereIsNoFileWithoutAKind() throws IOException {
        List<String> expected = new ArrayList<>();
        for (EventKind kind : EventKind.values()) {
            for (String base : List.of(kind.wireName(), kind.wireName() + "-sparse")) {
                for (String name : names(base)) {
                    expected.add(name + ".bin");
                    expected.add(name + ".txt");
                }
            }
        }
        try (Stream<Path> files = Files.list(GOLDEN)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    /** The names of the files of this base, oldest first. */
    private static List<String> names(String base) {
        List<String> names = new ArrayList<>();
        String name = base;
        while (Files.exists(binary(name))) {
            names.add(name);
            name = base + "-" + (names.size() + 1);
        }
        return names;
    }

    private static LoggedEvent read(String name) throws Exception {
        return EventCodec.decode(Files.readAllBytes(binary(name)));
    }

    private static LoggedEvent full(EventKind kind) {
        return new LoggedEvent(EventFixtures.header(kind.tag()), EventFixtures.full(kind));
    }

    private static LoggedEvent sparse(EventKind kind) {
        return new LoggedEvent(EventFixtures.sparseHeader(kind.tag()), EventFixtures.sparse(kind));
    }

    private static Path binary(String name) {
        return GOLDEN.resolve(name + ".bin");
    }

    private static Path text(String name) {
        return GOLDEN.resolve(name + ".txt");
    }
}
