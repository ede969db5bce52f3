package io.tokenstair.gateway;

/** Counts the length-prefixed messages of a gRPC body: a flag, four bytes of length, the message. Keeps five bytes. */
final class GrpcSplitter {
    private static final int HEAD_BYTES = 5;

    private final Listener listener;
    private final byte[] head = new byte[HEAD_BYTES];
    private int headBytes;
    private long missingBytes;
    private int sizeBytes;
    private boolean broken;

    /** Takes messages. */
    interface Listener {
        /** A message, with the bytes of it and its head. */
        void message(int sizeBytes);
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
                sizeBytes = (int) Math.min(Integer.MAX_VALUE, length + HEAD_BYTES);
            }
            if (missingBytes == 0 && headBytes == 0) {
                listener.message(sizeBytes);
            }
        }
    }
}
