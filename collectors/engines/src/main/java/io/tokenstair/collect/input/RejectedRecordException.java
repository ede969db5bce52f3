package io.tokenstair.collect.input;

/** One raw record is refused. The message is the reason: it names the field, and never quotes prompt or generated text. */
public final class RejectedRecordException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Refuses the record for this reason. */
    public RejectedRecordException(String reason) {
        super(reason, null, false, false);
    }

    /** The reason. */
    public String reason() {
        return String.valueOf(getMessage());
    }
}
