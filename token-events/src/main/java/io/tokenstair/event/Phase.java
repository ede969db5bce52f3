package io.tokenstair.event;

/** What a step did for a sequence. */
public enum Phase {
    /** Computed new prompt tokens. */
    PREFILL(1),
    /** Made the next output token from the one before. */
    DECODE(2),
    /** First chunk after a preemption. */
    RESUMED(3),
    /** A later chunk of a recomputation. */
    RECOMPUTE(4);

    private static final Phase[] BY_CODE = {PREFILL, PREFILL, DECODE, RESUMED, RECOMPUTE};
    private final int code;

    Phase(int code) {
        this.code = code;
    }

    /** The permanent code in the wire form. */
    public int code() {
        return code;
    }

    /** The phase of a wire code. */
    public static Phase ofCode(int code) {
        if (code < 1 || code >= BY_CODE.length) {
            throw new IllegalArgumentException("Cannot read phase code: " + code);
        }
        return BY_CODE[code];
    }
}
