package io.tokenstair.collector;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The options of one collector, with defaults where nothing was given. */
final class OptionValues {
    private static final String ENVIRONMENT = "env:";
    private static final String FILE = "file:";

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
                throw new CollectorException(place + ": " + option.name() + ": " + problem + option.shown(text));
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

    /**
     * A secret, from where the option says it lies; null where the option was not given.
     *
     * @throws CollectorException where there is none: says where, and never what
     */
    @Nullable
    String optionalSecret(String name) throws CollectorException {
        String place = texts.get(name);
        if (place == null) {
            return null;
        }
        String secret;
        if (place.startsWith(ENVIRONMENT)) {
            secret = System.getenv(place.substring(ENVIRONMENT.length()));
            if (secret == null || secret.isBlank()) {
                throw new CollectorException(
                        name + ": the environment has no " + place.substring(ENVIRONMENT.length()));
            }
        } else {
            Path file = Path.of(place.substring(FILE.length()));
            try (BufferedReader lines = Files.newBufferedReader(file)) {
                secret = lines.readLine();
            } catch (IOException unreadable) {
                throw new CollectorException(name + ": cannot be read: " + file);
            }
            if (secret == null || secret.isBlank()) {
                throw new CollectorException(name + ": the first line is empty: " + file);
            }
        }
        return secret.strip();
    }

    /** A file that can be read; null where none was given. */
    @Nullable
    Path readable(String collectorName, String name) throws CollectorException {
        Path file = optionalPath(name);
        if (file != null && !Files.isReadable(file)) {
            throw new CollectorException(collectorName + ": " + name + ": cannot be read: " + file);
        }
        return file;
    }

    @Nullable
    Path optionalPath(String name) {
        String text = texts.get(name);
        return text == null ? null : Path.of(text);
    }
}
