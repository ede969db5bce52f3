package io.tokenstair.collect.kineto;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** What a trace says of itself beside its events; its fields may come before or behind them. */
final class KinetoHeader implements TraceElements.Header {
    private static final ObjectMapper JSON = new ObjectMapper();

    private long baseNanos;
    private @Nullable String baseProblem;

    @Override
    public void field(String name, byte[] json, int length) {
        if (!name.equals("baseTimeNanoseconds")) {
            return;
        }
        try {
            JsonNode base = JSON.readTree(json, 0, length);
            if (base.isIntegralNumber()
                    && base.canConvertToLong()
                    && base.longValue() >= 0
                    && base.longValue() < Long.MAX_VALUE / 2) {
                baseNanos = base.longValue();
            } else {
                baseProblem = "baseTimeNanoseconds is no time";
            }
        } catch (IOException e) {
            baseProblem = "baseTimeNanoseconds is no time";
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
}
