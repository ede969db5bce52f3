package io.tokenstair.job.request;

import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.job.step.TokenBatchSerializer;
import io.tokenstair.job.type.OwnSerializer;
import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Carries runs of tokens in one piece. A run is not changed once sent, so a copy is the same object. */
public final class TokenRunSerializer extends OwnSerializer<TokenRun> {
    private transient PackedBytes scratch = new PackedBytes();

    @Override
    protected OwnSerializer<TokenRun> another() {
        return new TokenRunSerializer();
    }

    @Override
    public TokenRun createInstance() {
        return new TokenRun("", 0, 0, new TokenBatch(), 0, 0);
    }

    @Override
    public void serialize(TokenRun run, DataOutputView target) throws IOException {
        PackedBytes out = scratch;
        out.clear();
        out.putText(run.requestId);
        out.putInt(run.lifetime);
        out.putInt(run.sequenceIndex);
        out.putInt(run.fromRow);
        out.putInt(run.toRow);
        TokenBatchSerializer.put(run.batch, out);
        out.writeTo(target);
    }

    @Override
    public TokenRun deserialize(DataInputView source) throws IOException {
        PackedBytes in = new PackedBytes(PackedBytes.read(source), 0);
        String requestId = in.takeText();
        int lifetime = in.takeInt();
        int sequenceIndex = in.takeInt();
        int fromRow = in.takeInt();
        int toRow = in.takeInt();
        return new TokenRun(requestId, lifetime, sequenceIndex, TokenBatchSerializer.take(in, null), fromRow, toRow);
    }

    @Override
    public TypeSerializerSnapshot<TokenRun> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Version 1 of the form above. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<TokenRun> {
        /** For Flink, which makes one when it restores. */
        public Snapshot() {
            super(TokenRunSerializer::new);
        }
    }
}
