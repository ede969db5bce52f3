package io.tokenstair.collect.events;

import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.event.LoggedEvent;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Imports files of JSON lines, an event a line: docs/import-events.md. Events are put in the order of their event time. */
public final class EventsImport extends FileImport {
    private final EventLines lines = new EventLines();
    private @Nullable CollectorSpool events;

    /** An import within these limits. */
    public EventsImport(LineSource.Limits limits, ImportListener listener) {
        super("events", limits, listener);
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools) throws IOException {
        CollectorSpool all = events == null ? spools.collector("events", 0, "clock") : events;
        events = all;
        reader.readLines(file, line -> {
            LoggedEvent event = lines.event(line);
            if (event == null) {
                reader.passOver();
                return null;
            }
            all.addAsItIs(event);
            dated(event.header().coarseEpochMillis());
            return event.header().coarseEpochMillis();
        });
    }
}
