package io.tokenstair.collect.engine.trtllm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Cuts what Triton writes into a trace file into records, each the bytes of one JSON object: one array on one line, whose last bracket is missing
 * while the server runs. Triton writes ids and tensors as they are, so that a quote in one breaks its record; each record begins with
 * <code>{"id":</code>, which no sound record holds inside, and by that the next one is found. What comes before the first is passed over. Bounded: of a
 * record that is longer than may be no more is kept.
 */
public final class TritonRecordCutter {
    private static final byte[] BEGIN = "{\"id\":".getBytes(StandardCharsets.US_ASCII);

    private final int recordBytes;
    private byte[] record = new byte[1 << 10];
    private int length;
    private boolean begun;
    private boolean whole;
    private boolean tooLong;
    private int matched;
    private byte lastByte;

    /** Cuts into records of at most so many bytes. */
    public TritonRecordCutter(int recordBytes) {
        this.recordBytes = recordBytes;
    }

    /** How many bytes of a record have come when it is known that it has begun. */
    public static int beginLength() {
        return BEGIN.length;
    }

    /** Takes a byte; true when with it a record is whole, as the next one has begun. */
    public boolean take(byte next) {
        if (whole) {
            restart();
        }
        lastByte = isBlank(next) ? lastByte : next;
        if (begun) {
            append(next);
        }
        matched = next == BEGIN[matched] ? matched + 1 : next == BEGIN[0] ? 1 : 0;
        if (matched < BEGIN.length) {
            return false;
        }
        matched = 0;
        if (!begun) {
            restart();
            return false;
        }
        length -= tooLong ? 0 : BEGIN.length;
        trim();
        whole = true;
        return true;
    }

    /** Ends the record that has begun; false when none has. */
    public boolean end() {
        if (!begun) {
            return false;
        }
        if (whole) {
            restart();
        }
        trim();
        whole = false;
        begun = false;
        return true;
    }

    private void restart() {
        System.arraycopy(BEGIN, 0, record, 0, BEGIN.length);
        length = BEGIN.length;
        tooLong = false;
        whole = false;
        begun = true;
    }

    /** Forgets what has come: another file begins. */
    void clear() {
        begun = false;
        whole = false;
        tooLong = false;
        matched = 0;
        length = 0;
        lastByte = 0;
    }

    /** Whether a record has begun that is not whole. */
    public boolean hasBegun() {
        return begun;
    }

    /** Whether the beginning of a record may just have come, in part. */
    public boolean mayBegin() {
        return matched > 0;
    }

    /** Whether the last that came may be the end of the array. */
    boolean endsArray() {
        return lastByte == ']';
    }

    /** Whether a byte may stand between two records. */
    public static boolean isBetween(byte next) {
        return next == ',' || next == ']' || next == '[' || isBlank(next);
    }

    private static boolean isBlank(byte next) {
        return next == ' ' || next == '\n' || next == '\r' || next == '\t';
    }

    /** Takes away what stands between two records, and after the last. */
    private void trim() {
        while (length > BEGIN.length && record[length - 1] != '}' && isBetween(record[length - 1])) {
            length--;
        }
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

    /** The record, valid until the next byte is taken, up to {@link #length()}. */
    public byte[] bytes() {
        return record;
    }

    /** Bytes of the record. */
    public int length() {
        return length;
    }

    /** True when the record is longer than taken. */
    public boolean tooLong() {
        return tooLong;
    }
}
