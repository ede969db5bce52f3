package io.tokenstair.archive;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of one file of a table, in the order of the file. Columns that the file does not have yet are absent, columns that
 * this version does not know are ignored.
 *
 * @param <R> the rows
 */
public final class TableReader<R extends Record> implements Iterator<R>, Closeable {
    private final TableSchema<R> schema;
    private final ParquetInput in;
    private @Nullable R next;
    private boolean ended;

    private TableReader(TableSchema<R> schema, ParquetInput in) {
        this.schema = schema;
        this.in = in;
    }

    /**
     * Opens a local file.
     *
     * @throws ArchiveException when it cannot be read or is no complete file of this table
     */
    public static <R extends Record> TableReader<R> open(TableSchema<R> schema, Path file) {
        return new TableReader<>(schema, ParquetInput.open(file, schema.columns()));
    }

    /**
     * Opens a file of any file system; {@link #close} closes the input too.
     *
     * @throws ArchiveException when it cannot be read or is no complete file of this table
     */
    public static <R extends Record> TableReader<R> open(TableSchema<R> schema, SeekableInput input) {
        return new TableReader<>(schema, ParquetInput.open(input, schema.columns()));
    }

    @Override
    public boolean hasNext() {
        if (next == null && !ended) {
            try {
                if (in.next()) {
                    next = schema.recordColumns().read(in, 0);
                } else {
                    ended = true;
                }
            } catch (RuntimeException | NoClassDefFoundError e) {
                throw ParquetInput.broken(in.name(), e);
            }
        }
        return next != null;
    }

    @Override
    public R next() {
        if (!hasNext() || next == null) {
            throw new NoSuchElementException("Cannot read past the last row of " + in.name());
        }
        R row = next;
        next = null;
        return row;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
