package io.tokenstair.job.evidence;

import org.jspecify.annotations.Nullable;

/**
 * What records say of a step, or of the steps of a gap: nanoseconds per kind beyond what is usual, and for each kind the record,
 * the culprit and the detail of the longest piece. About 400 bytes; a gap without any record has none.
 */
public class Evidence {
    public long[] nanos = new long[EvidenceKind.COUNT];
    public long[] longestNanos = new long[EvidenceKind.COUNT];
    public String[] eventId = texts();
    public String[] culprit = texts();
    public String[] detail = texts();
    /** Code of a driver error other than a failed allocation; 0 when there was none. */
    public int driverCode;

    public String driverEventId = "";
    /** False once kernels were longer and no device sample says what the clock was. */
    public boolean clockKnown = true;

    /** The longest wait of a kernel from its launch to its start; -1 where no launch is recorded. */
    public long launchWaitNanos = -1;
    /** What the longest of a step usually is; -1 where that is not known. */
    public long usualLaunchWaitNanos = -1;

    public String launchEventId = "";
    public String launchedKernel = "";

    /** For Flink's serializer. */
    public Evidence() {}

    private static String[] texts() {
        String[] texts = new String[EvidenceKind.COUNT];
        java.util.Arrays.fill(texts, "");
        return texts;
    }

    /** Adds a piece; one of no length, or less, adds nothing. */
    void add(EvidenceKind kind, long pieceNanos, String ofEvent, @Nullable String by, String what) {
        if (pieceNanos <= 0) {
            return;
        }
        int i = kind.ordinal();
        nanos[i] += pieceNanos;
        if (pieceNanos > longestNanos[i]) {
            longestNanos[i] = pieceNanos;
            eventId[i] = ofEvent;
            culprit[i] = by == null ? "" : by;
            detail[i] = what;
        }
    }

    /** Takes how long a kernel waited from its launch to its start, where none waited longer. */
    void launched(long waitNanos, long usualNanos, String ofEvent, String kernelName) {
        if (waitNanos > launchWaitNanos) {
            launchWaitNanos = waitNanos;
            usualLaunchWaitNanos = usualNanos;
            launchEventId = ofEvent;
            launchedKernel = kernelName;
        }
    }

    /** The same of a step. */
    void launchedAs(Evidence step) {
        launched(step.launchWaitNanos, step.usualLaunchWaitNanos, step.launchEventId, step.launchedKernel);
    }

    /** Adds what was found of a further step. */
    public void add(Evidence step) {
        for (int i = 0; i < EvidenceKind.COUNT; i++) {
            nanos[i] += step.nanos[i];
            if (step.longestNanos[i] > longestNanos[i]) {
                longestNanos[i] = step.longestNanos[i];
                eventId[i] = step.eventId[i];
                culprit[i] = step.culprit[i];
                detail[i] = step.detail[i];
            }
        }
        if (step.driverCode != 0) {
            driverCode = step.driverCode;
            driverEventId = step.driverEventId;
        }
        clockKnown &= step.clockKnown;
        launchedAs(step);
    }

    /** Takes away what such time usually is. */
    void lessUsual(EvidenceKind kind, long usualNanos) {
        int i = kind.ordinal();
        nanos[i] = Math.max(0, nanos[i] - Math.max(0, usualNanos));
    }

    /** Nanoseconds of a kind. */
    public long nanos(EvidenceKind kind) {
        return nanos[kind.ordinal()];
    }

    /** The record of the longest piece of a kind; empty when there is none. */
    public String eventId(EvidenceKind kind) {
        return eventId[kind.ordinal()];
    }

    /** Who did it, where the record says; null when it does not. */
    public @Nullable String culprit(EvidenceKind kind) {
        return culprit[kind.ordinal()].isEmpty() ? null : culprit[kind.ordinal()];
    }

    /** What it was, in the words of the record. */
    public String detail(EvidenceKind kind) {
        return detail[kind.ordinal()];
    }

    /** True when it says more than this, that the driver returned an error, or that kernels waited longer than usual by more than this. */
    boolean isMoreThan(long leastNanos) {
        long sum = 0;
        for (long some : nanos) {
            sum += some;
        }
        boolean launchedLate = usualLaunchWaitNanos >= 0 && launchWaitNanos - usualLaunchWaitNanos > leastNanos;
        return sum > leastNanos || driverCode != 0 || launchedLate;
    }
}
