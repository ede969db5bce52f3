package io.tokenstair.archive;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * What reading every row of an archive showed. Collectors number their records, so what is missing and what is there twice is
 * counted, not guessed.
 *
 * @param collectors the events by collector and epoch, sorted
 * @param resultRows rows of all result tables
 * @param problems what is wrong, a sentence each, in the order of tables and files; empty for a sound archive. Missing sequence
 *     numbers are in {@code collectors} and are no problem of the archive: the collector or its log may have lost them
 */
public record ArchiveCheck(List<CollectorCount> collectors, long resultRows, List<String> problems) {
    /** More of one kind in one file say nothing new. */
    private static final int MAX_PROBLEMS_PER_FILE = 10;

    /** Copies the lists. */
    public ArchiveCheck {
        collectors = List.copyOf(collectors);
        problems = List.copyOf(problems);
    }

    /**
     * The events of one collector and epoch.
     *
     * @param collectorId the collector
     * @param collectorEpoch its start
     * @param eventCount different events in the archive
     * @param duplicateCount events that are there again
     * @param missing sequence numbers between the first and the last that are not there
     */
    public record CollectorCount(
            String collectorId, long collectorEpoch, long eventCount, long duplicateCount, List<MissingRange> missing) {
        /** Copies the list. */
        public CollectorCount {
            missing = List.copyOf(missing);
        }
    }

    /**
     * Sequence numbers that are not in the archive.
     *
     * @param firstSequence first of them
     * @param lastSequence last of them
     */
    public record MissingRange(long firstSequence, long lastSequence) {}

    /** Reads every row of every table that this version knows. */
    public static ArchiveCheck of(Path archive) {
        Reader reader = new Reader();
        for (EventKind kind : EventKind.values()) {
            List<String> tables = RawTables.tablesOf(kind);
            for (String table : tables) {
                for (Path file : ArchiveLayout.files(archive, table)) {
                    reader.readRaw(table, file, table.equals(tables.get(0)));
                }
            }
        }
        for (TableSchema<?> schema : ResultTables.all()) {
            for (Path file : ArchiveLayout.files(archive, schema.table())) {
                reader.readResult(schema, file);
            }
        }
        return reader.check();
    }

    private record Collector(String id, long epoch) implements Comparable<Collector> {
        @Override
        public int compareTo(Collector other) {
            int byId = id.compareTo(other.id);
            return byId != 0 ? byId : Long.compare(epoch, other.epoch);
        }
    }

    private static final class Seen {
        final SequenceSet sequences = new SequenceSet();
        long duplicates;
    }

    private static final class Reader {
        private final TreeMap<Collector, Seen> collectors = new TreeMap<>();
        private final List<String> problems = new ArrayList<>();
        private long resultRows;

        void readRaw(String table, Path file, boolean whole) {
            int problemsBefore = problems.size();
            try (RawTableReader rows = RawTableReader.open(table, file)) {
                while (rows.hasNext()) {
                    EventHeader header = header(rows.next(), file);
                    Seen seen = collectors.computeIfAbsent(
                            new Collector(header.collectorId(), header.collectorEpoch()), key -> new Seen());
                    if (whole) {
                        if (!seen.sequences.add(header.sequence())) {
                            seen.duplicates++;
                            report(problemsBefore, "Event " + header.eventId() + " is there twice: file " + file);
                        }
                    } else if (!seen.sequences.contains(header.sequence())) {
                        report(
                                problemsBefore,
                                "Event " + header.eventId() + " has rows in table " + table
                                        + " and none in step_completed: file " + file);
                    }
                }
            } catch (ArchiveException | IOException e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }

        <R extends Record> void readResult(TableSchema<R> schema, Path file) {
            try (TableReader<R> rows = TableReader.open(schema, file)) {
                while (rows.hasNext()) {
                    rows.next();
                    resultRows++;
                }
            } catch (ArchiveException | IOException e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }

        private void report(int problemsBefore, String problem) {
            if (problems.size() - problemsBefore < MAX_PROBLEMS_PER_FILE) {
                problems.add(problem);
            }
        }

        private static EventHeader header(RawRow row, Path file) {
            try {
                return EventCodec.header(EventCodec.parse(row.wireBytes()));
            } catch (WireException e) {
                throw new ArchiveException("Cannot read file " + file + ": " + e.getMessage(), e);
            }
        }

        ArchiveCheck check() {
            List<CollectorCount> counts = new ArrayList<>();
            collectors.forEach((collector, seen) -> counts.add(new CollectorCount(
                    collector.id(),
                    collector.epoch(),
                    seen.sequences.count(),
                    seen.duplicates,
                    seen.sequences.holes())));
            return new ArchiveCheck(counts, resultRows, problems);
        }
    }
}
