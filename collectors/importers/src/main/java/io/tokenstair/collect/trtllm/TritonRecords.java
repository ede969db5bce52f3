package io.tokenstair.collect.trtllm;

import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.UnzippedFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The records of a trace file of Triton, each as the bytes of one JSON object: one array on one line, whose last bracket is missing while the
 * server runs. Triton writes ids and tensors as they are, so that a quote in one breaks its record; each record begins with
 * <code>{"id":</code>, which no sound record holds inside, and by that the next one is found. Bounded: a record longer than
 * {@link LineSource.Limits#lineBytes()} is passed over and reported.
 */
final class TritonRecords implements Closeable {
    private static final byte[] BEGIN = "{\"id\":".getBytes(StandardCharsets.US_ASCII);
    private static final int BUFFER_BYTES = 1 << 16;
    /** Bytes before the first record: a mark of UTF-8, a bracket, white space. */
    private static final int MOST_BEFORE = 64;

    private final UnzippedFile in;
    private final int recordBytes;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int filled;
    private long passed;
    private byte[] record = new byte[1 << 10];
    private int length;
    private boolean tooLong;
    private long offset;
    private int matched;
    private boolean begun;

    /** Opens a file; gzip is told by its first bytes. */
    TritonRecords(Path file, LineSource.Limits limits) throws IOException {
        this.in = UnzippedFile.byContent(file, limits.unzippedBytes());
        this.recordBytes = limits.lineBytes();
    }

    /** Whether the file is as Triton writes it; before the first record is asked for. */
    boolean begins() throws IOException {
        while (position < MOST_BEFORE && (position < filled || fill())) {
            byte next = buffer[position++];
            if (seen(next)) {
                begun = true;
                offset = passed + position - BEGIN.length;
                return true;
            }
            if (matched == 0 && !isBetween(next) && next >= 0) {
                return false;
            }
        }
        return false;
    }

    /** Moves to the next record; false at the end. */
    boolean next() throws IOException {
        if (!begun) {
            return false;
        }
        offset = passed + position - BEGIN.length;
        System.arraycopy(BEGIN, 0, record, 0, BEGIN.length);
        length = BEGIN.length;
        tooLong = false;
        matched = 0;
        begun = false;
        while (position < filled || fill()) {
            byte next = buffer[position++];
            append(next);
            if (seen(next)) {
                length -= tooLong ? 0 : BEGIN.length;
                begun = true;
                break;
            }
        }
        trim();
        return true;
    }

    /** Takes away what stands between two records, and after the last. */
    private void trim() {
        while (length > BEGIN.length && record[length - 1] != '}' && isBetween(record[length - 1])) {
            length--;
        }
    }

    private static boolean isBetween(byte last) {
        return last == ',' || last == ']' || last == '[' || last == ' ' || last == '\n' || last == '\r' || last == '\t';
    }

    private boolean seen(byte next) {
        matched = next == BEGIN[matched] ? matched + 1 : next == BEGIN[0] ? 1 : 0;
        if (matched == BEGIN.length) {
            matched = 0;
            return true;
        }
        return false;
    }

    private void append(byte next) {
        if (length == recordBytes) {
            tooLong = true;
            return;
        }
        if (length == record.length) {
            record = Arrays.copyOf(record, Math.min(recordBytes, 2 * length));
        }
        record[length++] = next;
    }

    private boolean fill() throws IOException {
        passed += filled;
        position = 0;
        filled = Math.max(0, in.read(buffer, 0, buffer.length));
        return filled > 0;
    }

    /** The record, valid until the next one is asked for, up to {@link #length()}. */
    byte[] bytes() {
        return record;
    }

    /** Bytes of the record. */
    int length() {
        return length;
    }

    /** True when the record is longer than taken. */
    boolean tooLong() {
        return tooLong;
    }

    /** Where the record begins, in bytes of the unzipped file. */
    long offset() {
        return offset;
    }

    /** Why the file ended early; null when it did not. */
    @Nullable
    String defect() {
        return in.defect();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
