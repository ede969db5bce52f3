package io.tokenstair.gateway;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import io.tokenstair.clock.ElapsedClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way to the engine and its answer on the way back, on one event loop. Copies bytes as they come, with back-pressure
 * both ways; reads the clock around each; leaves looking into them to the recorder.
 */
final class Exchange {
    private static final long NO_TIMER = -1;
    private static final long CANCEL = 8;
    /** Of a request's body, what is kept until its answer begins. A longer one is not sent a second time. */
    private static final int MAX_KEPT_BODY_BYTES = 1 << 20;

    private static final int MAX_TIMES_SENT = 8;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Vertx vertx;
    private final GatewaySettings settings;
    private final Recorder recorder;
    private final Traffic traffic;
    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Runnable whenEnded;
    private final UsedConnections usedConnections;
    private final boolean grpc;
    private final ElapsedClock clock = ElapsedClock.system();
    private final long receivedNanos = clock.elapsedNanos();

    private @Nullable Observation observation;
    private @Nullable String requestId;
    private @Nullable HttpClientRequest upstreamRequest;
    private final List<Buffer> sentBody = new ArrayList<>();
    private boolean sendableAgain = true;
    private boolean opensAgain;
    private int timesSent;
    private boolean bodyWhole;
    private long bodyBytes;
    private long bodyTimer = NO_TIMER;
    private long stallTimer = NO_TIMER;
    private @Nullable Long headersNanos;
    /** The way of its answer past the queues; absent where there is none. */
    private @Nullable StraightWay straightWay;

    private @Nullable Future<Void> headWrite;
    /** Pieces of the answer that came the usual way. */
    private long usualCount;

    private int usualPendingWrites;
    private int pendingWrites;
    private boolean answerEnded;
    private boolean ended;
    private ExchangeRecord.@Nullable End end;

    /** A request that is recorded, as the event loop and the recorder's thread share it. */
    static final class Observation {
        final ExchangeRecord record;
        /** Some of what passed was not queued for the recorder. */
        volatile boolean lost;
        /** Nothing follows. */
        volatile boolean ended;
        /** The recorder has told the loss; its thread only. */
        boolean told;
        /** The recorder has heard of it; its thread only. */
        boolean open;

        Observation(ExchangeRecord record) {
            this.record = record;
        }
    }

    /** Bytes of the request's body, which wait for the recorder. */
    private static final class BodyPiece extends Recorder.Seen {
        private final Buffer body;

        private BodyPiece(Observation of, Buffer body) {
            super(of, body.length());
            this.body = body;
        }

        @Override
        void into(ExchangeRecord record) {
            record.body(body.getBytes());
        }
    }

    /** Bytes of the answer: on their way to the client first, then to the recorder. */
    private final class AnswerPiece extends Recorder.Seen implements ChannelFutureListener {
        private final byte[] answer;
        private final long arrivedNanos;
        private long writeEndNanos;
        private boolean written;

        private AnswerPiece(Observation of, byte[] answer, long arrivedNanos) {
            super(of, answer.length);
            this.answer = answer;
            this.arrivedNanos = arrivedNanos;
        }

        /** The write has ended. */
        private void written(boolean succeeded) {
            written = succeeded;
            writeEndNanos = succeeded ? clock.elapsedNanos() : 0;
            recorder.bytes(this);
        }

        /** The write has ended after others went on. */
        private void writtenLater(boolean succeeded) {
            pendingWrites--;
            written(succeeded);
            endWhereWritten();
        }

        @Override
        public void operationComplete(ChannelFuture done) {
            writtenLater(done.isSuccess());
        }

        @Override
        void into(ExchangeRecord record) {
            // The clock is read once before the write: between arrival and its start nothing happens.
            record.piece(answer, new Stamps(arrivedNanos, arrivedNanos, written ? writeEndNanos : null));
        }
    }

    Exchange(
            Vertx vertx,
            GatewaySettings settings,
            Recorder recorder,
            Traffic traffic,
            UsedConnections usedConnections,
            HttpServerRequest request,
            Runnable whenEnded) {
        this.vertx = vertx;
        this.settings = settings;
        this.recorder = recorder;
        this.traffic = traffic;
        this.usedConnections = usedConnections;
        this.request = request;
        this.response = request.response();
        this.whenEnded = whenEnded;
        String type = request.getHeader(HttpHeaders.CONTENT_TYPE);
        this.grpc = type != null && type.toLowerCase(Locale.ROOT).startsWith("application/grpc");
    }

