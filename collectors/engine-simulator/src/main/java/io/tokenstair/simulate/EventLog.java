package io.tokenstair.simulate;

import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the collectors of a run write down, and what becomes of it on the way to the log. */
final class EventLog {
    static final long COLLECTOR_EPOCH = 1_790_000_000L;

    private final HostClock wall;
    private final Map<String, List<Entry>> collectors = new TreeMap<>();

    private record Entry(long trueNanos, long collectorEpoch, String clockId, long clockNanos, Event event) {}

    private record Placed(long orderNanos, LoggedEvent logged) {}

    /** A log whose collectors read this wall clock for event time. */
    EventLog(HostClock wall) {
        this.wall = wall;
    }

    /** A collector writes an event down under a reading of a clock. */
    void add(String collectorId, HostClock clock, long trueNanos, Event event) {
        add(collectorId, COLLECTOR_EPOCH, clock, trueNanos, event);
    }

    /** The same for another start of the collector. */
    void add(String collectorId, long collectorEpoch, HostClock clock, long trueNanos, Event event) {
        collectors
                .computeIfAbsent(collectorId, id -> new ArrayList<>())
                .add(new Entry(trueNanos, collectorEpoch, clock.id(), clock.read(trueNanos), event));
    }

    /** The records in the order of the log, after what goes wrong with them. */
    List<LoggedEvent> records(List<Fault> faults, RandomStream stream) {
        List<Placed> placed = new ArrayList<>();
        for (Map.Entry<String, List<Entry>> collector : collectors.entrySet()) {
            write(collector.getKey(), collector.getValue(), faults, stream.named(collector.getKey()), placed);
        }
        placed.sort(Comparator.comparingLong(Placed::orderNanos)
                .thenComparing(record -> record.logged().header(), EventHeader.ORDER));
        List<LoggedEvent> records = new ArrayList<>(placed.size());
        placed.forEach(record -> records.add(record.logged()));
        return records;
    }

    private void write(
            String collectorId, List<Entry> entries, List<Fault> faults, RandomStream stream, List<Placed> placed) {
        entries.sort(Comparator.comparingLong(Entry::trueNanos));
        long epoch = Long.MIN_VALUE;
        long sequence = 0;
        long millis = Long.MIN_VALUE;
        long firstLost = -1;
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (entry.collectorEpoch() != epoch) {
                epoch = entry.collectorEpoch();
                sequence = 0;
            }
            millis = Math.max(millis, Math.floorDiv(wall.read(entry.trueNanos()), 1_000_000L));
            if (happens(FaultKind.LOSS, entry, faults, stream, 4L * i)) {
                firstLost = firstLost < 0 ? sequence : firstLost;
                sequence++;
                continue;
            }
            if (firstLost >= 0) {
                // The collector sees from its own numbers that records before this one never left.
                placed.add(placed(
                        collectorId,
                        entry,
                        sequence + 1,
                        millis,
                        new CollectorGap(collectorId, firstLost, sequence - 1)));
                firstLost = -1;
                placed.add(placed(collectorId, entry, sequence, millis, entry.event()));
                sequence += 2;
                continue;
            }
            Placed record = placed(collectorId, entry, sequence++, millis, entry.event());
            if (happens(FaultKind.REORDERING, entry, faults, stream, 4L * i + 1)) {
                record = new Placed(
                        record.orderNanos() + stream.between(4L * i + 2, 0, 1_500_000_000L), record.logged());
            }
            placed.add(record);
            if (happens(FaultKind.DUPLICATES, entry, faults, stream, 4L * i + 3)) {
                placed.add(
                        new Placed(record.orderNanos() + stream.between(4L * i + 2, 0, 800_000_000L), record.logged()));
            }
        }
    }

    private static boolean happens(FaultKind kind, Entry entry, List<Fault> faults, RandomStream stream, long index) {
        for (Fault fault : faults) {
            if (fault.kind() == kind && fault.activeAt(entry.trueNanos()) && stream.chance(index, fault.factor())) {
                return true;
            }
        }
        return false;
    }

    private static Placed placed(String collectorId, Entry entry, long sequence, long millis, Event event) {
        return new Placed(
                millis * 1_000_000L,
                new LoggedEvent(
                        new EventHeader(
                                collectorId,
                                entry.collectorEpoch(),
                                sequence,
                                entry.clockId(),
                                entry.clockNanos(),
                                millis),
                        event));
    }
}
