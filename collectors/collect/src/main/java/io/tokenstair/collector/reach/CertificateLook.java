package io.tokenstair.collector.reach;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Looks at PEM files: readable, what they hold, until when it is good. */
public final class CertificateLook {
    private static final Duration SOON = Duration.ofDays(14);

    private CertificateLook() {}

    /**
     * Looks at the files of a server: its certificate, its key, and an authority it trusts; none at what is absent.
     *
     * @param authorityOption the option that names the authority
     */
    public static List<Look> ofServer(
            @Nullable Path certificate, @Nullable Path key, String authorityOption, @Nullable Path authority) {
        List<Look> looks = new ArrayList<>();
        if (certificate != null) {
            looks.add(at("tls-cert", certificate));
        }
        if (key != null) {
            looks.add(atKey("tls-key", key));
        }
        if (authority != null) {
            looks.add(at(authorityOption, authority));
        }
        return looks;
    }

    /** A look at a file of certificates. */
    static Look at(String subject, Path file) {
        return new Look(
                subject, file.toString(), () -> look(file, Clock.systemUTC().instant()));
    }

    /** A look at a file of a private key, which is read for its first line only. */
    static Look atKey(String subject, Path file) {
        return new Look(subject, file.toString(), () -> {
            if (!Files.isReadable(file)) {
                return unreadable();
            }
            String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
            return text.contains("PRIVATE KEY-----")
                    ? Seen.ok("a private key")
                    : Seen.failed("no private key in it", "give a PEM file of the key");
        });
    }

    private static Seen unreadable() {
        return Seen.failed("cannot be read", "check the path and its permissions");
    }

    static Seen look(Path file, Instant now) {
        if (!Files.isReadable(file)) {
            return unreadable();
        }
        List<X509Certificate> certificates;
        try {
            certificates = certificates(file);
        } catch (IOException | CertificateException unusable) {
            return Seen.failed("no certificate can be read in it", "give a PEM file of the certificate");
        }
        if (certificates.isEmpty()) {
            return Seen.failed("no certificate in it", "give a PEM file of the certificate");
        }
        Instant end = Instant.MAX;
        for (X509Certificate certificate : certificates) {
            Instant its = certificate.getNotAfter().toInstant();
            end = its.isBefore(end) ? its : end;
        }
        String until = end.atZone(ZoneOffset.UTC).toLocalDate().toString();
        if (end.isBefore(now)) {
            return Seen.failed("ended on " + until, "renew it");
        }
        return end.isBefore(now.plus(SOON))
                ? Seen.warning("good until " + until, "renew it soon")
                : Seen.ok("good until " + until);
    }

    static List<X509Certificate> certificates(Path file) throws IOException, CertificateException {
        List<X509Certificate> found = new ArrayList<>();
        try (InputStream in = Files.newInputStream(file)) {
            for (Certificate certificate :
                    CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                if (certificate instanceof X509Certificate one) {
                    found.add(one);
                }
            }
        }
        return found;
    }
}
