package io.tokenstair.foreign;

/** Input that is not of the format it should be of. The message says why, and holds nothing of the input's text. */
public final class ForeignFormatException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Input that was refused for this reason. */
    public ForeignFormatException(String reason) {
        super(reason);
    }

    /** Why it was refused. */
    public String reason() {
        String message = getMessage();
        return message == null ? "" : message;
    }
}
