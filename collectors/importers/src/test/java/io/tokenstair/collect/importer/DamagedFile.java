package io.tokenstair.collect.importer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Path;

/** What became of files that something happened to: each was read, every record of it accepted or rejected, or it was refused in one line. */
final class DamagedFile {
    /** Takes what an importer says, and says nothing. */
    static final ImportListener SILENT = new ImportListener() {
        @Override
        public void progress(String layer, long read) {}

        @Override
        public void missing(String layer, String files, Path missingIn) {}
    };

    private final Path file;
    private final Path log;
    private long read;
    private long rejected;
    private int refused;

    /** A file that is written again and again, and the log of what it holds. */
    DamagedFile(Path file, Path log) {
        this.file = file;
        this.log = log;
    }

    /** Reads the file as it is now. Without the log, which is written as for any input. */
    void read(FileImport importer) throws IOException {
        try (EventSpools spools = new EventSpools(log)) {
            RecordReader reader = new RecordReader(
                    "mutated",
                    path -> "input",
                    () -> null,
                    LineSource.Limits.DEFAULT,
                    spools.collector("rejects", 1, "none"),
                    count -> {});
            importer.read(file, 0, reader, spools);
            LayerCount count = reader.result(false);
            assertThat(count.read()).isEqualTo(count.accepted() + count.rejected());
            read += count.read();
            rejected += count.rejected();
        } catch (ImportException e) {
            refused++;
            assertThat(e.getMessage()).doesNotContain("\n");
        }
    }

    /** Records of all files that were read. */
    long read() {
        return read;
    }

    /** Those of them that were rejected. */
    long rejected() {
        return rejected;
    }

    /** Files that were refused. */
    int refused() {
        return refused;
    }
}
