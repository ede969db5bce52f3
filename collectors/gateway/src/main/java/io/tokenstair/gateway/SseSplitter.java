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
        int at = 0;
        while (at < bytes.length) {
            if (afterReturn) {
                afterReturn = false;
                if (bytes[at] == '\n') {
                    // It belongs to the line end before: counted there where an event goes on, else with the next one.
                    eventBytes++;
                    at++;
                    continue;
                }
            }
            int end = at;
            while (end < bytes.length && bytes[end] != '\n' && bytes[end] != '\r') {
                end++;
            }
            int room = MAX_EVENT_BYTES - line.size() - data.size();
            int kept = at + Math.max(0, Math.min(room, end - at));
            tooLong |= kept < end;
            eventBytes += end - at;
            if (end == bytes.length) {
                line.write(bytes, at, kept - at);
                return;
            }
            eventBytes++;
            afterReturn = bytes[end] == '\r';
            if (line.size() == 0) {
                endLine(bytes, at, kept);
            } else {
                line.write(bytes, at, kept - at);
                endKeptLine();
            }
            at = end + 1;
        }
    }

    /** The stream ended. An event without its empty line is told all the same: servers that break off leave one. */
    void end() {
        if (line.size() > 0) {
            endKeptLine();
        }
        if (hasData) {
            endEvent();
        }
    }

    private void endKeptLine() {
        byte[] kept = line.toByteArray();
        line.reset();
        endLine(kept, 0, kept.length);
    }

    private void endLine(byte[] bytes, int from, int to) {
        int start = from;
        if (!started) {
            started = true;
            start += startsWith(bytes, from, to, BOM) ? BOM.length : 0;
        }
        if (to == start) {
            endEvent();
            return;
        }
        if (to - start >= 4
                && bytes[start] == 'd'
                && bytes[start + 1] == 'a'
                && bytes[start + 2] == 't'
                && bytes[start + 3] == 'a'
                && (to - start == 4 || bytes[start + 4] == ':')) {
            int value = Math.min(to, start + 5);
            if (value < to && bytes[value] == ' ') {
                value++;
            }
            if (hasData) {
                data.write('\n');
            }
            hasData = true;
            data.write(bytes, value, to - value);
        }
    }

    private static boolean startsWith(byte[] bytes, int at, int to, byte[] prefix) {
        if (to - at < prefix.length) {
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
