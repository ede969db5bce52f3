package io.tokenstair.gateway;

import io.tokenstair.event.Event;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.FolderLogReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a gateway wrote into the log of a folder. */
final class LogRecords {
    private LogRecords() {}

    /** The records of all partitions, as they were written. */
    static List<byte[]> in(Path log) throws Exception {
        List<byte[]> records = new ArrayList<>();
        for (Path partition : FolderLogReader.partitions(log)) {
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                    records.add(bytes);
                }
            }
        }
        return records;
    }

    /** The events of all partitions. */
    static List<Event> eventsIn(Path log) throws Exception {
        List<Event> events = new ArrayList<>();
        for (byte[] bytes : in(log)) {
            events.add(EventCodec.decode(bytes).event());
        }
        return events;
    }

    /** Those of one kind. */
    static <T extends Event> List<T> of(Class<T> type, List<Event> events) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }
}
