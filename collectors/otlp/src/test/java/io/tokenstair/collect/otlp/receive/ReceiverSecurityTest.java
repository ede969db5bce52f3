package io.tokenstair.collect.otlp.receive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.TraceServiceGrpc;
import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.Otlp;
import io.tokenstair.event.SpanRecorded;
import io.vertx.core.net.SelfSignedCertificate;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A receiver that speaks TLS and asks who is there, and real clients that do and do not bring it. */
@Timeout(180)
class ReceiverSecurityTest {
    private static final ExportTraceServiceRequest REQUEST =
            Otlp.traces("vllm", "s", Otlp.vllm("cmpl-a-0", "00f067aa0ba902b7"));
    private static final String SECRET = "s3cr3t-that-nobody-may-read";

    private final SelfSignedCertificate own = SelfSignedCertificate.create("localhost");
    private final SelfSignedCertificate client = SelfSignedCertificate.create("client");
    private final HeldEvents log = new HeldEvents(1_000);
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open) {
            closeable.close();
        }
    }

    private OtlpReceiver start(ReceiverSecurity security) throws IOException {
        OtlpReceiver receiver = OtlpReceiver.start(Bounds.behind(security), log, EpochClock.system(), () -> "");
        open.add(receiver);
        return receiver;
    }

    private ReceiverSecurity tls(@Nullable Path clientAuthority, ReceiverSecurity.@Nullable Secret secret) {
        return new ReceiverSecurity(
                Path.of(own.certificatePath()), Path.of(own.privateKeyPath()), clientAuthority, secret);
    }

    private TraceServiceGrpc.TraceServiceBlockingStub stub(int port, ChannelCredentials credentials) {
        ManagedChannel channel =
                Grpc.newChannelBuilder("localhost:" + port, credentials).build();
        open.add(channel::shutdownNow);
        return TraceServiceGrpc.newBlockingStub(channel);
    }

    private ChannelCredentials trusting(boolean withCertificate) throws IOException {
        TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder()
                .trustManager(Path.of(own.certificatePath()).toFile());
        return withCertificate
                ? builder.keyManager(
                                Path.of(client.certificatePath()).toFile(),
                                Path.of(client.privateKeyPath()).toFile())
                        .build()
                : builder.build();
    }

    private HttpClient https(HttpClient.Version version) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        store.setCertificateEntry(
                "receiver",
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(
                                new ByteArrayInputStream(Files.readAllBytes(Path.of(own.certificatePath())))));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return HttpClient.newBuilder().version(version).sslContext(context).build();
    }

    private static HttpRequest post(String scheme, int port, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(scheme + "://localhost:" + port + "/v1/traces"))
                .header("content-type", "application/x-protobuf")
                .POST(HttpRequest.BodyPublishers.ofByteArray(REQUEST.toByteArray()));
        return (headers.length == 0 ? request : request.headers(headers)).build();
    }

    @Test
    void bothPortsSpeakTlsInBothProtocols() throws Exception {
        OtlpReceiver receiver = start(tls(null, null));
        var unused = stub(receiver.grpcPort(), trusting(false)).export(REQUEST);
        for (HttpClient.Version version : HttpClient.Version.values()) {
            HttpResponse<Void> answer =
                    https(version).send(post("https", receiver.httpPort()), HttpResponse.BodyHandlers.discarding());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.version()).isEqualTo(version);
        }
        assertThat(log.all(SpanRecorded.class)).hasSize(3);
        assertThatThrownBy(() -> HttpClient.newHttpClient()
                        .send(post("http", receiver.httpPort()), HttpResponse.BodyHandlers.discarding()))
                .isInstanceOf(IOException.class);
        StatusRuntimeException plain = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> stub(receiver.grpcPort(), InsecureChannelCredentials.create())
                        .export(REQUEST));
        assertThat(plain.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(log.all(SpanRecorded.class)).hasSize(3);
    }

    @Test
    void whoMustShowACertificateAndDoesNotIsNotHeard() throws Exception {
        OtlpReceiver receiver = start(tls(Path.of(client.certificatePath()), null));
        var unused = stub(receiver.grpcPort(), trusting(true)).export(REQUEST);
        assertThat(log.all(SpanRecorded.class)).hasSize(1);
        StatusRuntimeException refused = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> stub(receiver.grpcPort(), trusting(false)).export(REQUEST));
        assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThatThrownBy(() -> https(HttpClient.Version.HTTP_1_1)
                        .send(post("https", receiver.httpPort()), HttpResponse.BodyHandlers.discarding()))
                .isInstanceOf(IOException.class);
        assertThat(log.all(SpanRecorded.class)).hasSize(1);
    }

    @Test
    void aSecretIsAskedForOverBothProtocolsAndNeverTold() throws Exception {
        ReceiverSecurity security = tls(null, new ReceiverSecurity.Secret("Authorization", SECRET));
        assertThat(security.toString()).doesNotContain(SECRET);
        OtlpReceiver receiver = start(security);
        HttpClient https = https(HttpClient.Version.HTTP_2);
        for (String[] headers : new String[][] {
            {}, {"authorization", "Bearer " + SECRET + "x"}, {"authorization", SECRET}, {"authorization", "Bearer "}
        }) {
            HttpResponse<String> refused =
                    https.send(post("https", receiver.httpPort(), headers), HttpResponse.BodyHandlers.ofString());
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(refused.headers().firstValue("www-authenticate")).contains("Bearer realm=\"tokenstair\"");
            assertThat(refused.body()).doesNotContain(SECRET);
        }
        assertThat(https.send(
                                post("https", receiver.httpPort(), "authorization", "Bearer " + SECRET),
                                HttpResponse.BodyHandlers.discarding())
                        .statusCode())
                .isEqualTo(200);
        StatusRuntimeException unknown = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> stub(receiver.grpcPort(), trusting(false)).export(REQUEST));
        assertThat(unknown.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
        Metadata metadata = new Metadata();
        metadata.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + SECRET);
        var unused = stub(receiver.grpcPort(), trusting(false))
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                .export(REQUEST);
        assertThat(log.all(SpanRecorded.class)).hasSize(2);
        URI metrics = URI.create("https://localhost:" + receiver.httpPort() + "/metrics");
        assertThat(https.send(HttpRequest.newBuilder(metrics).build(), HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(401);
        HttpResponse<String> told = https.send(
                HttpRequest.newBuilder(metrics)
                        .header("authorization", "Bearer " + SECRET)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(told.body())
                .contains("tokenstair_otlp_requests_total{answer=\"unknown_sender\"} 6\n")
                .doesNotContain(SECRET);
    }

    @Test
    void aSecretMayLieInAnyHeader() throws Exception {
        OtlpReceiver receiver =
                start(new ReceiverSecurity(null, null, null, new ReceiverSecurity.Secret("X-Api-Key", SECRET)));
        HttpClient http = HttpClient.newHttpClient();
        assertThat(http.send(post("http", receiver.httpPort()), HttpResponse.BodyHandlers.discarding())
                        .statusCode())
                .isEqualTo(401);
        assertThat(http.send(
                                post("http", receiver.httpPort(), "x-api-key", SECRET),
                                HttpResponse.BodyHandlers.discarding())
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void whatCannotWorkTogetherIsRefused() {
        assertThatThrownBy(() -> new ReceiverSecurity(Path.of("a"), null, null, null))
                .hasMessage("Cannot speak TLS with only one of certificate and key");
        assertThatThrownBy(() -> new ReceiverSecurity(null, null, Path.of("a"), null))
                .hasMessageStartingWith("Cannot ask for certificates of clients");
        assertThatThrownBy(() -> start(new ReceiverSecurity(Path.of("none"), Path.of("none"), null, null)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("check the files of certificate and key");
    }
}
