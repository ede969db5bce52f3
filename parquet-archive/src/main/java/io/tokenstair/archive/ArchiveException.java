package io.tokenstair.archive;

import org.jspecify.annotations.Nullable;

/** A file or folder that is no usable part of an archive. The message names it, says what is wrong and what to do. */
public final class ArchiveException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ArchiveException(String message) {
        super(message);
    }

    ArchiveException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
