package io.tokenstair.look.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the JSON forms. Every byte is a function of the values: no spaces, fields in declared order, what is absent is left out, a
 * value per line. Only printable ASCII leaves, everything else is escaped, so that no id can steer a terminal.
 */
public final class JsonWriter implements AutoCloseable {
    private static final JsonFactory FACTORY = new JsonFactoryBuilder()
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .characterEscapes(new DeleteEscape())
            .build();

    private final JsonGenerator generator;
    private final boolean epochsAsText;

    /**
     * A writer.
     *
     * @param out where the bytes go; closed with the writer
     * @param epochsAsText true writes epoch stamps as strings, for readers whose numbers are doubles
     */
    public JsonWriter(OutputStream out, boolean epochsAsText) throws IOException {
        this.generator = FACTORY.createGenerator(out);
        this.generator.setPrettyPrinter(new MinimalPrettyPrinter(""));
        this.epochsAsText = epochsAsText;
    }

    /** Begins an object in an array or at the root. */
    public JsonWriter beginObject() throws IOException {
        generator.writeStartObject();
        return this;
    }

    /** Begins an object as a field. */
    public JsonWriter beginObject(String name) throws IOException {
        generator.writeObjectFieldStart(name);
        return this;
    }

    /** Ends the object. */
    public JsonWriter endObject() throws IOException {
        generator.writeEndObject();
        return this;
    }

    /** Begins an array as a field. */
    public JsonWriter beginArray(String name) throws IOException {
        generator.writeArrayFieldStart(name);
        return this;
    }

    /** Ends the array. */
    public JsonWriter endArray() throws IOException {
        generator.writeEndArray();
        return this;
    }

    /** A text field; nothing where absent. */
    public JsonWriter text(String name, @Nullable String value) throws IOException {
        if (value != null) {
            generator.writeStringField(name, value);
        }
        return this;
    }

    /** A number field; nothing where absent. */
    public JsonWriter number(String name, @Nullable Long value) throws IOException {
        if (value != null) {
            generator.writeNumberField(name, value);
        }
        return this;
    }

    /** A number field; nothing where absent. */
    public JsonWriter number(String name, @Nullable Integer value) throws IOException {
        if (value != null) {
            generator.writeNumberField(name, value);
        }
        return this;
    }

    /** An epoch stamp; nothing where absent. */
    public JsonWriter epoch(String name, @Nullable Long value) throws IOException {
        if (value != null) {
            if (epochsAsText) {
                generator.writeStringField(name, Long.toString(value));
            } else {
                generator.writeNumberField(name, value);
            }
        }
        return this;
    }

    /** A field that is true; nothing where false. */
    public JsonWriter flag(String name, boolean value) throws IOException {
        if (value) {
            generator.writeBooleanField(name, true);
        }
        return this;
    }

    /** A truth value that is written also where it is false. */
    public JsonWriter truth(String name, boolean value) throws IOException {
        generator.writeBooleanField(name, value);
        return this;
    }

    /** An array of texts, also when empty. */
    public JsonWriter texts(String name, List<String> values) throws IOException {
        generator.writeArrayFieldStart(name);
        for (String value : values) {
            generator.writeString(value);
        }
        generator.writeEndArray();
        return this;
    }

    /** A number in an array; null where absent. */
    public JsonWriter element(@Nullable Long value) throws IOException {
        if (value == null) {
            generator.writeNull();
        } else {
            generator.writeNumber(value);
        }
        return this;
    }

    /** A text in an array. */
    public JsonWriter element(String value) throws IOException {
        generator.writeString(value);
        return this;
    }

    /** Ends the line of a value at the root. */
    public void endLine() throws IOException {
        generator.writeRaw('\n');
    }

    /** Hands what is buffered to the stream. */
    public void flush() throws IOException {
        generator.flush();
    }

    @Override
    public void close() throws IOException {
        generator.close();
    }

    /** Escapes DEL, the one control character of ASCII that JSON allows raw. */
    private static final class DeleteEscape extends CharacterEscapes {
        private static final long serialVersionUID = 1L;

        private final int[] escapes;

        DeleteEscape() {
            escapes = standardAsciiEscapesForJSON();
            escapes[0x7f] = ESCAPE_STANDARD;
        }

        @Override
        public int[] getEscapeCodesForAscii() {
            return escapes.clone();
        }

        @Override
        public @Nullable SerializableString getEscapeSequence(int character) {
            return null;
        }
    }
}
