package io.tokenstair.job.step;

import io.tokenstair.job.type.OwnSerializer;
import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * Carries token batches: first what orders them and who they belong to, then the rows as they are. The name of a sequence is packed
 * once and sent as bytes from then on; a reader that has the batch before keeps its name while the bytes are the same.
 */
public final class TokenBatchSerializer extends OwnSerializer<TokenBatch> {
    private static final int USUAL_NAME_BYTES = 256;
    private static final int CAPACITY_BYTES = TokenBatch.CAPACITY * TokenRow.MAX_BYTES;

    private transient PackedBytes scratch = new PackedBytes();

    @Override
    public boolean isImmutableType() {
        return false;
    }

    @Override
    protected OwnSerializer<TokenBatch> another() {
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
    public void serialize(TokenBatch batch, DataOutputView target) throws IOException {
        scratch.clear();
        put(batch, scratch);
        scratch.writeTo(target);
    }

    @Override
    public TokenBatch deserialize(DataInputView source) throws IOException {
        return take(new PackedBytes(PackedBytes.read(source), 0), null);
    }

    /** Puts a batch. */
    public static void put(TokenBatch batch, PackedBytes out) {
        putHead(batch, out);
        for (SlowToken token : batch.slow) {
            putSlow(token, out);
        }
        TokenBatch whole = batch.whole();
        out.putBytes(whole.rows, whole.rowsFrom, whole.rowsTo - whole.rowsFrom);
    }

    /** Puts a batch of which runs of rows are shared, without these, and without its texts. */
    static void putSharing(TokenBatch batch, BlockShare share, PackedBytes out) {
        putHead(batch, out);
        for (SlowToken token : batch.slow) {
            putSlow(token, share, out);
        }
        out.putInt(batch.rowBytes());
        out.putInt(batch.runs());
        int at = batch.rowsFrom;
        for (int run = 0; run < batch.runs(); run++) {
            out.putBytes(batch.rows, at, batch.runFrom(run) - at);
            out.putLong(batch.runStep(run));
            out.putInt(batch.runSteps(run));
            at = batch.runFrom(run);
        }
        out.putBytes(batch.rows, at, batch.rowsTo - at);
    }

    private static void putHead(TokenBatch batch, PackedBytes out) {
        out.putLong(batch.firstEndNanos);
        out.putLong(batch.lastCoarseEpochMillis);
        byte[] name = batch.packedName;
        if (name == null) {
            name = packedName(batch.name, batch.clockId, batch.origin);
            batch.packedName = name;
        }
        out.putBytes(name);
        out.putInt(batch.count);
        out.putLong(batch.firstCoarseEpochMillis);
        out.putLong(Double.doubleToRawLongBits(batch.residentNanosPerToken));
        out.putLong(batch.lastStepSequence);
        out.putInt(batch.slow.size());
    }

    /** Puts the name of a fact's sequence, and its clock. */
    public static void putName(SequenceFact fact, PackedBytes out) {
        if (fact.packedName == null) {
            putName(fact.name, out);
            out.putText(fact.clockId);
        } else {
            out.putFilled(fact.packedName, fact.packedNameLength);
        }
    }

    /** The name of a sequence, its clock and the origin of its steps as they travel. */
    static byte[] packedName(SequenceName name, String clockId, String origin) {
        PackedBytes out = new PackedBytes(USUAL_NAME_BYTES);
        putName(name, out);
        out.putText(clockId);
        out.putText(origin);
        return out.filled();
    }

    /**
     * Takes a batch; its rows stay where they are.
     *
     * @param before a batch taken before, perhaps of the same sequence; null when there is none
     */
    public static TokenBatch take(PackedBytes in, @Nullable TokenBatch before) throws IOException {
        return take(in, before, null);
    }

    /**
     * Takes a batch.
     *
     * @param before a batch taken before, perhaps of the same sequence; null when there is none
     * @param sent where its shared rows are; null for one that was put with all its rows
     */
    public static TokenBatch take(PackedBytes in, @Nullable TokenBatch before, @Nullable SentShare sent)
            throws IOException {
        long firstEndNanos = in.takeLong();
        long lastCoarseEpochMillis = in.takeLong();
        int nameLength = in.takeInt();
        int nameFrom = in.position();
        in.skip(nameLength);
        int count = in.takeInt();
        long firstCoarseEpochMillis = in.takeLong();
        double residentNanosPerToken = Double.longBitsToDouble(in.takeLong());
        long lastStepSequence = in.takeLong();
        int slow = in.takeInt();
        List<SlowToken> tokens = new ArrayList<>(Math.max(0, Math.min(slow, TokenBatch.CAPACITY)));
        for (int i = 0; i < slow; i++) {
            tokens.add(sent == null ? takeSlow(in) : takeSlow(in, sent));
        }
        TokenBatch batch = sent == null ? takeRows(in) : takeRows(in, sent);
        byte[] known = before == null ? null : before.packedName;
        if (before != null
                && known != null
                && Arrays.equals(known, 0, known.length, in.array(), nameFrom, nameFrom + nameLength)) {
            batch.name = before.name;
            batch.clockId = before.clockId;
            batch.origin = before.origin;
            batch.packedName = known;
        } else {
            batch.packedName = Arrays.copyOfRange(in.array(), nameFrom, nameFrom + nameLength);
            PackedBytes packed = new PackedBytes(batch.packedName, 0);
            batch.name = takeName(packed);
            batch.clockId = packed.takeText();
            batch.origin = packed.takeText();
        }
        batch.count = count;
        batch.firstEndNanos = firstEndNanos;
        batch.firstCoarseEpochMillis = firstCoarseEpochMillis;
        batch.lastCoarseEpochMillis = lastCoarseEpochMillis;
        batch.residentNanosPerToken = residentNanosPerToken;
        batch.lastStepSequence = lastStepSequence;
        batch.slow = tokens;
        return batch;
    }

    /** How many bytes a text takes. */
    static int textBytes(String text) {
        return Integer.BYTES + text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static TokenBatch takeRows(PackedBytes in) throws IOException {
        int length = in.takeInt();
        int from = in.position();
        in.skip(length);
        return new TokenBatch(in.array(), from, from + length);
    }

    private static TokenBatch takeRows(PackedBytes in, SentShare sent) throws IOException {
        int length = in.takeInt();
        if (length < 0 || length > CAPACITY_BYTES) {
            throw new IOException("Cannot read rows of " + length + " bytes");
        }
        return new TokenBatch(BlockRows.take(in, sent, length), length);
    }

    /** Puts a name. What a reader needs at once comes first. */
    public static void putName(SequenceName name, PackedBytes out) {
        out.putInt(name.promptIndex);
        out.putInt(name.choice);
        out.putText(name.requestId);
        out.putText(name.engineId);
        out.putText(name.engineRequestId);
        out.putText(name.unique);
    }

    /** Takes a name. */
    public static SequenceName takeName(PackedBytes in) throws IOException {
        SequenceName name = new SequenceName();
        name.promptIndex = in.takeInt();
        name.choice = in.takeInt();
        name.requestId = in.takeText();
        name.engineId = in.takeText();
        name.engineRequestId = in.takeText();
        name.unique = in.takeText();
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

    private static void putSlow(SlowToken token, BlockShare share, PackedBytes out) {
        out.putInt(token.row);
        share.putText(token.cause, out);
        out.putInt(token.culpritRequestId == null ? 0 : 1);
        if (token.culpritRequestId != null) {
            share.putText(token.culpritRequestId, out);
        }
        share.putText(token.confidence, out);
        share.putText(token.confidenceWhy, out);
        out.putLong(token.lostNanos);
        share.putTexts(token.evidence, out);
        share.putTexts(token.chain, out);
    }

    private static SlowToken takeSlow(PackedBytes in, SentShare sent) throws IOException {
        SlowToken token = new SlowToken();
        token.row = in.takeInt();
        token.cause = sent.takeText(in);
        token.culpritRequestId = in.takeInt() == 0 ? null : sent.takeText(in);
        token.confidence = sent.takeText(in);
        token.confidenceWhy = sent.takeText(in);
        token.lostNanos = in.takeLong();
        token.evidence = sent.takeTexts(in);
        token.chain = sent.takeTexts(in);
        return token;
    }

    @Override
    public TypeSerializerSnapshot<TokenBatch> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Version 3 of the form above. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<TokenBatch> {
        /** For Flink, which makes one when it restores. */
        public Snapshot() {
            super(TokenBatchSerializer::new);
        }
    }
}
