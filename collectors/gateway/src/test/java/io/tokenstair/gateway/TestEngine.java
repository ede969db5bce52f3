package io.tokenstair.gateway;

import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A real HTTP server that streams as an engine does, for the gateway to stand before. */
final class TestEngine implements AutoCloseable {
    final Queue<MultiMap> headers = new ConcurrentLinkedQueue<>();
    final Map<String, String> bodies = new ConcurrentHashMap<>();
    final AtomicInteger cancelled = new AtomicInteger();
    final CountDownLatch firstCancelled = new CountDownLatch(1);
    final AtomicLong floodedBytes = new AtomicLong();
    private static final Buffer FLOOD =
            Buffer.buffer("data: {\"choices\":[{\"index\":0,\"token_ids\":[1]}]}\n\n".repeat(300));
    private final Vertx vertx = Vertx.vertx();
    private final HttpServer server;

    TestEngine(HttpServerOptions options) throws Exception {
        server = vertx.createHttpServer(options.setHost("127.0.0.1").setPort(0))
                .requestHandler(this::request)
                .listen()
                .toCompletionStage()
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
    }

    TestEngine() throws Exception {
        this(new HttpServerOptions());
    }

    int port() {
        return server.actualPort();
    }

    private void request(HttpServerRequest request) {
        headers.add(request.headers());
        request.response().closeHandler(closed -> {
            if (!request.response().ended()) {
                cancelled.incrementAndGet();
                firstCancelled.countDown();
            }
        });
        request.body().onSuccess(body -> {
            String id = String.valueOf(request.getHeader("x-request-id"));
            bodies.put(id, body.toString());
            switch (request.path()) {
                case "/v1/completions" -> stream(request, id, new JsonObject(body));
                case "/generate" -> flood(request);
                case "/health" -> request.response().end("healthy");
                case "/big" -> request.response().end(Buffer.buffer(new byte[8 << 20]));
                case "/v1/chat/completions" ->
                    request.response()
                            .setStatusCode(400)
                            .putHeader("content-type", "application/json")
                            .end("{\"error\":{\"message\":\"secret\",\"type\":\"BadRequestError\",\"code\":400}}");
                default -> request.response().setStatusCode(404).end();
            }
        });
    }

    /** Sends without end, as fast as it is taken. */
    private void flood(HttpServerRequest request) {
        request.response().setChunked(true).putHeader("content-type", "text/event-stream");
        more(request.response());
    }

    private void more(HttpServerResponse response) {
        while (!response.closed() && !response.writeQueueFull()) {
            floodedBytes.addAndGet(FLOOD.length());
            response.write(FLOOD);
        }
        response.drainHandler(room -> more(response));
    }

    private void stream(HttpServerRequest request, String id, JsonObject body) {
        int tokens = body.getInteger("max_tokens", 4);
        String fault = body.getString("fault", "");
        long gapMillis = body.getLong("gap_millis", 1L);
        if (fault.equals("silent")) {
            return;
        }
        request.response().setChunked(true).putHeader("content-type", "text/event-stream; charset=utf-8");
        next(request, id + "-".repeat(body.getInteger("padding_bytes", 0)), 0, tokens, fault, gapMillis);
    }

    private void next(HttpServerRequest request, String id, int i, int tokens, String fault, long gapMillis) {
        if (request.response().closed()) {
            return;
        }
        if (fault.equals("broken") && i == 3) {
            request.connection().close();
            return;
        }
        if (fault.equals("nonsense") && i == 2) {
            request.response().write("data: \u0000{{{{\n\n");
        }
        if (i == tokens) {
            request.response()
                    .write("data: {\"id\":\"cmpl-" + id
                            + "\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":" + tokens
                            + "}}\n\n");
            request.response().end("data: [DONE]\n\n");
            return;
        }
        request.response()
                .write("data: {\"id\":\"cmpl-" + id + "\",\"choices\":[{\"index\":0,\"text\":\"w" + id
                        + "\",\"token_ids\":[" + i + "]" + (i == tokens - 1 ? ",\"finish_reason\":\"length\"" : "")
                        + "}]}\n\n");
        if (gapMillis == 0) {
            next(request, id, i + 1, tokens, fault, 0);
        } else {
            vertx.setTimer(gapMillis, later -> next(request, id, i + 1, tokens, fault, gapMillis));
        }
    }

    @Override
    public void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
}
