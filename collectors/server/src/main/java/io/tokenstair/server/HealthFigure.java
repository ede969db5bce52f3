package io.tokenstair.server;

/**
 * A figure of the suite's own health.
 *
 * @param family its name, for counters without {@code _total}
 * @param counter true for one that only grows, false for one that comes and goes
 * @param help what it counts, in its unit
 * @param label what tells it from others of its family, as {@code name="value"}; empty where it is alone
 * @param value now
 */
public record HealthFigure(String family, boolean counter, String help, String label, long value) {
    /** A figure that only grows. */
    public static HealthFigure counter(String family, String help, long value) {
        return new HealthFigure(family, true, help, "", value);
    }

    /** One of several figures that only grow, told apart by a label. */
    public static HealthFigure counter(String family, String help, String label, long value) {
        return new HealthFigure(family, true, help, label, value);
    }

    /** A figure that comes and goes. */
    public static HealthFigure gauge(String family, String help, long value) {
        return new HealthFigure(family, false, help, "", value);
    }
}
