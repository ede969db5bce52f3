package io.tokenstair.event.wire;

import org.jspecify.annotations.Nullable;

/** Bytes that are no event this version understands. The message says what is wrong with them. */
public final class WireException extends Exception {
    private static final long serialVersionUID = 1L;

    WireException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
