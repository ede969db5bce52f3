package io.tokenstair.archive;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.parquet.HadoopFreeReadOptions;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.VersionParser;
import org.apache.parquet.VersionParser.ParsedVersion;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.DelegatingSeekableInputStream;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/**
 * One Parquet file, read row by row through a cursor per wanted column. Columns are found by their permanent id, or by name where
 * a file has no ids; columns of the file that are not wanted are not read; wanted columns that the file lacks are absent.
 */
final class ParquetInput implements Closeable {
    private final String name;
    private final SeekableInput input;
    private final ParquetFileReader file;
    private final ColumnCursor[] cursors;
    private final @Nullable ColumnDescriptor[] leaves;
    private final @Nullable ParsedVersion writerVersion;
    private long rowsLeft;

    private ParquetInput(
            String name,
            SeekableInput input,
            ParquetFileReader file,
            ColumnCursor[] cursors,
            @Nullable ColumnDescriptor[] leaves,
            @Nullable ParsedVersion writerVersion) {
        this.name = name;
        this.input = input;
        this.file = file;
        this.cursors = cursors;
        this.leaves = leaves;
        this.writerVersion = writerVersion;
    }

    static ParquetInput open(Path path, List<Column> columns) {
        SeekableInput input;
        try {
            input = SeekableInput.of(path);
        } catch (IOException e) {
            throw new ArchiveException("Cannot open file " + path + ": " + e.getMessage(), e);
        }
        return open(input, columns);
    }

