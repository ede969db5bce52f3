package io.tokenstair.job.source;

import io.tokenstair.archive.RawTableReader;
import io.tokenstair.archive.SeekableInput;
import java.io.IOException;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/** A file of an archive on any file system Flink knows, as the archive's readers want it. */
final class ArchiveFile implements SeekableInput {
    private final Path path;
    private final long length;
    private final FSDataInputStream in;

    private ArchiveFile(Path path) throws IOException {
        FileSystem files = path.getFileSystem();
        this.path = path;
        this.length = files.getFileStatus(path).getLen();
        this.in = files.open(path);
    }

    /** Opens a file of the raw table its path names. */
    static RawTableReader open(Path path) throws IOException {
        return RawTableReader.open(ArchiveFiles.table(path), new ArchiveFile(path));
    }

    @Override
    public String name() {
        return path.toString();
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public void seek(long position) throws IOException {
        in.seek(position);
    }

    @Override
    public long position() throws IOException {
        return in.getPos();
    }

    @Override
    public int read(byte[] into, int offset, int count) throws IOException {
        return in.read(into, offset, count);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
