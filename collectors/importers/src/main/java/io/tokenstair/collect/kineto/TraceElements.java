package io.tokenstair.collect.kineto;

import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.UnzippedFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The events of a trace file, each as the bytes of one JSON value, without the file in memory: the elements of the array
 * {@code traceEvents} of an object, or of a file that is one array. Values are split by brackets and strings only, so that one damaged
 * event does not cost the others. Bounded: an element longer than
 * {@link LineSource.Limits#lineBytes()} is passed over and reported, a gzipped file is read up to a limit.
 */
final class TraceElements implements Closeable {
    /** Other fields of the file than its events. */
    interface Header {
        /** A field and its value in JSON; the bytes are not kept afterwards. */
        void field(String name, byte[] json, int length);
    }

    private enum Place {
        START,
        FIELDS,
        EVENTS,
        END
    }

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int MOST_NAME = 256;
    private static final int MOST_HEADER = 1 << 20;

    /** A gzip file may hold this many times its own size, however large: texts of traces repeat. */
    private static final long RATIO = 100;

    private final Path file;
    private final Header header;
    private final int elementBytes;
    private final UnzippedFile in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int filled;
    private long passed;
    private byte[] value = new byte[1 << 12];
    private int length;
    private boolean tooLong;
    private long offset;
    private Place place = Place.START;
    private boolean bareArray;
    private boolean events;
    private boolean ended;
    /** What is wrong with its text; what is wrong with its bytes says the file. */
    private @Nullable String defect;

    /** Opens a file; gzip is told by its first bytes. */
    TraceElements(Path file, LineSource.Limits limits, Header header) throws IOException {
        this.file = file;
        this.header = header;
        this.elementBytes = limits.lineBytes();
        this.in = UnzippedFile.byContent(file, Math.max(limits.unzippedBytes(), RATIO * Files.size(file)));
        this.defect = in.defect();
        this.ended = defect != null;
    }

    /** Moves to the next event; false at the end, also where {@link #defect()} ends it early. */
    boolean next() throws IOException {
        while (true) {
            int c = skipTo();
            switch (place) {
                case START -> {
                    if (c == '{') {
                        place = Place.FIELDS;
                        position++;
                    } else if (c == '[') {
                        place = Place.EVENTS;
                        bareArray = true;
                        events = true;
                        position++;
                    } else {
                        return end(c < 0 ? "an empty file" : "it does not begin as JSON does");
                    }
                }
                case FIELDS -> {
                    if (c == '}') {
                        position++;
                        place = Place.END;
                        return false;
                    }
                    if (c != '"') {
                        return end(c < 0 ? "the file is cut: it ends before its last bracket" : "no JSON from here on");
                    }
                    if (!field()) {
                        return false;
                    }
                }
                case EVENTS -> {
                    if (c == ']') {
                        position++;
                        place = bareArray ? Place.END : Place.FIELDS;
                        if (bareArray) {
                            return false;
                        }
                    } else if (c < 0) {
                        // The last bracket of a file that is one array may be missing.
                        return end(bareArray ? null : "the file is cut: it ends between events");
                    } else if (c == '}' || c == ':') {
                        position++;
                        offset = passed + position - 1;
                        length = 0;
                        append((byte) c, elementBytes);
                        return true;
                    } else {
                        read(elementBytes);
                        if (ended && !complete()) {
                            return end("the file is cut: it ends inside an event");
                        }
                        return true;
                    }
                }
                case END -> {
                    return false;
                }
                default -> throw new IllegalStateException("Cannot be at " + place);
            }
        }
    }

    private boolean end(@Nullable String problem) {
        place = Place.END;
        if (defect == null) {
            defect = problem;
        }
        return false;
    }

    /** A field of the file: its name, and its value unless that is the events. False where the file ends in it. */
    private boolean field() throws IOException {
        read(MOST_NAME);
        String name = tooLong || length < 2 ? "" : new String(value, 1, length - 2, StandardCharsets.UTF_8);
        if (skipTo() != ':') {
            return end(ended ? "the file is cut: it ends before its last bracket" : "no JSON from here on");
        }
        position++;
        int c = skipTo();
        if (c == '[' && name.equals("traceEvents")) {
            position++;
            place = Place.EVENTS;
            events = true;
            return true;
        }
        if (c < 0 || c == '}' || c == ']') {
            return end(c < 0 ? "the file is cut: it ends before its last bracket" : "no JSON from here on");
        }
        read(MOST_HEADER);
        if (!tooLong && complete()) {
            header.field(name, value, length);
        }
        return true;
    }

    /** Whether the value ended with its own bracket, quote, or what may follow it. */
    private boolean complete() {
        byte last = length == 0 ? 0 : value[length - 1];
        byte first = length == 0 ? 0 : value[0];
        return !tooLong && !ended || last == '}' && first == '{' || last == ']' && first == '[';
    }

    /** Skips white space and commas; the byte there, not taken, or -1 at the end. */
    private int skipTo() throws IOException {
        while (true) {
            if (position == filled && !fill()) {
                return -1;
            }
            byte b = buffer[position];
            boolean mark = place == Place.START && passed + position < 3 && b < 0;
            if (b != ' ' && b != '\n' && b != '\r' && b != '\t' && b != ',' && !mark) {
                return b & 0xff;
            }
            position++;
        }
    }

    /**
     * Reads one value from here; at most so many of its bytes are kept. A value that is found to be damaged ends where the next one
     * seems to begin: at a line that begins with a bracket after a string that was not closed, or at a bracket where an object has to
     * have a name.
     */
    private void read(int most) throws IOException {
        length = 0;
        tooLong = false;
        offset = passed + position;
        int depth = 0;
        boolean inString = false;
        boolean escaped = false;
        byte before = 0;
        while (position < filled || fill()) {
            byte b = buffer[position];
            if (inString) {
                position++;
                append(b, most);
                if (escaped) {
                    escaped = false;
                } else if (b == '\\') {
                    escaped = true;
                } else if (b == '\n') {
                    skipToBracket();
                    return;
                } else if (b == '"') {
                    inString = false;
                    before = b;
                    if (depth == 0) {
                        return;
                    }
                }
                continue;
            }
            if (b == '"') {
                if (depth == 0 && length > 0) {
                    return;
                }
                inString = true;
            } else if (b == '{' || b == '[') {
                if (depth == 0 && length > 0 || depth == 1 && b == '{' && value[0] == '{' && before != ':') {
                    return;
                }
                depth++;
            } else if (b == '}' || b == ']') {
                if (depth == 0) {
                    return;
                }
                depth--;
                if (depth == 0) {
                    position++;
                    append(b, most);
                    return;
                }
            } else if (depth == 0 && (b == ',' || b == ':' || b == ' ' || b == '\n' || b == '\r' || b == '\t')) {
                return;
            }
            if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
                before = b;
            }
            position++;
            append(b, most);
        }
    }

    /** Skips to the next line that begins with a bracket that opens an event or closes the array of them. */
    private void skipToBracket() throws IOException {
        boolean lineStart = true;
        while (position < filled || fill()) {
            byte b = buffer[position];
            if (lineStart && (b == '{' || b == ']')) {
                return;
            }
            lineStart = b == '\n' || lineStart && (b == ' ' || b == '\t');
            position++;
        }
    }

    private void append(byte b, int most) {
        if (length == most) {
            tooLong = true;
            return;
        }
        if (length == value.length) {
            value = Arrays.copyOf(value, Math.min(most, 2 * length));
        }
        value[length++] = b;
    }

    private boolean fill() throws IOException {
        if (ended) {
            return false;
        }
        passed += filled;
        position = 0;
        filled = 0;
        filled = Math.max(0, in.read(buffer, 0, buffer.length));
        defect = in.defect();
        ended = filled == 0;
        return !ended;
    }

    /** The current event, valid until the next call of {@link #next()}, up to {@link #length()}. */
    byte[] bytes() {
        return value;
    }

    /** Bytes of the current event. */
    int length() {
        return length;
    }

    /** True when the event is longer than taken; {@link #bytes()} then holds its start. */
    boolean tooLong() {
        return tooLong;
    }

    /** Where the current event begins, in bytes of the unzipped file. */
    long offset() {
        return offset;
    }

    /** True once the events of the file have begun. */
    boolean hasEvents() {
        return events;
    }

    /** Why the file ended early; null when it did not. */
    @Nullable
    String defect() {
        return defect;
    }

    /** How far the file was read, in bytes of the unzipped file. */
    long readBytes() {
        return passed + position;
    }

    /** The file. */
    Path file() {
        return file;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
