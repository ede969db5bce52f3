package io.tokenstair.collector;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One setting of a collector, the same on the command line ({@code --name VALUE}) and in the configuration file ({@code name: value}).
 *
 * @param name in lower case, words joined by hyphens
 * @param kind what its value may be
 * @param defaultText its value where none is given; absent when it then has none
 * @param required true when a value must be given
 * @param choices the values of a {@link OptionKind#CHOICE}; else empty
 * @param description what it does, in one line
 * @param example a value that shows its form; absent where that of its kind does
 */
record Option(
        String name,
        OptionKind kind,
        @Nullable String defaultText,
        boolean required,
        List<String> choices,
        String description,
        @Nullable String example) {

    /** One that must be given. */
    static Option required(String name, OptionKind kind, String description) {
        return new Option(name, kind, null, true, List.of(), description, null);
    }

    /** One that may be left out, and then has no value. */
    static Option optional(String name, OptionKind kind, String description) {
        return new Option(name, kind, null, false, List.of(), description, null);
    }

    /** One that has a value where none is given. */
    static Option of(String name, OptionKind kind, String defaultText, String description) {
        return new Option(name, kind, defaultText, false, List.of(), description, null);
    }

    /** One of a few words. */
    static Option choice(String name, List<String> choices, String defaultText, String description) {
        return new Option(name, OptionKind.CHOICE, defaultText, false, List.copyOf(choices), description, null);
    }

    /** The same with an example of its own. */
    Option like(String value) {
        return new Option(name, kind, defaultText, required, choices, description, value);
    }

    /** What is wrong with a value; null where nothing is. */
    @Nullable
    String problem(String text) {
        if (kind == OptionKind.CHOICE) {
            return choices.contains(text) ? null : "not one of " + String.join(", ", choices);
        }
        return kind.problem(text);
    }

    /** A value as messages may show it, behind a colon; empty where it may be a secret. */
    String shown(String text) {
        return kind == OptionKind.SECRET ? "" : ": " + text;
    }

    /** How its value is named in help texts. */
    String label() {
        return kind == OptionKind.CHOICE ? String.join("|", choices) : kind.label();
    }
}
