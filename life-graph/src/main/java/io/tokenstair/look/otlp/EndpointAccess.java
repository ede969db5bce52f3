package io.tokenstair.look.otlp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * What an endpoint asks of those who send: headers, whose values come from the environment or from files and are in no message, and TLS with
 * an authority and a certificate of one's own.
 */
final class EndpointAccess {
    /** Nothing but what the JVM trusts. */
    static final EndpointAccess NONE = new EndpointAccess(Map.of(), null);

    private static final Pattern HEADER =
            Pattern.compile("([A-Za-z0-9!#$%&'*+.^_`|~-]{1,128})=(env|file):([^\\x00]{1,4096})");
    private static final Pattern PRIVATE_KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]{1,65536})-----END PRIVATE KEY-----");
    private static final List<String> KEY_KINDS = List.of("RSA", "EC", "EdDSA");

    private final Map<String, String> headers;
    private final @Nullable SSLContext tls;

    private EndpointAccess(Map<String, String> headers, @Nullable SSLContext tls) {
        this.headers = headers;
        this.tls = tls;
    }

    /**
     * What was asked for on a command line.
     *
     * @param headers each {@code NAME=env:VARIABLE} or {@code NAME=file:PATH}
     * @param authority PEM file of who signs the endpoint's certificate; absent when it is one the JVM trusts
     * @param certificate PEM file of the certificate to show; absent when none is asked for
     * @param key PEM file of its private key, PKCS 8; absent with the certificate
     * @param environment where variables are looked up
     * @throws IOException where something cannot be read: says what, never a secret
     */
    static EndpointAccess of(
            List<String> headers,
            @Nullable Path authority,
            @Nullable Path certificate,
            @Nullable Path key,
            Map<String, String> environment)
            throws IOException {
        Map<String, String> values = new LinkedHashMap<>();
        for (String header : headers) {
            Matcher form = HEADER.matcher(header);
            if (!form.matches()) {
                throw new IOException("--header: give NAME=env:VARIABLE or NAME=file:PATH, not the value itself");
            }
            values.put(form.group(1), value(form.group(1), form.group(2), form.group(3), environment));
        }
        if ((certificate == null) != (key == null)) {
            throw new IOException("--cert and --key go together");
        }
        if (authority == null && certificate == null) {
            return new EndpointAccess(values, null);
        }
        try {
            return new EndpointAccess(values, context(authority, certificate, key));
        } catch (GeneralSecurityException unusable) {
            throw new IOException(
                    "a certificate or key cannot be used: "
                            + unusable.getClass().getSimpleName(),
                    unusable);
        }
    }

    private static String value(String name, String kind, String place, Map<String, String> environment)
            throws IOException {
        String value;
        if (kind.equals("env")) {
            value = environment.get(place);
            if (value == null) {
                throw new IOException("--header " + name + ": the environment has no " + place);
            }
        } else {
            try (BufferedReader lines = Files.newBufferedReader(Path.of(place))) {
                value = lines.readLine();
            } catch (IOException unreadable) {
                throw new IOException("--header " + name + ": cannot be read: " + place, unreadable);
            }
        }
        if (value == null || value.isBlank() || value.chars().anyMatch(c -> c < ' ' || c > '~')) {
            throw new IOException("--header " + name + ": empty, or not of visible ASCII characters, in " + place);
        }
        return value.strip();
    }

    private static SSLContext context(@Nullable Path authority, @Nullable Path certificate, @Nullable Path key)
            throws IOException, GeneralSecurityException {
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        KeyStore trusted = null;
        if (authority != null) {
            trusted = empty();
            int index = 0;
            for (Certificate one : certificates(authority)) {
                trusted.setCertificateEntry("authority-" + index++, one);
            }
        }
        trust.init(trusted);
        KeyManagerFactory keys = null;
        if (certificate != null && key != null) {
            KeyStore own = empty();
            own.setKeyEntry(
                    "own",
                    privateKey(key),
                    new char[0],
                    certificates(certificate).toArray(Certificate[]::new));
            keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(own, new char[0]);
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), new SecureRandom());
        return context;
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        return store;
    }

    private static List<Certificate> certificates(Path file) throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            return new ArrayList<>(CertificateFactory.getInstance("X.509").generateCertificates(in));
        } catch (IOException unreadable) {
            throw new IOException("cannot be read: " + file, unreadable);
        }
    }

    private static PrivateKey privateKey(Path file) throws IOException, GeneralSecurityException {
        String text;
        try {
            text = Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException unreadable) {
            throw new IOException("cannot be read: " + file, unreadable);
        }
        Matcher form = PRIVATE_KEY.matcher(text);
        if (!form.find()) {
            throw new IOException("no private key in PKCS 8 (BEGIN PRIVATE KEY): " + file);
        }
        PKCS8EncodedKeySpec bytes =
                new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(form.group(1)));
        for (String kind : KEY_KINDS) {
            try {
                return KeyFactory.getInstance(kind).generatePrivate(bytes);
            } catch (InvalidKeySpecException another) {
                continue;
            }
        }
        throw new IOException("a private key of a kind that is not known: " + file);
    }

    /** Names and values of the headers to send. */
    Map<String, String> headers() {
        return headers;
    }

    /** What TLS is spoken with; absent for what the JVM has. */
    @Nullable
    SSLContext tls() {
        return tls;
    }
}
