package io.tokenstair.gateway;

import java.io.ByteArrayOutputStream;

/**
 * Cuts a byte stream into server-sent events (WHATWG): lines end with LF, CR or CRLF, an empty line ends an event, {@code data} lines
 * of one event are joined by LF, a comment or an unknown field says nothing. Keeps at most {@value #MAX_EVENT_BYTES} bytes; a longer
 * event is told as one without data.
 */
final class SseSplitter {
    /** Longest event that is looked into. */
    static final int MAX_EVENT_BYTES = 4 << 20;

    private static final byte[] BOM = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final Listener listener;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream(1_024);
    private final ByteArrayOutputStream data = new ByteArrayOutputStream(1_024);
    private boolean hasData;
    private boolean tooLong;
    private boolean afterReturn;
    private boolean started;
    private long eventBytes;

    /** Takes events. */
    interface Listener {
        /**
         * An event that has data.
         *
         * @param data what its data lines hold; no bytes where it was too long to look into
         * @param sizeBytes all its bytes in the stream
         */
        void event(byte[] data, int sizeBytes, boolean tooLong);
    }

    SseSplitter(Listener listener) {
        this.listener = listener;
    }

    /** Takes the next bytes of the stream. */
    void accept(byte[] bytes) {
        for (byte b : bytes) {
            if (afterReturn) {
                afterReturn = false;
                if (b == '\n') {
                    // It belongs to the line end before: counted there where an event goes on, else with the next one.
                    eventBytes++;
                    continue;
                }
            }
            eventBytes++;
            if (b == '\n' || b == '\r') {
                afterReturn = b == '\r';
                endLine();
            } else if (line.size() + data.size() < MAX_EVENT_BYTES) {
                line.write(b);
            } else {
                tooLong = true;
            }
        }
    }

    /** The stream ended. An event without its empty line is told all the same: servers that break off leave one. */
    void end() {
        if (line.size() > 0) {
            endLine();
        }
        if (hasData) {
            endEvent();
        }
    }

    private void endLine() {
        byte[] bytes = line.toByteArray();
        line.reset();
        int start = 0;
        if (!started) {
            started = true;
            start = startsWith(bytes, 0, BOM) ? BOM.length : 0;
        }
        if (bytes.length == start) {
            endEvent();
            return;
        }
        if (bytes.length - start >= 4
                && bytes[start] == 'd'
                && bytes[start + 1] == 'a'
                && bytes[start + 2] == 't'
                && bytes[start + 3] == 'a'
                && (bytes.length - start == 4 || bytes[start + 4] == ':')) {
            int from = Math.min(bytes.length, start + 5);
            if (from < bytes.length && bytes[from] == ' ') {
                from++;
            }
            if (hasData) {
                data.write('\n');
            }
            hasData = true;
            data.write(bytes, from, bytes.length - from);
        }
    }

    private static boolean startsWith(byte[] bytes, int at, byte[] prefix) {
        if (bytes.length - at < prefix.length) {
            return false;
        }
        for (int i = 0; i < prefix.length; i++) {
            if (bytes[at + i] != prefix[i]) {
                return false;
            }
        }
        return true;
    }

    private void endEvent() {
        int size = (int) Math.min(Integer.MAX_VALUE, eventBytes);
        boolean had = hasData || tooLong;
        boolean wasTooLong = tooLong;
        byte[] payload = wasTooLong ? new byte[0] : data.toByteArray();
        eventBytes = 0;
        hasData = false;
        tooLong = false;
        data.reset();
        if (had) {
            listener.event(payload, size, wasTooLong);
        }
    }
}