    /** Sends the request on by one of two clients. */
    void forward(HttpClient plain, HttpClient stream) {
        request.pause();
        traffic.began();
        if (request.method().equals(HttpMethod.CONNECT)
                || Headers.wantsWebSocket(request.headers())
                || !request.uri().startsWith("/")) {
            refuse(501, "not-forwarded");
            return;
        }
        Set<String> leaveOut = new HashSet<>(Set.of("host", "expect"));
        RequestIdentity identity = null;
        TraceContext trace = null;
        if (Route.isRecorded(request.method().name(), String.valueOf(request.path()), grpc)) {
            RequestIdentity.Randomness randomness = Exchange::sixteen;
            identity =
                    RequestIdentity.of(Headers.values(request.headers(), RequestIdentity.HEADER), traffic, randomness);
            trace = TraceContext.of(Headers.values(request.headers(), TraceContext.HEADER), randomness);
            requestId = identity.id();
            if (identity.refusal() != null) {
                traffic.idReplaced();
            }
            observation = new Observation(recorder.record(new ExchangeRecord.Start(
                    receivedNanos, identity, trace, String.valueOf(request.path()), settings.uncountedIsOne())));
            if (identity.sendNew()) {
                leaveOut.add(RequestIdentity.HEADER);
            }
            if (trace.sendNew()) {
                leaveOut.add(TraceContext.HEADER);
                leaveOut.add(TraceContext.STATE_HEADER);
            }
        }
        response.closeHandler(closed -> {
            // A stream of HTTP/2 also closes when all is sent; then the end of sending tells how it went.
            if (!answerEnded) {
                clientLeft();
            }
        });
        response.exceptionHandler(failed -> clientLeft());
        request.exceptionHandler(failed -> clientLeft());
        open(grpc ? stream : plain, new Changes(identity, trace, leaveOut));
    }

    /** What the engine gets otherwise than the client sent it. */
    private record Changes(
            @Nullable RequestIdentity identity, @Nullable TraceContext trace, Set<String> leaveOut) {}

    private void open(HttpClient client, Changes changes) {
        RequestOptions options = new RequestOptions()
                .setMethod(request.method())
                .setHost(settings.upstreamHost())
                .setPort(settings.upstreamPort())
                .setURI(request.uri());
        client.request(options).onComplete(opened -> {
            if (opened.failed()) {
                refuse(502, "upstream-unreachable");
            } else if (ended) {
                opened.result().reset(CANCEL);
            } else {
                send(client, opened.result(), changes);
            }
        });
    }

    private static byte[] sixteen() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    private void send(HttpClient client, HttpClientRequest upstream, Changes changes) {
        boolean again = opensAgain;
        opensAgain = false;
        timesSent++;
        upstreamRequest = upstream;
        Headers.copy(request.headers(), upstream.headers(), changes.leaveOut());
        RequestIdentity identity = changes.identity();
        if (identity != null && identity.sendNew()) {
            upstream.putHeader(RequestIdentity.HEADER, identity.id());
        }
        TraceContext trace = changes.trace();
        if (trace != null && trace.sendNew()) {
            upstream.putHeader(TraceContext.HEADER, trace.traceparent());
        }
        if (grpc) {
            upstream.putHeader("te", "trailers");
        }
        boolean used = usedConnections.use(upstream.connection());
        straightWay = upstream.version() == HttpVersion.HTTP_1_1 ? StraightWay.of(upstream.connection()) : null;
        upstream.exceptionHandler(failed -> unanswered(client, upstream, used, changes));
        upstream.response().onComplete(answered -> {
            if (answered.failed()) {
                unanswered(client, upstream, used, changes);
            } else if (upstream == upstreamRequest) {
                answer(answered.result());
            }
        });
        if (!hasBody()) {
            if (!again) {
                request.endHandler(none -> bodyEnded());
            }
            upstream.end();
            readOn();
            return;
        }
        if (request.getHeader(HttpHeaders.CONTENT_LENGTH) == null) {
            upstream.setChunked(true);
        }
        if (!again) {
            readBody();
        }
        // The engine may answer and look at the body at leisure, so its head goes at once.
        upstream.sendHead();
        sentBody.forEach(upstream::write);
        if (bodyBytes > MAX_KEPT_BODY_BYTES) {
            neverAgain();
        }
        if (bodyWhole) {
            upstream.end();
        } else {
            readOn();
        }
    }

