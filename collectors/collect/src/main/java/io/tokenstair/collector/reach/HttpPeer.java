package io.tokenstair.collector.reach;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Asks a server of HTTP with GETs of at most {@value #MOST_BYTES} bytes each; follows no redirect. */
final class HttpPeer {
    static final int MOST_BYTES = 4 << 20;

    private static final Duration PATIENCE = Duration.ofMillis(2_500);

    private final HttpClient client;

    /**
     * What a server answered.
     *
     * @param status of HTTP
     * @param server its {@code Server} header; empty where it sent none
     * @param body its beginning
     */
    record Answer(int status, String server, byte[] body) {}

    /**
     * A client.
     *
     * @param authority PEM file of who signs certificates; absent when those the JVM trusts do
     */
    HttpPeer(@Nullable Path authority) throws IOException, GeneralSecurityException {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(PATIENCE)
                .followRedirects(HttpClient.Redirect.NEVER);
        if (authority != null) {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            int index = 0;
            for (X509Certificate certificate : CertificateLook.certificates(authority)) {
                trusted.setCertificateEntry("authority-" + index++, certificate);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, trust.getTrustManagers(), new SecureRandom());
            builder.sslContext(tls);
        }
        client = builder.build();
    }

    /** Answers to several GETs, asked at once, in their order; those that failed are null. */
    List<@Nullable Answer> all(URI base, List<String> paths) {
        List<CompletableFuture<HttpResponse<InputStream>>> asked = new ArrayList<>();
        for (String path : paths) {
            asked.add(client.sendAsync(get(base.resolve(path)), HttpResponse.BodyHandlers.ofInputStream()));
        }
        List<@Nullable Answer> answers = new ArrayList<>();
        for (CompletableFuture<HttpResponse<InputStream>> one : asked) {
            Answer answer;
            try {
                answer = answer(one.join());
            } catch (CompletionException | IOException failed) {
                answer = null;
            }
            answers.add(answer);
        }
        return answers;
    }

    /** The answer to one GET. */
    Answer one(URI address) throws IOException, InterruptedException {
        return answer(client.send(get(address), HttpResponse.BodyHandlers.ofInputStream()));
    }

    private static HttpRequest get(URI address) {
        return HttpRequest.newBuilder(address).timeout(PATIENCE).GET().build();
    }

    private static Answer answer(HttpResponse<InputStream> response) throws IOException {
        try (InputStream in = response.body()) {
            return new Answer(
                    response.statusCode(),
                    response.headers().firstValue("server").orElse(""),
                    in.readNBytes(MOST_BYTES));
        }
    }
}
