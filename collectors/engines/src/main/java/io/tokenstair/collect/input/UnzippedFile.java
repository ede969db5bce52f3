package io.tokenstair.collect.input;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a plain or gzipped file. Bounded: a gzipped one is read up to a limit. One that is cut, damaged or longer ends early, and
 * {@link #defect()} says why; its bytes up to there are read.
 */
public final class UnzippedFile extends InputStream {
    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream in;
    private final long mostBytes;
    private long taken;
    private @Nullable String defect;

    private UnzippedFile(InputStream in, long mostBytes, @Nullable String defect) {
        this.in = in;
        this.mostBytes = mostBytes;
        this.defect = defect;
    }

    /** Bytes of the mark with which some programs begin a file of UTF-8, at the start of these; 0 where there is none. */
    static int markLength(byte[] start, int length) {
        return length >= 3 && start[0] == (byte) 0xef && start[1] == (byte) 0xbb && start[2] == (byte) 0xbf ? 3 : 0;
    }

    /**
     * Opens a file of text that is gzipped when its first bytes say so. One that is called {@code .gz} and begins as neither gzip nor text
     * does is a damaged gzip file: programs that unzip what they fetch leave the name as it was.
     *
     * @param mostBytes most bytes that are taken out of a gzipped file
     */
    public static UnzippedFile ofText(Path file, long mostBytes) throws IOException {
        InputStream raw = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
        try {
            raw.mark(2);
            int first = raw.read();
            int second = raw.read();
            raw.reset();
            boolean zipped = first == 0x1f && second == 0x8b;
            boolean text =
                    (first >= ' ' && first < 0x7f) || first == 0xef || first == '\n' || first == '\r' || first == '\t';
            return zipped || (file.getFileName().toString().endsWith(".gz") && !text)
                    ? unzipped(raw, mostBytes, "not a gzip file, though its name ends with .gz")
                    : new UnzippedFile(raw, Long.MAX_VALUE, null);
        } catch (IOException e) {
            raw.close();
            throw e;
        }
    }

    /**
     * Opens a file that is gzipped when its first bytes say so.
     *
     * @param mostBytes most bytes that are taken out of a gzipped file
     */
    public static UnzippedFile byContent(Path file, long mostBytes) throws IOException {
        InputStream raw = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
        try {
            raw.mark(2);
            boolean zipped = raw.read() == 0x1f && raw.read() == 0x8b;
            raw.reset();
            return zipped
                    ? unzipped(raw, mostBytes, "the gzip file is damaged")
                    : new UnzippedFile(raw, Long.MAX_VALUE, null);
        } catch (IOException e) {
            raw.close();
            throw e;
        }
    }

    private static UnzippedFile unzipped(InputStream raw, long mostBytes, String noGzip) throws IOException {
        String defect;
        try {
            return new UnzippedFile(new GZIPInputStream(raw, BUFFER_BYTES), mostBytes, null);
        } catch (EOFException e) {
            defect = "the gzip file is cut in its header";
        } catch (ZipException e) {
            defect = noGzip;
        } catch (IOException e) {
            raw.close();
            throw e;
        }
        return new UnzippedFile(raw, mostBytes, defect);
    }

    /** Why the file ended early; null when it did not. */
    public @Nullable String defect() {
        return defect;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
        if (defect != null) {
            return -1;
        }
        int count;
        try {
            count = in.read(bytes, from, length);
        } catch (EOFException e) {
            defect = "the gzip file is cut: its stream ends early";
            return -1;
        } catch (ZipException e) {
            defect = "the gzip file is damaged";
            return -1;
        }
        taken += Math.max(0, count);
        if (taken > mostBytes) {
            defect = "more than " + mostBytes + " bytes come out of the gzip file; the rest was not read";
            return -1;
        }
        return count;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
