package io.tokenstair.collect.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A number that tells files apart by what is in them, and so the epoch of whoever collected it: the same file imported again is the same
 * collector, whatever its name and whatever was imported with it; another file is another.
 */
public final class FileDigest {
    private static final int BYTES = 1 << 20;
    private static final int LINE_BYTES = 1 << 16;

    private FileDigest() {}

    /**
     * The CRC of the file's length, of its first {@value #BYTES} bytes and of the options that say how it is taken; at least 1.
     *
     * @param options names that were given; null where none was
     */
    public static long of(Path file, @Nullable String... options) throws IOException {
        CRC32 crc = new CRC32();
        try (InputStream in = Files.newInputStream(file)) {
            crc.update(in.readNBytes(BYTES));
        }
        long length = Files.size(file);
        for (int i = 0; i < Long.BYTES; i++) {
            crc.update((int) (length >>> (8 * i)) & 0xff);
        }
        return 1 + with(crc, options);
    }

    /** The same of its first line only, unzipped: a file that has grown since, or was zipped, is still the same. */
    public static long ofFirstLine(Path file, @Nullable String... options) throws IOException {
        CRC32 crc = new CRC32();
        try (UnzippedFile in = UnzippedFile.byContent(file, LINE_BYTES)) {
            byte[] start = in.readNBytes(LINE_BYTES);
            int end = 0;
            while (end < start.length && start[end] != '\n') {
                end++;
            }
            crc.update(start, 0, end);
        }
        return 1 + with(crc, options);
    }

    private static long with(CRC32 crc, @Nullable String... options) {
        for (String option : options) {
            crc.update(0);
            if (option != null) {
                crc.update(option.getBytes(StandardCharsets.UTF_8));
            }
        }
        return crc.getValue();
    }
}
