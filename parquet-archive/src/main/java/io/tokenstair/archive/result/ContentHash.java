package io.tokenstair.archive.result;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names what is said by the hash of it, so that the same events give the same id everywhere. */
public final class ContentHash {
    private static final int ID_BYTES = 16;
    private static final MessageDigest EMPTY = newSha256();

    private ContentHash() {}

    /** The first 16 bytes of the SHA-256 of what is said, field after field, in hex. */
    public static String of(String... fields) {
        byte[] hash = sha256().digest(String.join("\u001f", fields).getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(hash, 0, ID_BYTES);
    }

    /** A digest that nobody else uses: a copy is cheaper than a search through the security providers. */
    private static MessageDigest sha256() {
        try {
            return (MessageDigest) EMPTY.clone();
        } catch (CloneNotSupportedException e) {
            return newSha256();
        }
    }

    private static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Cannot find SHA-256", e);
        }
    }
}
