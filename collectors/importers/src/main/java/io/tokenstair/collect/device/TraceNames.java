package io.tokenstair.collect.device;

import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The names that the events of one trace carry, each fit for an event. */
public record TraceNames(String source, String engineId, String clockId) {
    /** Longest name of a kernel, in characters: beyond it the rest is replaced by a hash of the whole. */
    public static final int MOST_KERNEL_NAME = 1_024;

    private static final int MOST_SOURCE_CHARACTERS = 60;

    /** What a file is called in ids: its name, without its beginning where that is too long for an id. */
    public static String sourceOf(Path file) {
        String name = text(String.valueOf(file.getFileName()));
        return name.length() <= MOST_SOURCE_CHARACTERS
                ? name
                : "~" + name.substring(name.length() - MOST_SOURCE_CHARACTERS + 1);
    }

    /** A name that a user gives, fit for an id; null stays null. */
    public static @Nullable String given(String option, @Nullable String name) throws ImportException {
        if (name == null) {
            return null;
        }
        try {
            if (name.isBlank()) {
                throw new ImportException(option + " is empty; give it a name");
            }
            return Fields.bounded(name, option);
        } catch (RejectedRecordException e) {
            throw new ImportException(e.reason() + "; give it a shorter name");
        }
    }

    /** A kernel's name, bounded; different names stay different. */
    public static String kernel(String name) {
        String sound = text(name);
        if (sound.length() <= MOST_KERNEL_NAME) {
            return sound;
        }
        return text(sound.substring(0, MOST_KERNEL_NAME - 20))
                + String.format(Locale.ROOT, "~%08x~%d", sound.hashCode(), sound.length());
    }

    /** Text that UTF-8 can hold: half of a surrogate pair becomes a question mark. */
    static String text(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
            }
        }
        return text;
    }
}
