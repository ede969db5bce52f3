package io.tokenstair.collect.events;

import io.tokenstair.collect.ImportException;
import io.tokenstair.collect.ImportListener;
import io.tokenstair.collect.ImportSummary;
import io.tokenstair.collect.Importer;
import io.tokenstair.collect.LayerCount;
import io.tokenstair.collect.RecordReader;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.event.LoggedEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Imports files of JSON lines, an event a line: docs/import-events.md. Events are put in the order of their event time. */
public final class EventsImport implements Importer {
    private static final String COLLECTOR = "events-import";

    private final LineSource.Limits limits;
    private final ImportListener listener;
    private @Nullable Long firstWallMillis;

    /** An import within these limits. */
    public EventsImport(LineSource.Limits limits, ImportListener listener) {
        this.limits = limits;
        this.listener = listener;
    }

    @Override
    public ImportSummary run(List<Path> files, Path log) throws ImportException, IOException {
        for (Path file : files) {
            if (!Files.exists(file)) {
                throw new ImportException(file + ": no such file; name a file of JSON lines");
            }
            if (Files.isDirectory(file)) {
                throw new ImportException(file + ": a folder; name the files of JSON lines in it");
            }
        }
        Importer.refuseUsedLog(log);
        LayerCount count = new LayerCount("events", 0, 0, 0, false);
        try (EventSpools spools = new EventSpools(log)) {
            CollectorSpool events = spools.collector("events", 0, "clock");
            CollectorSpool rejects = spools.collector(COLLECTOR, 1, "none");
            EventLines lines = new EventLines();
            for (Path file : files) {
                RecordReader reader = new RecordReader(
                        "events",
                        path -> path.getFileName().toString(),
                        () -> firstWallMillis,
                        limits,
                        rejects,
                        read -> listener.progress("events", read));
                reader.readLines(file, line -> {
                    LoggedEvent event = lines.event(line);
                    if (event == null) {
                        reader.passOver();
                        return null;
                    }
                    events.addAsItIs(event);
                    Long wallMillis = event.header().coarseEpochMillis();
                    if (firstWallMillis == null) {
                        firstWallMillis = wallMillis;
                    }
                    return wallMillis;
                });
                count = count.plus(reader.result(false));
            }
            spools.write();
        }
        return ImportSummary.of(List.of(count));
    }
}
