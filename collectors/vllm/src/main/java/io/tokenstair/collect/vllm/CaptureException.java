package io.tokenstair.collect.vllm;

/** An import that cannot go on. The message is the one line for the user: place, problem, what to do. */
final class CaptureException extends Exception {
    private static final long serialVersionUID = 1L;

    CaptureException(String message) {
        super(message);
    }
}
