package io.tokenstair.collector;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be collected, and where to.
 *
 * @param to address of the log
 * @param queueEvents most events that wait for the log
 * @param metricsListen where /metrics of this process is served, as {@link #METRICS_LISTEN} says; absent when nowhere
 * @param collectors at least one
 */
record Plan(String to, int queueEvents, @Nullable String metricsListen, List<Planned> collectors) {
    /** The setting's name, on the command line and in the file. */
    static final String METRICS_LISTEN = "metrics-listen";

    /** What is wrong with where /metrics is to be served; null when nothing is. */
    static @Nullable String metricsListenProblem(String text) {
        return OptionKind.ADDRESS.problem(metricsAddress(text));
    }

    /** Host and port of where /metrics is to be served: a port alone is one of the loopback address. */
    static String metricsAddress(String text) {
        return text.matches("\\d{1,9}") ? "127.0.0.1:" + text : text;
    }

    /**
     * One collector to start.
     *
     * @param name its collector id
     * @param collector its kind
     * @param values its options
     */
    record Planned(String name, Collector collector, OptionValues values) {}
}
