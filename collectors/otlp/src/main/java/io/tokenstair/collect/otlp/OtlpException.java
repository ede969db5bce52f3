package io.tokenstair.collect.otlp;

/** A request, or one item of it, is refused. The message is the reason: it names the field, and never quotes what was sent. */
public final class OtlpException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Refuses it for this reason. */
    public OtlpException(String reason) {
        super(reason, null, false, false);
    }

    /** The reason. */
    public String reason() {
        return String.valueOf(getMessage());
    }
}
