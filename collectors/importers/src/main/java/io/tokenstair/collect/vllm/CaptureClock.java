package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.StampPair;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The two clocks of a capture: CLOCK_MONOTONIC, which every stamp is taken from, and the wall clock, which gives event time. Their
 * offset is the median of the first pairs that any file holds. It serves records without a wall stamp, and to refuse stamps that
 * cannot be: one damaged digit would otherwise push the event time of all that follows.
 */
final class CaptureClock {
    private static final int PAIRS_PER_FILE = 4;
    private static final long DAY_NANOS = 86_400_000_000_000L;
    private static final long FARTHEST_NANOS = 400 * DAY_NANOS;

    private final @Nullable StampPair reference;

    private CaptureClock(@Nullable StampPair reference) {
        this.reference = reference;
    }

    /** A clock without any pair: nothing can be dated, nothing refused. */
    static CaptureClock unknown() {
        return new CaptureClock(null);
    }

    /** When the capture was recorded, in epoch seconds; 1 when nothing dates it. */
    long recordedSeconds() {
        return reference == null ? 1 : Math.max(1, reference.wallMillis() / 1_000);
    }

    static CaptureClock of(List<StampPair> pairs) {
        if (pairs.isEmpty()) {
            return unknown();
        }
        List<StampPair> sorted = new ArrayList<>(pairs);
        sorted.sort(Comparator.comparingLong(StampPair::offsetNanos).thenComparingLong(StampPair::monotonicNanos));
        return new CaptureClock(sorted.get(sorted.size() / 2));
    }

    /** Looks at the first lines of each file that carries both stamps. */
    static CaptureClock sample(CaptureFolder capture, CaptureMeta meta) throws IOException {
        List<StampPair> pairs = new ArrayList<>();
        if (meta.begin() != null) {
            pairs.add(meta.begin());
        }
        if (meta.end() != null) {
            pairs.add(meta.end());
        }
        sample(capture, StepsLayer.FILE, "mono_ns", "wall_ns", pairs);
        sample(capture, StepsLayer.FILE, "update_end_mono_ns", "update_end_wall_ns", pairs);
        sample(capture, ClientLayer.FILE, "send_mono_ns", "send_wall_ns", pairs);
        sample(capture, ClientLayer.FILE, "mono_ns", "wall_ns", pairs);
        sample(capture, KvEventsLayer.FILE, "recv_mono_ns", "recv_wall_ns", pairs);
        sample(capture, StatLogLayer.FILE, "mono_ns", "wall_ns", pairs);
        return of(pairs);
    }

    private static void sample(CaptureFolder capture, String name, String monotonic, String wall, List<StampPair> pairs)
            throws IOException {
        Path file = capture.find(name);
        if (file == null) {
            return;
        }
        try (LineSource lines = new LineSource(file, LineSource.Limits.DEFAULT)) {
            for (int i = 0; i < PAIRS_PER_FILE && lines.next(); i++) {
                if (lines.tooLong()) {
                    continue;
                }
                try {
                    Fields fields = Fields.parse(lines.bytes(), lines.length());
                    Long clockNanos = fields.optionalStamp(monotonic);
                    Long wallNanos = fields.optionalStamp(wall);
                    if (clockNanos != null && wallNanos != null) {
                        pairs.add(new StampPair(clockNanos, wallNanos));
                    }
                } catch (RejectedRecordException e) {
                    // The layer that reads the file reports the line.
                    continue;
                }
            }
        }
    }

    /** Wall reading of the reference pair; null when the capture has no pair. */
    @Nullable
    Long referenceWallMillis() {
        return reference == null ? null : Long.valueOf(reference.wallMillis());
    }

    /** The wall reading at a monotonic stamp, in ms; null when the capture has no pair of stamps. */
    @Nullable
    Long wallMillis(long clockNanos) {
        if (reference == null) {
            return null;
        }
        long wall = clockNanos + reference.offsetNanos();
        boolean overflow = ((clockNanos ^ wall) & (reference.offsetNanos() ^ wall)) < 0;
        return overflow || wall < 0 ? null : Long.valueOf(Math.floorDiv(wall, 1_000_000L));
    }

    /** A stamp that lies within reason of the capture's other stamps. */
    long clockNanos(Fields record, String name) throws RejectedRecordException {
        long stamp = record.stamp(name);
        refuseFar(record, name, stamp);
        return stamp;
    }

    /** As {@link #clockNanos}; null when absent. */
    @Nullable
    Long optionalClockNanos(Fields record, String name) throws RejectedRecordException {
        Long stamp = record.optionalStamp(name);
        if (stamp != null) {
            refuseFar(record, name, stamp);
        }
        return stamp;
    }

    private void refuseFar(Fields record, String name, long stamp) throws RejectedRecordException {
        if (reference != null && Math.abs(stamp - reference.monotonicNanos()) > FARTHEST_NANOS) {
            throw record.refuse(name, "more than 400 days from the capture's other stamps, " + stamp);
        }
    }

    /**
     * The wall reading of a record, in ms: its own, else from its monotonic stamp; null when there is neither. Refuses a wall stamp
     * that lies a day or more from where the monotonic stamp puts it.
     */
    @Nullable
    Long wallMillis(Fields record, String wallName, long clockNanos) throws RejectedRecordException {
        Long wall = record.optionalStamp(wallName);
        if (wall == null) {
            return wallMillis(clockNanos);
        }
        StampPair pair = new StampPair(clockNanos, wall);
        if (reference != null && Math.abs(pair.offsetNanos() - reference.offsetNanos()) >= DAY_NANOS) {
            throw record.refuse(wallName, "a day or more from the record's monotonic stamp, " + wall);
        }
        return pair.wallMillis();
    }
}
