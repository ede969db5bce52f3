package io.tokenstair.collect.trtllm;

import io.tokenstair.collect.engine.trtllm.TritonTraces;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Trace files of Triton ({@code --trace-config triton,file=...}, level TIMESTAMPS): an array of records, the numbered files of
 * {@code log-frequency} too. Files that another tool wrote anew, over several lines or with other fields first, are read as JSON.
 */
public final class TritonTraceImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "triton-trace";

    private static final String WANTED = "; name the file of tritonserver --trace-config triton,file=FILE";

    private final String engine;
    private final @Nullable String clock;

    /**
     * An import of such files.
     *
     * @param engine what to call the engine; null for triton
     * @param clock the clock of the stamps; null for one of their own
     */
    public TritonTraceImport(
            @Nullable String engine, @Nullable String clock, LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
        this.engine = engine == null ? "triton" : engine;
        this.clock = clock;
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String name = String.valueOf(file.getFileName());
        String source = name.length() > 160 ? name.substring(0, 160) : name;
        String clockId = clock == null ? "monotonic@" + source : clock;
        CollectorSpool events = spools.collector(FORMAT, FileDigest.of(file, engine, clock), clockId);
        TritonTraces traces = new TritonTraces(source, engine, clockId, events::add);
        if (!readAsWritten(file, reader, traces)) {
            readAsJson(file, reader, traces);
        }
        traces.end();
        if (reader.result(false).accepted() == 0 && reader.result(false).rejected() > 0) {
            throw new ImportException(file + ": no record of it is of a trace (id, model_name, timestamps)" + WANTED);
        }
        if (traces.requestCount() > 0) {
            note(name + ": " + traces.requestCount() + " requests, undated: stamps are of a monotonic clock; "
                    + traces.unnamedCount() + " without an id of their client's");
        }
        if (traces.tensorCount() > 0) {
            note(name + ": " + traces.tensorCount() + " tensors passed over");
        }
        if (traces.withoutModelCount() > 0) {
            note(name + ": " + traces.withoutModelCount()
                    + " traces without a model or its beginning: refused before, or in another file");
        }
        if (traces.contradictoryCount() > 0) {
            note(name + ": " + traces.contradictoryCount()
                    + " models with stamps in an order that cannot be: no durations of them");
        }
    }

    private boolean readAsWritten(Path file, RecordReader reader, TritonTraces traces) throws IOException {
        try (TritonRecords records = new TritonRecords(file, limits())) {
            if (!records.begins()) {
                return false;
            }
            String source = reader.sourceName(file);
            while (records.next()) {
                try {
                    if (records.tooLong()) {
                        throw new RejectedRecordException("a record longer than " + limits().lineBytes() + " bytes");
                    }
                    traces.accept(Fields.parse(records.bytes(), records.length()));
                    reader.accepted(null);
                } catch (RejectedRecordException e) {
                    reader.rejectedAt(source, records.offset(), e.reason(), null);
                }
            }
            String defect = records.defect();
            if (defect != null) {
                reader.rejected(source, null, defect, null);
            }
            return true;
        }
    }

    private static void readAsJson(Path file, RecordReader reader, TritonTraces traces)
            throws IOException, ImportException {
        try {
            reader.readObjects(file, record -> {
                traces.accept(record);
                return null;
            });
        } catch (RejectedRecordException e) {
            throw new ImportException(file + ": " + e.reason() + WANTED);
        }
    }
}
