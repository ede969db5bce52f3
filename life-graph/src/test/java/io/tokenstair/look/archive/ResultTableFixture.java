package io.tokenstair.look.archive;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.TableWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes rows of a result table as one file of an archive. */
public final class ResultTableFixture {
    private ResultTableFixture() {}

    /** Writes the rows into the folder of an event time; null for undated. */
    public static <R extends Record> void write(
            Path archive, TableSchema<R> schema, @Nullable Long epochMillis, List<R> rows) {
        Path folder = archive.resolve(ArchiveLayout.bucket(schema.table(), epochMillis));
        try {
            Files.createDirectories(folder);
            try (OutputStream out = Files.newOutputStream(folder.resolve("part-0.parquet"))) {
                TableWriter<R> writer = TableWriter.open(schema, out);
                for (R row : rows) {
                    writer.write(row);
                }
                writer.finish();
            }
        } catch (IOException failure) {
            throw new UncheckedIOException("Cannot write table: " + schema, failure);
        }
    }
}