    static ParquetInput open(SeekableInput input, List<Column> columns) {
        String name = input.name();
        ParquetFileReader file = null;
        try {
            file = ParquetFileReader.open(new InputAdapter(input, name), readOptions());
            return start(name, input, file, columns);
        } catch (IOException | RuntimeException | NoClassDefFoundError e) {
            try {
                if (file != null) {
                    file.close();
                }
                input.close();
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw broken(name, e);
        }
    }

    /** How many rows a local file has, by its footer. */
    static long rowCount(Path path) {
        try (SeekableInput input = SeekableInput.of(path);
                ParquetFileReader file =
                        ParquetFileReader.open(new InputAdapter(input, path.toString()), readOptions())) {
            return file.getRecordCount();
        } catch (IOException | RuntimeException | NoClassDefFoundError e) {
            throw broken(path.toString(), e);
        }
    }

    private static ParquetReadOptions readOptions() {
        return HadoopFreeReadOptions.of(new PageCompression());
    }

    private static ParquetInput start(String name, SeekableInput input, ParquetFileReader file, List<Column> columns) {
        MessageType schema = file.getFileMetaData().getSchema();
        @Nullable ColumnDescriptor[] leaves = new @Nullable ColumnDescriptor[columns.size()];
        ColumnCursor[] cursors = new ColumnCursor[columns.size()];
        List<Type> wanted = new ArrayList<>();
        for (int i = 0; i < leaves.length; i++) {
            Column column = columns.get(i);
            Type field = find(schema, column);
            if (field == null) {
                if (!column.optional() && !column.type().isList()) {
                    throw new ArchiveException("Cannot read file " + name + ": it has no column " + column.name()
                            + " (field id " + column.id()
                            + "). It was written by another program or is of another table:"
                            + " move it out of the archive, or write the archive anew.");
                }
                cursors[i] = new ColumnCursor(name, column, 0);
                continue;
            }
            wanted.add(field);
            leaves[i] = leaf(name, schema, column, field);
            cursors[i] = new ColumnCursor(name, column, field.isRepetition(Type.Repetition.OPTIONAL) ? 2 : 1);
        }
        file.setRequestedSchema(new MessageType(schema.getName(), wanted));
        return new ParquetInput(
                name,
                input,
                file,
                cursors,
                leaves,
                versionOf(file.getFileMetaData().getCreatedBy()));
    }

    private static @Nullable ParsedVersion versionOf(@Nullable String createdBy) {
        if (createdBy == null) {
            return null;
        }
        try {
            return VersionParser.parse(createdBy);
        } catch (VersionParser.VersionParseException | RuntimeException e) {
            return null;
        }
    }

    private static @Nullable Type find(MessageType schema, Column column) {
        Type byName = null;
        for (Type field : schema.getFields()) {
            if (field.getId() != null) {
                if (field.getId().intValue() == column.id()) {
                    return field;
                }
            } else if (field.getName().equals(column.name())) {
                byName = field;
            }
        }
        return byName;
    }

    private static ColumnDescriptor leaf(String name, MessageType schema, Column column, Type field) {
        ColumnDescriptor leaf = null;
        for (ColumnDescriptor candidate : schema.getColumns()) {
            if (candidate.getPath()[0].equals(field.getName())) {
                if (leaf != null) {
                    throw wrongType(name, column, field);
                }
                leaf = candidate;
            }
        }
        if (leaf == null || leaf.getMaxRepetitionLevel() != (column.type().isList() ? 1 : 0)) {
            throw wrongType(name, column, field);
        }
        if (!column.type().isList() && !field.isPrimitive()) {
            throw wrongType(name, column, field);
        }
        PrimitiveTypeName found = leaf.getPrimitiveType().getPrimitiveTypeName();
        PrimitiveTypeName expected = column.type().primitive();
        boolean widens = expected == PrimitiveTypeName.INT64 && found == PrimitiveTypeName.INT32;
        if (found != expected && !widens) {
            throw wrongType(name, column, field);
        }
        return leaf;
    }

    private static ArchiveException wrongType(String name, Column column, Type field) {
        return new ArchiveException("Cannot read file " + name + ": column " + column.name() + " is "
                + field.toString().replaceAll("\\s+", " ") + ", expected "
                + column.type().sqlName() + ". Move the file out of the archive, or write the archive anew.");
    }

    /** Steps to the next row; its values are then taken from the cursors, each once. False at the end. */
    boolean next() {
        if (rowsLeft == 0) {
            try {
                PageReadStore group;
                do {
                    group = file.readNextRowGroup();
                } while (group != null && group.getRowCount() == 0);
                if (group == null) {
                    return false;
                }
                rowsLeft = group.getRowCount();
                for (int i = 0; i < cursors.length; i++) {
                    ColumnDescriptor leaf = leaves[i];
                    if (leaf != null) {
                        cursors[i].start(leaf, group, writerVersion);
                    }
                }
            } catch (IOException | RuntimeException | NoClassDefFoundError e) {
                throw broken(name, e);
            }
        }
        rowsLeft--;
        return true;
    }

    ColumnCursor column(int index) {
        return cursors[index];
    }

    String name() {
        return name;
    }

    /**
     * An error of reading as an error that people can act on. Parquet names a damaged file by a Hadoop path: without Hadoop the
     * error it meant to throw arrives as a missing class.
     */
    static ArchiveException broken(String name, Throwable cause) {
        if (cause instanceof ArchiveException known) {
            return known;
        }
        String reason = cause instanceof NoClassDefFoundError
                ? "a part of it is damaged"
                : Objects.requireNonNullElse(
                        cause.getMessage(), cause.getClass().getSimpleName());
        return new ArchiveException(
                "Cannot read file " + name + ": it is no complete Parquet file (" + reason
                        + "). Delete it or move it out of the archive and write it anew from its source.",
                cause);
    }

    @Override
    public void close() throws IOException {
        file.close();
        input.close();
    }

    /** A seekable input as a Parquet input. */
    private static final class InputAdapter implements InputFile {
        private final SeekableInput input;
        private final String name;

        InputAdapter(SeekableInput input, String name) {
            this.input = input;
            this.name = name;
        }

        @Override
        public long getLength() throws IOException {
            return input.length();
        }

        @Override
        public SeekableInputStream newStream() {
            InputStream stream = new InputStream() {
                @Override
                public int read() throws IOException {
                    byte[] one = new byte[1];
                    int count = input.read(one, 0, 1);
                    return count < 0 ? -1 : one[0] & 0xff;
                }

                @Override
                public int read(byte[] into, int offset, int length) throws IOException {
                    return length == 0 ? 0 : input.read(into, offset, length);
                }
            };
            return new DelegatingSeekableInputStream(stream) {
                @Override
                public long getPos() throws IOException {
                    return input.position();
                }

                @Override
                public void seek(long position) throws IOException {
                    input.seek(position);
                }
            };
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
