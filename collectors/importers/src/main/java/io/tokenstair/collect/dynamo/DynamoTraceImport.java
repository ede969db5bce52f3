package io.tokenstair.collect.dynamo;

import io.tokenstair.collect.engine.dynamo.DynamoRequestTrace;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.collect.stream.HostClock;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Request traces of Dynamo's frontend, {@code dynamo.request.trace.v1}: a line a request, written at its end. The frontend is a gateway:
 * it knows when the first token came and how many followed, not when each of them did. What it says of the cache is its router's forecast,
 * and its prefill time holds the wait for admission: both are kept as samples, and neither as what the engine did.
 */
public final class DynamoTraceImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "dynamo-trace";

    /** An import of such traces. */
    public DynamoTraceImport(LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String name = String.valueOf(file.getFileName());
        @Nullable CollectorSpool[] spool = new CollectorSpool[1];
        DynamoRequestTrace trace = new DynamoRequestTrace(
                name.length() > 160 ? name.substring(0, 160) : name,
                HostClock.WALL,
                (clock, order, nanos, wallMillis, event) -> {
                    CollectorSpool events = spool[0];
                    if (events == null) {
                        events = spools.collector(FORMAT, FileDigest.ofFirstLine(file), clock);
                        spool[0] = events;
                    }
                    events.add(clock, order, nanos, wallMillis, event);
                });
        reader.readLines(file, line -> {
            Long wallMillis = trace.accept(line);
            dated(wallMillis);
            if (wallMillis == null) {
                reader.passOver();
            }
            return wallMillis;
        });
        if (trace.knownCount() == 0 && reader.result(false).read() > 0) {
            throw new ImportException(file + ": no line of it is of the schema dynamo.request.trace.v1; name the file"
                    + " that DYN_REQUEST_TRACE_FILE_PATH made");
        }
        if (trace.otherCount() > 0) {
            note(name + ": " + trace.otherCount() + " records of other kinds than request_end were passed over");
        }
        if (trace.percentCount() > 0) {
            note(name + ": kv_hit_rate was in per cent in " + trace.percentCount() + " records; taken as a share");
        }
    }
}
