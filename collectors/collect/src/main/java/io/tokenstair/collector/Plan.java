package io.tokenstair.collector;

import java.util.List;

/**
 * What is to be collected, and where to.
 *
 * @param to address of the log
 * @param queueEvents most events that wait for the log
 * @param collectors at least one
 */
record Plan(String to, int queueEvents, List<Planned> collectors) {

    /**
     * One collector to start.
     *
     * @param name its collector id
     * @param collector its kind
     * @param values its options
     */
    record Planned(String name, Collector collector, OptionValues values) {}
}
