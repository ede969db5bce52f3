package io.tokenstair.job.type;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that are filled and read in memory and cross a Flink view in one piece: a call of a view per number costs more than the
 * number. Little-endian, text in UTF-8. One thread at a time: each serializer owns one.
 */
public final class PackedBytes {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int MAX_BYTES = 64 << 20;
    private static final int COPY_BYTES = 4096;
    private static final int ABSENT = -1;

    private byte[] bytes;
    private int at;
    private int end;

    /** Nothing in it yet. */
    public PackedBytes() {
        this(4096);
    }

    /** Nothing in it yet, and room for so many bytes before it grows. */
    public PackedBytes(int bytesOfRoom) {
        bytes = new byte[bytesOfRoom];
    }

    /** These bytes, to be read from a position on. They are not changed. */
    public PackedBytes(byte[] bytes, int at) {
        this(bytes, at, bytes.length);
    }

    /** A part of these bytes, to be read from a position to another. They are not changed. */
    public PackedBytes(byte[] bytes, int at, int end) {
        this.bytes = bytes;
        this.at = at;
        this.end = end;
    }

    /** Where the next number is put or taken. */
    public int position() {
        return at;
    }

    // ---- crossing a view

    /** Starts anew, to be filled. */
    public void clear() {
        at = 0;
    }

    /** Writes what was put: its length, then all of it. */
    public void writeTo(DataOutputView target) throws IOException {
        target.writeInt(at);
        target.write(bytes, 0, at);
    }

    /** Takes in what {@link #writeTo} wrote, to be read from its beginning. */
    public void readFrom(DataInputView source) throws IOException {
        int length = length(source);
        at = 0;
        ensure(length);
        source.readFully(bytes, 0, length);
        end = length;
    }

    /** Takes what {@link #writeTo} wrote into an array of its own. */
    public static byte[] read(DataInputView source) throws IOException {
        byte[] bytes = new byte[length(source)];
        source.readFully(bytes);
        return bytes;
    }

    /** Hands what {@link #writeTo} wrote from one view to another. */
    public static void copy(DataInputView source, DataOutputView target) throws IOException {
        int length = length(source);
        target.writeInt(length);
        // Not target.write(source, length): Flink's view over a growing array does not grow there.
        byte[] piece = new byte[Math.min(length, COPY_BYTES)];
        for (int left = length; left > 0; left -= piece.length) {
            int part = Math.min(left, piece.length);
            source.readFully(piece, 0, part);
            target.write(piece, 0, part);
        }
    }

    private static int length(DataInputView source) throws IOException {
        int length = source.readInt();
        if (length < 0 || length > MAX_BYTES) {
            throw new IOException("Cannot read packed bytes of length " + length);
        }
        return length;
    }

    private void ensure(int more) {
        if (at + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, at + more));
        }
    }

    // ---- filling

    /** Puts a number. */
    public void putInt(int value) {
        ensure(Integer.BYTES);
        INT.set(bytes, at, value);
        at += Integer.BYTES;
    }

    /** Puts a number. */
    public void putLong(long value) {
        ensure(Long.BYTES);
        LONG.set(bytes, at, value);
        at += Long.BYTES;
    }

    /** Puts a number that may be absent. */
    public void putOptional(@Nullable Long value) {
        putInt(value == null ? 0 : 1);
        if (value != null) {
            putLong(value);
        }
    }

    /** Puts bytes. */
    public void putBytes(byte[] value) {
        putBytes(value, 0, value.length);
    }

    /** Puts a piece of an array. */
    public void putBytes(byte[] value, int from, int length) {
        putInt(length);
        ensure(length);
        System.arraycopy(value, from, bytes, at, length);
        at += length;
    }

    /** Puts what another one was filled with, without its length. */
    public void putFilled(byte[] filled, int length) {
        ensure(length);
        System.arraycopy(filled, 0, bytes, at, length);
        at += length;
    }

    /** Puts all that another one was filled with. */
    public void putFilled(PackedBytes filled) {
        putFilled(filled.bytes, filled.at);
    }

    /** Puts a number where one was put before. */
    public void putInt(int position, int value) {
        INT.set(bytes, position, value);
    }

    /** What was put, in an array of its own. */
    public byte[] filled() {
        return Arrays.copyOf(bytes, at);
    }

    /** Puts a text. */
    public void putText(String text) {
        putBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Puts a text that may be absent. */
    public void putOptional(@Nullable String text) {
        if (text == null) {
            putInt(ABSENT);
        } else {
            putText(text);
        }
    }

    /** Puts texts. */
    public void putTexts(List<String> texts) {
        putInt(texts.size());
        for (String text : texts) {
            putText(text);
        }
    }

    // ---- reading

    private int step(int length) throws IOException {
        if (length < 0 || length > end - at) {
            throw new IOException("Cannot read " + length + " packed bytes of " + (end - at));
        }
        int from = at;
        at += length;
        return from;
    }

    /** How many bytes there are still to read. */
    public int left() {
        return end - at;
    }

    /** Whether there is more to read. */
    public boolean hasMore() {
        return at < end;
    }

    /** Steps over bytes. */
    public void skip(int length) throws IOException {
        step(length);
    }

    /** The array it reads from, to be looked at only. */
    public byte[] array() {
        return bytes;
    }

    /** Takes a number. */
    public int takeInt() throws IOException {
        return (int) INT.get(bytes, step(Integer.BYTES));
    }

    /** Takes a number. */
    public long takeLong() throws IOException {
        return (long) LONG.get(bytes, step(Long.BYTES));
    }

    /** Takes a number that may be absent. */
    public @Nullable Long takeOptionalLong() throws IOException {
        return takeInt() == 0 ? null : Long.valueOf(takeLong());
    }

    /** Takes bytes. */
    public byte[] takeBytes() throws IOException {
        int length = takeInt();
        int from = step(length);
        return Arrays.copyOfRange(bytes, from, from + length);
    }

    /** Takes bytes into an array; where they end there. */
    public int takeBytes(byte[] into, int position) throws IOException {
        int length = takeInt();
        System.arraycopy(bytes, step(length), into, position, length);
        return position + length;
    }

    /** Takes a text. */
    public String takeText() throws IOException {
        int length = takeInt();
        return new String(bytes, step(length), length, StandardCharsets.UTF_8);
    }

    /** Takes a text that probably came before. */
    public String takeText(KnownTexts known) throws IOException {
        int length = takeInt();
        return known.text(bytes, step(length), length);
    }

    /** Takes a text that may be absent. */
    public @Nullable String takeOptionalText() throws IOException {
        int length = takeInt();
        return length == ABSENT ? null : new String(bytes, step(length), length, StandardCharsets.UTF_8);
    }

    /** Takes texts. */
    public List<String> takeTexts() throws IOException {
        int count = takeInt();
        List<String> texts = new ArrayList<>(Math.min(count, 64));
        for (int i = 0; i < count; i++) {
            texts.add(takeText());
        }
        return texts;
    }
}
