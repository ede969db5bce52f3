package io.tokenstair.collect.events;

import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.ImportSummary;
import io.tokenstair.collect.importer.Importer;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.collect.input.Excerpt;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.log.FolderLogReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Log folders that collectors wrote, {@code tokenstair}: every event as it is, with the id it has. */
public final class LogImport implements Importer {
    /** The format's name. */
    public static final String FORMAT = "tokenstair";

    private static final int PROGRESS_EVERY = 1 << 15;

    private final ImportListener listener;

    /** An import of log folders. */
    public LogImport(ImportListener listener) {
        this.listener = listener;
    }

    @Override
    public ImportSummary run(List<Path> inputs, Path log) throws ImportException, IOException {
        for (Path input : inputs) {
            if (!Files.isDirectory(input) || FolderLogReader.partitions(input).isEmpty()) {
                throw new ImportException(
                        input + ": no log folder (no partition-0000 in it); name the folder a collector wrote");
            }
        }
        Importer.refuseUsedLog(log);
        long read = 0;
        long rejected = 0;
        try (EventSpools spools = new EventSpools(log)) {
            CollectorSpool rejects = spools.collector("tokenstair-import", 1, "none");
            CollectorSpool all = spools.collector("", 1, "none");
            for (Path input : inputs) {
                for (Path partition : FolderLogReader.partitions(input)) {
                    try (FolderLogReader records = new FolderLogReader(partition, 0)) {
                        long ordinal = records.position();
                        for (byte[] record = records.next(); record != null; record = records.next()) {
                            read++;
                            try {
                                LoggedEvent event = EventCodec.decode(record);
                                all.addAsItIs(event);
                            } catch (WireException e) {
                                rejected++;
                                String reason = "record " + ordinal + ": " + e.getMessage();
                                rejects.add(
                                        0,
                                        null,
                                        null,
                                        new Rejected(
                                                input.getFileName() + "/" + partition.getFileName(),
                                                null,
                                                null,
                                                Excerpt.escaped(reason),
                                                null));
                            }
                            ordinal = records.position();
                            if (read % PROGRESS_EVERY == 0) {
                                listener.progress(FORMAT, read);
                            }
                        }
                    }
                }
            }
            spools.write();
        }
        return ImportSummary.of(List.of(new LayerCount(FORMAT, read, read - rejected, rejected, false)));
    }
}
