package io.tokenstair.gateway;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.foreign.LlamaCppNames;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What becomes known of one request, and the events that tell it. Used by the recorder's thread only. Keeps the request's body until its
 * end, at most {@value #MAX_BODY_BYTES} bytes, one server-sent event, and at most {@value ChunkDelivered#MAX_CHUNKS} chunks.
 */
final class ExchangeRecord {
    static final String OBSERVER = "gateway";
    static final int MAX_BODY_BYTES = 4 << 20;

    private static final long MAX_RECORD_NANOS = 250_000_000L;
    private static final Pattern TYPE_NAME = Pattern.compile("[\\w.:-]{1,100}");

    private final Start start;
    private final Out out;
    private final TokenTally tally;
    private ByteArrayOutputStream body = new ByteArrayOutputStream();
    private final ByteArrayOutputStream whole = new ByteArrayOutputStream();
    private final List<Chunk> chunks = new ArrayList<>(ChunkDelivered.MAX_CHUNKS);
    private final @Nullable GrpcSchema schema;
    private final SseSplitter events = new SseSplitter(this::event);
    private final GrpcSplitter messages = new GrpcSplitter(this::message);

    private boolean bodyTooLong;
    private boolean received;
    private boolean aliased;
    private boolean broken;
    private AnswerForm form = AnswerForm.UNREAD;
    private int status;
    private int nextChunk;
    private long chunkCount;
    private int wholeBytes;
    private @Nullable Stamps stamps;
    private @Nullable Stamps wholeStamps;
    private @Nullable Long maxTokens;

    /** Takes events with their stamps. */
    interface Out {
        /** An event stamped by this machine's monotonic clock. */
        void offer(long clockNanos, Event event);
    }

    /**
     * How a request began.
     *
     * @param receivedNanos when its headers had come
     * @param identity its id
     * @param trace its trace
     * @param route its path
     * @param uncountedIsOne true when a chunk with text that nothing counts is one token
     */
    record Start(
            long receivedNanos, RequestIdentity identity, TraceContext trace, String route, boolean uncountedIsOne) {}

    /**
     * How a request ended.
     *
     * @param endedNanos when
     * @param outcome as {@link RequestCompleted} names it
     * @param httpStatus what the client was answered; absent when nothing
     * @param errorType why it failed, as the gateway names it; absent when it did not, or the answer is to say it
     * @param headersNanos when the engine's headers came; absent when none did
     * @param clientClosedNanos when the client left; absent when it did not
     */
    record End(
            long endedNanos,
            String outcome,
            @Nullable Integer httpStatus,
            @Nullable String errorType,
            @Nullable Long headersNanos,
            @Nullable Long clientClosedNanos) {}

    ExchangeRecord(Start start, Out out) {
        this.start = start;
        this.out = out;
        this.tally = new TokenTally(start.uncountedIsOne());
        this.schema = GrpcSchema.of(start.route());
    }

    /** Bytes of the request's body. */
    void body(byte[] bytes) {
        if (body.size() + bytes.length > MAX_BODY_BYTES) {
            bodyTooLong = true;
            body.reset();
        }
        if (!bodyTooLong) {
            body.writeBytes(bytes);
        }
    }

    /** The request's body has ended. */
    void bodyEnded() {
        if (!received) {
            received = true;
            GrpcSchema.Asked asked = asked();
            RequestShape shape = asked.shape();
            maxTokens = shape.maxTokens();
            body = new ByteArrayOutputStream(0);
            out.offer(
                    start.receivedNanos(),
                    new RequestReceived(
                            OBSERVER,
                            start.identity().id(),
                            start.trace().traceId(),
                            start.trace().spanId(),
                            shape.model(),
                            start.route(),
                            shape.priority(),
                            shape.promptTokens(),
                            shape.maxTokens(),
                            shape.choicesCount(),
                            false));
            alias(asked.id(), "grpc-request");
            refused(start.identity().refusal());
            refused(start.trace().refusal());
        }
    }

    private GrpcSchema.Asked asked() {
        if (bodyTooLong) {
            return new GrpcSchema.Asked(RequestShape.UNKNOWN, null);
        }
        return schema != null
                ? schema.asked(body.toByteArray())
                : new GrpcSchema.Asked(RequestShape.read(body.toByteArray()), null);
    }

    private void refused(@Nullable String refusal) {
        if (refusal != null) {
            reject(refusal, "");
        }
    }

    /** Tells what is not told of this request, and why. */
    private void reject(String why, String consequence) {
        out.offer(
                start.receivedNanos(),
                new Rejected(
                        OBSERVER,
                        null,
                        null,
                        why + "; request " + start.identity().id() + consequence,
                        null));
    }

    /** The engine's headers. */
    void answer(int httpStatus, AnswerForm answerForm) {
        bodyEnded();
        status = httpStatus;
        form = answerForm;
    }

    /** Bytes of the answer. */
    void piece(byte[] bytes, Stamps passed) {
        if (broken) {
            return;
        }
        stamps = passed;
        switch (form) {
            case EVENTS -> events.accept(bytes);
            case GRPC -> messages.accept(bytes);
            case JSON -> {
                wholeBytes += bytes.length;
                wholeStamps = passed;
                if (whole.size() + bytes.length <= MAX_BODY_BYTES) {
                    whole.writeBytes(bytes);
                }
            }
            case UNREAD -> {
                // Its tokens stay unknown.
            }
        }
        flushWhereOld(passed.arrivedNanos());
    }

    /** Some of the answer was not observed: what follows has no place any more. */
    void breakOff(String why) {
        if (!broken) {
            broken = true;
            flush();
            reject(why, ": its further chunks are not told");
        }
    }

    private void event(byte[] data, int sizeBytes, boolean tooLong, boolean isError) {
        if (!isError && isDone(data)) {
            return;
        }
        chunkCount++;
        AnswerPart part = tooLong ? null : AnswerPart.read(data);
        if (isError) {
            part = AnswerPart.error(part);
        }
        Stamps passed = stamps;
        if (part == null || passed == null) {
            // Nobody knows what was in it, so nothing behind it can be placed.
            breakOff(tooLong ? "a stream event longer than is looked into" : "a stream event that is no JSON object");
            return;
        }
        add(tally.accept(part, nextChunk++, sizeBytes, passed));
        alias();
    }

    private static boolean isDone(byte[] data) {
        return data.length <= 16
                && new String(data, StandardCharsets.ISO_8859_1).strip().equals("[DONE]");
    }

    private void message(byte @Nullable [] message, int sizeBytes) {
        chunkCount++;
        Stamps passed = stamps;
        if (passed == null) {
            return;
        }
        boolean single = schema != null && !schema.isStream();
        if (single && nextChunk > 0) {
            // A call of one answer has no second.
            return;
        }
        AnswerPart part = schema == null || message == null ? null : schema.read(message);
        if (part == null) {
            add(tally.acceptUncounted(nextChunk++, sizeBytes, passed));
        } else if (single) {
            nextChunk++;
            add(tally.acceptWhole(part, sizeBytes, passed, maxTokens));
            alias();
        } else {
            add(tally.accept(part, nextChunk++, sizeBytes, passed));
            alias();
        }
    }

    private void alias() {
        alias(tally.id(), "stream-id");
    }

    private void alias(@Nullable String id, String source) {
        if (!aliased && id != null) {
            aliased = true;
            if (!id.equals(start.identity().id()) && isName(id)) {
                out.offer(start.receivedNanos(), new IdAliased(start.identity().id(), id, source));
            }
        }
    }

    private static boolean isName(String id) {
        return !id.isEmpty() && id.getBytes(StandardCharsets.UTF_8).length <= RequestIdentity.MAX_BYTES;
    }

    private void add(List<Chunk> more) {
        for (Chunk chunk : more) {
            if (!chunks.isEmpty()
                    && (chunks.size() == ChunkDelivered.MAX_CHUNKS
                            || chunk.arrivedNanos() - chunks.get(0).arrivedNanos() > MAX_RECORD_NANOS)) {
                flush();
            }
            chunks.add(chunk);
        }
    }

    /** Offers the chunks that have been kept for as long as they may be. */
    void flushWhereOld(long nowNanos) {
        if (!chunks.isEmpty() && nowNanos - chunks.get(0).arrivedNanos() > MAX_RECORD_NANOS) {
            flush();
        }
    }

    private void flush() {
        if (!chunks.isEmpty()) {
            out.offer(
                    chunks.get(0).arrivedNanos(),
                    new ChunkDelivered(OBSERVER, start.identity().id(), chunks));
            chunks.clear();
        }
    }

    /** The request has ended. */
    void ended(End end) {
        bodyEnded();
        if (!broken) {
            if (form == AnswerForm.EVENTS) {
                events.end();
            } else if (form == AnswerForm.JSON && wholeStamps != null) {
                AnswerPart part = whole.size() < wholeBytes ? null : AnswerPart.read(whole.toByteArray());
                if (part != null) {
                    chunkCount = 1;
                    add(tally.acceptWhole(part, wholeBytes, wholeStamps, maxTokens));
                    alias();
                }
            }
        }
        flush();
        boolean counted = !broken
                && (form == AnswerForm.EVENTS
                        || (form == AnswerForm.JSON && chunkCount > 0)
                        || (form == AnswerForm.GRPC && chunkCount > 0 && !messages.isBroken()));
        String outcome = end.outcome();
        if (outcome.equals("complete") && status >= 400) {
            outcome = "http-error";
        } else if (outcome.equals("complete") && tally.failed()) {
            outcome = "failed";
        }
        String work = outcome.equals("complete") && !broken ? tally.work() : null;
        if (work != null) {
            out.offer(start.receivedNanos(), new IdAliased(start.identity().id(), work, LlamaCppNames.ORIGIN));
        }
        String errorType = end.errorType() != null ? end.errorType() : tally.errorType();
        out.offer(
                end.endedNanos(),
                new RequestCompleted(
                        OBSERVER,
                        start.identity().id(),
                        outcome,
                        end.httpStatus(),
                        errorType != null && TYPE_NAME.matcher(errorType).matches() ? errorType : null,
                        broken || form == AnswerForm.UNREAD || messages.isBroken() ? null : Long.valueOf(chunkCount),
                        counted ? tally.outputTokens() : null,
                        end.headersNanos(),
                        end.clientClosedNanos(),
                        tally.promptTokens(),
                        tally.cachedTokens(),
                        null,
                        null));
    }
}
