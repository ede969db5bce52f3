package io.tokenstair.job.evidence;

import org.jspecify.annotations.Nullable;

/** An interval in which something waited or stood still, as recorded, on the clock of its record. */
public class Stall {
    /** Ordinal of its {@link EvidenceKind}. */
    public int kind;

    public String clockId = "";
    public long startNanos;
    public long endNanos;
    public String eventId = "";
    public @Nullable String culprit;
    public String detail = "";
    public String deviceId = "";
    /** Code that the driver returned with it; 0 for none or success. */
    public int driverCode;
    /** True for an allocation that failed and has not been given its memory by the end of the interval. */
    public boolean open;

    /** For Flink's serializer. */
    public Stall() {}
}
