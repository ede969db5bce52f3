package io.tokenstair.live;

import io.tokenstair.event.Event;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.log.FolderLogReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What collectors have written to a log so far. */
record CollectedLog(Path folder) {

    /** All events; none where nothing was written yet. */
    List<LoggedEvent> events() throws IOException {
        List<LoggedEvent> events = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return events;
        }
        for (Path partition : FolderLogReader.partitions(folder)) {
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                    events.add(EventCodec.decode(bytes));
                }
            } catch (WireException damaged) {
                throw new IOException(partition.toString(), damaged);
            }
        }
        return events;
    }

    static <T extends Event> List<T> only(List<LoggedEvent> events, Class<T> type) {
        return events.stream()
                .map(LoggedEvent::event)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    <T extends Event> List<T> only(Class<T> type) throws IOException {
        return only(events(), type);
    }

    /** Requests whose end the gateway has told. */
    long endedAtTheGateway() throws IOException {
        return only(RequestCompleted.class).stream()
                .filter(end -> end.observer().equals("gateway"))
                .count();
    }

    /** What was refused, but for scrapes of metrics while nobody answered them. */
    List<Rejected> rejected() throws IOException {
        return only(Rejected.class).stream()
                .filter(rejected -> !rejected.reason().startsWith("cannot be read: "))
                .toList();
    }

    /** Whether one of its files holds this text. */
    boolean holds(String text) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                // Each byte is a character on both sides.
                String bytes = Files.readString(file, StandardCharsets.ISO_8859_1);
                if (bytes.contains(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1))) {
                    return true;
                }
            }
        }
        return false;
    }
}
