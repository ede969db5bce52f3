package io.tokenstair.collect.otlp.receive;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whom a receiver listens to.
 *
 * @param certificate PEM file of the receiver's certificate chain; absent when it speaks without TLS
 * @param key PEM file of its private key; absent with the certificate
 * @param clientAuthority PEM file of who signs certificates of clients, which then all must show one; absent when none is asked for
 * @param secret what a request must bring; absent when nothing is asked for
 */
public record ReceiverSecurity(
        @Nullable Path certificate,
        @Nullable Path key,
        @Nullable Path clientAuthority,
        @Nullable Secret secret) {
    /** No TLS, and nobody is asked who they are. */
    public static final ReceiverSecurity NONE = new ReceiverSecurity(null, null, null, null);

    /** Refuses what cannot work together. */
    public ReceiverSecurity {
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException("Cannot speak TLS with only one of certificate and key");
        }
        if (clientAuthority != null && certificate == null) {
            throw new IllegalArgumentException("Cannot ask for certificates of clients without one of its own");
        }
    }

    /** A header that requests must bring, and its value. The value is in no text that this class makes. */
    public static final class Secret {
        private static final String BEARER_HEADER = "authorization";
        private static final String BEARER = "Bearer ";

        private final String header;
        private final byte[] wanted;

        /**
         * A secret.
         *
         * @param header name of the header; {@code Bearer} and a space are expected before the secret where it is Authorization
         * @param secret not empty
         */
        public Secret(String header, String secret) {
            if (header.isBlank() || secret.isEmpty()) {
                throw new IllegalArgumentException("Cannot ask for an empty header or an empty secret");
            }
            this.header = header.toLowerCase(Locale.ROOT);
            this.wanted = bytes(this.header.equals(BEARER_HEADER) ? BEARER + secret : secret);
        }

        /** The header's name, in lower case. */
        String header() {
            return header;
        }

        /** Whether a value is the one that is asked for; takes as long whatever differs. */
        boolean isBroughtBy(@Nullable String value) {
            return value != null && MessageDigest.isEqual(wanted, bytes(value));
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public String toString() {
            return "a secret in " + header;
        }
    }
}
