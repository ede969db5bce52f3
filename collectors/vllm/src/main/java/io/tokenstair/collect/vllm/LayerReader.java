package io.tokenstair.collect.vllm;

import io.tokenstair.collect.vllm.input.CaptureFolder;
import io.tokenstair.collect.vllm.input.Excerpt;
import io.tokenstair.collect.vllm.input.Fields;
import io.tokenstair.collect.vllm.input.LineSource;
import io.tokenstair.collect.vllm.input.RejectedRecordException;
import io.tokenstair.collect.vllm.output.CollectorSpool;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Rejected;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The one place where records of a layer are counted: each is accepted, or refused with its place and reason as an event Rejected.
 * A refused record has no place in time of its own; it is dated by the record before it.
 */
final class LayerReader {
    private static final int PROGRESS_EVERY = 1 << 15;

    private final String layer;
    private final CaptureFolder capture;
    private final CaptureClock clock;
    private final LineSource.Limits limits;
    private final CollectorSpool importEvents;
    private final LongConsumer progress;
    private long read;
    private long rejected;
    private boolean passedOver;
    private @Nullable Long lastWallMillis;

    /** Takes one record in. Changes nothing when it refuses. */
    interface RecordHandler {
        /** Returns the wall reading of the record in ms; null when it has none. */
        @Nullable
        Long accept(Fields record) throws RejectedRecordException, IOException;
    }

    LayerReader(
            String layer,
            CaptureFolder capture,
            CaptureClock clock,
            LineSource.Limits limits,
            CollectorSpool importEvents,
            LongConsumer progress) {
        this.layer = layer;
        this.capture = capture;
        this.clock = clock;
        this.limits = limits;
        this.importEvents = importEvents;
        this.progress = progress;
    }

    CaptureFolder capture() {
        return capture;
    }

    LineSource open(Path file) throws IOException {
        return new LineSource(file, limits);
    }

    /** Reads every line of a file as one record. */
    void readLines(Path file, RecordHandler handler) throws IOException {
        String source = capture.sourceName(file);
        try (LineSource lines = open(file)) {
            while (lines.next()) {
                try {
                    if (lines.tooLong()) {
                        throw new RejectedRecordException("a line longer than " + limits.lineBytes() + " bytes");
                    }
                    passedOver = false;
                    Long wallMillis = handler.accept(Fields.parse(lines.bytes(), lines.length()));
                    if (!passedOver) {
                        accepted(wallMillis);
                    }
                } catch (RejectedRecordException e) {
                    rejected(source, lines.lineNumber(), e.reason(), Excerpt.ofJson(lines.bytes(), lines.length()));
                }
            }
            rejectDefect(lines);
        }
    }

    /** Counts what cut a file short as one refused record. */
    void rejectDefect(LineSource lines) throws IOException {
        String defect = lines.defect();
        if (defect != null) {
            rejected(capture.sourceName(lines.file()), lines.lineNumber() + 1, defect, null);
        }
    }

    /** Called by a handler for a record that is no input of its own: a copy of what was read before, or an end mark. */
    void passOver() {
        passedOver = true;
    }

    /** Counts one record as accepted. */
    void accepted(@Nullable Long wallMillis) {
        count();
        if (wallMillis != null) {
            lastWallMillis = wallMillis;
        }
    }

    /** Counts one record as refused. */
    void rejected(String source, @Nullable Long lineNumber, String reason, @Nullable String excerpt)
            throws IOException {
        count();
        rejected++;
        Long wallMillis = lastWallMillis == null ? clock.referenceWallMillis() : lastWallMillis;
        importEvents.add(
                wallMillis == null ? 0 : wallMillis,
                null,
                wallMillis,
                new Rejected(source, lineNumber, null, reason, excerpt));
    }

    /** Reports running numbers that never came. */
    void lost(String source, long first, long last, long clockNanos, @Nullable Long wallMillis) throws IOException {
        importEvents.add(
                wallMillis == null ? 0 : wallMillis, clockNanos, wallMillis, new CollectorGap(source, first, last));
    }

    private void count() {
        read++;
        if (read % PROGRESS_EVERY == 0) {
            progress.accept(read);
        }
    }

    LayerCount result(boolean missing) {
        return new LayerCount(layer, read, read - rejected, rejected, missing);
    }
}
