package io.tokenstair.job.request;

import io.tokenstair.job.request.RequestInput.PackedPart;
import io.tokenstair.job.step.BlockShare;
import io.tokenstair.job.step.SentShare;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.job.step.TokenBatchSerializer;
import io.tokenstair.job.type.KnownTexts;
import io.tokenstair.job.type.OwnSerializer;
import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * Carries what requests hear, in one piece. Tokens and facts stay packed behind what orders them until a request takes them in: inputs wait for
 * seconds by the million, and one array is cheaper to keep than twenty. Inputs are not changed once sent, so a copy is the same object.
 */
public final class RequestInputSerializer extends OwnSerializer<RequestInput> {
    private static final int EVENT = 0;
    private static final int TOKENS = 1;
    private static final int FACT = 2;
    private static final int BLOCK = 3;
    private static final int SHARING = 4;
    private static final SequenceFact.Kind[] KINDS = SequenceFact.Kind.values();

    private static final int USUAL_SHARED_BYTES = 4_096;

    private transient PackedBytes scratch = new PackedBytes();
    private transient KnownTexts known = new KnownTexts();

    @Override
    protected OwnSerializer<RequestInput> another() {
        return new RequestInputSerializer();
    }

    @Override
    public RequestInput createInstance() {
        return new RequestInput();
    }

    @Override
    public void serialize(RequestInput input, DataOutputView target) throws IOException {
        byte[] packed = input.packed();
        if (packed != null && !input.isSharing()) {
            int length = input.packedTo() - input.packedStart();
            target.writeInt(length);
            target.write(packed, input.packedStart(), length);
            return;
        }
        PackedBytes out = scratch;
        out.clear();
        put(input, out);
        out.writeTo(target);
    }

    private static void put(RequestInput input, PackedBytes out) throws IOException {
        TokenBatch batch = input.tokens();
        SequenceFact fact = input.fact();
        if (batch != null) {
            out.putInt(TOKENS);
            TokenBatchSerializer.put(batch, out);
        } else if (fact != null) {
            out.putInt(FACT);
            putFact(fact, out);
        } else if (input.event != null) {
            out.putInt(EVENT);
            out.putText(input.requestId);
            out.putLong(input.coarseEpochMillis);
            out.putText(input.origin);
            out.putLong(input.originEpoch);
            out.putLong(input.originSequence);
            out.putBytes(input.event);
        } else {
            throw new IOException("Cannot send an empty input of request " + input.requestId);
        }
    }

    /** Puts tokens or a fact into a block, without the rows that it shares with others of the block. */
    static void putInBlock(RequestInput input, BlockShare shared, PackedBytes out) throws IOException {
        int lengthAt = out.position();
        out.putInt(0);
        TokenBatch batch = input.tokens;
        if (batch != null && shared.cover(batch)) {
            out.putInt(SHARING);
            shared.put(batch, out);
        } else {
            put(input, out);
        }
        out.putInt(lengthAt, out.position() - lengthAt - Integer.BYTES);
    }

    /** A block of what was put. */
    static RequestInput block(String leadingId, BlockShare shared, int count, PackedBytes inputs) {
        PackedBytes out = new PackedBytes(inputs.position() + USUAL_SHARED_BYTES);
        out.putInt(BLOCK);
        shared.putShared(out);
        out.putInt(count);
        out.putFilled(inputs);
        return RequestInput.block(leadingId, out.filled());
    }

    /** Takes each input out of a block. They stay packed, and share its bytes. */
    void unpack(RequestInput block, Taker taker) throws Exception {
        byte[] packed = block.packed();
        if (packed == null) {
            throw new IOException("Cannot read an empty block");
        }
        PackedBytes in = new PackedBytes(packed, Integer.BYTES);
        SentShare sent = SentShare.take(in);
        int count = in.takeInt();
        for (int i = 0; i < count; i++) {
            int length = in.takeInt();
            int start = in.position();
            in.skip(length);
            taker.take(unpack(packed, start, in.position(), sent));
        }
    }

    /** Takes inputs. */
    interface Taker {
        /** Takes one. */
        void take(RequestInput input) throws Exception;
    }

    private RequestInput unpack(byte[] packed, int start, int end, @Nullable SentShare sent) throws IOException {
        PackedBytes in = new PackedBytes(packed, start, end);
        int content = in.takeInt();
        if (content == SHARING && sent != null) {
            sent.sharedByOneMore();
        }
        PackedPart part = new PackedPart(packed, start, in.position(), end, content == SHARING ? sent : null);
        return switch (content) {
            case TOKENS, SHARING -> packed(part, in);
            case FACT -> packedFact(part, in);
            case EVENT ->
                RequestInput.observed(
                        in.takeText(), in.takeLong(), in.takeText(known), in.takeLong(), in.takeLong(), in.takeBytes());
            default -> throw new IOException("Cannot read an input of a request with content " + content);
        };
    }

