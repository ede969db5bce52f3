package io.tokenstair.look.otlp;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

/**
 * An OTLP/HTTP endpoint: protobuf, gzipped. What it asks to be sent again is sent again, after as long as it asks for, at most {@value #MOST_TRIES}
 * times.
 */
final class OtlpEndpoint implements OtlpSink {
    private static final int MOST_TRIES = 6;
    private static final long LONGEST_WAIT_SECONDS = 30;
    private static final Set<Integer> AGAIN = Set.of(429, 502, 503, 504);

    private static final Set<Integer> TAKES_NO_LOGS = Set.of(404, 405, 415, 501);
    private static final String TRACES = "/v1/traces";

    private final URI traces;
    private final URI logs;
    private final EndpointAccess access;
    private final HttpClient client;
    private long refusedSpans;

    /**
     * An endpoint.
     *
     * @param address its address, with or without the path of traces
     * @param access what it asks of those who send
     * @throws IllegalArgumentException when the address is none of HTTP
     */
    OtlpEndpoint(String address, EndpointAccess access) {
        URI base = URI.create(address);
        if (base.getHost() == null || !Set.of("http", "https").contains(String.valueOf(base.getScheme()))) {
            throw new IllegalArgumentException("not an address of HTTP, such as http://127.0.0.1:4318");
        }
        String text = address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
        String root = text.endsWith(TRACES) ? text.substring(0, text.length() - TRACES.length()) : text;
        this.traces = URI.create(root + TRACES);
        this.logs = URI.create(root + "/v1/logs");
        this.access = access;
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10));
        SSLContext tls = access.tls();
        this.client = (tls == null ? builder : builder.sslContext(tls)).build();
    }

    @Override
    public void take(ExportTraceServiceRequest request) throws IOException {
        HttpResponse<byte[]> answer = sent(traces, request);
        if (answer.statusCode() / 100 != 2) {
            throw answered(traces, answer);
        }
        refusedSpans += refused(answer.body());
    }

    @Override
    public boolean takeLogs(ExportLogsServiceRequest request) throws IOException {
        HttpResponse<byte[]> answer = sent(logs, request);
        if (TAKES_NO_LOGS.contains(answer.statusCode())) {
            return false;
        }
        if (answer.statusCode() / 100 != 2) {
            throw answered(logs, answer);
        }
        try {
            refusedSpans += ExportLogsServiceResponse.parseFrom(answer.body())
                    .getPartialSuccess()
                    .getRejectedLogRecords();
        } catch (InvalidProtocolBufferException other) {
            // It took the request; what else it says is not for us.
            return true;
        }
        return true;
    }

    private static IOException answered(URI to, HttpResponse<byte[]> answer) {
        return new IOException(to + " answered " + answer.statusCode()
                + (answer.statusCode() == 401 || answer.statusCode() == 403
                        ? ": it wants to know who sends (--header, --cert)"
                        : ""));
    }

    /** The last answer to a request that is sent again as long as it is asked for. */
    private HttpResponse<byte[]> sent(URI to, Message request) throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
            request.writeTo(out);
        }
        HttpRequest.Builder builder = HttpRequest.newBuilder(to)
                .header("content-type", "application/x-protobuf")
                .header("content-encoding", "gzip")
                .timeout(Duration.ofSeconds(30))
                .POST(HttpRequest.BodyPublishers.ofByteArray(zipped.toByteArray()));
        access.headers().forEach(builder::setHeader);
        HttpRequest post = builder.build();
        for (int tries = 1; ; tries++) {
            HttpResponse<byte[]> answer = send(post);
            if (!AGAIN.contains(answer.statusCode()) || tries == MOST_TRIES) {
                return answer;
            }
            LockSupport.parkNanos(waitNanos(answer, tries));
        }
    }

    private HttpResponse<byte[]> send(HttpRequest post) throws IOException {
        try {
            return client.send(post, HttpResponse.BodyHandlers.ofByteArray());
        } catch (ConnectException absent) {
            throw new IOException("nobody listens at " + post.uri(), absent);
        } catch (SSLException untrusted) {
            throw new IOException(
                    "TLS with " + post.uri() + " fails (--ca, --cert): " + untrusted.getMessage(), untrusted);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while sending to " + post.uri(), stopped);
        }
    }

    private static long waitNanos(HttpResponse<byte[]> answer, int tries) {
        String asked = answer.headers().firstValue("retry-after").orElse("");
        long seconds = asked.matches("\\d{1,4}") ? Long.parseLong(asked) : 1L << (tries - 1);
        return Math.min(LONGEST_WAIT_SECONDS, seconds) * 1_000_000_000L;
    }

    private static long refused(byte[] body) {
        try {
            return ExportTraceServiceResponse.parseFrom(body)
                    .getPartialSuccess()
                    .getRejectedSpans();
        } catch (IOException other) {
            // It took the request; what else it says is not for us.
            return 0;
        }
    }

    @Override
    public long refusedSpans() {
        return refusedSpans;
    }

    @Override
    public void close() {
        // The client's threads end with it.
    }
}
