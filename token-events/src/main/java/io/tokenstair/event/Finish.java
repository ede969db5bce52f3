package io.tokenstair.event;

/** Why a stream ended, as its last chunk says. */
public enum Finish {
    /** The stream goes on. */
    NONE(0),
    /** The model stopped. */
    STOP(1),
    /** The token limit was reached. */
    LENGTH(2),
    /** The engine aborted the sequence. */
    ABORTED(3),
    /** An error inside the stream. */
    ERROR(4),
    /** A reason this version does not know. */
    OTHER(5);

    private final int code;

    Finish(int code) {
        this.code = code;
    }

    /** The permanent code in the wire form. */
    public int code() {
        return code;
    }

    /** The finish of a wire code. */
    public static Finish ofCode(int code) {
        if (code < 0 || code >= values().length) {
            throw new IllegalArgumentException("Cannot read finish code: " + code);
        }
        return values()[code];
    }
}
