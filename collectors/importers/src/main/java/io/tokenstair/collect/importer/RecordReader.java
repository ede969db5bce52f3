package io.tokenstair.collect.importer;

import io.tokenstair.collect.input.Excerpt;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.JsonObjects;
import io.tokenstair.collect.input.JsonTrees;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Rejected;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one place where records of a layer are counted: each is accepted, or refused with its place and reason as an event Rejected.
 * A refused record has no place in time of its own; it is dated by the record before it.
 */
public class RecordReader {
    private static final int PROGRESS_EVERY = 1 << 15;

    private final String layer;
    private final Function<Path, String> sourceName;
    private final Supplier<@Nullable Long> referenceWallMillis;
    private final LineSource.Limits limits;
    private final CollectorSpool importEvents;
    private final LongConsumer progress;
    private long read;
    private long rejected;
    private boolean passedOver;
    private @Nullable Long lastWallMillis;

    /** Takes one record in. Changes nothing when it refuses. */
    public interface RecordHandler {
        /** Returns the wall reading of the record in ms; null when it has none. */
        @Nullable
        Long accept(Fields record) throws RejectedRecordException, IOException;
    }

    /**
     * A reader of one layer.
     *
     * @param layer its name
     * @param sourceName how a file is called in rejects
     * @param referenceWallMillis dates rejects before the first dated record; gives null where nothing is dated
     * @param limits of files and lines
     * @param importEvents takes the rejects
     * @param progress hears how many records were read
     */
    public RecordReader(
            String layer,
            Function<Path, String> sourceName,
            Supplier<@Nullable Long> referenceWallMillis,
            LineSource.Limits limits,
            CollectorSpool importEvents,
            LongConsumer progress) {
        this.layer = layer;
        this.sourceName = sourceName;
        this.referenceWallMillis = referenceWallMillis;
        this.limits = limits;
        this.importEvents = importEvents;
        this.progress = progress;
    }

    /** What a file is called in rejects. */
    public String sourceName(Path file) {
        return sourceName.apply(file);
    }

    /** Opens a file within the limits. */
    public LineSource open(Path file) throws IOException {
        return new LineSource(file, limits);
    }

    /** Reads every line of a file as one record. */
    public void readLines(Path file, RecordHandler handler) throws IOException {
        String source = sourceName.apply(file);
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

    /**
     * Reads every JSON object of a file as one record: an object a line, or objects over several lines, in an array or not. An object that the
     * handler refuses costs no other; one that cannot be read ends the file where objects are not a line each.
     *
     * @throws RejectedRecordException where the file is no JSON at its start
     */
    public void readObjects(Path file, RecordHandler handler) throws IOException, RejectedRecordException {
        try (JsonObjects objects = new JsonObjects(file, limits)) {
            boolean more = true;
            while (more) {
                boolean whole = false;
                try {
                    more = objects.next();
                    if (more) {
                        Fields record = Fields.of(JsonTrees.read(objects.parser()));
                        whole = true;
                        accepted(handler.accept(record));
                    }
                } catch (RejectedRecordException e) {
                    rejected(sourceName.apply(file), objects.lineNumber(), e.reason(), null);
                    more = whole || objects.goesOn();
                }
            }
            String defect = objects.defect();
            if (defect != null) {
                rejected(sourceName.apply(file), null, defect, null);
            }
        }
    }

    /** Counts what cut a file short as one refused record. */
    public void rejectDefect(LineSource lines) throws IOException {
        String defect = lines.defect();
        if (defect != null) {
            rejected(sourceName.apply(lines.file()), lines.lineNumber() + 1, defect, null);
        }
    }

    /** Called by a handler for a record that is no input of its own: a copy of what was read before, or an end mark. */
    public void passOver() {
        passedOver = true;
    }

    /** Counts one record as accepted. */
    public void accepted(@Nullable Long wallMillis) {
        count();
        if (wallMillis != null) {
            lastWallMillis = wallMillis;
        }
    }

    /** Counts one record as refused. */
    public void rejected(String source, @Nullable Long lineNumber, String reason, @Nullable String excerpt)
            throws IOException {
        refuse(source, lineNumber, null, reason, excerpt);
    }

    /** Counts one record as refused, of a source whose places are bytes. */
    public void rejectedAt(String source, long byteOffset, String reason, @Nullable String excerpt) throws IOException {
        refuse(source, null, byteOffset, reason, excerpt);
    }

    private void refuse(
            String source,
            @Nullable Long lineNumber,
            @Nullable Long byteOffset,
            String reason,
            @Nullable String excerpt)
            throws IOException {
        count();
        rejected++;
        Long wallMillis = lastWallMillis == null ? referenceWallMillis.get() : lastWallMillis;
        importEvents.add(
                wallMillis == null ? 0 : wallMillis,
                null,
                wallMillis,
                new Rejected(source, lineNumber, byteOffset, reason, excerpt));
    }

    /** Reports running numbers that never came. */
    public void lost(String source, long first, long last, long clockNanos, @Nullable Long wallMillis)
            throws IOException {
        importEvents.add(
                wallMillis == null ? 0 : wallMillis, clockNanos, wallMillis, new CollectorGap(source, first, last));
    }

    private void count() {
        read++;
        if (read % PROGRESS_EVERY == 0) {
            progress.accept(read);
        }
    }

    /** What came of the layer. */
    public LayerCount result(boolean missing) {
        return new LayerCount(layer, read, read - rejected, rejected, missing);
    }
}
