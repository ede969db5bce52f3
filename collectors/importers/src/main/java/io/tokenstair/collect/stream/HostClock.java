package io.tokenstair.collect.stream;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.ClockSampled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The two clocks of lines that were stamped by both, one right after the other. Once a second the two are said to have been read together:
 * with the median offset of the last {@value #WINDOW} lines, where it is within {@value #BOUND_NANOS} ns of their least.
 */
public final class HostClock {
    /** CLOCK_MONOTONIC of the host that recorded. */
    public static final String MONOTONIC = "monotonic@capture";

    /** Its wall clock. */
    public static final String WALL = "wall@capture";

    private static final int WINDOW = 9;
    private static final int LOOKED_AT = 64;
    private static final long EVERY_NANOS = 1_000_000_000L;
    private static final long BOUND_NANOS = 20_000L;
    private static final long DAY_NANOS = 86_400_000_000_000L;
    private static final long FARTHEST_NANOS = 400 * DAY_NANOS;
    /** Begin of 2001-09-09 and of 2100. */
    private static final long FIRST_WALL_NANOS = 1_000_000_000L * 1_000_000_000L;

    private static final long LAST_WALL_NANOS = 4_102_444_800L * 1_000_000_000L;

    private final CollectorSpool events;
    private final @Nullable String engineId;
    private final long[] offsets = new long[WINDOW];
    private int taken;
    private @Nullable Long referenceNanos;
    private @Nullable Long referenceOffset;
    private @Nullable Long lastSampleNanos;
    private long lastNanos;
    private @Nullable Long lastWallMillis;

    /** The clocks of one file's lines. */
    public HostClock(CollectorSpool events, @Nullable String engineId) {
        this.events = events;
        this.engineId = engineId;
    }

    /** When the first line that says so was stamped; null when none of the first lines says. */
    public static @Nullable Long firstWallMillis(Path file, LineSource.Limits limits, String monotonic, String wall)
            throws IOException {
        try (LineSource lines = new LineSource(file, limits)) {
            for (int i = 0; i < LOOKED_AT && lines.next(); i++) {
                try {
                    Long nanos = lines.tooLong()
                            ? null
                            : Fields.parse(lines.bytes(), lines.length()).optionalStamp(wall);
                    if (nanos != null) {
                        return nanos / 1_000_000L;
                    }
                } catch (RejectedRecordException e) {
                    // Reported by whoever reads the file.
                    continue;
                }
            }
        }
        return null;
    }

    /** Refuses stamps of other clocks than those of the lines before: one damaged digit would date all that follows. */
    public void check(Fields line, @Nullable Long nanos, @Nullable Long epochNanos) throws RejectedRecordException {
        Long reference = referenceNanos;
        Long offset = referenceOffset;
        if (nanos != null && reference != null && Math.abs(nanos - reference) > FARTHEST_NANOS) {
            throw line.refuse("mono_ns", nanos + " lies more than 400 days from the other stamps: another clock");
        }
        if (nanos != null
                && epochNanos != null
                && offset != null
                && Math.abs(epochNanos - nanos - offset) > DAY_NANOS) {
            throw line.refuse("epoch_ns", "more than a day from where mono_ns places it: mixed clocks");
        }
        if (epochNanos != null && (epochNanos < FIRST_WALL_NANOS || epochNanos > LAST_WALL_NANOS)) {
            throw line.refuse("epoch_ns", "no wall reading of the years 2001 to 2100: another unit, or another clock");
        }
    }

    /** The wall reading of a line in ms; null where no line before had one either. */
    public @Nullable Long wallMillis(long nanos, @Nullable Long epochNanos) {
        if (epochNanos != null) {
            return epochNanos / 1_000_000L;
        }
        return referenceOffset == null ? null : Long.valueOf(Math.floorDiv(nanos + referenceOffset, 1_000_000L));
    }

    /** Notes the stamps of a line that was taken. */
    public void note(long nanos, @Nullable Long epochNanos, @Nullable Long wallMillis) throws IOException {
        lastNanos = nanos;
        lastWallMillis = wallMillis == null ? lastWallMillis : wallMillis;
        referenceNanos = referenceNanos == null ? Long.valueOf(nanos) : referenceNanos;
        if (epochNanos == null) {
            return;
        }
        referenceOffset = referenceOffset == null ? Long.valueOf(epochNanos - nanos) : referenceOffset;
        offsets[taken++ % WINDOW] = epochNanos - nanos;
        if (taken >= WINDOW && (lastSampleNanos == null || nanos - lastSampleNanos >= EVERY_NANOS)) {
            sample();
        }
    }

    /** The file has ended. */
    public void end() throws IOException {
        if (taken > 0 && (lastSampleNanos == null || lastNanos > lastSampleNanos)) {
            sample();
        }
    }

    private void sample() throws IOException {
        long[] sorted = Arrays.copyOf(offsets, Math.min(taken, WINDOW));
        Arrays.sort(sorted);
        long median = sorted[sorted.length / 2];
        if (median - sorted[0] > BOUND_NANOS) {
            return;
        }
        lastSampleNanos = lastNanos;
        events.add(
                lastNanos,
                lastNanos,
                lastWallMillis,
                new ClockSampled(MONOTONIC, WALL, lastNanos, lastNanos + median, lastNanos, BOUND_NANOS, engineId));
    }

    /** Monotonic stamp of the last line. */
    public long lastNanos() {
        return lastNanos;
    }
}
