package io.tokenstair.collect.input;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a plain or gzipped file, bounded: a line longer than {@link Limits#lineBytes()} is skipped and reported, a gzipped
 * file is read up to {@link Limits#unzippedBytes()}. A gzip stream that is cut or damaged ends the file early; {@link #defect()}
 * then says so. Blank lines are passed over.
 */
public final class LineSource implements Closeable {
    /**
     * What a file may hold.
     *
     * @param lineBytes longest line that is taken, in bytes
     * @param unzippedBytes most bytes taken out of one gzipped file
     */
    public record Limits(int lineBytes, long unzippedBytes) {
        /** 8 MiB a line, 2 GiB out of a gzipped file. */
        public static final Limits DEFAULT = new Limits(8 << 20, 2L << 30);
    }

    private static final int BUFFER_BYTES = 1 << 16;

    private final Path file;
    private final Limits limits;
    private final UnzippedFile in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int filled;
    private byte[] line = new byte[1 << 12];
    private int lineLength;
    private boolean tooLong;
    private long lineNumber;

    /** Opens a file, gzipped or not. */
    public LineSource(Path file, Limits limits) throws IOException {
        this.file = file;
        this.limits = limits;
        this.in = UnzippedFile.ofText(file, limits.unzippedBytes());
    }

    /**
     * Moves to the next line that is not blank.
     *
     * @return false at the end of the file; a cut last line is a line, unless the gzip stream itself was cut: then it is left out
     *     and {@link #defect()} speaks for both
     */
    public boolean next() throws IOException {
        while (true) {
            lineLength = 0;
            tooLong = false;
            boolean ended = readLine();
            if (ended && (defect() != null || (lineLength == 0 && !tooLong))) {
                return false;
            }
            lineNumber++;
            if (lineNumber == 1) {
                skipMark();
            }
            if (lineLength > 0 && line[lineLength - 1] == '\r') {
                lineLength--;
            }
            if (tooLong || !blank()) {
                return true;
            }
            if (ended) {
                return false;
            }
        }
    }

    /** The mark with which some programs begin a file of UTF-8 is no text of its first line. */
    private void skipMark() {
        int mark = UnzippedFile.markLength(line, lineLength);
        lineLength -= mark;
        System.arraycopy(line, mark, line, 0, lineLength);
    }

    private boolean readLine() throws IOException {
        while (true) {
            if (position == filled && !fill()) {
                return true;
            }
            int from = position;
            while (position < filled && buffer[position] != '\n') {
                position++;
            }
            keep(from, position);
            if (position < filled) {
                position++;
                return false;
            }
        }
    }

    private void keep(int from, int to) {
        int length = to - from;
        if (tooLong || lineLength + length > limits.lineBytes()) {
            int room = Math.max(0, Math.min(length, 4096 - lineLength));
            if (!tooLong && room > 0) {
                append(from, room);
            }
            tooLong = true;
            return;
        }
        append(from, length);
    }

    private void append(int from, int length) {
        if (lineLength + length > line.length) {
            line = Arrays.copyOf(line, Math.max(line.length * 2, lineLength + length));
        }
        System.arraycopy(buffer, from, line, lineLength, length);
        lineLength += length;
    }

    private boolean fill() throws IOException {
        filled = Math.max(0, in.read(buffer, 0, buffer.length));
        position = 0;
        return filled > 0;
    }

    private boolean blank() {
        for (int i = 0; i < lineLength; i++) {
            if (line[i] != ' ' && line[i] != '\t') {
                return false;
            }
        }
        return true;
    }

    /** Number of the current line, from 1; after the end, the number of lines. */
    public long lineNumber() {
        return lineNumber;
    }

    /** True when the current line is longer than taken; {@link #bytes()} then holds only its start. */
    public boolean tooLong() {
        return tooLong;
    }

    /** The current line without its end; valid until the next call of {@link #next()}, up to {@link #length()}. */
    public byte[] bytes() {
        return line;
    }

    /** Bytes of the current line. */
    public int length() {
        return lineLength;
    }

    /** Why the file ended early; null when it did not. */
    public @Nullable String defect() {
        return in.defect();
    }

    /** The file. */
    public Path file() {
        return file;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
