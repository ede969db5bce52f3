package io.tokenstair.bench;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Carries a token in one piece of 44 bytes: as fast as a record per token can be. */
public final class TokenRecordSerializer extends TypeSerializer<TokenRecord> {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final transient byte[] scratch = new byte[TokenRecord.BYTES];

    @Override
    public boolean isImmutableType() {
        return false;
    }

    @Override
    public TypeSerializer<TokenRecord> duplicate() {
        return new TokenRecordSerializer();
    }

    @Override
    public TokenRecord createInstance() {
        return new TokenRecord();
    }

    @Override
    public TokenRecord copy(TokenRecord from) {
        return copy(from, new TokenRecord());
    }

    @Override
    public TokenRecord copy(TokenRecord from, TokenRecord reuse) {
        reuse.engine = from.engine;
        reuse.requestHandle = from.requestHandle;
        reuse.tokenIndex = from.tokenIndex;
        reuse.contextTokens = from.contextTokens;
        reuse.batchSequences = from.batchSequences;
        reuse.stepId = from.stepId;
        reuse.beginNanos = from.beginNanos;
        reuse.endNanos = from.endNanos;
        return reuse;
    }

    @Override
    public int getLength() {
        return TokenRecord.BYTES;
    }

    @Override
    public void serialize(TokenRecord token, DataOutputView target) throws IOException {
        byte[] bytes = scratch;
        INT.set(bytes, 0, token.engine);
        INT.set(bytes, 4, token.requestHandle);
        INT.set(bytes, 8, token.tokenIndex);
        INT.set(bytes, 12, token.contextTokens);
        INT.set(bytes, 16, token.batchSequences);
        LONG.set(bytes, 20, token.stepId);
        LONG.set(bytes, 28, token.beginNanos);
        LONG.set(bytes, 36, token.endNanos);
        target.write(bytes);
    }

    @Override
    public TokenRecord deserialize(DataInputView source) throws IOException {
        return deserialize(new TokenRecord(), source);
    }

    @Override
    public TokenRecord deserialize(TokenRecord reuse, DataInputView source) throws IOException {
        byte[] bytes = scratch;
        source.readFully(bytes);
        reuse.engine = (int) INT.get(bytes, 0);
        reuse.requestHandle = (int) INT.get(bytes, 4);
        reuse.tokenIndex = (int) INT.get(bytes, 8);
        reuse.contextTokens = (int) INT.get(bytes, 12);
        reuse.batchSequences = (int) INT.get(bytes, 16);
        reuse.stepId = (long) LONG.get(bytes, 20);
        reuse.beginNanos = (long) LONG.get(bytes, 28);
        reuse.endNanos = (long) LONG.get(bytes, 36);
        return reuse;
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        target.write(source, TokenRecord.BYTES);
    }

    private Object readResolve() {
        return new TokenRecordSerializer();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TokenRecordSerializer;
    }

    @Override
    public int hashCode() {
        return TokenRecordSerializer.class.hashCode();
    }

    @Override
    public TypeSerializerSnapshot<TokenRecord> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Version 1 of the form above. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<TokenRecord> {
        /** For Flink, which makes one when it restores. */
        public Snapshot() {
            super(TokenRecordSerializer::new);
        }
    }
}
