package io.tokenstair.collect.otlp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What became of the items of one request: spans, data points or log records. {@code read} = {@code accepted} + {@code rejected}. */
public final class OtlpBatch {
    private static final int MAX_REASONS = 32;

    private final List<TimedEvent> events = new ArrayList<>();
    private final Map<String, Long> reasons = new LinkedHashMap<>();
    private long accepted;
    private long rejected;
    private long passedOver;

    OtlpBatch() {}

    void event(TimedEvent event) {
        events.add(event);
    }

    void accept() {
        accepted++;
    }

    void passOver() {
        accepted++;
        passedOver++;
    }

    void reject(String reason) {
        rejected++;
        String told = reasons.containsKey(reason) || reasons.size() < MAX_REASONS ? reason : "and other reasons";
        reasons.merge(told, 1L, Long::sum);
    }

    /** The events, in the order of their items. */
    public List<TimedEvent> events() {
        return events;
    }

    /** Items that were taken, those that say nothing of requests or engines included. */
    public long accepted() {
        return accepted;
    }

    /** Items that were refused. */
    public long rejected() {
        return rejected;
    }

    /** Items among the accepted that became no event, as they say nothing of requests or engines. */
    public long passedOver() {
        return passedOver;
    }

    /** Why items were refused, and how many for it. */
    public Map<String, Long> reasons() {
        return reasons;
    }

    /** The reasons in one line; empty when nothing was refused. */
    public String message() {
        StringBuilder message = new StringBuilder();
        reasons.forEach((reason, count) -> message.append(message.isEmpty() ? "" : "; ")
                .append(reason)
                .append(" (")
                .append(count)
                .append(')'));
        return message.length() <= 1000 ? message.toString() : message.substring(0, 1000);
    }
}
