package io.tokenstair.job.source;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.FolderLogWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Small log records whose sequence tells them apart. */
public final class Records {
    /** The event time of sequence 0: 2026-01-01T00:00:00Z. */
    public static final long START_EPOCH_MILLIS = 1_767_225_600_000L;

    private Records() {}

    /** An event of a collector, one second of event time per sequence. */
    public static LoggedEvent event(String collector, long sequence) {
        return event(collector, sequence, START_EPOCH_MILLIS + 1000 * sequence);
    }

    /** An event of a collector at an event time; null for none. */
    public static LoggedEvent event(String collector, long sequence, @Nullable Long coarseEpochMillis) {
        EventHeader header = new EventHeader(collector, 7, sequence, collector + "/mono", sequence, coarseEpochMillis);
        return new LoggedEvent(header, new IdAliased("request-" + sequence, "alias-" + sequence, "engine"));
    }

    /** A step of a collector: none, one or two scheduled sequences, and now and then an announced handle. */
    public static LoggedEvent step(String collector, long sequence) {
        List<SequenceRow> rows = new ArrayList<>();
        for (int i = 0; i < sequence % 3; i++) {
            int token = (int) sequence;
            rows.add(new SequenceRow(i, token, 1, 100 + token, 1, Phase.DECODE, null, null, null));
        }
        List<HandleAnnounced> announcements =
                sequence % 5 == 0 ? List.of(new HandleAnnounced(0, "request-" + sequence)) : List.of();
        EventHeader header = event(collector, sequence).header();
        StepCompleted step = new StepCompleted(
                collector + "-engine",
                0,
                sequence,
                null,
                null,
                null,
                sequence,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                announcements,
                SequenceRows.of(rows));
        return new LoggedEvent(header, step);
    }

    /** The record of {@link #event(String, long)}. */
    public static byte[] bytes(String collector, long sequence) {
        return EventCodec.encode(event(collector, sequence));
    }

    /** Writes {@code count} records of one collector as a partition and closes it. */
    public static void writePartition(Path log, int partition, int count) throws IOException {
        try (FolderLogWriter writer = new FolderLogWriter(log, partition)) {
            for (int i = 0; i < count; i++) {
                writer.append(bytes("collector-" + partition, i));
            }
        }
    }

    /** What reading such partitions must give, each record once, sorted. */
    public static List<String> expected(int partitions, int count) {
        List<String> expected = new ArrayList<>();
        for (int partition = 0; partition < partitions; partition++) {
            for (int i = 0; i < count; i++) {
                expected.add("collector-" + partition + "/" + i);
            }
        }
        expected.sort(null);
        return expected;
    }

    /** The name {@link #expected} uses for a record. */
    public static String name(RawRecord record) {
        return record.collectorId + "/" + record.sequence;
    }
}
