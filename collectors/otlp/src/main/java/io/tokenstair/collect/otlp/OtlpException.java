package io.tokenstair.collect.otlp;

/** A request, or one item of it, is refused. The message is the reason: it names the field, and never quotes what was sent. */
public final class OtlpException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean tooLarge;

    /** Refuses it for this reason. */
    public OtlpException(String reason) {
        this(reason, false);
    }

    private OtlpException(String reason, boolean tooLarge) {
        super(reason, null, false, false);
        this.tooLarge = tooLarge;
    }

    /** Refuses it because it is larger than is taken. */
    static OtlpException tooLarge(String reason) {
        return new OtlpException(reason, true);
    }

    /** Whether it is refused because it is larger than is taken. */
    public boolean isTooLarge() {
        return tooLarge;
    }

    /** The reason. */
    public String reason() {
        return String.valueOf(getMessage());
    }
}
