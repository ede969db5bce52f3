package io.tokenstair.job.evidence;

/**
 * What a record can say of lost time. The first five are intervals and own time in this order: what one covers is never charged to a
 * later one. An allocation that makes the host wait for the device owns that wait; a sync owns what nothing else explains.
 */
public enum EvidenceKind {
    /** A kernel was compiled for a shape. */
    COMPILE,
    /** Device memory was looked for. */
    ALLOCATION,
    /** A process of the engine stood still, as recorded. */
    PAUSE,
    /** Another rank was waited for. */
    COLLECTIVE,
    /** A synchronising call waited. */
    SYNC,
    /** All kernels were longer as the clock was lower. */
    THERMAL,
    /** Kernels were longer than they usually are at their shape and clock. */
    KERNEL,
    /** The allocator counted a retry or a failure around the step; how long it took is not recorded. */
    ALLOCATION_COUNTED,
    /** Kernel records cover the step, and the device ran none of them for longer than usual. */
    DEVICE_IDLE,
    /** Other kernels than usual ran at this shape, and took longer. */
    VARIANT;

    private static final EvidenceKind[] VALUES = values();

    /** How many kinds there are. */
    public static final int COUNT = VALUES.length;

    /** How many of the first are intervals. */
    static final int INTERVALS = SYNC.ordinal() + 1;

    static EvidenceKind ofOrdinal(int ordinal) {
        return VALUES[ordinal];
    }
}
