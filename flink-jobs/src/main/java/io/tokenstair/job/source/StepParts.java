package io.tokenstair.job.source;

import io.tokenstair.archive.RawRow;
import io.tokenstair.archive.RawTableReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * Puts the steps of one hour together again from the three tables they are spread over. The parts of a step have one header, and their
 * bytes one after the other read as the whole step.
 *
 * <p>The table of sequences leads; the table of steps is read beside it, as far as the step that is wanted. Files are taken by the
 * first step in them, so that both tables come in the same order as long as they were written together, and little has to wait. What is kept is
 * the announcements of the hour, and the steps that were passed over: those without sequences and, where the files of the two
 * tables are cut in another order, those still to come. A part without its step is an error: the archive lacks a file.
 */
final class StepParts implements ArchiveFormat.Rows {
    private final Path hour;
    private final Table steps;
    private final Table sequences;
    private final Map<StepIdentity, ArrayDeque<RawRow>> announcements = new HashMap<>();
    private final Map<StepIdentity, ArrayDeque<RawRow>> passedOver = new LinkedHashMap<>();

    StepParts(Path hour) throws IOException {
        this.hour = hour;
        List<Path> folders = ArchiveFiles.stepFolders(hour);
        steps = new Table(folders.get(0));
        sequences = new Table(folders.get(1));
        try (Table announced = new Table(folders.get(2))) {
            for (RawRow part = announced.next(); part != null; part = announced.next()) {
                keep(announcements, part);
            }
        }
    }

    @Override
    public @Nullable RawRow next() throws IOException {
        RawRow part = sequences.next();
        if (part != null) {
            StepIdentity identity = StepIdentity.of(part);
            return joined(stepOf(identity), take(announcements, identity), part);
        }
        for (StepIdentity identity : passedOver.keySet()) {
            RawRow step = take(passedOver, identity);
            if (step != null) {
                return joined(step, take(announcements, identity), null);
            }
        }
        RawRow step = steps.next();
        if (step != null) {
            return joined(step, take(announcements, StepIdentity.of(step)), null);
        }
        for (StepIdentity identity : announcements.keySet()) {
            throw withoutStep(identity);
        }
        return null;
    }

    private RawRow stepOf(StepIdentity identity) throws IOException {
        RawRow kept = take(passedOver, identity);
        if (kept != null) {
            return kept;
        }
        for (RawRow step = steps.next(); step != null; step = steps.next()) {
            if (StepIdentity.of(step).equals(identity)) {
                return step;
            }
            keep(passedOver, step);
        }
        throw withoutStep(identity);
    }

    private UnusableInputException withoutStep(StepIdentity identity) {
        return new UnusableInputException(
                "Cannot read " + hour + ": it lacks step " + identity
                        + ", whose sequences or handles are archived; replay when nothing writes the archive any more, or restore the file");
    }

    private static void keep(Map<StepIdentity, ArrayDeque<RawRow>> rows, RawRow row) {
        rows.computeIfAbsent(StepIdentity.of(row), identity -> new ArrayDeque<>(1))
                .addLast(row);
    }

    private static @Nullable RawRow take(Map<StepIdentity, ArrayDeque<RawRow>> rows, StepIdentity identity) {
        ArrayDeque<RawRow> kept = rows.get(identity);
        if (kept == null) {
            return null;
        }
        RawRow row = kept.removeFirst();
        if (kept.isEmpty()) {
            rows.remove(identity);
        }
        return row;
    }

    private static RawRow joined(RawRow step, @Nullable RawRow announced, @Nullable RawRow rows) {
        if (announced == null && rows == null) {
            return step;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(step.wireBytes().length + 1024);
        bytes.writeBytes(step.wireBytes());
        if (announced != null) {
            bytes.writeBytes(announced.wireBytes());
        }
        if (rows != null) {
            bytes.writeBytes(rows.wireBytes());
        }
        return new RawRow(bytes.toByteArray(), step.late());
    }

    @Override
    public void close() throws IOException {
        steps.close();
        sequences.close();
    }

    /** Which step a part belongs to. */
    private record StepIdentity(String collectorId, long collectorEpoch, long sequence) {
        static StepIdentity of(RawRow part) {
            RawRecord header = RawRecord.of(part.wireBytes(), "", 0);
            return new StepIdentity(header.collectorId, header.collectorEpoch, header.sequence);
        }

        @Override
        public String toString() {
            return collectorId + "/" + collectorEpoch + "/" + sequence;
        }
    }

    /** The files of one table in one hour, by the first step in them. */
    private static final class Table implements ArchiveFormat.Rows {
        private final ArrayDeque<Path> files = new ArrayDeque<>();
        private @Nullable RawTableReader reader;

        private Table(Path folder) throws IOException {
            List<First> firsts = new ArrayList<>();
            for (FileStatus file : ArchiveFiles.finished(folder).values()) {
                try (RawTableReader peek = ArchiveFile.open(file.getPath())) {
                    if (peek.hasNext()) {
                        firsts.add(new First(
                                file.getPath(), RawRecord.of(peek.next().wireBytes(), "", 0)));
                    }
                }
            }
            firsts.sort(First.ORDER);
            firsts.forEach(first -> files.add(first.file));
        }

        @Override
        public @Nullable RawRow next() throws IOException {
            while (true) {
                if (reader == null) {
                    Path file = files.pollFirst();
                    if (file == null) {
                        return null;
                    }
                    reader = ArchiveFile.open(file);
                }
                if (reader.hasNext()) {
                    return reader.next();
                }
                reader.close();
                reader = null;
            }
        }

        @Override
        public void close() throws IOException {
            if (reader != null) {
                reader.close();
            }
        }
    }

    /** A file and the header of its first record. */
    private record First(Path file, RawRecord header) {
        private static final Comparator<First> ORDER = Comparator.comparingLong(
                        (First first) -> first.header.coarseEpochMillis)
                .thenComparing(first -> first.header.collectorId)
                .thenComparingLong(first -> first.header.collectorEpoch)
                .thenComparingLong(first -> first.header.sequence)
                .thenComparing(first -> first.file.toString());
    }
}
