package io.tokenstair.live;

/** What a test skips itself for: this machine cannot run the engine, and why, in one line. */
final class CannotRunException extends Exception {
    private static final long serialVersionUID = 1L;

    CannotRunException(String why) {
        super(why.strip().replaceAll("\\s*\\R\\s*", " | "));
    }
}