    /** A request that has been read to its end cannot be told to go on. */
    private void readOn() {
        if (!request.isEnded()) {
            request.resume();
        }
    }

    private void readBody() {
        bodyTimer = vertx.setTimer(settings.bodyTimeout().toMillis(), late -> {
            bodyTimer = NO_TIMER;
            refuse(408, "body-timeout");
        });
        request.handler(this::bodyPiece);
        request.endHandler(whole -> {
            cancelBodyTimer();
            bodyWhole = true;
            bodyEnded();
            HttpClientRequest upstream = upstreamRequest;
            if (!ended && !opensAgain && upstream != null) {
                upstream.end();
            }
        });
    }

    /**
     * The engine closed the connection and had not begun to answer. On a connection that had served before it closed it most likely for
     * having rested, at the moment it was taken again, and never saw the request: that is sent once more, on another. On a connection of
     * this request's own the engine did see it, and the client gets to know. Streams of HTTP/2 share a connection that stays: their
     * engine says itself what it did not see.
     */
    private void unanswered(HttpClient client, HttpClientRequest upstream, boolean used, Changes changes) {
        if (upstream != upstreamRequest || ended) {
            return;
        }
        boolean closed = upstream.version() == HttpVersion.HTTP_1_1;
        if (!used || !closed || !sendableAgain || headersNanos != null || timesSent == MAX_TIMES_SENT) {
            upstreamFailed("upstream-closed");
            return;
        }
        if (opensAgain) {
            return;
        }
        opensAgain = true;
        traffic.sentAgain();
        if (!request.isEnded()) {
            request.pause();
        }
        open(client, changes);
    }

    private boolean hasBody() {
        String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        if (length != null) {
            return !length.strip().equals("0");
        }
        HttpMethod method = request.method();
        boolean usuallyNone = method.equals(HttpMethod.GET)
                || method.equals(HttpMethod.HEAD)
                || method.equals(HttpMethod.OPTIONS)
                || method.equals(HttpMethod.DELETE);
        return request.version() == HttpVersion.HTTP_2
                ? !usuallyNone
                : request.getHeader(HttpHeaders.TRANSFER_ENCODING) != null;
    }

    private void bodyPiece(Buffer bytes) {
        HttpClientRequest upstream = upstreamRequest;
        if (ended || upstream == null) {
            return;
        }
        bodyBytes += bytes.length();
        if (bodyBytes > settings.maxBodyBytes()) {
            refuse(413, "body-too-long");
            return;
        }
        Observation observed = observation;
        if (observed != null) {
            recorder.bytes(new BodyPiece(observed, bytes));
        }
        if (opensAgain) {
            sentBody.add(bytes);
            return;
        }
        if (bodyBytes > MAX_KEPT_BODY_BYTES) {
            neverAgain();
        } else if (sendableAgain) {
            sentBody.add(bytes);
        }
        upstream.write(bytes);
        if (upstream.writeQueueFull()) {
            request.pause();
            upstream.drainHandler(room -> {
                if (upstream == upstreamRequest && !opensAgain) {
                    readOn();
                }
            });
        }
    }

    private void neverAgain() {
        sendableAgain = false;
        sentBody.clear();
    }

    private void bodyEnded() {
        Observation observed = observation;
        if (observed != null) {
            recorder.mark(observed, ExchangeRecord::bodyEnded);
        }
    }

