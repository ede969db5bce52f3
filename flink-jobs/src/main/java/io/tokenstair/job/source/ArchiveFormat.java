package io.tokenstair.job.source;

import io.tokenstair.archive.RawRow;
import io.tokenstair.archive.RawTableReader;
import java.io.Closeable;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.ArrayResultIterator;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.core.fs.Path;
import org.jspecify.annotations.Nullable;

/** Reads the splits of {@link ArchiveFiles} as raw records. A split is read whole; its position is the number of records read. */
final class ArchiveFormat implements BulkFormat<RawRecord, FileSourceSplit> {
    private static final long serialVersionUID = 1L;
    private static final int BATCH_RECORDS = 512;

    @Override
    public BulkFormat.Reader<RawRecord> createReader(Configuration settings, FileSourceSplit split) throws IOException {
        return open(split.path());
    }

    @Override
    public BulkFormat.Reader<RawRecord> restoreReader(Configuration settings, FileSourceSplit split)
            throws IOException {
        Batches batches = open(split.path());
        long read = split.getReaderPosition()
                .map(CheckpointedPosition::getRecordsAfterOffset)
                .orElse(0L);
        batches.skip(read);
        return batches;
    }

    private static Batches open(Path path) throws IOException {
        if (ArchiveFiles.STEP_TABLES.contains(ArchiveFiles.table(path))) {
            return new Batches(new StepParts(path), "steps of " + path.getName());
        }
        RawTableReader reader = ArchiveFile.open(path);
        return new Batches(
                new Rows() {
                    @Override
                    public @Nullable RawRow next() {
                        return reader.hasNext() ? reader.next() : null;
                    }

                    @Override
                    public void close() throws IOException {
                        reader.close();
                    }
                },
                path.getName());
    }

    @Override
    public boolean isSplittable() {
        return false;
    }

    @Override
    public TypeInformation<RawRecord> getProducedType() {
        return RawRecordTypeInfo.INSTANCE;
    }

    /** Rows of raw tables, one after the other. */
    interface Rows extends Closeable {
        /** The next row; null at the end. */
        @Nullable
        RawRow next() throws IOException;
    }

    /** The rows of a split as raw records, a batch at a time. */
    private static final class Batches implements BulkFormat.Reader<RawRecord> {
        private final Rows rows;
        private final String origin;
        private long ordinal;

        private Batches(Rows rows, String origin) {
            this.rows = rows;
            this.origin = origin;
        }

        private void skip(long records) throws IOException {
            for (long left = records; left > 0 && rows.next() != null; left--) {
                ordinal++;
            }
        }

        @Override
        @SuppressWarnings("NullAway") // Flink wants null at the end.
        public BulkFormat.RecordIterator<RawRecord> readBatch() throws IOException {
            long before = ordinal;
            RawRecord[] batch = new RawRecord[BATCH_RECORDS];
            int count = 0;
            while (count < BATCH_RECORDS) {
                RawRow row = rows.next();
                if (row == null) {
                    break;
                }
                RawRecord record = RawRecord.of(row.wireBytes(), origin, ordinal++);
                record.late = row.late();
                batch[count++] = record;
            }
            if (count == 0) {
                return null;
            }
            ArrayResultIterator<RawRecord> records = new ArrayResultIterator<>();
            records.set(batch, count, CheckpointedPosition.NO_OFFSET, before);
            return records;
        }

        @Override
        public void close() throws IOException {
            rows.close();
        }
    }
}
