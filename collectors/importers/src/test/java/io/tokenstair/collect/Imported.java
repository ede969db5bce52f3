package io.tokenstair.collect;

import io.tokenstair.collect.events.EventsImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.ImportSummary;
import io.tokenstair.collect.importer.Importer;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.vllm.CaptureImport;
import io.tokenstair.event.Event;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.log.FolderLogReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPOutputStream;

/** An import in a test: what it counted, what it called missing, and the events of the log. */
public record Imported(ImportSummary summary, List<String> missing, List<LoggedEvent> events) {

    /** What an import of one file said, line by line, and what it made. */
    public record Told(Imported imported, List<String> lines) {
        /** The only line that holds this. */
        public String line(String part) {
            List<String> found =
                    lines.stream().filter(line -> line.contains(part)).toList();
            if (found.size() != 1) {
                throw new AssertionError(found.size() + " lines with '" + part + "': " + lines);
            }
            return found.get(0);
        }
    }

    /** A file that is there, imported. */
    public static Told file(Format format, Path file, Path log) throws ImportException {
        List<String> lines = new ArrayList<>();
        ImportListener listener = new ImportListener() {
            @Override
            public void progress(String layer, long read) {}

            @Override
            public void missing(String layer, String files, Path missingIn) {}

            @Override
            public void said(String line) {
                lines.add(line);
            }
        };
        Importer importer = format.importer(listener);
        try {
            ImportSummary summary = importer.run(List.of(file), log);
            return new Told(new Imported(summary, List.of(), events(log)), lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static Imported of(Path capture, Path log) {
        return of(List.of(capture), log, LineSource.Limits.DEFAULT);
    }

    public static Imported of(List<Path> captures, Path log, LineSource.Limits limits) {
        List<String> missing = new ArrayList<>();
        ImportListener listener = new ImportListener() {
            @Override
            public void progress(String layer, long read) {}

            @Override
            public void missing(String layer, String files, Path folder) {
                missing.add(layer);
            }
        };
        return imported(new CaptureImport(limits, listener), captures, log, missing);
    }

    /** Limits of an import in a test. */
    public static final LineSource.Limits LIMITS = LineSource.Limits.DEFAULT;

    /** Makes the importer under test. */
    public interface Format {
        /** An importer that tells this listener. */
        Importer importer(ImportListener listener) throws ImportException;
    }

    /** Files that are there, imported together. */
    public static Imported files(Format format, List<Path> files, Path log) throws ImportException {
        return imported(format.importer(SILENT), files, log, new ArrayList<>());
    }

    private static final ImportListener SILENT = new ImportListener() {
        @Override
        public void progress(String layer, long read) {}

        @Override
        public void missing(String layer, String files, Path missingIn) {}
    };

    /** Lines in a file of their own, imported. */
    public static Imported file(Format format, Path folder, String name, String... lines) throws ImportException {
        folder(folder, name, lines);
        return imported(
                format.importer(SILENT), List.of(folder.resolve(name)), folder.resolve("log"), new ArrayList<>());
    }

    /** Event lines in a file of their own, imported. */
    public static Imported lines(Path folder, String... lines) {
        try {
            return file(listener -> new EventsImport(LIMITS, listener), folder, "events.jsonl", lines);
        } catch (ImportException e) {
            throw new AssertionError(e);
        }
    }

    private static Imported imported(Importer importer, List<Path> inputs, Path log, List<String> missing) {
        try {
            ImportSummary summary = importer.run(inputs, log);
            return new Imported(summary, missing, events(log));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ImportException e) {
            throw new AssertionError(e);
        }
    }

    private static List<LoggedEvent> events(Path log) throws IOException {
        List<LoggedEvent> events = new ArrayList<>();
        try (FolderLogReader reader = new FolderLogReader(log.resolve("partition-0000"), 0)) {
            for (byte[] record = reader.next(); record != null; record = reader.next()) {
                events.add(EventCodec.decode(record));
            }
        } catch (WireException e) {
            throw new AssertionError(e);
        }
        return events;
    }

    /** The events of one kind, in the order of the log. */
    public <T extends Event> List<T> all(Class<T> kind) {
        return events.stream()
                .map(LoggedEvent::event)
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    /** The only event of a kind. */
    public <T extends Event> T only(Class<T> kind) {
        List<T> all = all(kind);
        if (all.size() != 1) {
            throw new AssertionError(all.size() + " events of " + kind.getSimpleName() + ": " + events);
        }
        return all.get(0);
    }

    /** The logged events of a collector, in the order of the log. */
    public List<LoggedEvent> from(String collectorId) {
        return events.stream()
                .filter(event -> event.header().collectorId().equals(collectorId))
                .toList();
    }

    /** The reasons of what was refused. */
    public List<String> reasons() {
        return all(Rejected.class).stream().map(Rejected::reason).toList();
    }

    /** The raw stamp of an event that must have one. */
    public static long clockNanos(LoggedEvent logged) {
        return Objects.requireNonNull(logged.header().clockNanos());
    }

    /** The event time of an event that must have one. */
    public static long wallMillis(LoggedEvent logged) {
        return Objects.requireNonNull(logged.header().coarseEpochMillis());
    }

    public LayerCount layer(String name) {
        return summary.layers().stream()
                .filter(layer -> layer.layer().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The recorded runs of the repository. */
    public static Path captures() {
        return folderOfRepository("captures");
    }

    /** What other projects recorded. */
    public static Path real() {
        return folderOfRepository("flink-jobs/src/test/resources/real");
    }

    private static Path folderOfRepository(String name) {
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !Files.isDirectory(folder.resolve(name))) {
            folder = folder.getParent();
        }
        if (folder == null) {
            throw new AssertionError(
                    "Cannot find the folder " + name + " above " + Path.of("").toAbsolutePath());
        }
        return folder.resolve(name);
    }

    public static byte[] gzip(byte[] plain) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(plain);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** A folder with one file of these lines. */
    public static Path folder(Path folder, String file, String... lines) {
        try {
            Files.createDirectories(folder);
            Files.write(folder.resolve(file), (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return folder;
    }
}
