package io.tokenstair.collect.otlp.receive;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.tokenstair.collect.otlp.OtlpSignal;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer, in either protocol. Runs on the connection's event loop; only decoding is handed to a worker. A gRPC call of
 * one message is an HTTP/2 request whose body is a flag, a length and the message; that much is written here, because a library that collects
 * the message by itself cannot be held to a bound over all connections.
 */
final class Exchange {
    private static final int PREFIX_BYTES = 5;
    private static final long RETRY_SECONDS = 1;
    private static final String PROTOBUF = "application/x-protobuf";
    private static final String JSON = "application/json";
    private static final String GRPC = "application/grpc";
    private static final String CHALLENGE = "Bearer realm=\"tokenstair\"";
    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    private final Vertx vertx;
    private final ReceiverSettings settings;
    private final OtlpIntake intake;
    private final ReceiverCounts counts;
    private final AtomicLong allHeldBytes;
    private final HttpServerRequest request;
    private final boolean grpc;
    private final boolean json;
    private Buffer body = Buffer.buffer();
    private long heldBytes;
    private boolean answered;
    private long timer = -1;

    private Exchange(
            Vertx vertx,
            ReceiverSettings settings,
            OtlpIntake intake,
            ReceiverCounts counts,
            AtomicLong allHeldBytes,
            HttpServerRequest request) {
        this.vertx = vertx;
        this.settings = settings;
        this.intake = intake;
        this.counts = counts;
        this.allHeldBytes = allHeldBytes;
        this.request = request;
        String type = contentType(request);
        this.grpc = type.startsWith(GRPC) && request.version() == HttpVersion.HTTP_2;
        this.json = type.equals(JSON);
    }

    static void begin(
            Vertx vertx,
            ReceiverSettings settings,
            OtlpIntake intake,
            ReceiverCounts counts,
            AtomicLong allHeldBytes,
            Supplier<String> moreMetrics,
            HttpServerRequest request) {
        if (request.method() == HttpMethod.GET && "/metrics".equals(request.path())) {
            if (!isKnown(settings, request)) {
                counts.answered(Answer.Kind.UNKNOWN_SENDER);
                request.response()
                        .setStatusCode(Answer.Kind.UNKNOWN_SENDER.httpStatus())
                        .putHeader("www-authenticate", CHALLENGE)
                        .end();
                return;
            }
            StringBuilder metrics = new StringBuilder();
            counts.write(metrics, allHeldBytes.get());
            metrics.append(moreMetrics.get()).append("# EOF\n");
            request.response().putHeader("content-type", OPEN_METRICS).end(metrics.toString());
            return;
        }
        new Exchange(vertx, settings, intake, counts, allHeldBytes, request).begin();
    }

    private static boolean isKnown(ReceiverSettings settings, HttpServerRequest request) {
        ReceiverSecurity.Secret secret = settings.security().secret();
        return secret == null || secret.isBroughtBy(request.getHeader(secret.header()));
    }

