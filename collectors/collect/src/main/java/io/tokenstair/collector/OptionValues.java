package io.tokenstair.collector;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The options of one collector, with defaults where nothing was given. */
final class OptionValues {
    private final Map<String, String> texts = new HashMap<>();

    /**
     * Values over the defaults of these options.
     *
     * @throws CollectorException where a required one is missing or a value cannot be
     */
    OptionValues(List<Option> options, Map<String, String> given, String place) throws CollectorException {
        for (Option option : options) {
            String text = given.getOrDefault(option.name(), option.defaultText());
            if (text == null) {
                if (option.required()) {
                    throw new CollectorException(place + ": " + option.name() + " is missing: " + option.description());
                }
                continue;
            }
            String problem = option.problem(text);
            if (problem != null) {
                throw new CollectorException(place + ": " + option.name() + ": " + problem + ": " + text);
            }
            texts.put(option.name(), text);
        }
    }

    /** A text that has a value. */
    String text(String name) {
        String text = texts.get(name);
        if (text == null) {
            throw new IllegalArgumentException("Cannot find a value of " + name);
        }
        return text;
    }

    /** A text; null where none was given. */
    @Nullable
    String optionalText(String name) {
        return texts.get(name);
    }

    int count(String name) {
        return Integer.parseInt(text(name));
    }

    long bytes(String name) {
        return OptionKind.bytes(text(name));
    }

    Duration duration(String name) {
        return OptionKind.duration(text(name));
    }

    boolean flag(String name) {
        return Boolean.parseBoolean(text(name));
    }

    /** The host of an address, an IPv6 one without brackets. */
    String host(String name) {
        return OptionKind.host(text(name));
    }

    int port(String name) {
        return OptionKind.port(text(name));
    }

    URI url(String name) {
        return URI.create(text(name));
    }

    @Nullable
    Path optionalPath(String name) {
        String text = texts.get(name);
        return text == null ? null : Path.of(text);
    }
}
