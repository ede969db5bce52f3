package io.tokenstair.collect.vllm;

import io.tokenstair.collect.vllm.input.LineSource;
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
record Imported(ImportSummary summary, List<String> missing, List<LoggedEvent> events) {

    static Imported of(Path capture, Path log) {
        return of(List.of(capture), log, LineSource.Limits.DEFAULT);
    }

    static Imported of(List<Path> captures, Path log, LineSource.Limits limits) {
        List<String> missing = new ArrayList<>();
        CaptureImport.Listener listener = new CaptureImport.Listener() {
            @Override
            public void progress(String layer, long read) {}

            @Override
            public void missing(String layer, String files, Path folder) {
                missing.add(layer);
            }
        };
        try {
            ImportSummary summary = new CaptureImport(limits, listener).run(captures, log);
            return new Imported(summary, missing, events(log));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (CaptureException e) {
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
    <T extends Event> List<T> all(Class<T> kind) {
        return events.stream()
                .map(LoggedEvent::event)
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    /** The only event of a kind. */
    <T extends Event> T only(Class<T> kind) {
        List<T> all = all(kind);
        if (all.size() != 1) {
            throw new AssertionError(all.size() + " events of " + kind.getSimpleName() + ": " + events);
        }
        return all.get(0);
    }

    /** The logged events of a collector, in the order of the log. */
    List<LoggedEvent> from(String collectorId) {
        return events.stream()
                .filter(event -> event.header().collectorId().equals(collectorId))
                .toList();
    }

    /** The reasons of what was refused. */
    List<String> reasons() {
        return all(Rejected.class).stream().map(Rejected::reason).toList();
    }

    /** The raw stamp of an event that must have one. */
    static long clockNanos(LoggedEvent logged) {
        return Objects.requireNonNull(logged.header().clockNanos());
    }

    /** The event time of an event that must have one. */
    static long wallMillis(LoggedEvent logged) {
        return Objects.requireNonNull(logged.header().coarseEpochMillis());
    }

    LayerCount layer(String name) {
        return summary.layers().stream()
                .filter(layer -> layer.layer().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The recorded runs of the repository. */
    static Path captures() {
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !Files.isDirectory(folder.resolve("captures"))) {
            folder = folder.getParent();
        }
        if (folder == null) {
            throw new AssertionError(
                    "Cannot find the folder captures above " + Path.of("").toAbsolutePath());
        }
        return folder.resolve("captures");
    }

    static byte[] gzip(byte[] plain) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(plain);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** A folder with one file of these lines. */
    static Path folder(Path folder, String file, String... lines) {
        try {
            Files.createDirectories(folder);
            Files.write(folder.resolve(file), (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return folder;
    }
}
