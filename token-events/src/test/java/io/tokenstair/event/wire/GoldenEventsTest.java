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
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The bytes of version 1 of the wire form, kept as files: what was once written must always be read the same. The files are never
 * refreshed. Those of a new kind are added by running this test with {@code -Dgolden.add=true}, which leaves the others alone.
 */
class GoldenEventsTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden/wire-v1");

    @BeforeAll
    static void addWhatIsMissing() throws IOException {
        if (!Boolean.getBoolean("golden.add")) {
            return;
        }
        for (EventKind kind : EventKind.values()) {
            add(kind.wireName(), full(kind));
            add(kind.wireName() + "-sparse", sparse(kind));
        }
    }

    private static void add(String name, LoggedEvent event) throws IOException {
        if (!Files.exists(binary(name))) {
            byte[] bytes = EventCodec.encode(event);
            Files.write(binary(name), bytes);
            Files.writeString(text(name), TextFormat.printer().printToString(LogRecord.parseFrom(bytes)));
        }
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void theEventOfEachKindKeepsItsBytes(EventKind kind) throws Exception {
        check(kind.wireName(), full(kind));
        check(kind.wireName() + "-sparse", sparse(kind));
    }

    private static void check(String name, LoggedEvent expected) throws Exception {
        assertThat(binary(name))
                .as("run with -Dgolden.add=true to add the files of a new kind")
                .exists();
        byte[] golden = Files.readAllBytes(binary(name));

        assertThat(EventCodec.decode(golden)).as(name).isEqualTo(expected);
        assertThat(EventCodec.encode(expected)).as(name).isEqualTo(golden);
        LogRecord readable = TextFormat.parse(Files.readString(text(name)), LogRecord.class);
        assertThat(readable.toByteArray()).as("%s.txt", name).isEqualTo(golden);
    }

    @Test
    void thereIsNoFileWithoutAKind() throws IOException {
        List<String> expected = new ArrayList<>();
        for (EventKind kind : EventKind.values()) {
            for (String name : List.of(kind.wireName(), kind.wireName() + "-sparse")) {
                expected.add(name + ".bin");
                expected.add(name + ".txt");
            }
        }
        try (Stream<Path> files = Files.list(GOLDEN)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrderElementsOf(expected);
        }
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
