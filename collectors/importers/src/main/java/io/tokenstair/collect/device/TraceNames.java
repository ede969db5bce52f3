package io.tokenstair.collect.device;

import java.nio.file.Path;
import java.util.Locale;

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
                return new String(
                        text.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                        java.nio.charset.StandardCharsets.UTF_8);
            }
        }
        return text;
    }
}
