package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.log.LogOutlet;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** gRPC through the gateway, by a real client and a real server: server streaming and streams both ways. */
@Timeout(120)
class GrpcGatewayTest {
    private static final Metadata.Key<String> REQUEST_ID =
            Metadata.Key.of("x-request-id", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> TRAILER = Metadata.Key.of("x-trailer", Metadata.ASCII_STRING_MARSHALLER);

    /** KServe v2's stream both ways. */
    private static final MethodDescriptor<byte[], byte[]> STREAM_INFER =
            method("inference.GRPCInferenceService/ModelStreamInfer", MethodDescriptor.MethodType.BIDI_STREAMING);

    /** A generate as vLLM's server has one: one request, many answers. */
    private static final MethodDescriptor<byte[], byte[]> GENERATE =
            method("vllm.grpc.engine.VllmEngine/Generate", MethodDescriptor.MethodType.SERVER_STREAMING);

    @TempDir
    Path folder;

    private final Queue<String> ids = new ConcurrentLinkedQueue<>();
    /** What the server answers, instead of bytes without a meaning. */
    private final List<byte[]> scripted = new CopyOnWriteArrayList<>();

    private final CountDownLatch cancelled = new CountDownLatch(1);
    private Server server;
    private LogOutlet outlet;
    private Gateway gateway;
    private ManagedChannel channel;

    @BeforeEach
    void start() throws Exception {
        ServerServiceDefinition kserve = ServerServiceDefinition.builder("inference.GRPCInferenceService")
                .addMethod(STREAM_INFER, ServerCalls.asyncBidiStreamingCall(this::infer))
                .build();
        ServerServiceDefinition vllm = ServerServiceDefinition.builder("vllm.grpc.engine.VllmEngine")
                .addMethod(GENERATE, ServerCalls.asyncServerStreamingCall(this::generate))
                .build();
        server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                .addService(ServerInterceptors.intercept(kserve, new SeesIds()))
                .addService(ServerInterceptors.intercept(vllm, new SeesIds()))
                .build()
                .start();
        outlet = LogOutlet.open(folder.resolve("log").toString());
        gateway = Gateway.start(
                GatewaySettings.before(URI.create("http://127.0.0.1:" + server.getPort())), outlet.feed("gateway-0"));
        channel = Grpc.newChannelBuilder("127.0.0.1:" + gateway.port(), InsecureChannelCredentials.create())
                .build();
    }

    @AfterEach
    void stop() throws Exception {
        channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
        server.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
        gateway.close();
        outlet.close();
    }

    private final class SeesIds implements ServerInterceptor {
        @Override
        public <A, B> ServerCall.Listener<A> interceptCall(
                ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
            ids.add(String.valueOf(headers.get(REQUEST_ID)));
            return next.startCall(
                    new io.grpc.ForwardingServerCall.SimpleForwardingServerCall<A, B>(call) {
                        @Override
                        public void close(Status status, Metadata trailers) {
                            trailers.put(TRAILER, "kept");
                            super.close(status, trailers);
                        }
                    },
                    headers);
        }
    }

    @Test
    void vllmsMessagesTellTheirTokensInBothForms() throws Exception {
        byte[] request = GrpcMessages.bytes(out -> {
            out.writeString(1, "engine-1");
            out.writeByteArray(2, GrpcMessages.bytes(input -> {
                input.writeString(1, "secret");
                input.writeByteArray(2, GrpcMessages.packed(7));
            }));
            out.writeByteArray(4, GrpcMessages.bytes(sampling -> {
                sampling.writeUInt32(8, 64);
                sampling.writeUInt32(15, 1);
            }));
            out.writeBool(5, true);
        });
        for (boolean withId : new boolean[] {true, false}) {
            // Three tokens come at once, as of speculative decoding; the end repeats the last ones.
            scripted.clear();
            scripted.addAll(List.of(
                    GrpcMessages.generated(withId, false, 1),
                    GrpcMessages.generated(withId, false, 3),
                    GrpcMessages.generated(withId, false, 2),
                    GrpcMessages.generated(withId, true, 2)));
            Iterator<byte[]> answers =
                    ClientCalls.blockingServerStreamingCall(channel, GENERATE, CallOptions.DEFAULT, request);
            for (byte[] expected : scripted) {
                assertThat(answers.next()).isEqualTo(expected);
            }
            assertThat(answers.hasNext()).isFalse();
        }
        List<Event> events = events();
        assertThat(chunks(events)).extracting(Chunk::tokenCount).containsExactly(1, 3, 2, 0, 1, 3, 2, 0);
        assertThat(chunks(events)).extracting(Chunk::firstTokenIndex).containsExactly(0, 1, 4, null, 0, 1, 4, null);
        assertThat(chunks(events).get(3).finish()).isEqualTo(Finish.LENGTH);
        assertThat(events.stream().filter(RequestCompleted.class::isInstance).map(RequestCompleted.class::cast))
                .hasSize(2)
                .allSatisfy(completed -> {
                    assertThat(completed.outputTokens()).isEqualTo(6);
                    assertThat(completed.promptTokens()).isEqualTo(7);
                    assertThat(completed.cachedTokens()).isEqualTo(3);
                });
        assertThat(events.stream().filter(RequestReceived.class::isInstance).map(RequestReceived.class::cast))
                .allSatisfy(received -> {
                    assertThat(received.promptTokens()).isEqualTo(7);
                    assertThat(received.maxTokens()).isEqualTo(64);
                });
        assertThat(events.stream().filter(IdAliased.class::isInstance).map(IdAliased.class::cast))
                .hasSize(2)
                .allSatisfy(alias -> assertThat(alias.alias()).isEqualTo("engine-1"));
    }

    @Test
    void tritonsMessagesTellTheirTokensAndWhoseTheyAre() throws Exception {
        // Two requests on one stream, one told by counts, one by ids; the last answer of a stream is empty.
        scripted.addAll(List.of(
                GrpcMessages.inferred("a", 1, "x"),
                GrpcMessages.ids("b", 1, 2),
                GrpcMessages.inferred("a", 4, "xyz"),
                GrpcMessages.inferred("a", 0, ""),
                GrpcMessages.ids("b", 1, 1),
                GrpcMessages.inferred("a", null, "")));
        CountDownLatch done = new CountDownLatch(1);
        StreamObserver<byte[]> requests =
                ClientCalls.asyncBidiStreamingCall(channel.newCall(STREAM_INFER, CallOptions.DEFAULT), counting(done));
        requests.onNext(GrpcMessages.bytes(out -> {
            out.writeString(1, "ensemble");
            out.writeString(3, "a");
        }));
        requests.onCompleted();
        assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        List<Event> events = events();
        assertThat(chunks(events)).extracting(Chunk::sequenceIndex).containsExactly(0, 1, 0, 0, 1, 0);
        assertThat(chunks(events)).extracting(Chunk::tokenCount).containsExactly(1, 2, 4, 0, 1, 0);
        assertThat(chunks(events)).extracting(Chunk::firstTokenIndex).containsExactly(0, 0, 1, null, 2, null);
        assertThat(completed(events).outputTokens()).isEqualTo(8);
    }

    @Test
    void whatDoesNotSayHowManyTokensItIsStaysAMessage() throws Exception {
        // Text only; two beams, whose tokens cannot be told apart; a tensor that nobody knows; no message of this
        // schema.
        scripted.addAll(List.of(
                GrpcMessages.inferred("a", null, "x"),
                GrpcMessages.ids("a", 2, 3),
                GrpcMessages.bytes(out -> out.writeByteArray(
                        2,
                        GrpcMessages.bytes(
                                response -> response.writeByteArray(5, GrpcMessages.tensor("logits", "FP32", 1))))),
                new byte[] {7, 7, 7}));
        CountDownLatch done = new CountDownLatch(1);
        StreamObserver<byte[]> requests =
                ClientCalls.asyncBidiStreamingCall(channel.newCall(STREAM_INFER, CallOptions.DEFAULT), counting(done));
        requests.onNext(new byte[0]);
        requests.onCompleted();
        assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        List<Event> events = events();
        assertThat(chunks(events))
                .hasSize(4)
                .allSatisfy(chunk -> assertThat(chunk.tokenCount()).isEqualTo(1));
        assertThat(completed(events).outputTokens()).isNull();
        assertThat(completed(events).chunkCount()).isEqualTo(4);
    }

    private static StreamObserver<byte[]> counting(CountDownLatch done) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] answer) {}

            @Override
            public void onError(Throwable failed) {}

            @Override
            public void onCompleted() {
                done.countDown();
            }
        };
    }

    private StreamObserver<byte[]> infer(StreamObserver<byte[]> answers) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] request) {
                scripted.forEach(answers::onNext);
                for (int i = 0; scripted.isEmpty() && i < request[0]; i++) {
                    answers.onNext(new byte[100 + i]);
                }
            }

            @Override
            public void onError(Throwable failed) {}

            @Override
            public void onCompleted() {
                answers.onCompleted();
            }
        };
    }

    private void generate(byte[] request, StreamObserver<byte[]> answers) {
        if (!scripted.isEmpty()) {
            scripted.forEach(answers::onNext);
            answers.onCompleted();
            return;
        }
        if (request[0] == 0) {
            answers.onError(Status.RESOURCE_EXHAUSTED.withDescription("full").asRuntimeException());
            return;
        }
        if (request[0] < 0) {
            Context.current().addListener(gone -> cancelled.countDown(), Runnable::run);
            answers.onNext(new byte[10]);
            return;
        }
        for (int i = 0; i < request[0]; i++) {
            answers.onNext(new byte[20_000]);
        }
        answers.onCompleted();
    }

    @Test
    void aServersStreamPassesWithItsTrailersAndEveryMessageIsAChunk() throws Exception {
        Metadata headers = new Metadata();
        headers.put(REQUEST_ID, "grpc-1");
        java.util.concurrent.atomic.AtomicReference<Metadata> trailers =
                new java.util.concurrent.atomic.AtomicReference<>();
        Iterator<byte[]> answers = ClientCalls.blockingServerStreamingCall(
                io.grpc.ClientInterceptors.intercept(
                        channel,
                        MetadataUtils.newAttachHeadersInterceptor(headers),
                        MetadataUtils.newCaptureMetadataInterceptor(
                                new java.util.concurrent.atomic.AtomicReference<>(), trailers)),
                GENERATE,
                CallOptions.DEFAULT,
                new byte[] {30});
        int count = 0;
        while (answers.hasNext()) {
            assertThat(answers.next()).hasSize(20_000);
            count++;
        }
        assertThat(count).isEqualTo(30);
        assertThat(trailers.get().get(TRAILER)).isEqualTo("kept");
        assertThat(ids).containsExactly("grpc-1");
        List<Event> events = events();
        List<Chunk> chunks = chunks(events);
        assertThat(chunks)
                .hasSize(30)
                .allSatisfy(chunk -> assertThat(chunk.sizeBytes()).isEqualTo(20_005));
        RequestCompleted completed = completed(events);
        assertThat(completed.outcome()).isEqualTo("complete");
        assertThat(completed.chunkCount()).isEqualTo(30);
        assertThat(completed.outputTokens()).isNull();
    }

    @Test
    void aStreamBothWaysPasses() throws Exception {
        LinkedBlockingQueue<Integer> sizes = new LinkedBlockingQueue<>();
        CountDownLatch done = new CountDownLatch(1);
        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                channel.newCall(STREAM_INFER, CallOptions.DEFAULT), new StreamObserver<>() {
                    @Override
                    public void onNext(byte[] answer) {
                        sizes.add(answer.length);
                    }

                    @Override
                    public void onError(Throwable failed) {
                        sizes.add(-1);
                    }

                    @Override
                    public void onCompleted() {
                        done.countDown();
                    }
                });
        // The second request is sent when the answer to the first is there: nothing waits for the end of the body.
        requests.onNext(new byte[] {2});
        assertThat(sizes.poll(20, TimeUnit.SECONDS)).isEqualTo(100);
        assertThat(sizes.poll(20, TimeUnit.SECONDS)).isEqualTo(101);
        requests.onNext(new byte[] {1});
        assertThat(sizes.poll(20, TimeUnit.SECONDS)).isEqualTo(100);
        requests.onCompleted();
        assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(ids.remove()).startsWith("gw-");
        List<Event> events = events();
        assertThat(chunks(events)).hasSize(3);
        assertThat(completed(events).outcome()).isEqualTo("complete");
    }

    @Test
    void anErrorKeepsItsCode() throws Exception {
        assertThatThrownBy(() -> ClientCalls.blockingServerStreamingCall(
                                channel, GENERATE, CallOptions.DEFAULT, new byte[] {0})
                        .next())
                .isInstanceOfSatisfying(StatusRuntimeException.class, failed -> {
                    assertThat(failed.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                    assertThat(failed.getStatus().getDescription()).isEqualTo("full");
                });
        RequestCompleted completed = completed(events());
        assertThat(completed.outcome()).isEqualTo("failed");
        assertThat(completed.errorType()).isEqualTo("grpc-status-8");
    }

    @Test
    void aCallThatIsCancelledIsCancelledAtTheEngine() throws Exception {
        Context.CancellableContext context = Context.current().withCancellation();
        context.run(() -> {
            Iterator<byte[]> answers =
                    ClientCalls.blockingServerStreamingCall(channel, GENERATE, CallOptions.DEFAULT, new byte[] {-1});
            assertThat(answers.next()).hasSize(10);
            context.cancel(null);
        });
        assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(completed(events()).outcome()).isEqualTo("client-closed");
    }

    private List<Event> events() throws Exception {
        GatewayTest.waitFor(() -> gateway.requestCount() > 0 && gateway.openCount() == 0);
        gateway.close();
        outlet.close();
        return LogRecords.eventsIn(folder.resolve("log"));
    }

    private static List<Chunk> chunks(List<Event> events) {
        List<Chunk> chunks = new ArrayList<>();
        for (Event event : events) {
            if (event instanceof ChunkDelivered delivered) {
                chunks.addAll(delivered.chunks());
            }
        }
        return chunks;
    }

    private static RequestCompleted completed(List<Event> events) {
        return events.stream()
                .filter(RequestCompleted.class::isInstance)
                .map(RequestCompleted.class::cast)
                .findFirst()
                .orElseThrow();
    }

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodDescriptor.MethodType type) {
        MethodDescriptor.Marshaller<byte[]> bytes = new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(byte[] value) {
                return new ByteArrayInputStream(value);
            }

            @Override
            public byte[] parse(InputStream stream) {
                try {
                    return stream.readAllBytes();
                } catch (IOException broken) {
                    throw new UncheckedIOException(broken);
                }
            }
        };
        return MethodDescriptor.newBuilder(bytes, bytes)
                .setFullMethodName(name)
                .setType(type)
                .build();
    }
}