    private void answer(HttpClientResponse answer) {
        if (ended) {
            return;
        }
        headersNanos = clock.elapsedNanos();
        neverAgain();
        AnswerForm form = AnswerForm.of(
                answer.getHeader(HttpHeaders.CONTENT_TYPE), answer.getHeader(HttpHeaders.CONTENT_ENCODING));
        int status = answer.statusCode();
        Observation observed = observation;
        if (observed != null) {
            recorder.mark(observed, record -> record.answer(status, form));
        }
        response.setStatusCode(status);
        if (request.version() != HttpVersion.HTTP_2 && answer.statusMessage() != null) {
            response.setStatusMessage(answer.statusMessage());
        }
        if (grpc && answer.headers().contains("grpc-status")) {
            // An answer of trailers only. What it says is sent as the trailers it is, behind a head of its own.
            Headers.copy(answer.headers(), response.trailers(), Set.of("content-type", "content-length"));
            response.putHeader(HttpHeaders.CONTENT_TYPE, String.valueOf(answer.getHeader(HttpHeaders.CONTENT_TYPE)));
        } else {
            Headers.copy(answer.headers(), response.headers(), Set.of());
        }
        String id = requestId;
        if (id != null && !response.headers().contains(RequestIdentity.HEADER)) {
            response.putHeader(RequestIdentity.HEADER, id);
        }
        boolean bodyless = status == 204 || status == 304 || request.method().equals(HttpMethod.HEAD);
        if (!bodyless && answer.getHeader(HttpHeaders.CONTENT_LENGTH) == null) {
            response.setChunked(true);
        }
        answer.handler(bytes -> piece(answer, bytes));
        answer.exceptionHandler(failed -> upstreamFailed("upstream-closed"));
        answer.endHandler(whole -> answerEnded(answer));
        if (form == AnswerForm.EVENTS) {
            writeHead();
            StraightWay straight = straightWay;
            if (straight != null && response.isChunked() && request.version() == HttpVersion.HTTP_1_1) {
                straight.open(this, request.connection());
            }
        } else {
            // Behind what comes with the head, so that a short answer goes out as one.
            vertx.getOrCreateContext().runOnContext(later -> {
                if (!answerEnded && !ended) {
                    writeHead();
                }
            });
        }
    }

    private void writeHead() {
        // To a client of HTTP/1.0, which knows no chunks, it goes with the first piece: before, nothing says where the
        // answer ends.
        boolean framed =
                request.version() != HttpVersion.HTTP_1_0 || response.headers().contains(HttpHeaders.CONTENT_LENGTH);
        if (framed && !response.headWritten() && !response.closed()) {
            headWrite = response.writeHead();
        }
    }

    private void piece(HttpClientResponse answer, Buffer bytes) {
        if (ended) {
            return;
        }
        long arrivedNanos = clock.elapsedNanos();
        Future<Void> written = response.write(bytes);
        Observation observed = observation;
        if (observed != null) {
            AnswerPiece piece = new AnswerPiece(observed, bytes.getBytes(), arrivedNanos);
            usualCount++;
            traffic.piece(false);
            if (pendingWrites == 0 && written.isComplete()) {
                // As a rule: the socket had room.
                piece.written(written.succeeded());
            } else {
                pendingWrites++;
                usualPendingWrites++;
                written.onComplete(done -> {
                    usualPendingWrites--;
                    piece.writtenLater(done.succeeded());
                });
            }
        }
        if (response.writeQueueFull()) {
            if (straightWay != null) {
                straightWay.close();
            }
            answer.pause();
            stallTimer = vertx.setTimer(settings.stallTimeout().toMillis(), late -> {
                stallTimer = NO_TIMER;
                finish("failed", "client-stalled", null);
                cancel();
                response.reset(CANCEL);
            });
            response.drainHandler(room -> {
                cancelStallTimer();
                answer.resume();
            });
        }
    }

    /** True when a piece of the answer may go straight to the client: all before it have gone, of those that came the usual way too. */
    boolean goesStraight(long usualSentCount) {
        Future<Void> head = headWrite;
        return !ended
                && observation != null
                && usualCount == usualSentCount
                && usualPendingWrites == 0
                && head != null
                && head.succeeded();
    }

    /**
     * A piece of the answer on the short way.
     *
     * @param message what to write
     * @param bytes what it has of the answer's body
     * @param to where to write it
     */
    void straightPiece(Object message, byte[] bytes, ChannelHandlerContext to) {
        long arrivedNanos = clock.elapsedNanos();
        Observation observed = observation;
        if (observed == null) {
            ReferenceCountUtil.release(message);
            return;
        }
        AnswerPiece piece = new AnswerPiece(observed, bytes, arrivedNanos);
        ChannelFuture written = to.writeAndFlush(message);
        traffic.piece(true);
        if (pendingWrites == 0 && written.isDone()) {
            piece.written(written.isSuccess());
        } else {
            pendingWrites++;
            written.addListener(piece);
        }
    }

    private void answerEnded(HttpClientResponse answer) {
        answerEnded = true;
        if (ended) {
            return;
        }
        String grpcStatus = null;
        if (grpc) {
            grpcStatus = answer.getTrailer("grpc-status");
            grpcStatus = grpcStatus != null ? grpcStatus : answer.getHeader("grpc-status");
        }
        Headers.copy(answer.trailers(), response.trailers(), Set.of());
        boolean failed = grpc && !"0".equals(grpcStatus);
        String errorType = failed ? "grpc-status-" + (grpcStatus == null ? "missing" : grpcStatus) : null;
        response.end().onComplete(done -> {
            if (done.succeeded()) {
                finish(failed ? "failed" : "complete", errorType, null);
                if (request.version() == HttpVersion.HTTP_2 && !request.isEnded()) {
                    // Its other half would stay open for as long as the client likes.
                    response.reset(0);
                }
            } else {
                clientLeft();
            }
        });
    }

