package io.tokenstair.gateway;

import io.netty.buffer.ByteBuf;

/**
 * Where the chunks of one answer begin and end in the bytes of its connection (RFC 9112, 7.1). Knows the plain form only, a size, CRLF, data,
 * CRLF, and no chunk of size 0: from anything else on it knows nothing until the next answer. Holds no bytes.
 */
final class ChunkEdges {
    private static final int MAX_SIZE_DIGITS = 7;
    private static final byte[] VERSION = {'H', 'T', 'T', 'P', '/', '1', '.', '1', ' '};

    private boolean known;
    /** Bytes of the chunk that has begun which have not come yet, its CRLF among them; 0 before its size is known. */
    private int leftBytes;
    /** What has come of the size of a chunk. */
    private int sizeSoFar;

    private int sizeDigits;
    private boolean afterReturn;

    /** Forgets the answer. */
    void lose() {
        known = false;
    }

    /** True while the edges of an answer are known. */
    boolean isKnown() {
        return known;
    }

    /** True where a chunk begins with the next byte. */
    boolean isEdge() {
        return known && leftBytes == 0 && sizeDigits == 0;
    }

    /** Follows an answer whose head is at the start of these bytes and whole in them; knows nothing where it is not. */
    void begin(ByteBuf bytes) {
        known = false;
        int at = bytes.readerIndex();
        if (bytes.readableBytes() < VERSION.length) {
            return;
        }
        for (int i = 0; i < VERSION.length; i++) {
            if (bytes.getByte(at + i) != VERSION[i]) {
                return;
            }
        }
        int to = bytes.writerIndex();
        int line = at;
        while (true) {
            int end = bytes.indexOf(line, to, (byte) '\n');
            if (end < 0) {
                return;
            }
            boolean empty = end == line || (end == line + 1 && bytes.getByte(line) == '\r');
            line = end + 1;
            if (empty) {
                break;
            }
        }
        known = true;
        leftBytes = 0;
        sizeSoFar = 0;
        sizeDigits = 0;
        afterReturn = false;
        follow(bytes, line);
    }

    /** Takes note of bytes that somebody else reads, from this index on. */
    void follow(ByteBuf bytes, int from) {
        int at = from;
        int to = bytes.writerIndex();
        while (known && at < to) {
            if (leftBytes > 2) {
                int passed = Math.min(leftBytes - 2, to - at);
                leftBytes -= passed;
                at += passed;
            } else {
                next(bytes.getByte(at++));
            }
        }
    }

    private void next(byte b) {
        if (leftBytes > 0) {
            known = b == (leftBytes == 2 ? '\r' : '\n');
            leftBytes--;
            return;
        }
        if (afterReturn) {
            known = b == '\n' && sizeSoFar > 0;
            leftBytes = sizeSoFar + 2;
            sizeSoFar = 0;
            sizeDigits = 0;
            afterReturn = false;
            return;
        }
        int digit = digit(b);
        if (digit >= 0 && sizeDigits < MAX_SIZE_DIGITS) {
            sizeSoFar = sizeSoFar << 4 | digit;
            sizeDigits++;
        } else {
            known = b == '\r' && sizeDigits > 0;
            afterReturn = true;
        }
    }

    /** Bytes at the start of these, which begin at an edge, that are whole chunks. */
    int wholeBytes(ByteBuf bytes) {
        int whole = bytes.readerIndex();
        for (int end = chunkEnd(bytes, whole); end >= 0; end = chunkEnd(bytes, whole)) {
            whole = end;
        }
        return whole - bytes.readerIndex();
    }

    /** The data of whole chunks, which so many bytes at the start of these are. */
    byte[] data(ByteBuf bytes, int wholeBytes) {
        int start = bytes.readerIndex();
        int to = start + wholeBytes;
        int length = 0;
        for (int at = start; at < to; at = chunkEnd(bytes, at)) {
            length += chunkEnd(bytes, at) - 2 - dataStart(bytes, at);
        }
        byte[] data = new byte[length];
        int filled = 0;
        for (int at = start; at < to; at = chunkEnd(bytes, at)) {
            int from = dataStart(bytes, at);
            int size = chunkEnd(bytes, at) - 2 - from;
            bytes.getBytes(from, data, filled, size);
            filled += size;
        }
        return data;
    }

    /** Where the chunk that begins here ends; -1 where it is not whole or not plain. */
    private static int chunkEnd(ByteBuf bytes, int from) {
        int to = bytes.writerIndex();
        int at = from;
        int size = 0;
        while (at < to && at - from < MAX_SIZE_DIGITS) {
            int digit = digit(bytes.getByte(at));
            if (digit < 0) {
                break;
            }
            size = size << 4 | digit;
            at++;
        }
        int end = at + 2 + size + 2;
        boolean plain = size > 0
                && end <= to
                && bytes.getByte(at) == '\r'
                && bytes.getByte(at + 1) == '\n'
                && bytes.getByte(end - 2) == '\r'
                && bytes.getByte(end - 1) == '\n';
        return plain ? end : -1;
    }

    private static int dataStart(ByteBuf bytes, int from) {
        int at = from;
        while (bytes.getByte(at) != '\n') {
            at++;
        }
        return at + 1;
    }

    private static int digit(byte b) {
        if (b >= '0' && b <= '9') {
            return b - '0';
        }
        int letter = b | 0x20;
        return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
    }
}
