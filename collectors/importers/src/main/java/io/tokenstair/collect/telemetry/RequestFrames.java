package io.tokenstair.collect.telemetry;

import io.tokenstair.collect.input.UnzippedFile;
import java.io.Closeable;
import java.io.IOException;
import java.io.PushbackInputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The protobuf requests of a file: one that fills it, or many with the length before each, in four bytes with the highest first as the
 * Collector's file exporter writes them, or as a varint as protobuf's own delimited streams have it. Every request starts with the byte
 * {@code 0x0a}, which tells the three apart. Plain or gzipped.
 */
final class RequestFrames implements Closeable {
    private static final int ROOT_TAG = 0x0a;
    private static final int MAX_VARINT_BYTES = 5;

    private enum Form {
        SINGLE,
        FOUR_BYTES,
        VARINT
    }

    private final UnzippedFile file;
    private final PushbackInputStream in;
    private final int mostBytes;
    private final Form form;
    private long position;
    private long offset;
    private boolean ended;
    private @Nullable String defect;

    RequestFrames(Path path, long mostUnzipped, int mostBytes) throws IOException {
        this.file = UnzippedFile.byContent(path, mostUnzipped);
        this.in = new PushbackInputStream(new java.io.BufferedInputStream(file), 8);
        this.mostBytes = mostBytes;
        byte[] start = new byte[8];
        int length = in.readNBytes(start, 0, start.length);
        in.unread(start, 0, length);
        this.form = form(start, length);
        if (length == 0) {
            ended = true;
            defect = file.defect() == null ? "an empty file" : file.defect();
        }
    }

    private static Form form(byte[] start, int length) {
        if (length >= 5 && start[0] == 0 && start[4] == ROOT_TAG) {
            return Form.FOUR_BYTES;
        }
        int at = 0;
        while (at < length && (start[at] & 0x80) != 0) {
            at++;
        }
        boolean varint = at + 1 < length && start[at + 1] == ROOT_TAG;
        return start[0] != ROOT_TAG && varint ? Form.VARINT : Form.SINGLE;
    }

    /** The next request; null at the end, or where the file goes wrong. */
    byte @Nullable [] next() throws IOException {
        if (ended) {
            return null;
        }
        offset = position;
        if (form == Form.SINGLE) {
            ended = true;
            byte[] whole = in.readNBytes(mostBytes + 1);
            if (file.defect() != null) {
                defect = file.defect();
                return null;
            }
            if (whole.length > mostBytes) {
                defect = "a request of more than " + mostBytes + " bytes";
                return null;
            }
            return whole;
        }
        long length = form == Form.FOUR_BYTES ? fourBytes() : varint();
        if (length < 0) {
            return end(length == -1 ? file.defect() : "a length that is cut");
        }
        if (length > mostBytes) {
            return end("a request of " + length + " bytes, or no length where one belongs");
        }
        byte[] frame = in.readNBytes((int) length);
        position += frame.length;
        if (frame.length < length) {
            return end(file.defect() == null ? "cut inside a request" : file.defect());
        }
        return frame;
    }

    private byte @Nullable [] end(@Nullable String reason) {
        ended = true;
        defect = reason;
        return null;
    }

    /** A length, -1 at the end of the file, -2 when it is cut. */
    private long fourBytes() throws IOException {
        long length = 0;
        for (int i = 0; i < 4; i++) {
            int next = in.read();
            if (next < 0) {
                return i == 0 ? -1 : -2;
            }
            position++;
            length = length << 8 | next;
        }
        return length;
    }

    private long varint() throws IOException {
        long length = 0;
        for (int i = 0; i < MAX_VARINT_BYTES; i++) {
            int next = in.read();
            if (next < 0) {
                return i == 0 ? -1 : -2;
            }
            position++;
            length |= (next & 0x7fL) << 7 * i;
            if ((next & 0x80) == 0) {
                return length;
            }
        }
        return Long.MAX_VALUE;
    }

    /** Where the current request, or its length, starts. */
    long offset() {
        return offset;
    }

    /** Why the file ended early; null when it did not. */
    @Nullable
    String defect() {
        return defect;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
