package io.tokenstair.log;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A topic of a Kafka broker as commands take it, {@code kafka://host:port/topic}.
 *
 * @param servers host and port of a broker
 * @param topic name of the topic
 */
public record KafkaAddress(String servers, String topic) {
    private static final Pattern FORM = Pattern.compile("kafka://([^\\s/]+:\\d{1,5})/([\\w.-]{1,249})");

    /** The topic that an address names; null when it has not that form. */
    public static @Nullable KafkaAddress of(String address) {
        Matcher form = FORM.matcher(address);
        return form.matches() ? new KafkaAddress(form.group(1), form.group(2)) : null;
    }
}
