package io.tokenstair.collector;

/** A collector cannot start, or its configuration cannot be used. The message says what, where, and what to do. */
final class CollectorException extends Exception {
    private static final long serialVersionUID = 1L;

    CollectorException(String message) {
        super(message);
    }

    CollectorException(String message, Throwable cause) {
        super(message, cause);
    }
}
