package io.tokenstair.event.wire;

import java.nio.charset.StandardCharsets;

/** Lengths of text in bytes of UTF-8, which is what bounds are given in. */
public final class Utf8 {
    private Utf8() {}

    /** Bytes of a text; -1 when it holds half of a surrogate pair. */
    public static long bytes(String text) {
        long bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                bytes++;
            } else if (c < 0x800) {
                bytes += 2;
            } else if (!Character.isSurrogate(c)) {
                bytes += 3;
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                bytes += 4;
                i++;
            } else {
                return -1;
            }
        }
        return bytes;
    }

    /** The longest start of a text that fits in so many bytes. */
    public static String cut(String text, int maxBytes) {
        if (text.length() * 3L <= maxBytes) {
            return text;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= maxBytes) {
            return text;
        }
        int end = maxBytes;
        while (end > 0 && (bytes[end] & 0xc0) == 0x80) {
            end--;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }
}
