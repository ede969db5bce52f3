package io.tokenstair.archive;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnWriteStore;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.crypto.FileEncryptionProperties;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.PositionOutputStream;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/**
 * One Parquet file, written column by column: the caller writes the same number of rows into every column, then calls
 * {@link #endRows}. Row groups are cut there only, so rows written together stay in one row group. The stream is flushed by its
 * owner and never closed here.
 */
final class ParquetOutput {
    /** Version of what the tables mean, in every footer. */
    static final int SCHEMA_VERSION = 1;

    private static final String WRITER = writerName();
    private static final long ROW_GROUP_BYTES = 64L << 20;
    private static final int PAGE_BYTES = 1 << 20;
    private static final int ROWS_PER_SIZE_CHECK = 1024;

    /** Sizes a bloom filter of a few dozen KB; Parquet leaves it out where a dictionary holds every value. */
    private static final long EXPECTED_DISTINCT_IDS = 20_000;

    private final MessageType schema;
    private final ParquetProperties properties;
    private final ParquetFileWriter file;
    private final Map<String, String> footer;
    private ColumnChunkPageWriteStore pages;
    private ColumnWriteStore store;
    private ColumnWriter[] writers;
    private long groupRows;
    private long nextSizeCheckRows = ROWS_PER_SIZE_CHECK;

    private ParquetOutput(
            MessageType schema, ParquetProperties properties, ParquetFileWriter file, Map<String, String> footer) {
        this.schema = schema;
        this.properties = properties;
        this.file = file;
        this.footer = footer;
        this.pages = newPages();
        this.store = properties.newColumnWriteStore(schema, pages, pages);
        this.writers = newWriters();
    }

    /** Starts a file. */
    static ParquetOutput open(String table, List<Column> columns, OutputStream out) throws IOException {
        MessageType schema =
                new MessageType(table, columns.stream().map(Column::field).toArray(Type[]::new));
        ParquetProperties properties = properties(columns);
        ParquetFileWriter file = new ParquetFileWriter(
                new StreamOutput(out),
                schema,
                ParquetFileWriter.Mode.CREATE,
                ROW_GROUP_BYTES,
                0,
                noEncryption(),
                properties);
        file.start();
        Map<String, String> footer = new TreeMap<>();
        footer.put("tokenstair.schema.version", Integer.toString(SCHEMA_VERSION));
        footer.put("tokenstair.writer", WRITER);
        footer.put("tokenstair.table", table);
        return new ParquetOutput(schema, properties, file, footer);
    }

    /** The writer of a column; it changes with the row group, so it is asked for anew after every {@link #endRows}. */
    ColumnWriter column(int index) {
        return writers[index];
    }

    /** Ends {@code rows} rows, of which every column has got its values. */
    void endRows(int rows) throws IOException {
        for (int i = 0; i < rows; i++) {
            store.endRecord();
        }
        groupRows += rows;
        if (groupRows >= nextSizeCheckRows) {
            nextSizeCheckRows = groupRows + ROWS_PER_SIZE_CHECK;
            if (store.getBufferedSize() > ROW_GROUP_BYTES) {
                endGroup();
                startGroup();
            }
        }
    }

    /** Writes what is buffered and the footer. */
    void finish() throws IOException {
        endGroup();
        file.end(footer);
    }

    private void startGroup() {
        pages = newPages();
        store = properties.newColumnWriteStore(schema, pages, pages);
        writers = newWriters();
        groupRows = 0;
        nextSizeCheckRows = ROWS_PER_SIZE_CHECK;
    }

    private void endGroup() throws IOException {
        if (groupRows > 0) {
            file.startBlock(groupRows);
            store.flush();
            pages.flushToFileWriter(file);
            file.endBlock();
        }
        store.close();
        pages.close();
    }

    private ColumnChunkPageWriteStore newPages() {
        return new ColumnChunkPageWriteStore(
                new PageCompression().getCompressor(CompressionCodecName.ZSTD),
                schema,
                properties.getAllocator(),
                properties.getColumnIndexTruncateLength(),
                true);
    }

    private ColumnWriter[] newWriters() {
        List<ColumnDescriptor> leaves = schema.getColumns();
        ColumnWriter[] result = new ColumnWriter[leaves.size()];
        for (int i = 0; i < result.length; i++) {
            result[i] = store.getColumnWriter(leaves.get(i));
        }
        return result;
    }

    private static ParquetProperties properties(List<Column> columns) {
        ParquetProperties.Builder builder = ParquetProperties.builder()
                .withWriterVersion(ParquetProperties.WriterVersion.PARQUET_2_0)
                .withPageSize(PAGE_BYTES)
                .withPageWriteChecksumEnabled(true)
                .withSizeStatisticsEnabled(false);
        for (Column column : columns) {
            if (column.risesOrScatters()) {
                String path = column.type().isList() ? column.name() + ".list.element" : column.name();
                builder.withDictionaryEncoding(path, false);
            }
            if (column.type() == ColumnType.STRING && !column.isLookedUp()) {
                // The smallest and largest of few names skip no page, and cost two comparisons a row.
                builder.withStatisticsEnabled(column.name(), false);
            }
            if (column.isLookedUp()) {
                builder.withBloomFilterEnabled(column.name(), true)
                        .withBloomFilterNDV(column.name(), EXPECTED_DISTINCT_IDS);
            }
        }
        return builder.build();
    }

    @SuppressWarnings("NullAway") // Parquet takes null for a file that is not encrypted
    private static FileEncryptionProperties noEncryption() {
        return null;
    }

    private static String writerName() {
        Properties properties = new Properties();
        try (InputStream in = Objects.requireNonNull(ParquetOutput.class.getResourceAsStream("archive.properties"))) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the archive's own archive.properties", e);
        }
        return properties.getProperty("writer", "tokenstair");
    }

    /** A stream as a Parquet output: counts its own position, leaves closing to the owner. */
    private static final class StreamOutput implements OutputFile {
        private final OutputStream out;

        StreamOutput(OutputStream out) {
            this.out = out;
        }

        @Override
        public PositionOutputStream create(long blockSizeHint) {
            return new PositionOutputStream() {
                private long position;

                @Override
                public long getPos() {
                    return position;
                }

                @Override
                public void write(int b) throws IOException {
                    out.write(b);
                    position++;
                }

                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    out.write(bytes, offset, length);
                    position += length;
                }

                @Override
                public void flush() throws IOException {
                    out.flush();
                }
            };
        }

        @Override
        public PositionOutputStream createOrOverwrite(long blockSizeHint) {
            return create(blockSizeHint);
        }

        @Override
        public boolean supportsBlockSize() {
            return false;
        }

        @Override
        public long defaultBlockSize() {
            return 0;
        }
    }
}