    /** The client closed its connection, or reset its stream. */
    private void clientLeft() {
        if (ended) {
            return;
        }
        if (traffic.isStopping()) {
            finish("failed", "gateway-stopped", null);
        } else {
            finish("client-closed", null, clock.elapsedNanos());
        }
        // The end is told first: what is cancelled fails, and would tell another.
        cancel();
    }

    private void cancel() {
        HttpClientRequest upstream = upstreamRequest;
        if (upstream != null) {
            upstream.reset(CANCEL);
        }
    }

    private void upstreamFailed(String why) {
        if (ended || answerEnded) {
            return;
        }
        if (!response.headWritten()) {
            refuse(502, why);
            return;
        }
        finish("failed", traffic.isStopping() ? "gateway-stopped" : why, null);
        response.reset(CANCEL);
    }

    /** Answers in the engine's place. */
    private void refuse(int status, String why) {
        if (ended) {
            return;
        }
        boolean answerable = !response.headWritten() && !response.closed();
        Observation observed = observation;
        if (observed != null) {
            recorder.mark(observed, record -> record.answer(status, AnswerForm.UNREAD));
        }
        finish("http-error", why, null, answerable ? Integer.valueOf(status) : null);
        cancel();
        if (!answerable) {
            response.reset(CANCEL);
            return;
        }
        response.headers().clear();
        response.setStatusCode(status);
        String id = requestId;
        if (id != null) {
            response.putHeader(RequestIdentity.HEADER, id);
        }
        if (grpc) {
            response.setStatusCode(200)
                    .putHeader(HttpHeaders.CONTENT_TYPE, "application/grpc")
                    .putHeader("grpc-status", status == 413 ? "8" : "14")
                    .putHeader("grpc-message", why)
                    .end();
        } else {
            if (request.version() != HttpVersion.HTTP_2 && !request.isEnded()) {
                // What is left of the body is not read: the connection cannot be used again.
                response.putHeader(HttpHeaders.CONNECTION, "close");
            }
            response.putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
                    .end("{\"error\":{\"type\":\"" + why + "\",\"message\":\"tokenstair gateway: " + why
                            + "\",\"code\":" + status + "}}")
                    .onComplete(sent -> {
                        if (!request.isEnded()) {
                            if (request.version() == HttpVersion.HTTP_2) {
                                response.reset(0);
                            } else {
                                request.connection().close();
                            }
                        }
                    });
        }
    }

    private void finish(String outcome, @Nullable String errorType, @Nullable Long clientClosedNanos) {
        finish(outcome, errorType, clientClosedNanos, response.headWritten() ? response.getStatusCode() : null);
    }

    private void finish(
            String outcome, @Nullable String errorType, @Nullable Long clientClosedNanos, @Nullable Integer status) {
        if (ended) {
            return;
        }
        ended = true;
        cancelBodyTimer();
        cancelStallTimer();
        end = new ExchangeRecord.End(clock.elapsedNanos(), outcome, status, errorType, headersNanos, clientClosedNanos);
        String id = requestId;
        if (id != null) {
            traffic.release(id);
        }
        traffic.ended(outcome.equals("complete") && status != null && status >= 400 ? "http-error" : outcome);
        endWhereWritten();
        whenEnded.run();
    }

    /** Tells the end behind all that was written: a connection that closes fails its writes first or at once. */
    private void endWhereWritten() {
        ExchangeRecord.End told = end;
        Observation observed = observation;
        if (told != null && observed != null && pendingWrites == 0) {
            end = null;
            observed.ended = true;
            recorder.mark(observed, record -> record.ended(told));
        }
    }

    private void cancelBodyTimer() {
        if (bodyTimer != NO_TIMER) {
            vertx.cancelTimer(bodyTimer);
            bodyTimer = NO_TIMER;
        }
    }

    private void cancelStallTimer() {
        if (stallTimer != NO_TIMER) {
            vertx.cancelTimer(stallTimer);
            stallTimer = NO_TIMER;
        }
    }
}
