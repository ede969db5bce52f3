package io.tokenstair.collect.llamacpp;

import io.tokenstair.collect.engine.llamacpp.LlamaCppLog;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.collect.stream.HostClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The log of llama.cpp's server with stamps, {@code llamacpp-log}. Stamps count from the start of the process; {@code t_last} of a slot that is
 * taken up again is CLOCK_MONOTONIC at its last release, and joins the two. A task has no id of its client's: it is joined by the work it did
 * ({@link io.tokenstair.foreign.LlamaCppNames}). Bytes that are no text are passed over: the log may quote what the model made.
 */
public final class LlamaCppLogImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "llamacpp-log";

    private final String engine;

    /**
     * An import of such logs.
     *
     * @param engine what to call the engine; null for llamacpp
     */
    public LlamaCppLogImport(@Nullable String engine, LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
        this.engine = engine == null ? "llamacpp" : engine;
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String name = String.valueOf(file.getFileName());
        String source = name.length() > 160 ? name.substring(0, 160) : name;
        CollectorSpool events = spools.collector("llamacpp-log", FileDigest.of(file, engine), source + "/start");
        LlamaCppLog log = new LlamaCppLog(source, engine, HostClock.MONOTONIC, events::add);
        try (LineSource lines = reader.open(file)) {
            while (lines.next()) {
                try {
                    if (lines.tooLong()) {
                        throw new RejectedRecordException("a line longer than " + limits().lineBytes() + " bytes");
                    }
                    // Every byte is a character: the log may hold any.
                    log.accept(new String(lines.bytes(), 0, lines.length(), StandardCharsets.ISO_8859_1));
                    reader.accepted(null);
                } catch (RejectedRecordException e) {
                    reader.rejected(reader.sourceName(file), lines.lineNumber(), e.reason(), null);
                }
            }
            reader.rejectDefect(lines);
        }
        log.end();
        if (log.stampedCount() == 0 && reader.result(false).read() > 0) {
            throw new ImportException(file + ": no line begins with a stamp (M.SS.mmm.uuu L); name the log of a"
                    + " llama-server that ran with --log-timestamps and --log-prefix");
        }
        if (log.taskCount() > 0) {
            note(source + ": " + log.taskCount()
                    + " tasks; a log has no wall clock: they are dated by the streams they are"
                    + " joined with, else undated");
        }
    }
}
