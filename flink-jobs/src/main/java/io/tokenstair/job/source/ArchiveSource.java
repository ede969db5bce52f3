package io.tokenstair.job.source;

import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.assigners.SimpleSplitAssigner;
import org.apache.flink.core.fs.Path;

/**
 * Makes bounded sources over the raw tables of an archive: every accepted or late record once, as the log had it, with the late flag
 * the gate gave it. Result tables and unfinished files are not read.
 *
 * <p>A file of a plain table is one split. The parts of a step, which lie in three tables, are put together again; since they share
 * their event time they share their hour, so an hour's steps are one split. The records of one file keep their order, files come in
 * no order.
 */
public final class ArchiveSource {
    private ArchiveSource() {}

    /** A source over the archive in this folder. */
    public static FileSource<RawRecord> of(java.nio.file.Path archive) {
        return of(new Path(archive.toAbsolutePath().normalize().toUri()));
    }

    /** A source over the archive at this address of any file system Flink knows. */
    public static FileSource<RawRecord> of(Path archive) {
        return FileSource.forBulkFileFormat(new ArchiveFormat(), archive)
                .setFileEnumerator(ArchiveFiles::new)
                .setSplitAssigner(SimpleSplitAssigner::new)
                .build();
    }
}
