package io.tokenstair.collect.kineto;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What a trace says of itself beside its events; its fields may come before or behind them. */
final class KinetoHeader implements TraceElements.Header {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_DEVICES = 1_024;

    private long baseNanos;
    private @Nullable String baseProblem;
    private final Set<String> deviceNames = new TreeSet<>();
    private @Nullable String rank;

    @Override
    public void field(String name, byte[] json, int length) {
        try {
            switch (name) {
                case "baseTimeNanoseconds" -> {
                    JsonNode base = JSON.readTree(json, 0, length);
                    if (base.isIntegralNumber()
                            && base.canConvertToLong()
                            && base.longValue() >= 0
                            && base.longValue() < Long.MAX_VALUE / 2) {
                        baseNanos = base.longValue();
                    } else {
                        baseProblem = "baseTimeNanoseconds is no time";
                    }
                }
                case "deviceProperties" -> {
                    for (JsonNode device : JSON.readTree(json, 0, length)) {
                        String called = device.path("name").asText("");
                        if (!called.isEmpty() && called.length() <= 100 && deviceNames.size() < MOST_DEVICES) {
                            deviceNames.add(called);
                        }
                    }
                }
                case "distributedInfo" -> {
                    JsonNode number = JSON.readTree(json, 0, length).path("rank");
                    rank = number.isIntegralNumber() ? number.asText() : null;
                }
                default -> {
                    // Nothing else is asked for.
                }
            }
        } catch (IOException e) {
            if (name.equals("baseTimeNanoseconds")) {
                baseProblem = "baseTimeNanoseconds is no time";
            }
        }
    }

    /** What is to be added to the events' times for the wall clock, in ns; 0 where they are wall clock times. */
    long baseNanos() {
        return baseNanos;
    }

    /** Why the base cannot be used; null when it can. */
    @Nullable
    String baseProblem() {
        return baseProblem;
    }

    /** The devices of the machine, by name. */
    Set<String> deviceNames() {
        return deviceNames;
    }

    /** The rank that was traced; null when not said. */
    @Nullable
    String rank() {
        return rank;
    }
}