    private static String contentType(HttpServerRequest request) {
        String type = request.getHeader("content-type");
        if (type == null) {
            return "";
        }
        int end = type.indexOf(';');
        return (end < 0 ? type : type.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    }

    private void begin() {
        request.exceptionHandler(broken -> release());
        request.response().exceptionHandler(broken -> release());
        request.response().closeHandler(closed -> release());
        OtlpSignal signal = signal();
        Answer refusal = refusal(signal);
        if (refusal != null || signal == null) {
            answer(signal == null ? OtlpSignal.TRACES : signal, refusal == null ? unknown() : refusal);
            return;
        }
        timer = vertx.setTimer(
                Math.max(1, settings.requestTime().toMillis()),
                late -> answer(signal, Answer.refused(Answer.Kind.SLOW, "the request did not arrive in time")));
        request.handler(chunk -> arrived(signal, chunk));
        request.endHandler(end -> whole(signal));
    }

    private static Answer unknown() {
        return Answer.refused(Answer.Kind.UNKNOWN, "no such path: POST to /v1/traces, /v1/metrics or /v1/logs");
    }

    private @Nullable OtlpSignal signal() {
        String path = request.path();
        if (path == null) {
            return null;
        }
        if (!grpc) {
            return OtlpSignal.ofPath(path);
        }
        for (OtlpSignal signal : OtlpSignal.values()) {
            if (path.equals('/' + signal.service() + "/Export")) {
                return signal;
            }
        }
        return null;
    }

    private @Nullable Answer refusal(@Nullable OtlpSignal signal) {
        if (!isKnown(settings, request)) {
            return Answer.refused(Answer.Kind.UNKNOWN_SENDER, "the request does not bring what this receiver asks for");
        }
        if (signal == null) {
            return unknown();
        }
        if (request.method() != HttpMethod.POST) {
            return Answer.refused(Answer.Kind.NOT_POST, "not a POST");
        }
        String encoding = request.getHeader(grpc ? "grpc-encoding" : "content-encoding");
        if (encoding != null && !encoding.equals("gzip") && !encoding.equals("identity")) {
            return Answer.refused(Answer.Kind.UNSUPPORTED, "an encoding that is neither gzip nor identity");
        }
        if (!grpc && !json && !contentType(request).equals(PROTOBUF)) {
            return Answer.refused(
                    Answer.Kind.UNSUPPORTED, "a content type that is neither " + PROTOBUF + " nor " + JSON);
        }
        String length = request.getHeader("content-length");
        if (length != null && length.length() < 19 && length.matches("\\d+") && Long.parseLong(length) > wireLimit()) {
            return tooLarge();
        }
        return null;
    }

    private long wireLimit() {
        return settings.requestBytes() + (grpc ? PREFIX_BYTES : 0L);
    }

    private Answer tooLarge() {
        return Answer.refused(Answer.Kind.TOO_LARGE, "a request of more than " + settings.requestBytes() + " bytes");
    }

    private void arrived(OtlpSignal signal, Buffer chunk) {
        if (answered) {
            return;
        }
        counts.received(chunk.length());
        if (body.length() + (long) chunk.length() > wireLimit()) {
            answer(signal, tooLarge());
            return;
        }
        heldBytes += chunk.length();
        if (allHeldBytes.addAndGet(chunk.length()) > settings.heldBytes()) {
            answer(signal, Answer.refused(Answer.Kind.BUSY, "too many requests at once"));
            return;
        }
        body.appendBuffer(chunk);
    }

    private void whole(OtlpSignal signal) {
        if (answered) {
            return;
        }
        vertx.cancelTimer(timer);
        boolean zipped = "gzip".equals(request.getHeader(grpc ? "grpc-encoding" : "content-encoding"));
        byte[] message = body.getBytes();
        if (grpc) {
            if (message.length < PREFIX_BYTES
                    || body.getUnsignedInt(1) != message.length - (long) PREFIX_BYTES
                    || (message[0] != 0 && !(message[0] == 1 && zipped))) {
                answer(signal, Answer.refused(Answer.Kind.UNREADABLE, "not one gRPC message"));
                return;
            }
            zipped = message[0] == 1;
            message = Arrays.copyOfRange(message, PREFIX_BYTES, message.length);
        }
        // What waits to be decoded lies in memory once.
        body = Buffer.buffer();
        byte[] bytes = message;
        boolean unzip = zipped;
        vertx.executeBlocking(() -> intake.take(signal, bytes, unzip, json && !grpc), false)
                .onComplete(answer -> answer(
                        signal,
                        answer.succeeded()
                                ? answer.result()
                                : Answer.refused(Answer.Kind.BUSY, "the receiver is ending")));
    }

    private void release() {
        vertx.cancelTimer(timer);
        allHeldBytes.addAndGet(-heldBytes);
        heldBytes = 0;
        body = Buffer.buffer();
        answered = true;
    }

    private void answer(OtlpSignal signal, Answer answer) {
        if (answered) {
            return;
        }
        release();
        counts.answered(answer.kind());
        HttpServerResponse response = request.response();
        if (response.ended() || response.closed()) {
            return;
        }
        Message taken =
                answer.kind() == Answer.Kind.TAKEN ? signal.response(answer.rejectedItems(), answer.message()) : null;
        if (grpc) {
            grpc(response, answer, taken);
        } else {
            http(response, signal, answer, taken);
        }
        if (request.version() == HttpVersion.HTTP_2) {
            // A stream that was answered before its end would stay open for as long as the client likes.
            if (!request.isEnded()) {
                request.response().reset(0);
            }
        } else if (endsTheConnection(answer)) {
            // Who sends what is not taken is not listened to any longer: the rest of it would have to be read.
            vertx.setTimer(100, closing -> request.connection().close());
        }
    }

    private static boolean endsTheConnection(Answer answer) {
        return answer.kind() == Answer.Kind.SLOW
                || answer.kind() == Answer.Kind.TOO_LARGE
                || answer.kind() == Answer.Kind.UNKNOWN_SENDER;
    }

    private static void grpc(HttpServerResponse response, Answer answer, @Nullable Message taken) {
        response.putHeader("content-type", "application/grpc").putHeader("grpc-accept-encoding", "gzip,identity");
        if (taken == null) {
            // One frame of headers with the status in it: a call that failed without an answer.
            response.putHeader("grpc-status", String.valueOf(answer.kind().grpcStatus()))
                    .putHeader("grpc-message", percentEncoded(answer.message()))
                    .putHeader(
                            "grpc-status-details-bin",
                            Base64.getEncoder()
                                    .withoutPadding()
                                    .encodeToString(status(answer).toByteArray()))
                    .end();
            return;
        }
        byte[] bytes = taken.toByteArray();
        response.putTrailer("grpc-status", "0");
        response.end(Buffer.buffer(PREFIX_BYTES + bytes.length)
                .appendByte((byte) 0)
                .appendInt(bytes.length)
                .appendBytes(bytes));
    }

    private static Status status(Answer answer) {
        Status.Builder status =
                Status.newBuilder().setCode(answer.kind().grpcStatus()).setMessage(answer.message());
        if (answer.kind() == Answer.Kind.BUSY) {
            status.addDetails(Any.pack(RetryInfo.newBuilder()
                    .setRetryDelay(Duration.newBuilder().setSeconds(RETRY_SECONDS))
                    .build()));
        }
        return status.build();
    }

    private static String percentEncoded(String message) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : message.getBytes(StandardCharsets.UTF_8)) {
            if (b >= ' ' && b <= '~' && b != '%') {
                encoded.append((char) b);
            } else {
                encoded.append('%').append(String.format(Locale.ROOT, "%02X", b));
            }
        }
        return encoded.toString();
    }

    private void http(HttpServerResponse response, OtlpSignal signal, Answer answer, @Nullable Message taken) {
        response.setStatusCode(answer.kind().httpStatus());
        if (answer.kind() == Answer.Kind.BUSY) {
            response.putHeader("retry-after", String.valueOf(RETRY_SECONDS));
        }
        if (answer.kind() == Answer.Kind.NOT_POST) {
            response.putHeader("allow", "POST");
        }
        if (answer.kind() == Answer.Kind.UNKNOWN_SENDER) {
            response.putHeader("www-authenticate", CHALLENGE);
        }
        if (endsTheConnection(answer) && request.version() != HttpVersion.HTTP_2) {
            response.putHeader("connection", "close");
        }
        if (json) {
            response.putHeader("content-type", JSON)
                    .end(taken == null ? ResponseJson.status(answer) : ResponseJson.taken(signal, answer));
        } else {
            byte[] bytes = taken == null ? status(answer).toByteArray() : taken.toByteArray();
            response.putHeader("content-type", PROTOBUF).end(Buffer.buffer(bytes));
        }
    }
}
