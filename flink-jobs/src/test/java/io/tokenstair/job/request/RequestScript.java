package io.tokenstair.job.request;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.Finish;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.Told;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes what a client sees of one request, on the engine's clock, and joins it with what an engine's timeline told. */
public final class RequestScript {
    private final String requestId;
    private final String observer;
    private final List<LoggedEvent> events = new ArrayList<>();
    private final List<RequestInput> inputs = new ArrayList<>();
    private long sequence;
    private int chunkIndex;
    private boolean undated;
    private String clockId = EngineScript.CLOCK;

    /** What a client sees of this request. */
    public RequestScript(String requestId) {
        this(requestId, "client");
    }

    /** What an observer sees of this request. */
    public RequestScript(String requestId, String observer) {
        this.requestId = requestId;
        this.observer = observer;
    }

    /** Events have no wall time. */
    public RequestScript undated() {
        undated = true;
        return this;
    }

    /** It was sent. */
    public RequestScript sent(long nanos) {
        return sent(nanos, 1, false);
    }

    /** It was sent, for so many sequences. */
    public RequestScript sent(long nanos, @Nullable Integer choices, boolean warmup) {
        chunkIndex = 0;
        return observed(
                nanos,
                new RequestReceived(observer, requestId, null, null, "model", null, null, null, null, choices, warmup));
    }

    /** A chunk without a token. */
    public RequestScript role(long nanos) {
        return chunk(nanos, 0, null, 0, Finish.NONE);
    }

    /** A chunk with tokens of a sequence. */
    public RequestScript chunk(long nanos, int sequenceIndex, int firstToken, int tokens) {
        return chunk(nanos, sequenceIndex, firstToken, tokens, Finish.NONE);
    }

    /** A chunk. */
    public RequestScript chunk(long nanos, int sequenceIndex, @Nullable Integer firstToken, int tokens, Finish finish) {
        return observed(
                nanos,
                new ChunkDelivered(
                        observer,
                        requestId,
                        List.of(new Chunk(sequenceIndex, chunkIndex++, firstToken, tokens, 200, nanos, finish))));
    }

    /** A chunk with one token as a gateway saw it: arrival, write start, write end. */
    public RequestScript through(int token, long arrivedNanos, @Nullable Long startNanos, @Nullable Long endNanos) {
        return observed(
                arrivedNanos,
                new ChunkDelivered(
                        observer,
                        requestId,
                        List.of(new Chunk(
                                0, chunkIndex++, token, 1, 200, arrivedNanos, Finish.NONE, startNanos, endNanos))));
    }

    /** Its stamps are of this clock. */
    public RequestScript clock(String id) {
        clockId = id;
        return this;
    }

    /** Every token that the engine made for a sequence arrives so long after its step. */
    public RequestScript delivered(Told told, int sequenceIndex, String engineName, long delayNanos) {
        told.tokens().stream()
                .filter(token -> token.engineRequestId().equals(EngineScript.engineRequestId(engineName)))
                .forEach(token -> chunk(token.endNanos() + delayNanos, sequenceIndex, token.index(), 1));
        return this;
    }

    /** The end as the client saw it: complete, client-closed, http-error or failed. */
    public RequestScript ended(long nanos, String outcome) {
        return ended(nanos, outcome, null);
    }

    /** The end, with the name of an error. */
    public RequestScript ended(long nanos, String outcome, @Nullable String errorType) {
        return observed(
                nanos, new RequestCompleted(observer, requestId, outcome, null, errorType, null, null, null, null));
    }

    /** Something else that an observer saw. */
    public RequestScript observed(long nanos, Event event) {
        long coarse = undated ? Long.MAX_VALUE : EngineScript.coarseEpochMillis(nanos);
        EventHeader header =
                new EventHeader(observer, 1, sequence, clockId, nanos, undated ? null : Long.valueOf(coarse));
        LoggedEvent logged = new LoggedEvent(header, event);
        events.add(logged);
        inputs.add(RequestInput.observed(requestId, coarse, observer, 1, sequence++, EventCodec.encode(logged)));
        return this;
    }

    /** What an engine's timeline told of the request. */
    public RequestScript engine(Told told) {
        told.batches.stream()
                .filter(batch -> batch.name.requestId.equals(requestId))
                .forEach(batch -> inputs.add(RequestInput.of(batch)));
        told.facts.stream()
                .filter(fact -> fact.name.requestId.equals(requestId))
                .forEach(fact -> inputs.add(RequestInput.of(fact)));
        return this;
    }

    /** What another observer saw of the same request. */
    public RequestScript with(RequestScript other) {
        inputs.addAll(other.inputs);
        return this;
    }

    /** What the observer logs. */
    public List<LoggedEvent> events() {
        return events;
    }

    /** Everything that the request hears, in order. */
    public List<RequestInput> inputs() {
        return inputs.stream().sorted(RequestInput.ORDER).toList();
    }

    /** Lives it to the end; its tokens come in their order. */
    public Lived lived() {
        Lived lived = new Lived();
        RequestLife life = new RequestLife(requestId, new RequestState(), lived);
        inputs().forEach(life::accept);
        life.finish();
        lived.tokens.sort(Comparator.comparingInt(TokenAnalysis::lifetime)
                .thenComparingInt(TokenAnalysis::sequenceIndex)
                .thenComparingInt(TokenAnalysis::tokenIndex));
        return lived;
    }
}
