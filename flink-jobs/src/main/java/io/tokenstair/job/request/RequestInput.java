package io.tokenstair.job.request;

import io.tokenstair.job.step.SentShare;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.job.step.TokenBatchSerializer;
import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import java.util.Comparator;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * What a request hears: an observer's event, tokens, or a fact of one of its sequences; exactly one of the three. Its order is made
 * of content alone, so that it does not depend on how streams were merged.
 */
@TypeInfo(RequestInputTypeInfo.Factory.class)
public class RequestInput {
    /** Event time, then observers before tokens before facts, then what tells two of a kind apart. */
    public static final Comparator<RequestInput> ORDER = Comparator.comparingLong(
                    (RequestInput input) -> input.coarseEpochMillis)
            .thenComparingInt(RequestInput::rank)
            .thenComparing((RequestInput input) -> input.origin)
            .thenComparingLong((RequestInput input) -> input.originEpoch)
            .thenComparingLong((RequestInput input) -> input.originSequence)
            .thenComparingInt((RequestInput input) -> input.detail);

    /** Bytes that a processor fetches at once, and the most of an input that are fetched ahead. */
    private static final int LINE_BYTES = 64;

    private static final int TOUCHED_BYTES = 8 * LINE_BYTES;

    public String requestId = "";
    public long coarseEpochMillis;
    public String origin = "";
    public long originEpoch;
    public long originSequence;
    public int detail;
    /** Wire bytes of an observer's event. */
    public byte @Nullable [] event;

    /** Tokens as the engine's side made them; on the request's side they are packed, see {@link #tokens()}. */
    public @Nullable TokenBatch tokens;

    /** A fact as the engine's side made it; on the request's side it is packed, see {@link #fact()}. */
    private @Nullable SequenceFact fact;

    /** Tokens or a fact in the form of {@link RequestInputSerializer}. */
    private byte @Nullable [] packed;

    /** Where in it that begins, what is behind its kind, and where it ends. */
    private int packedStart;

    private int packedFrom;
    private int packedTo;
    private boolean packedFact;

    /** Rows that it shares with what came with it; null where it has all its rows. */
    private @Nullable SentShare sent;

    /** Whether it is many inputs of a subtask in one. */
    private boolean block;

    /** An empty input, to be filled. */
    public RequestInput() {}

    private int rank() {
        return event != null ? 0 : tokens != null || (packed != null && !packedFact) ? 1 : 2;
    }

    /** An observer's event. */
    public static RequestInput observed(
            String requestId, long coarseEpochMillis, String collectorId, long epoch, long sequence, byte[] bytes) {
        RequestInput input = new RequestInput();
        input.requestId = requestId;
        input.coarseEpochMillis = coarseEpochMillis;
        input.origin = collectorId;
        input.originEpoch = epoch;
        input.originSequence = sequence;
        input.event = bytes;
        return input;
    }

    /** Tokens of one of its sequences. */
    public static RequestInput of(TokenBatch batch) {
        RequestInput input = new RequestInput();
        input.requestId = batch.name.requestId;
        input.coarseEpochMillis = batch.lastCoarseEpochMillis;
        input.origin = batch.name.engineId;
        input.originSequence = batch.firstEndNanos;
        input.detail = detail(batch.name.promptIndex, batch.name.choice);
        input.tokens = batch;
        return input;
    }

    /**
     * The same, said of a request of another id.
     *
     * @param joinedRequestId whose it is
     * @param undatedMillis event time of what has none
     */
    public RequestInput renamed(String joinedRequestId, long undatedMillis) {
        boolean undated = coarseEpochMillis == Long.MAX_VALUE;
        long millis = undated ? undatedMillis : coarseEpochMillis;
        TokenBatch batch = tokens();
        if (batch != null) {
            batch.rename(joinedRequestId);
            batch.lastCoarseEpochMillis = millis;
            return of(batch);
        }
        SequenceFact said = fact();
        if (said != null) {
            said.rename(joinedRequestId);
            said.coarseEpochMillis = millis;
            return of(said);
        }
        return observed(
                joinedRequestId, millis, origin, originEpoch, originSequence, event == null ? new byte[0] : event);
    }

