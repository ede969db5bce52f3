package io.tokenstair.collect.importer;

import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An import of files of one format, one layer: what such imports have in common. */
public abstract class FileImport implements Importer {
    private final String format;
    private final LineSource.Limits limits;
    private final ImportListener listener;
    private @Nullable Long firstWallMillis;

    /**
     * An import.
     *
     * @param format its name: the layer that is counted, and the collector of its rejects
     * @param limits of files and lines
     * @param listener hears how it goes
     */
    protected FileImport(String format, LineSource.Limits limits, ImportListener listener) {
        this.format = format;
        this.limits = limits;
        this.listener = listener;
    }

    /**
     * Reads one file; {@code index} counts the files.
     *
     * @throws ImportException when the file is none of the format at all
     */
    protected abstract void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws ImportException, IOException;

    /** Called when all files were read, before anything is written. */
    protected void finish(EventSpools spools) throws IOException {}

    /** The order in which the files are read: as they were named. */
    protected List<Path> inOrder(List<Path> files) {
        return files;
    }

    /** Called when all files were read, before anything is written: for what only the whole of them tells. */
    protected void ended(RecordReader reader) throws IOException {}

    /** Tells the user a sentence about what was read. */
    protected final void note(String sentence) {
        listener.said(sentence);
    }

    /** Limits of files and lines. */
    protected final LineSource.Limits limits() {
        return limits;
    }

    /** Notes when the first dated record was, which dates rejects before it. */
    protected final void dated(@Nullable Long wallMillis) {
        if (firstWallMillis == null) {
            firstWallMillis = wallMillis;
        }
    }

    @Override
    public final ImportSummary run(List<Path> named, Path log) throws ImportException, IOException {
        List<Path> files = inOrder(named);
        for (Path file : files) {
            if (!Files.exists(file)) {
                throw new ImportException(file + ": no such file; name a file of the format " + format);
            }
            if (Files.isDirectory(file)) {
                throw new ImportException(file + ": a folder; name the files of the format " + format + " in it");
            }
        }
        Set<Path> seen = new HashSet<>();
        List<Path> once = new ArrayList<>();
        for (Path file : files) {
            if (seen.add(file.toRealPath())) {
                once.add(file);
            } else {
                note(file + ": named twice, read once");
            }
        }
        Importer.refuseUsedLog(log);
        List<LayerCount> counts = new ArrayList<>();
        try (EventSpools spools = new EventSpools(log)) {
            LayerCount count = new LayerCount(format, 0, 0, 0, false);
            for (int i = 0; i < once.size(); i++) {
                CollectorSpool rejects = spools.collector(format + "-import", FileDigest.of(once.get(i)), "none");
                RecordReader reader = new RecordReader(
                        format,
                        path -> String.valueOf(path.getFileName()),
                        () -> firstWallMillis,
                        limits,
                        rejects,
                        read -> listener.progress(format, read));
                read(once.get(i), i, reader, spools);
                if (i == once.size() - 1) {
                    ended(reader);
                }
                count = count.plus(reader.result(false));
            }
            counts.add(count);
            finish(spools);
            spools.write();
        }
        return ImportSummary.of(counts);
    }
}
