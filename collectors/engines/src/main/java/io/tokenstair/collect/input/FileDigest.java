package io.tokenstair.collect.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;

/** A number that tells files apart where nothing in them dates them: the same file imported again is the same collector. */
public final class FileDigest {
    private static final int BYTES = 1 << 20;

    private FileDigest() {}

    /** The CRC of the file's length and of its first {@value #BYTES} bytes; at least 1. */
    public static long of(Path file) throws IOException {
        CRC32 crc = new CRC32();
        try (InputStream in = Files.newInputStream(file)) {
            crc.update(in.readNBytes(BYTES));
        }
        long length = Files.size(file);
        for (int i = 0; i < Long.BYTES; i++) {
            crc.update((int) (length >>> (8 * i)) & 0xff);
        }
        return 1 + crc.getValue();
    }
}
