package io.tokenstair.look.archive;

/** Input that cannot be used as asked: its message is the one line people see, and the command ends with exit code 2. */
public final class UnusableInputException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * An input problem without a deeper cause.
     *
     * @param message what cannot be done, with what, and what to do
     */
    public UnusableInputException(String message) {
        super(message);
    }

    /**
     * An input problem found by another layer.
     *
     * @param message what cannot be done, with what, and what to do
     * @param cause what that layer said; shown with {@code --debug} only
     */
    public UnusableInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
