package io.tokenstair.simulate;

/**
 * One injected fault. Times are true time, ns since the engine was ready.
 *
 * @param kind what goes wrong
 * @param fromNanos when it begins; one that strikes once hits the first step scheduled from here on
 * @param toNanos when it ends; for one that strikes once, not later than this
 * @param sizeNanos how long it holds what it hits; 0 where a factor says it
 * @param factor how much slower, or what share; 1 where a size says it
 */
record Fault(FaultKind kind, long fromNanos, long toNanos, long sizeNanos, double factor) {
    /** A fault that hits one step for some time. */
    static Fault once(FaultKind kind, long atNanos, long sizeNanos) {
        return new Fault(kind, atNanos, atNanos + sizeNanos, sizeNanos, 1);
    }

    /** A fault that lasts and makes things slower by a factor. */
    static Fault factor(FaultKind kind, long fromNanos, long toNanos, double factor) {
        return new Fault(kind, fromNanos, toNanos, 0, factor);
    }

    /** A fault that lasts and holds what it meets for some time. */
    static Fault lasting(FaultKind kind, long fromNanos, long toNanos, long sizeNanos) {
        return new Fault(kind, fromNanos, toNanos, sizeNanos, 1);
    }

    boolean activeAt(long nanos) {
        return nanos >= fromNanos && nanos < toNanos;
    }
}
