package io.tokenstair.gateway;

import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Takes the length-prefixed messages of a gRPC body apart: a flag, four bytes of length, the message. Keeps one message of at most
 * {@value #MAX_MESSAGE_BYTES} bytes; of a longer one, or a compressed one, only the size.
 */
final class GrpcSplitter {
    static final int MAX_MESSAGE_BYTES = 1 << 20;

    private static final int HEAD_BYTES = 5;

    private final Listener listener;
    private final byte[] head = new byte[HEAD_BYTES];
    private int headBytes;
    private long missingBytes;
    private int sizeBytes;
    private @Nullable ByteArrayOutputStream kept;
    private boolean broken;

    /** Takes messages. */
    interface Listener {
        /**
         * A message.
         *
         * @param message its bytes; absent where it was compressed or too long to keep
         * @param sizeBytes of it and its head
         */
        void message(byte @Nullable [] message, int sizeBytes);
    }

    GrpcSplitter(Listener listener) {
        this.listener = listener;
    }

    /** True when the bytes were no such messages. */
    boolean isBroken() {
        return broken;
    }

    /** Takes the next bytes of the body. */
    void accept(byte[] bytes) {
        int at = 0;
        while (at < bytes.length && !broken) {
            if (missingBytes > 0) {
                int step = (int) Math.min(missingBytes, bytes.length - at);
                if (kept != null) {
                    kept.write(bytes, at, step);
                }
                missingBytes -= step;
                at += step;
            } else {
                head[headBytes++] = bytes[at++];
                if (headBytes < HEAD_BYTES) {
                    continue;
                }
                headBytes = 0;
                long length =
                        (head[1] & 0xFFL) << 24 | (head[2] & 0xFFL) << 16 | (head[3] & 0xFFL) << 8 | (head[4] & 0xFFL);
                if ((head[0] & 0xFE) != 0) {
                    broken = true;
                    return;
                }
                missingBytes = length;
                kept = head[0] == 0 && length <= MAX_MESSAGE_BYTES
                        ? new ByteArrayOutputStream((int) Math.min(8_192, length))
                        : null;
                sizeBytes = (int) Math.min(Integer.MAX_VALUE, length + HEAD_BYTES);
            }
            if (missingBytes == 0 && headBytes == 0) {
                byte[] message = kept == null ? null : kept.toByteArray();
                kept = null;
                listener.message(message, sizeBytes);
            }
        }
    }
}
