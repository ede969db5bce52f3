package io.tokenstair.look.otlp;

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

/**
 * An OTLP/HTTP endpoint: protobuf, gzipped. What it asks to be sent again is sent again, after as long as it asks for, at most {@value #MOST_TRIES}
 * times.
 */
final class OtlpEndpoint implements OtlpSink {
    private static final int MOST_TRIES = 6;
    private static final long LONGEST_WAIT_SECONDS = 30;
    private static final Set<Integer> AGAIN = Set.of(429, 502, 503, 504);

    private final URI traces;
    private final HttpClient client;
    private long refusedSpans;

    /**
     * An endpoint.
     *
     * @throws IllegalArgumentException when the address is none of HTTP
     */
    OtlpEndpoint(String address) {
        URI base = URI.create(address);
        if (base.getHost() == null || !Set.of("http", "https").contains(String.valueOf(base.getScheme()))) {
            throw new IllegalArgumentException("not an address of HTTP, such as http://127.0.0.1:4318");
        }
        String text = address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
        this.traces = URI.create(text.endsWith("/v1/traces") ? text : text + "/v1/traces");
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
    }

    @Override
    public void take(ExportTraceServiceRequest request) throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
            request.writeTo(out);
        }
        HttpRequest post = HttpRequest.newBuilder(traces)
                .header("content-type", "application/x-protobuf")
                .header("content-encoding", "gzip")
                .timeout(Duration.ofSeconds(30))
                .POST(HttpRequest.BodyPublishers.ofByteArray(zipped.toByteArray()))
                .build();
        for (int tries = 1; ; tries++) {
            HttpResponse<byte[]> answer = send(post);
            if (answer.statusCode() / 100 == 2) {
                refusedSpans += refused(answer.body());
                return;
            }
            if (!AGAIN.contains(answer.statusCode()) || tries == MOST_TRIES) {
                throw new IOException(traces + " answered " + answer.statusCode());
            }
            LockSupport.parkNanos(waitNanos(answer, tries));
        }
    }

    private HttpResponse<byte[]> send(HttpRequest post) throws IOException {
        try {
            return client.send(post, HttpResponse.BodyHandlers.ofByteArray());
        } catch (ConnectException absent) {
            throw new IOException("nobody listens at " + traces, absent);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while sending to " + traces, stopped);
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