    /**
     * A part of some bytes.
     *
     * @param start where it begins
     * @param from what is behind its kind
     * @param to where it ends
     * @param sent rows that it shares with what came with it; null where it has all its rows
     */
    record PackedPart(
            byte[] bytes,
            int start,
            int from,
            int to,
            @Nullable SentShare sent) {}

    /** Many inputs of requests of one subtask, in the form of {@link RequestInputSerializer}. The id is one that leads there. */
    static RequestInput block(String leadingId, byte[] packed) {
        RequestInput input = new RequestInput();
        input.requestId = leadingId;
        input.packed = packed;
        input.packedTo = packed.length;
        input.block = true;
        return input;
    }

    /** Whether it is many inputs of a subtask in one: {@link RequestInputSerializer#unpack}. */
    boolean isBlock() {
        return block;
    }

    /** Whether rows of its lie elsewhere. */
    boolean isSharing() {
        return sent != null;
    }

    /** Tokens in the form of {@link RequestInputSerializer}, from a position on. */
    static RequestInput packed(
            String requestId, long coarseEpochMillis, String origin, long originSequence, int detail, PackedPart part) {
        RequestInput input = new RequestInput();
        input.requestId = requestId;
        input.coarseEpochMillis = coarseEpochMillis;
        input.origin = origin;
        input.originSequence = originSequence;
        input.detail = detail;
        input.packed = part.bytes;
        input.packedStart = part.start;
        input.packedFrom = part.from;
        input.packedTo = part.to;
        input.sent = part.sent;
        return input;
    }

    /** A fact in the form of {@link RequestInputSerializer}, from a position on. */
    static RequestInput packedFact(
            String requestId,
            long coarseEpochMillis,
            String origin,
            SequenceFact.Kind kind,
            long clockNanos,
            int detail,
            PackedPart part) {
        RequestInput input = packed(requestId, coarseEpochMillis, origin, clockNanos, detail, part);
        input.originEpoch = kind.ordinal();
        input.packedFact = true;
        return input;
    }

    /** Its fact, or null. One that came packed is made anew at each call. */
    public @Nullable SequenceFact fact() {
        if (packed == null || !packedFact) {
            return fact;
        }
        try {
            return RequestInputSerializer.takeFact(new PackedBytes(packed, packedFrom, packedTo));
        } catch (IOException e) {
            throw new IllegalStateException("Cannot read a fact of request " + requestId + ": " + e.getMessage(), e);
        }
    }

    /** Its tokens, or null. Those that came packed are made anew at each call. */
    public @Nullable TokenBatch tokens() {
        return tokens(null);
    }

    /**
     * Its tokens, or null.
     *
     * @param before tokens that were taken before, perhaps of the same sequence; null when there are none
     */
    public @Nullable TokenBatch tokens(@Nullable TokenBatch before) {
        if (packed == null || packedFact) {
            return tokens;
        }
        try {
            return TokenBatchSerializer.take(new PackedBytes(packed, packedFrom, packedTo), before, sent);
        } catch (IOException e) {
            throw new IllegalStateException("Cannot read tokens of request " + requestId + ": " + e.getMessage(), e);
        }
    }

    /** Reads a little of each part of it that is fetched at once. */
    int touch() {
        byte[] bytes = packed;
        int sum = sent == null ? 0 : sent.touch();
        int end = bytes == null ? 0 : Math.min(packedTo, packedFrom + TOUCHED_BYTES);
        for (int at = packedFrom; bytes != null && at < end; at += LINE_BYTES) {
            sum += bytes[at];
        }
        return sum;
    }

    /** The bytes its packed form lies in, or null. */
    byte @Nullable [] packed() {
        return packed;
    }

    /** Where its packed form begins. */
    int packedStart() {
        return packedStart;
    }

    /** Where its packed form ends. */
    int packedTo() {
        return packedTo;
    }

    static int detail(int promptIndex, int choice) {
        return promptIndex * 1024 + choice;
    }

    /** A fact of one of its sequences. */
    public static RequestInput of(SequenceFact fact) {
        RequestInput input = new RequestInput();
        input.requestId = fact.name.requestId;
        input.coarseEpochMillis = fact.coarseEpochMillis;
        input.origin = fact.name.engineId;
        input.originEpoch = fact.kind.ordinal();
        input.originSequence = fact.clockNanos;
        input.detail = detail(fact.name.promptIndex, fact.name.choice);
        input.fact = fact;
        return input;
    }
}
