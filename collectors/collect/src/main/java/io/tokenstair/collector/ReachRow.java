package io.tokenstair.collector;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.collector.reach.Seen;
import org.jspecify.annotations.Nullable;

/**
 * One line of {@code doctor --config}, and one object of its JSON.
 *
 * @param collector name of the collector that needs it; empty for what is of them all: the log, the port of their figures
 * @param subject the option it is about
 * @param address what was looked at
 * @param status whether the collector can work with it
 * @param found what was found, in words
 * @param advice what to do; absent where there is nothing to do
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record ReachRow(
        String collector,
        String subject,
        String address,
        Seen.Status status,
        String found,
        @Nullable String advice) {
    static ReachRow of(String collector, Look look, Seen seen) {
        return new ReachRow(collector, look.subject(), look.address(), seen.status(), seen.found(), seen.advice());
    }
}
