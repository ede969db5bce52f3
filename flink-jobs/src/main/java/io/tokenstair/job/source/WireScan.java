package io.tokenstair.job.source;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the fields of a protobuf message without reading what is in them. It takes numbers, 64-bit values and whatever has a length, with
 * tags of at most two bytes, and is {@link #isStrange} at everything else: then a real parser must decide.
 */
final class WireScan {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int LENGTH_DELIMITED = 2;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int VARINT_BITS = 7;

    private final byte[] bytes;
    private final int end;
    private int at;
    private boolean strange;
    private int tag;
    private long number;
    private int from;

    /** Walks over the message between two positions. */
    WireScan(byte[] bytes, int from, int end) {
        this.bytes = bytes;
        this.at = from;
        this.end = end;
    }

    /** Goes to the next field. False at the end, and at what is strange. */
    boolean next() {
        if (at >= end) {
            return false;
        }
        tag = bytes[at++];
        if (tag < 0) {
            if (at == end || bytes[at] <= 0) {
                return stop();
            }
            tag = tag & 0x7F | bytes[at++] << VARINT_BITS;
        }
        if (tag >>> 3 == 0) {
            return stop();
        }
        switch (tag & 7) {
            case VARINT -> number = varint();
            case FIXED64 -> {
                if (end - at < Long.BYTES) {
                    return stop();
                }
                number = (long) LONG.get(bytes, at);
                at += Long.BYTES;
            }
            case LENGTH_DELIMITED -> {
                long length = varint();
                from = at;
                if (length < 0 || length > end - at) {
                    return stop();
                }
                at += (int) length;
            }
            default -> {
                return stop();
            }
        }
        return !strange;
    }

    private boolean stop() {
        strange = true;
        return false;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE && at < end; shift += VARINT_BITS) {
            byte next = bytes[at++];
            value |= (long) (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
        strange = true;
        return 0;
    }

    /** Whether it came upon something that it cannot judge. */
    boolean isStrange() {
        return strange;
    }

    /** Number and type of the field. */
    int tag() {
        return tag;
    }

    /** The value of a number. */
    long number() {
        return number;
    }

    /** The fields of the message that the field is. */
    WireScan message() {
        return new WireScan(bytes, from, at);
    }

    /** The text that the field is; null when it is longer than so many bytes, or beyond ASCII. */
    @Nullable
    String text(int mostBytes) {
        if (at - from > mostBytes) {
            return null;
        }
        for (int i = from; i < at; i++) {
            if (bytes[i] < 0) {
                return null;
            }
        }
        return new String(bytes, from, at - from, StandardCharsets.ISO_8859_1);
    }
}
