package io.tokenstair.job.type;

import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.CompositeTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * Writes what another serializer writes without its zero bytes: for states whose many counters are small and whose many fields are
 * unset, of which two thirds are such. Eight bytes at a time: a bit for each that is not zero, then those. What another serializer can
 * restore, this one can: it takes over its evolution.
 *
 * @param <T> the state
 */
public final class ZeroPackedSerializer<T> extends TypeSerializer<T> {
    private static final long serialVersionUID = 1L;

    /** Most bytes of one value, before packing. */
    private static final int MOST_BYTES = 1 << 30;

    private static final int GROUP = Byte.SIZE;
    private static final int START_BYTES = 4_096;

    private final TypeSerializer<T> plain;
    private transient @Nullable DataOutputSerializer scratch;

    /** Packs what {@code plain} writes. */
    public ZeroPackedSerializer(TypeSerializer<T> plain) {
        this.plain = plain;
    }

    /** What writes the values before they are packed. */
    TypeSerializer<T> plain() {
        return plain;
    }

    @Override
    public boolean isImmutableType() {
        return plain.isImmutableType();
    }

    @Override
    public TypeSerializer<T> duplicate() {
        return new ZeroPackedSerializer<>(plain.duplicate());
    }

    @Override
    public T createInstance() {
        return plain.createInstance();
    }

    @Override
    public T copy(T from) {
        return plain.copy(from);
    }

    @Override
    public T copy(T from, T reuse) {
        return plain.copy(from, reuse);
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public void serialize(T value, DataOutputView target) throws IOException {
        DataOutputSerializer out = scratch;
        if (out == null) {
            out = new DataOutputSerializer(START_BYTES);
            scratch = out;
        }
        out.clear();
        plain.serialize(value, out);
        byte[] packed = packed(out.getSharedBuffer(), out.length());
        target.writeInt(out.length());
        target.writeInt(packed.length);
        target.write(packed);
    }

    @Override
    public T deserialize(DataInputView source) throws IOException {
        int length = length(source);
        byte[] packed = new byte[length(source)];
        source.readFully(packed);
        return plain.deserialize(new DataInputDeserializer(unpacked(packed, length)));
    }

    @Override
    public T deserialize(T reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        target.writeInt(length(source));
        byte[] packed = new byte[length(source)];
        source.readFully(packed);
        target.writeInt(packed.length);
        target.write(packed);
    }

    private static int length(DataInputView source) throws IOException {
        int length = source.readInt();
        if (length < 0 || length > MOST_BYTES) {
            throw new IOException("Cannot read a packed state of " + length + " bytes");
        }
        return length;
    }

    /** The first bytes of an array without its zeros. */
    static byte[] packed(byte[] bytes, int length) {
        byte[] packed = new byte[length + (length + GROUP - 1) / GROUP];
        int at = 0;
        for (int from = 0; from < length; from += GROUP) {
            int bitsAt = at++;
            int bits = 0;
            for (int i = 0; i < GROUP && from + i < length; i++) {
                byte value = bytes[from + i];
                if (value != 0) {
                    bits |= 1 << i;
                    packed[at++] = value;
                }
            }
            packed[bitsAt] = (byte) bits;
        }
        return Arrays.copyOf(packed, at);
    }

    /** The bytes of which this was left. */
    static byte[] unpacked(byte[] packed, int length) throws IOException {
        byte[] bytes = new byte[length];
        int at = 0;
        for (int from = 0; from < length; from += GROUP) {
            int bits = at < packed.length ? packed[at++] & 0xFF : -1;
            if (bits < 0 || at + Integer.bitCount(bits) > packed.length) {
                throw new IOException("Cannot unpack " + length + " bytes of " + packed.length);
            }
            for (; bits != 0; bits &= bits - 1) {
                int to = from + Integer.numberOfTrailingZeros(bits);
                if (to >= length) {
                    throw new IOException("Cannot unpack more than " + length + " bytes");
                }
                bytes[to] = packed[at++];
            }
        }
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ZeroPackedSerializer<?> same && same.plain.equals(plain);
    }

    @Override
    public int hashCode() {
        return Objects.hash(ZeroPackedSerializer.class, plain);
    }

    @Override
    public TypeSerializerSnapshot<T> snapshotConfiguration() {
        return new Snapshot<>(this);
    }

    /**
     * Version 1 of the form above, and the snapshot of what is packed.
     *
     * @param <T> the state
     */
    public static final class Snapshot<T> extends CompositeTypeSerializerSnapshot<T, ZeroPackedSerializer<T>> {
        private static final int VERSION = 1;

        /** For Flink, which makes one when it restores. */
        public Snapshot() {}

        Snapshot(ZeroPackedSerializer<T> serializer) {
            super(serializer);
        }

        @Override
        protected int getCurrentOuterSnapshotVersion() {
            return VERSION;
        }

        @Override
        protected TypeSerializer<?>[] getNestedSerializers(ZeroPackedSerializer<T> outer) {
            return new TypeSerializer<?>[] {outer.plain()};
        }

        @Override
        @SuppressWarnings("unchecked") // it is the one of getNestedSerializers, or of an older build for the same state
        protected ZeroPackedSerializer<T> createOuterSerializerWithNestedSerializers(TypeSerializer<?>[] nested) {
            return new ZeroPackedSerializer<>((TypeSerializer<T>) nested[0]);
        }
    }
}
