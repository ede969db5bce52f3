package io.tokenstair.look.otlp;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Trace and span ids made of what they are of: the same archive gives the same ids, so that exporting again adds nothing. */
final class SpanIds {
    private static final int TRACE_BYTES = 16;
    private static final int SPAN_BYTES = 8;

    private SpanIds() {}

    static ByteString trace(String... of) {
        return hashed(TRACE_BYTES, "trace", of);
    }

    static ByteString span(String... of) {
        return hashed(SPAN_BYTES, "span", of);
    }

    /** A W3C id in hex as bytes; null when it is none: other digits, another length, or zeros only. */
    static @Nullable ByteString given(@Nullable String hex, int bytes) {
        if (hex == null || hex.length() != 2 * bytes || !hex.matches("[0-9a-f]*[1-9a-f][0-9a-f]*")) {
            return null;
        }
        return ByteString.copyFrom(HexFormat.of().parseHex(hex));
    }

    static @Nullable ByteString givenTrace(@Nullable String hex) {
        return given(hex, TRACE_BYTES);
    }

    static @Nullable ByteString givenSpan(@Nullable String hex) {
        return given(hex, SPAN_BYTES);
    }

    private static ByteString hashed(int bytes, String kind, String... of) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("Cannot hash: every Java has SHA-256", absent);
        }
        digest.update(kind.getBytes(StandardCharsets.UTF_8));
        for (String part : of) {
            byte[] text = part.getBytes(StandardCharsets.UTF_8);
            digest.update((byte) 0);
            digest.update((text.length + ":").getBytes(StandardCharsets.UTF_8));
            digest.update(text);
        }
        byte[] id = new byte[bytes];
        System.arraycopy(digest.digest(), 0, id, 0, bytes);
        // An id of zeros only is none.
        id[bytes - 1] |= 1;
        return ByteString.copyFrom(id);
    }
}
