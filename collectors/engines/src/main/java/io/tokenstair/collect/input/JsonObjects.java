package io.tokenstair.collect.input;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The JSON objects of a plain or gzipped file, one at a time and never whole in memory: an object a line, or objects over several lines,
 * in an array or not. Bare {@code NaN} and {@code Infinity} are read as numbers, as Python writes them. Where each line is an object, a broken
 * one costs nothing but its line.
 */
public final class JsonObjects implements Closeable {
    private static final int BUFFER_BYTES = 1 << 16;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(Fields.MAX_DEPTH)
                    .maxNumberLength(64)
                    .maxStringLength(16 << 20)
                    .maxNameLength(1 << 10)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(StreamReadFeature.AUTO_CLOSE_SOURCE)
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();

    private final Path file;
    private final LineSource.Limits limits;
    private UnzippedFile in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int filled;
    private boolean lines;
    private long lineNumber;
    private @Nullable JsonParser parser;

    /** Opens a file, gzipped or not. */
    public JsonObjects(Path file, LineSource.Limits limits) throws IOException, RejectedRecordException {
        this.file = file;
        this.limits = limits;
        this.in = UnzippedFile.ofText(file, limits.unzippedBytes());
        try {
            lines = !overSeveralLines();
        } catch (IOException | RejectedRecordException e) {
            in.close();
            throw e;
        }
    }

    /** Why the file ended early; null when it did not. */
    public @Nullable String defect() {
        return in.defect();
    }

    /** Looks at the start without taking it. */
    private boolean overSeveralLines() throws IOException, RejectedRecordException {
        fill();
        position = UnzippedFile.markLength(buffer, filled);
        int at = position;
        while (at < filled && buffer[at] <= ' ' && buffer[at] >= 0) {
            at++;
        }
        if (at == filled || (buffer[at] != '{' && buffer[at] != '[')) {
            String defect = in.defect();
            throw new RejectedRecordException(
                    defect != null ? defect : filled == 0 ? "an empty file" : "not JSON at its start");
        }
        if (buffer[at] == '[') {
            return true;
        }
        at++;
        while (at < filled && (buffer[at] == ' ' || buffer[at] == '\t' || buffer[at] == '\r')) {
            at++;
        }
        return at < filled && buffer[at] == '\n';
    }

    /** Moves to the next object: the parser stands on its start. False at the end. */
    public boolean next() throws IOException, RejectedRecordException {
        return lines ? nextLine() : nextValue();
    }

    private boolean nextLine() throws IOException, RejectedRecordException {
        while (true) {
            JsonParser before = parser;
            if (before != null) {
                boolean whole = before.getParsingContext().inRoot() && before.currentToken() == JsonToken.END_OBJECT;
                parser = null;
                if (whole && token(before) != null) {
                    skipLine();
                    throw new RejectedRecordException("something after the object on its line");
                }
                skipLine();
            }
            if (position == filled && !fill()) {
                return false;
            }
            lineNumber++;
            parser = FACTORY.createParser(new LineStream());
            JsonToken token = token(parser);
            if (token == JsonToken.START_OBJECT) {
                return true;
            }
            if (token != null) {
                skipLine();
                parser = null;
                throw new RejectedRecordException("not a JSON object");
            }
        }
    }

    private boolean nextValue() throws IOException, RejectedRecordException {
        if (parser == null) {
            parser = FACTORY.createParser(new WholeStream());
        }
        while (true) {
            JsonToken token = token(parser);
            if (token == null) {
                return false;
            }
            if (token == JsonToken.START_OBJECT) {
                lineNumber = parser.currentTokenLocation().getLineNr();
                return true;
            }
            if (token != JsonToken.START_ARRAY && token != JsonToken.END_ARRAY) {
                throw new RejectedRecordException("not a JSON object");
            }
        }
    }

    /** Reads the same file from its start on, as objects over several lines. */
    public void rereadWhole() throws IOException {
        in.close();
        in = UnzippedFile.ofText(file, limits.unzippedBytes());
        position = 0;
        filled = 0;
        lineNumber = 0;
        lines = false;
        parser = null;
    }

    /** Whether a broken object was cut by the end of its line, and the file goes on. */
    public boolean cutByFirstLine() throws IOException {
        if (!lines || lineNumber != 1) {
            return false;
        }
        skipLine();
        parser = null;
        while (position < filled || fill()) {
            if (buffer[position] > ' ' || buffer[position] < 0) {
                return true;
            }
            position++;
        }
        return false;
    }

    /** True where objects after a broken one can be read. */
    public boolean goesOn() {
        return lines;
    }

    /** Line of the object, from 1. */
    public long lineNumber() {
        return lineNumber;
    }

    /** The parser of the object at hand. */
    public JsonParser parser() {
        if (parser == null) {
            throw new IllegalStateException("Cannot parse before the first object");
        }
        return parser;
    }

    /** The next token of a parser, with what is wrong with it as a reason that quotes nothing of the input. */
    public static @Nullable JsonToken token(JsonParser parser) throws IOException, RejectedRecordException {
        try {
            return parser.nextToken();
        } catch (IOException e) {
            throw reason(e);
        }
    }

    /** Why input cannot be read, where that is the input's fault. */
    public static RejectedRecordException reason(IOException e) throws IOException {
        if (e instanceof JsonEOFException) {
            return new RejectedRecordException("not valid JSON: it ends inside a value (cut?)");
        }
        if (e instanceof StreamConstraintsException) {
            return new RejectedRecordException("JSON with a name, number or text too long, or too deep");
        }
        if (e instanceof JsonProcessingException problem) {
            String message = String.valueOf(problem.getOriginalMessage());
            if (message.startsWith("Unexpected end-of-input")) {
                return new RejectedRecordException("not valid JSON: it ends inside a value (cut?)");
            }
            return new RejectedRecordException(
                    message.startsWith("Duplicate") ? "a JSON object with one field twice" : "not valid JSON");
        }
        if (e instanceof java.io.CharConversionException) {
            return new RejectedRecordException("not valid JSON: not UTF-8");
        }
        throw e;
    }

    private void skipLine() throws IOException {
        while (position < filled || fill()) {
            if (buffer[position++] == '\n') {
                return;
            }
        }
    }

    private boolean fill() throws IOException {
        position = 0;
        filled = Math.max(0, in.read(buffer, 0, buffer.length));
        return filled > 0;
    }

    /** The bytes up to the end of the line, which is left for {@link #skipLine()}. */
    private final class LineStream extends InputStream {
        @Override
        public int read() throws IOException {
            if ((position == filled && !fill()) || buffer[position] == '\n') {
                return -1;
            }
            return buffer[position++] & 0xff;
        }

        @Override
        public int read(byte[] to, int from, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (position == filled && !fill()) {
                return -1;
            }
            int end = Math.min(filled, position + length);
            int at = position;
            while (at < end && buffer[at] != '\n') {
                at++;
            }
            int count = at - position;
            System.arraycopy(buffer, position, to, from, count);
            position = at;
            return count == 0 ? -1 : count;
        }
    }

    /** All bytes of the file. */
    private final class WholeStream extends InputStream {
        @Override
        public int read() throws IOException {
            return position == filled && !fill() ? -1 : buffer[position++] & 0xff;
        }

        @Override
        public int read(byte[] to, int from, int length) throws IOException {
            if (position == filled && !fill()) {
                return -1;
            }
            int count = Math.min(length, filled - position);
            System.arraycopy(buffer, position, to, from, count);
            position += count;
            return count;
        }
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