    @Override
    public RequestInput deserialize(DataInputView source) throws IOException {
        byte[] packed = PackedBytes.read(source);
        if (new PackedBytes(packed, 0).takeInt() == BLOCK) {
            return RequestInput.block("", packed);
        }
        return unpack(packed, 0, packed.length, null);
    }

    /** Reads of packed tokens what a request must know to keep them. */
    private RequestInput packed(PackedPart part, PackedBytes in) throws IOException {
        long firstEndNanos = in.takeLong();
        long coarseEpochMillis = in.takeLong();
        in.takeInt();
        int promptIndex = in.takeInt();
        int choice = in.takeInt();
        String requestId = in.takeText();
        String engineId = in.takeText(known);
        return RequestInput.packed(
                requestId, coarseEpochMillis, engineId, firstEndNanos, RequestInput.detail(promptIndex, choice), part);
    }

    /** Reads of a packed fact what a request must know to keep it. */
    private RequestInput packedFact(PackedPart part, PackedBytes in) throws IOException {
        SequenceFact.Kind kind = kind(in.takeInt());
        int promptIndex = in.takeInt();
        int choice = in.takeInt();
        String requestId = in.takeText();
        String engineId = in.takeText(known);
        in.skip(in.takeInt());
        in.skip(in.takeInt());
        in.skip(in.takeInt());
        long coarseEpochMillis = in.takeLong();
        in.takeOptionalLong();
        in.takeOptionalLong();
        in.takeOptionalLong();
        return RequestInput.packedFact(
                requestId,
                coarseEpochMillis,
                engineId,
                kind,
                in.takeLong(),
                RequestInput.detail(promptIndex, choice),
                part);
    }

    private static SequenceFact.Kind kind(int ordinal) throws IOException {
        if (ordinal < 0 || ordinal >= KINDS.length) {
            throw new IOException("Cannot read a fact of kind " + ordinal);
        }
        return KINDS[ordinal];
    }

    private static void putFact(SequenceFact fact, PackedBytes out) {
        out.putInt(fact.kind.ordinal());
        TokenBatchSerializer.putName(fact, out);
        out.putLong(fact.coarseEpochMillis);
        out.putOptional(fact.epochNanos);
        out.putOptional(fact.boundNanos);
        out.putOptional(fact.sigmaNanos);
        out.putLong(fact.clockNanos);
        out.putText(fact.eventId);
        out.putOptional(fact.tokens);
        out.putOptional(fact.promptTokens);
        out.putOptional(fact.priority == null ? null : Long.valueOf(fact.priority));
        out.putOptional(fact.stepId);
        out.putOptional(fact.endReason);
        out.putOptional(fact.otherRequestId);
        out.putOptional(fact.otherEventId);
        out.putOptional(fact.holderRequestId);
        out.putOptional(fact.outputTokens);
        out.putOptional(fact.kvUsedBlocksCount);
        out.putOptional(fact.kvTotalBlocksCount);
        out.putInt(fact.blockSizeTokens);
        out.putOptional(fact.otherPriority == null ? null : Long.valueOf(fact.otherPriority));
    }

    /** Takes a fact. */
    static SequenceFact takeFact(PackedBytes in) throws IOException {
        SequenceFact fact = new SequenceFact();
        fact.kind = kind(in.takeInt());
        fact.name = TokenBatchSerializer.takeName(in);
        fact.clockId = in.takeText();
        fact.coarseEpochMillis = in.takeLong();
        fact.epochNanos = in.takeOptionalLong();
        fact.boundNanos = in.takeOptionalLong();
        fact.sigmaNanos = in.takeOptionalLong();
        fact.clockNanos = in.takeLong();
        fact.eventId = in.takeText();
        fact.tokens = in.takeOptionalLong();
        fact.promptTokens = in.takeOptionalLong();
        fact.priority = intOrNull(in.takeOptionalLong());
        fact.stepId = in.takeOptionalLong();
        fact.endReason = in.takeOptionalText();
        fact.otherRequestId = in.takeOptionalText();
        fact.otherEventId = in.takeOptionalText();
        fact.holderRequestId = in.takeOptionalText();
        fact.outputTokens = in.takeOptionalLong();
        fact.kvUsedBlocksCount = in.takeOptionalLong();
        fact.kvTotalBlocksCount = in.takeOptionalLong();
        fact.blockSizeTokens = in.takeInt();
        // Facts that an older build kept end here.
        fact.otherPriority = in.hasMore() ? intOrNull(in.takeOptionalLong()) : null;
        return fact;
    }

    private static @Nullable Integer intOrNull(@Nullable Long value) {
        return value == null ? null : Integer.valueOf(Math.toIntExact(value));
    }

    @Override
    public TypeSerializerSnapshot<RequestInput> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Version 1 of the form above. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<RequestInput> {
        /** For Flink, which makes one when it restores. */
        public Snapshot() {
            super(RequestInputSerializer::new);
        }
    }
}
