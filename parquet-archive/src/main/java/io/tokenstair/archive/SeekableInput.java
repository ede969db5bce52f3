package io.tokenstair.archive;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/** Bytes that can be read from any position, so that a file of any file system can be read as a table. */
public interface SeekableInput extends Closeable {

    /** What messages call the input: its path or address. */
    default String name() {
        return "(an input without a name)";
    }

    /** Length of the whole input, in bytes. */
    long length() throws IOException;

    /** The next read starts at this byte, from 0. */
    void seek(long position) throws IOException;

    /** Position of the next read, in bytes from 0. */
    long position() throws IOException;

    /** Reads at most {@code length} bytes; -1 at the end, as an {@link java.io.InputStream} does. */
    int read(byte[] into, int offset, int length) throws IOException;

    /** Called once by the reader that owns the input. */
    @Override
    default void close() throws IOException {}

    /** A local file. */
    static SeekableInput of(Path path) throws IOException {
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "r");
        return new SeekableInput() {
            @Override
            public String name() {
                return path.toString();
            }

            @Override
            public long length() throws IOException {
                return file.length();
            }

            @Override
            public void seek(long position) throws IOException {
                file.seek(position);
            }

            @Override
            public long position() throws IOException {
                return file.getFilePointer();
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                return file.read(into, offset, length);
            }

            @Override
            public void close() throws IOException {
                file.close();
            }
        };
    }
}
