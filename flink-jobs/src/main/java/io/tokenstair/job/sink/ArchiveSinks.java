package io.tokenstair.job.sink;

import io.tokenstair.archive.RawTableWriter;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.TableWriter;
import java.io.IOException;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Makes sinks into the tables of an archive. A file appears with the checkpoint that closes it, whole and once; without
 * checkpoints, in batch, at the end. What a crash leaves behind has a name that begins with a dot and is read by nobody.
 */
public final class ArchiveSinks {
    private ArchiveSinks() {}

    /** The sink of all raw tables of the archive in this folder. */
    public static FileSink<RawArchiveRow> raw(java.nio.file.Path archive) {
        return raw(address(archive));
    }

    /** The sink of all raw tables of the archive at this address of any file system Flink knows. */
    public static FileSink<RawArchiveRow> raw(Path archive) {
        return FileSink.forBulkFormat(archive, RawFileWriter::new)
                .withBucketAssigner(new HourBuckets<>(
                        RawArchiveRow::table, row -> row.event().header().coarseEpochMillis()))
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .withOutputFileConfig(names())
                .build();
    }

    /** The sink of one result table of the archive in this folder. */
    public static <R extends Record> FileSink<R> result(
            java.nio.file.Path archive, TableSchema<R> schema, RowTime<R> time) {
        return result(address(archive), schema, time);
    }

    /** The sink of one result table of the archive at this address of any file system Flink knows. */
    public static <R extends Record> FileSink<R> result(Path archive, TableSchema<R> schema, RowTime<R> time) {
        String table = schema.table();
        Class<R> type = schema.recordType();
        BulkWriter.Factory<R> files =
                out -> new ResultFileWriter<>(TableWriter.open(TableSchema.of(table, type), out), out);
        return FileSink.forBulkFormat(archive, files)
                .withBucketAssigner(new HourBuckets<>(row -> table, time))
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .withOutputFileConfig(names())
                .build();
    }

    private static Path address(java.nio.file.Path archive) {
        return new Path(archive.toAbsolutePath().normalize().toUri());
    }

    private static OutputFileConfig names() {
        return OutputFileConfig.builder()
                .withPartPrefix("part")
                .withPartSuffix(".parquet")
                .build();
    }

    /** One file of a raw table. Which table is known with the first row: the rows of a folder have the same. */
    private static final class RawFileWriter implements BulkWriter<RawArchiveRow> {
        private final FSDataOutputStream out;
        private @Nullable RawTableWriter writer;

        private RawFileWriter(FSDataOutputStream out) {
            this.out = out;
        }

        @Override
        public void addElement(RawArchiveRow row) throws IOException {
            if (writer == null) {
                writer = RawTableWriter.open(row.table(), out);
            }
            writer.write(row.event(), row.late());
        }

        @Override
        public void flush() {
            // A Parquet file is written when it is finished.
        }

        @Override
        public void finish() throws IOException {
            if (writer != null) {
                writer.finish();
            }
            out.flush();
        }
    }

    /** One file of a result table. */
    private static final class ResultFileWriter<R extends Record> implements BulkWriter<R> {
        private final TableWriter<R> writer;
        private final FSDataOutputStream out;

        private ResultFileWriter(TableWriter<R> writer, FSDataOutputStream out) {
            this.writer = writer;
            this.out = out;
        }

        @Override
        public void addElement(R row) throws IOException {
            writer.write(row);
        }

        @Override
        public void flush() {
            // A Parquet file is written when it is finished.
        }

        @Override
        public void finish() throws IOException {
            writer.finish();
            out.flush();
        }
    }
}
