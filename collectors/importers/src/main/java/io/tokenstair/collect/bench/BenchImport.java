package io.tokenstair.collect.bench;

import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.JsonObjects;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Imports what a benchmark client wrote: runs with the chunks of each answer, runs of which there are only aggregates, and records of
 * requests with the engine's own stamps. A file holds one run, or one a line. What is counted is requests; a run without any counts as one.
 */
public final class BenchImport extends FileImport {
    /** Whose results. */
    public enum Tool {
        /** {@code vllm bench serve --save-result}. */
        VLLM("vllm-bench", "a result that vllm bench serve --save-result wrote"),
        /** {@code python -m sglang.bench_serving --output-file}. */
        SGLANG("sglang-bench", "a file that sglang.bench_serving --output-file wrote");

        private final String format;
        private final String file;

        Tool(String format, String file) {
            this.format = format;
            this.file = file;
        }

        String format() {
            return format;
        }
    }

    private final Tool tool;

    /** An import of this tool's results. */
    public BenchImport(Tool tool, LineSource.Limits limits, ImportListener listener) {
        super(tool.format, limits, listener);
        this.tool = tool;
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String source = String.valueOf(file.getFileName());
        CollectorSpool events = spools.collector(tool.format, FileDigest.of(file), source);
        BenchFile taken = new BenchFile(tool, source, folderAnd(file), reader, events);
        try (JsonObjects objects = new JsonObjects(file, limits())) {
            objects(objects, taken, reader, source);
            String defect = objects.defect();
            if (defect != null) {
                reader.rejected(source, null, defect, null);
            }
        } catch (RejectedRecordException e) {
            throw new ImportException(file + ": " + e.reason() + "; name " + tool.file);
        }
        if (!taken.anyKnown() && taken.firstUnknown() != null) {
            throw new ImportException(file + ": " + taken.firstUnknown() + "; name " + tool.file);
        }
        taken.notes().forEach(this::note);
    }

    private void objects(JsonObjects objects, BenchFile taken, RecordReader reader, String source) throws IOException {
        while (true) {
            boolean whole = false;
            try {
                if (!objects.next()) {
                    return;
                }
                BenchObject object = BenchObject.read(objects.parser());
                if (object.defect() != null && objects.cutByFirstLine()) {
                    objects.rereadWhole();
                    continue;
                }
                whole = object.defect() == null;
                taken.accept(object, objects.lineNumber());
                if (object.defect() != null && !objects.goesOn()) {
                    return;
                }
            } catch (RejectedRecordException e) {
                reader.rejected(source, objects.lineNumber(), e.reason(), null);
                if (!whole && !objects.goesOn()) {
                    return;
                }
            }
        }
    }

    /** The file with the folder it lies in, which tells runs of equal file names apart. */
    private static String folderAnd(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        Path name = folder == null ? null : folder.getFileName();
        return (name == null ? "" : name + "/") + file.getFileName();
    }
}
