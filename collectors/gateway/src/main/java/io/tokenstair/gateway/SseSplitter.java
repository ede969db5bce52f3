package io.tokenstair.gateway;

import java.io.ByteArrayOutputStream;

/**
 * Cuts a byte stream into server-sent events (WHATWG): lines end with LF, CR or CRLF, an empty line ends an event, {@code data} lines
 * of one event are joined by LF, a comment or an unknown field says nothing. Of the names of events only {@code error} is told; such an
 * event is told without data too. Keeps at most {@value #MAX_EVENT_BYTES} bytes; a longer event is told as one without data.
 */
final class SseSplitter {
    /** Longest event that is looked into. */
    static final int MAX_EVENT_BYTES = 4 << 20;

    private static final byte[] BOM = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
    private static final byte[] DATA = {'d', 'a', 't', 'a'};
    private static final byte[] EVENT = {'e', 'v', 'e', 'n', 't'};
    private static final byte[] ERROR = {'e', 'r', 'r', 'o', 'r'};

    private final Listener listener;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream(1_024);
    private final ByteArrayOutputStream data = new ByteArrayOutputStream(1_024);
    private boolean hasData;
    private boolean isError;
    private boolean tooLong;
    private boolean afterReturn;
    private boolean started;
    private long eventBytes;

    /** Takes events. */
    interface Listener {
        /**
         * An event that has data, or is named {@code error}.
         *
         * @param data what its data lines hold; no bytes where it was too long to look into
         * @param sizeBytes all its bytes in the stream
         * @param isError true when its name is {@code error}
         */
        void event(byte[] data, int sizeBytes, boolean tooLong, boolean isError);
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
        if (hasData || isError) {
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
        if (isField(bytes, start, to, DATA)) {
            int value = valueOf(bytes, start + DATA.length, to);
            if (hasData) {
                data.write('\n');
            }
            hasData = true;
            data.write(bytes, value, to - value);
        } else if (isField(bytes, start, to, EVENT)) {
            int value = valueOf(bytes, start + EVENT.length, to);
            isError = to - value == ERROR.length && startsWith(bytes, value, to, ERROR);
        }
    }

    private static boolean isField(byte[] bytes, int start, int to, byte[] name) {
        return startsWith(bytes, start, to, name) && (to - start == name.length || bytes[start + name.length] == ':');
    }

    /** Where the value of a field begins whose name ends here. */
    private static int valueOf(byte[] bytes, int nameEnd, int to) {
        int value = Math.min(to, nameEnd + 1);
        return value < to && bytes[value] == ' ' ? value + 1 : value;
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
        boolean had = hasData || tooLong || isError;
        boolean wasError = isError;
        boolean wasTooLong = tooLong;
        byte[] payload = wasTooLong ? new byte[0] : data.toByteArray();
        eventBytes = 0;
        hasData = false;
        isError = false;
        tooLong = false;
        data.reset();
        if (had) {
            listener.event(payload, size, wasTooLong, wasError);
        }
    }
}
