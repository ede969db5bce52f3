package io.tokenstair.collect.otlp.receive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.rpc.RetryInfo;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import io.opentelemetry.proto.collector.logs.v1.LogsServiceGrpc;
import io.opentelemetry.proto.collector.metrics.v1.MetricsServiceGrpc;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.collector.trace.v1.TraceServiceGrpc;
import io.opentelemetry.proto.metrics.v1.Gauge;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.Otlp;
import io.tokenstair.collect.otlp.OtlpLimits;
import io.tokenstair.collect.otlp.TritonSpansTest;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.StepCompleted;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 180, unit = TimeUnit.SECONDS)
class OtlpReceiverTest {
    private static final String A = "00f067aa0ba902b7";
    private static final String PROTOBUF = "application/x-protobuf";
    private static final String JSON = "application/json";
    private static final String TRACES = "/v1/traces";

    private final HeldEvents log = new HeldEvents(10_000);
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open) {
            closeable.close();
        }
    }

    private OtlpReceiver start(ReceiverSettings settings, EventWay way) throws IOException {
        OtlpReceiver receiver = OtlpReceiver.start(settings, way, EpochClock.system(), () -> "");
        open.add(receiver);
        return receiver;
    }

    private OtlpReceiver start() throws IOException {
        return start(Bounds.usual(), log);
    }

    private ManagedChannel channel(OtlpReceiver receiver) {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", receiver.grpcPort())
                .usePlaintext()
                .build();
        open.add(channel::shutdownNow);
        return channel;
    }

    private HttpResponse<byte[]> post(
            OtlpReceiver receiver, String path, String type, byte[] body, String... moreHeaders)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + receiver.httpPort() + path))
                .version(HttpClient.Version.HTTP_1_1)
                .header("content-type", type)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        if (moreHeaders.length > 0) {
            request.headers(moreHeaders);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private static byte[] gzip(byte[] plain) throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
            out.write(plain);
        }
        return zipped.toByteArray();
    }

    private static ExportTraceServiceRequest request(String... ids) {
        var spans = new io.opentelemetry.proto.trace.v1.Span.Builder[ids.length];
        for (int i = 0; i < ids.length; i++) {
            spans[i] = Otlp.vllm(ids[i], A);
        }
        return Otlp.traces("vllm", "s", spans);
    }

    @Test
    void aRealGrpcClientSendsEverySignal() throws IOException {
        OtlpReceiver receiver = start();
        ManagedChannel channel = channel(receiver);
        for (String compressor : List.of("identity", "gzip")) {
            ExportTraceServiceResponse answer = TraceServiceGrpc.newBlockingStub(channel)
                    .withCompression(compressor)
                    .export(request("cmpl-a-0", "cmpl-b-0"));
            assertThat(answer).isEqualTo(ExportTraceServiceResponse.getDefaultInstance());
        }
        assertThat(log.all(SpanRecorded.class)).hasSize(4);
        MetricsServiceGrpc.newBlockingStub(channel)
                .export(Otlp.metrics(
                        "sglang",
                        Metric.newBuilder()
                                .setName("sglang:num_queue_reqs")
                                .setGauge(Gauge.newBuilder()
                                        .addDataPoints(NumberDataPoint.newBuilder()
                                                .setTimeUnixNano(Otlp.START)
                                                .setAsInt(4)))));
        assertThat(log.all(MetricSampled.class)).contains(new MetricSampled("sglang", "sglang:num_queue_reqs", "", 4));
        LogsServiceGrpc.newBlockingStub(channel)
                .export(Otlp.logs("x", io.opentelemetry.proto.logs.v1.LogRecord.newBuilder()));
        HeldEvents.Held span = log.held().get(0);
        assertThat(span.clockId()).isNull();
        assertThat(log.held().stream().filter(held -> held.event() instanceof MetricSampled))
                .allSatisfy(held -> assertThat(held.clockId()).isEqualTo("wall@otlp"));
    }

    @Test
    void whatOneSpanIsBadForTheOthersAreTakenFor() throws IOException, InterruptedException {
        OtlpReceiver receiver = start();
        ExportTraceServiceRequest mixed = Otlp.traces(
                "vllm",
                "s",
                Otlp.vllm("cmpl-a-0", A),
                Otlp.vllm("cmpl-b-0", A).setEndTimeUnixNano(1),
                Otlp.vllm("cmpl-c-0", A).setEndTimeUnixNano(EpochClock.system().epochNanos() + 3_600_000_000_000L));
        ExportTraceServiceResponse answer =
                TraceServiceGrpc.newBlockingStub(channel(receiver)).export(mixed);
        assertThat(answer.getPartialSuccess().getRejectedSpans()).isEqualTo(2);
        assertThat(answer.getPartialSuccess().getErrorMessage())
                .contains("no time since 1970")
                .contains("in the future (1)");
        assertThat(log.all(Rejected.class)).hasSize(2);
        HttpResponse<byte[]> overHttp = post(receiver, TRACES, PROTOBUF, mixed.toByteArray());
        assertThat(overHttp.statusCode()).isEqualTo(200);
        assertThat(ExportTraceServiceResponse.parseFrom(overHttp.body())
                        .getPartialSuccess()
                        .getRejectedSpans())
                .isEqualTo(2);
        byte[] json = ("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"" + Otlp.TRACE
                        + "\",\"spanId\":\"00\",\"attributes\":[{\"key\":\"gen_ai.request.id\",\"value\":{\"stringValue\":\"a\"}}]}]}]}]}")
                .getBytes(StandardCharsets.UTF_8);
        HttpResponse<byte[]> overJson = post(receiver, TRACES, JSON + "; charset=utf-8", json);
        assertThat(overJson.statusCode()).isEqualTo(200);
        assertThat(new String(overJson.body(), StandardCharsets.UTF_8))
                .isEqualTo("{\"partialSuccess\":{\"rejectedSpans\":\"1\","
                        + "\"errorMessage\":\"field spanId: 1 bytes, not 8 (1)\"}}");
    }

    @Test
    void recordedRequestsAreTakenOverHttpInBothFormsPlainAndZipped() throws IOException, InterruptedException {
        OtlpReceiver receiver = start();
        Path binary = Otlp.recorded(".pb").get(1);
        byte[] bytes = Files.readAllBytes(binary);
        assertThat(post(receiver, TRACES, PROTOBUF, bytes).statusCode()).isEqualTo(200);
        List<SpanRecorded> spans = log.all(SpanRecorded.class);
        assertThat(spans).isNotEmpty();
        log.clear();
        String text = Files.readString(Path.of(binary.toString().replace(".pb", ".json")));
        byte[] json = text.substring(text.indexOf('{', text.indexOf("\"body\"")), text.lastIndexOf('}'))
                .getBytes(StandardCharsets.UTF_8);
        for (boolean zipped : new boolean[] {false, true}) {
            String encoding = zipped ? "gzip" : "identity";
            for (boolean asJson : new boolean[] {false, true}) {
                byte[] body = asJson ? json : bytes;
                HttpResponse<byte[]> answer = post(
                        receiver,
                        TRACES,
                        asJson ? JSON : PROTOBUF,
                        zipped ? gzip(body) : body,
                        "content-encoding",
                        encoding);
                assertThat(answer.statusCode()).isEqualTo(200);
                assertThat(answer.headers().firstValue("content-type")).contains(asJson ? JSON : PROTOBUF);
                assertThat(answer.body()).isEqualTo(asJson ? "{}".getBytes(StandardCharsets.UTF_8) : new byte[0]);
                assertThat(log.all(SpanRecorded.class)).isEqualTo(spans);
                log.clear();
            }
        }
    }

    @Test
    void tracesOfSglangBecomeStepsWhileItRuns() throws IOException, InterruptedException {
        OtlpReceiver receiver = start();
        long began = EpochClock.system().epochNanos() - 30_000_000_000L;
        Span root = span("Req a", 1, 0, began)
                .addAttributes(Otlp.text("rid", "a"))
                .addAttributes(Otlp.text("module", "sglang::request"))
                .addAttributes(Otlp.whole("gen_ai.usage.prompt_tokens", 9))
                .addAttributes(Otlp.whole("gen_ai.usage.completion_tokens", 1))
                .build();
        Span thread = span("scheduler", 2, 1, began)
                .addAttributes(Otlp.text("thread_label", "scheduler"))
                .build();
        Span slice = span("prefill_forward", 3, 2, began).build();
        for (Span one : List.of(slice, thread, root)) {
            byte[] body =
                    Otlp.traces("sglang", "sglang server", one.toBuilder()).toByteArray();
            assertThat(post(receiver, TRACES, PROTOBUF, body).statusCode()).isEqualTo(200);
        }
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (log.all(StepCompleted.class).isEmpty() && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(log.all(StepCompleted.class))
                .singleElement()
                .satisfies(step -> assertThat(step.engineId()).isEqualTo("sglang"));
        assertThat(log.all(RequestFinished.class)).hasSize(1);
    }

    private static Span.Builder span(String name, int id, int parent, long began) {
        Span.Builder span = Otlp.span(name, String.format("%016x", id))
                .setStartTimeUnixNano(began)
                .setEndTimeUnixNano(began + 1_000_000L);
        return parent == 0 ? span : span.setParentSpanId(Otlp.id(String.format("%016x", parent)));
    }

    @Test
    void wrongRequestsGetTheirStatus() throws IOException, InterruptedException {
        OtlpReceiver receiver = start();
        byte[] body = request("a").toByteArray();
        assertThat(post(receiver, "/v1/trace", PROTOBUF, body).statusCode()).isEqualTo(404);
        assertThat(post(receiver, TRACES, "text/plain", body).statusCode()).isEqualTo(415);
        assertThat(post(receiver, TRACES, PROTOBUF, body, "content-encoding", "zstd")
                        .statusCode())
                .isEqualTo(415);
        assertThat(post(receiver, TRACES, PROTOBUF, body, "content-encoding", "gzip")
                        .statusCode())
                .isEqualTo(400);
        HttpResponse<byte[]> broken = post(receiver, TRACES, PROTOBUF, "text".getBytes(StandardCharsets.UTF_8));
        assertThat(broken.statusCode()).isEqualTo(400);
        assertThat(com.google.rpc.Status.parseFrom(broken.body()).getMessage())
                .isEqualTo("not an ExportTraceServiceRequest: wrong or cut protobuf");
        HttpResponse<byte[]> brokenJson = post(receiver, TRACES, JSON, "{".getBytes(StandardCharsets.UTF_8));
        assertThat(brokenJson.statusCode()).isEqualTo(400);
        assertThat(new String(brokenJson.body(), StandardCharsets.UTF_8))
                .isEqualTo("{\"code\":3,\"message\":\"not valid JSON\"}");
        HttpResponse<byte[]> get = http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + receiver.httpPort() + TRACES))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
        assertThat(get.statusCode()).isEqualTo(405);
        assertThat(log.all(Rejected.class)).extracting(Rejected::source).containsOnly("otlp/v1/traces");
    }

    @Test
    void whatIsTooLargeIsRefusedForGood() throws IOException, InterruptedException {
        OtlpReceiver receiver = start(Bounds.holding(100_000, new OtlpLimits(200_000, 1_000), 1 << 20), log);
        byte[] bomb = gzip(new byte[64 << 20]);
        assertThat(bomb.length).isLessThan(100_000);
        assertThat(post(receiver, TRACES, PROTOBUF, bomb, "content-encoding", "gzip")
                        .statusCode())
                .isEqualTo(413);
        assertThat(post(receiver, TRACES, PROTOBUF, new byte[100_001]).statusCode())
                .isEqualTo(413);
        String[] many = new String[1_000];
        java.util.Arrays.fill(many, "a");
        StatusRuntimeException refused = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> TraceServiceGrpc.newBlockingStub(channel(receiver)).export(request(many)));
        assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(StatusProto.fromThrowable(refused).getDetailsCount()).isZero();
        StatusRuntimeException zipped = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> TraceServiceGrpc.newBlockingStub(channel(receiver))
                        .withCompression("gzip")
                        .export(request(many)));
        assertThat(zipped.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(log.all(SpanRecorded.class)).isEmpty();
    }

    @Test
    void aFullQueueAsksForTheRequestAgainAndTakesNothingOfIt() throws IOException, InterruptedException {
        HeldEvents small = new HeldEvents(12);
        OtlpReceiver receiver = start(Bounds.usual(), small);
        // Each span is five events: itself, its second name, three samples.
        byte[] two = request("cmpl-a-0", "cmpl-b-0").toByteArray();
        assertThat(post(receiver, TRACES, PROTOBUF, two).statusCode()).isEqualTo(200);
        HttpResponse<byte[]> busy = post(receiver, TRACES, PROTOBUF, two);
        assertThat(busy.statusCode()).isEqualTo(429);
        assertThat(busy.headers().firstValue("retry-after")).contains("1");
        StatusRuntimeException unavailable = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> TraceServiceGrpc.newBlockingStub(channel(receiver)).export(request("cmpl-c-0")));
        assertThat(unavailable.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(StatusProto.fromThrowable(unavailable)
                        .getDetails(0)
                        .unpack(RetryInfo.class)
                        .getRetryDelay()
                        .getSeconds())
                .isEqualTo(1);
        assertThat(small.held()).hasSize(10);
        small.clear();
        assertThat(post(receiver, TRACES, PROTOBUF, two).statusCode()).isEqualTo(200);
        // What would never fit is taken as far as it goes, and what is lost of it is told.
        small.clear();
        ExportTraceServiceResponse part =
                TraceServiceGrpc.newBlockingStub(channel(receiver)).export(request("cmpl-a-0", "cmpl-b-0", "cmpl-c-0"));
        assertThat(part.getPartialSuccess().getErrorMessage()).isEqualTo("no room in the queue to the log (3 events)");
        assertThat(part.getPartialSuccess().getRejectedSpans()).isEqualTo(3);
    }

    @Test
    void manyClientsAtOnceAreBoundedInBytes() throws Exception {
        OtlpReceiver receiver = start(Bounds.holding(1 << 20, OtlpLimits.DEFAULT, 300_000), log);
        byte[] body = request(filled(200)).toByteArray();
        ExecutorService clients = Executors.newFixedThreadPool(16);
        open.add(clients::shutdownNow);
        List<Future<Integer>> answers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            Callable<Integer> client =
                    () -> post(receiver, TRACES, PROTOBUF, body).statusCode();
            answers.add(clients.submit(client));
        }
        int taken = 0;
        for (Future<Integer> answer : answers) {
            assertThat(answer.get()).isIn(200, 429);
            taken += answer.get() == 200 ? 1 : 0;
        }
        assertThat(taken).isPositive();
        assertThat(log.all(SpanRecorded.class)).hasSize(taken * 200);
    }

    private static String[] filled(int count) {
        String[] ids = new String[count];
        java.util.Arrays.setAll(ids, i -> "x" + i);
        return ids;
    }

    private static String answerTo(int port, byte[]... parts) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(60_000);
            OutputStream out = socket.getOutputStream();
            try {
                for (byte[] part : parts) {
                    out.write(part);
                    out.flush();
                }
            } catch (IOException closed) {
                // The receiver had seen enough; what it said is read all the same.
                return read(socket.getInputStream());
            }
            return read(socket.getInputStream());
        }
    }

    private static String read(InputStream in) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            for (int next = in.read(); next >= 0; next = in.read()) {
                all.write(next);
            }
        } catch (IOException reset) {
            return all.toString(StandardCharsets.US_ASCII);
        }
        return all.toString(StandardCharsets.US_ASCII);
    }

    @Test
    void aClientThatDripsIsCutOff() throws IOException, InterruptedException {
        OtlpReceiver receiver = start(Bounds.within(Duration.ofMillis(300), 256), log);
        String answer = answerTo(
                receiver.httpPort(),
                ("POST /v1/traces HTTP/1.1\r\nhost: a\r\ncontent-type: " + PROTOBUF
                                + "\r\ncontent-length: 1000\r\n\r\nabc")
                        .getBytes(StandardCharsets.US_ASCII));
        assertThat(answer).startsWith("HTTP/1.1 408");
        // Nor does a head that never ends hold its connection.
        assertThat(answerTo(receiver.httpPort(), "POST /v1/tra".getBytes(StandardCharsets.US_ASCII)))
                .isEmpty();
        assertThat(post(receiver, TRACES, PROTOBUF, request("a").toByteArray()).statusCode())
                .isEqualTo(200);
    }

    @Test
    void aMegabyteOfHeadersIsRefused() throws IOException, InterruptedException {
        OtlpReceiver receiver = start();
        String answer = answerTo(
                receiver.httpPort(),
                "POST /v1/traces HTTP/1.1\r\nhost: a\r\nx-long: ".getBytes(StandardCharsets.US_ASCII),
                "x".repeat(1 << 20).getBytes(StandardCharsets.US_ASCII),
                "\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(answer).startsWith("HTTP/1.1 4");
        assertThatThrownBy(() -> {
                    io.grpc.Metadata headers = new io.grpc.Metadata();
                    headers.put(
                            io.grpc.Metadata.Key.of("x-long", io.grpc.Metadata.ASCII_STRING_MARSHALLER),
                            "x".repeat(1 << 20));
                    TraceServiceGrpc.newBlockingStub(channel(receiver))
                            .withInterceptors(io.grpc.stub.MetadataUtils.newAttachHeadersInterceptor(headers))
                            .export(request("a"));
                })
                .isInstanceOf(StatusRuntimeException.class);
        assertThat(post(receiver, TRACES, PROTOBUF, request("a").toByteArray()).statusCode())
                .isEqualTo(200);
    }

    @Test
    void whatItDidIsTold() throws IOException, InterruptedException {
        OtlpReceiver receiver = start();
        post(receiver, TRACES, PROTOBUF, request("a", "b").toByteArray());
        post(receiver, TRACES, PROTOBUF, new byte[] {1});
        HttpResponse<String> metrics = http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + receiver.httpPort() + "/metrics"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(metrics.headers().firstValue("content-type"))
                .contains("application/openmetrics-text; version=1.0.0; charset=utf-8");
        assertThat(metrics.body())
                .contains("tokenstair_otlp_items_total{signal=\"traces\",outcome=\"accepted\"} 2\n")
                .contains("tokenstair_otlp_items_total{signal=\"traces\",outcome=\"rejected\"} 1\n")
                .contains("tokenstair_otlp_requests_total{answer=\"unreadable\"} 1\n")
                .contains("tokenstair_otlp_held_bytes 0\n")
                .endsWith("# EOF\n");
    }

    @Test
    void aPortThatIsTakenIsToldInOneLine() throws IOException {
        OtlpReceiver receiver = start();
        assertThatThrownBy(() -> OtlpReceiver.start(
                        ReceiverSettings.onLoopback(receiver.grpcPort(), 0), log, EpochClock.system(), () -> ""))
                .hasMessage("Cannot listen on 127.0.0.1:" + receiver.grpcPort()
                        + ": it is taken or not allowed; choose another port");
    }

    @Test
    void theSpansOfTritonMakeSamplesOfItsWaits() throws Exception {
        OtlpReceiver receiver = start();
        for (Span.Builder span : TritonSpansTest.documented()) {
            byte[] body = Otlp.traces("triton-inference-server", "triton-server", span)
                    .toByteArray();
            assertThat(post(receiver, TRACES, PROTOBUF, body).statusCode()).isEqualTo(200);
        }
        assertThat(log.all(MetricSampled.class))
                .contains(new MetricSampled(
                        "triton-inference-server",
                        "triton:request_queue_seconds",
                        "engine=\"triton-inference-server\",request_id=\"job-42\"",
                        95_681e-9));
        // The gateway tells of the request; Triton's spans must not make another one of it.
        assertThat(log.all(RequestFinished.class)).isEmpty();
    }
}
