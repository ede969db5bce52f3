package io.tokenstair.collect.importer;

/** An import that cannot go on. The message is the one line for the user: place, problem, what to do. */
public final class ImportException extends Exception {
    private static final long serialVersionUID = 1L;

    /** With the line for the user. */
    public ImportException(String message) {
        super(message);
    }
}
