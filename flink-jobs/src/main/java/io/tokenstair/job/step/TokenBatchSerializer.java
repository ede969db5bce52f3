package io.tokenstair.job.step;

import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Carries token batches column by column, in one piece. Keeps the length of the columns: an open batch goes on growing. */
public final class TokenBatchSerializer extends TypeSerializer<TokenBatch> {
    private static final int MAX_ROWS = 1 << 20;

    private transient PackedBytes scratch = new PackedBytes();

    @Override
    public boolean isImmutableType() {
        return false;
    }

    @Override
    public TypeSerializer<TokenBatch> duplicate() {
        return new TokenBatchSerializer();
    }

    @Override
    public TokenBatch createInstance() {
        return new TokenBatch();
    }

    @Override
    public TokenBatch copy(TokenBatch from) {
        return from.copy();
    }

    @Override
    public TokenBatch copy(TokenBatch from, TokenBatch reuse) {
        return from.copy();
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public void serialize(TokenBatch batch, DataOutputView target) throws IOException {
        scratch.clear();
        put(batch, scratch);
        scratch.writeTo(target);
    }

    @Override
    public TokenBatch deserialize(DataInputView source) throws IOException {
        scratch.readFrom(source);
        return take(scratch);
    }

    @Override
    public TokenBatch deserialize(TokenBatch reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        PackedBytes.copy(source, target);
    }

    /** Puts a batch. */
    public static void put(TokenBatch batch, PackedBytes out) {
        putName(batch.name, out);
        out.putText(batch.clockId);
        int count = batch.count;
        out.putInt(count);
        out.putInt(batch.tokenIndex.length);
        out.putColumn(batch.tokenIndex, count);
        out.putColumn(batch.stepId, count);
        out.putColumn(batch.endNanos, count);
        out.putColumn(batch.coarseEpochMillis, count);
        out.putColumn(batch.epochNanos, count);
        out.putColumn(batch.boundNanos, count);
        out.putColumn(batch.gapNanos, count);
        out.putColumn(batch.expectedNanos, count);
        out.putColumn(batch.referenceNanos, count);
        out.putColumn(batch.contextTokens, count);
        out.putColumn(batch.batchSequences, count);
        out.putColumn(batch.flags, count);
        out.putColumn(batch.partMask, count);
        out.putInt(batch.partCount);
        out.putInt(batch.partNanos.length);
        out.putColumn(batch.partNanos, batch.partCount);
        out.putInt(batch.slow.size());
        for (SlowToken token : batch.slow) {
            putSlow(token, out);
        }
        out.putLong(Double.doubleToRawLongBits(batch.residentNanosPerToken));
    }

    /** Takes a batch. */
    public static TokenBatch take(PackedBytes in) throws IOException {
        SequenceName name = takeName(in);
        String clockId = in.takeText();
        int count = in.takeInt();
        int capacity = in.takeInt();
        if (count < 0 || count > capacity || capacity > MAX_ROWS) {
            throw new IOException("Cannot read a token batch of " + count + " rows in " + capacity);
        }
        TokenBatch batch = new TokenBatch(
                in.takeInts(count, capacity),
                in.takeLongs(count, capacity),
                in.takeLongs(count, capacity),
                in.takeLongs(count, capacity),
                in.takeLongs(count, capacity),
                in.takeLongs(count, capacity),
                in.takeLongs(count, capacity),
                in.takeLongs(count, capacity),
                in.takeLongs(count, capacity),
                in.takeInts(count, capacity),
                in.takeInts(count, capacity),
                in.takeInts(count, capacity),
                in.takeInts(count, capacity));
        batch.name = name;
        batch.clockId = clockId;
        batch.count = count;
        batch.partCount = in.takeInt();
        int partCapacity = in.takeInt();
        if (batch.partCount < 0 || batch.partCount > partCapacity || partCapacity > MAX_ROWS) {
            throw new IOException("Cannot read a token batch of " + batch.partCount + " parts in " + partCapacity);
        }
        batch.partNanos = in.takeLongs(batch.partCount, partCapacity);
        int slow = in.takeInt();
        List<SlowToken> tokens = new ArrayList<>(Math.min(slow, TokenBatch.CAPACITY));
        for (int i = 0; i < slow; i++) {
            tokens.add(takeSlow(in));
        }
        batch.slow = tokens;
        batch.residentNanosPerToken = Double.longBitsToDouble(in.takeLong());
        return batch;
    }

    /** Puts a name. */
    public static void putName(SequenceName name, PackedBytes out) {
        out.putText(name.engineId);
        out.putText(name.engineRequestId);
        out.putText(name.requestId);
        out.putText(name.unique);
        out.putInt(name.promptIndex);
        out.putInt(name.choice);
    }

    /** Takes a name. */
    public static SequenceName takeName(PackedBytes in) throws IOException {
        SequenceName name = new SequenceName();
        name.engineId = in.takeText();
        name.engineRequestId = in.takeText();
        name.requestId = in.takeText();
        name.unique = in.takeText();
        name.promptIndex = in.takeInt();
        name.choice = in.takeInt();
        return name;
    }

    private static void putSlow(SlowToken token, PackedBytes out) {
        out.putInt(token.row);
        out.putText(token.cause);
        out.putOptional(token.culpritRequestId);
        out.putText(token.confidence);
        out.putText(token.confidenceWhy);
        out.putLong(token.lostNanos);
        out.putTexts(token.evidence);
        out.putTexts(token.chain);
    }

    private static SlowToken takeSlow(PackedBytes in) throws IOException {
        SlowToken token = new SlowToken();
        token.row = in.takeInt();
        token.cause = in.takeText();
        token.culpritRequestId = in.takeOptionalText();
        token.confidence = in.takeText();
        token.confidenceWhy = in.takeText();
        token.lostNanos = in.takeLong();
        token.evidence = in.takeTexts();
        token.chain = in.takeTexts();
        return token;
    }

    private Object readResolve() {
        return new TokenBatchSerializer();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TokenBatchSerializer;
    }

    @Override
    public int hashCode() {
        return TokenBatchSerializer.class.hashCode();
    }

    @Override
    public TypeSerializerSnapshot<TokenBatch> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Version 1 of the form above. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<TokenBatch> {
        /** For Flink, which makes one when it restores. */
        public Snapshot() {
            super(TokenBatchSerializer::new);
        }
    }
}
