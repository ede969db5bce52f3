package io.tokenstair.collect.trtllm;

import io.tokenstair.collect.engine.trtllm.Iterations;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.SequenceLedger;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Iteration statistics of TensorRT-LLM ({@code GET /metrics} of trtllm-serve): an object an iteration, in arrays as they were polled or a
 * line each. With {@code requestStats} a step has a row per scheduled request, without them counts only. A stamp is local time of an unknown
 * zone: it orders and spaces iterations, and dates nothing. One of whole seconds, or none, does not space them: then each begins where the
 * one before ended.
 */
public final class IterationsImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "trtllm-iterations";

    private final String engine;

    /**
     * An import of such statistics.
     *
     * @param engine what to call the engine; null for trtllm
     */
    public IterationsImport(@Nullable String engine, LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
        this.engine = engine == null ? "trtllm" : engine;
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String name = String.valueOf(file.getFileName());
        String source = name.length() > 160 ? name.substring(0, 160) : name;
        CollectorSpool events =
                spools.collector("trtllm-iterations", FileDigest.of(file, engine), source + "/iterations");
        Iterations iterations = new Iterations(source, engine, events::add);
        try {
            reader.readObjects(file, iteration -> {
                iterations.accept(iteration);
                return null;
            });
        } catch (RejectedRecordException e) {
            throw new ImportException(file + ": " + e.reason() + "; name what GET /metrics of trtllm-serve answered");
        }
        if (!iterations.isRecognized() && reader.result(false).rejected() > 0) {
            throw new ImportException(file + ": no object of it is an iteration (iter, iterLatencyMS); name what GET"
                    + " /metrics of trtllm-serve answered");
        }
        for (SequenceLedger.Missing run : iterations.takeMissing()) {
            reader.lost(reader.sourceName(file), run.first(), run.last(), run.clockNanos(), null);
        }
        if (iterations.knownCount() > 0 && iterations.isBackToBack()) {
            note(name + ": iterations without stamps finer than a second: each begins where the one before ended");
        }
    }
}
