package io.tokenstair.archive;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Reads one file of a raw table back as log records, in the order of the file. For the three tables of steps each record is the
 * part of the step that the table holds; the bytes of the parts with one header, one after the other, are the whole step.
 */
public final class RawTableReader implements Iterator<RawRow>, Closeable {
    private final ParquetInput in;
    private final RawForm.RowReader reader;
    private @Nullable RawRow next;
    private boolean ended;

    private RawTableReader(ParquetInput in, RawForm.RowReader reader) {
        this.in = in;
        this.reader = reader;
    }

    /**
     * Opens a local file.
     *
     * @throws ArchiveException when it cannot be read or is no complete file of this table
     */
    public static RawTableReader open(String table, Path file) {
        RawForm form = RawTables.form(table);
        ParquetInput in = ParquetInput.open(file, form.columns());
        return new RawTableReader(in, form.newReader(in));
    }

    /**
     * Opens a file of any file system; {@link #close} closes the input too.
     *
     * @throws ArchiveException when it cannot be read or is no complete file of this table
     */
    public static RawTableReader open(String table, SeekableInput input) {
        RawForm form = RawTables.form(table);
        ParquetInput in = ParquetInput.open(input, form.columns());
        return new RawTableReader(in, form.newReader(in));
    }

    @Override
    public boolean hasNext() {
        if (next == null && !ended) {
            try {
                next = reader.next();
            } catch (RuntimeException | NoClassDefFoundError e) {
                throw ParquetInput.broken(in.name(), e);
            }
            ended = next == null;
        }
        return next != null;
    }

    @Override
    public RawRow next() {
        if (!hasNext() || next == null) {
            throw new NoSuchElementException("Cannot read past the last row of " + in.name());
        }
        RawRow row = next;
        next = null;
        return row;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
