package io.tokenstair.job.source;

import java.io.IOException;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/** The input cannot be read and trying again will not help: the job fails at once and is not restarted. */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class UnusableInputException extends IOException {
    private static final long serialVersionUID = 1L;

    UnusableInputException(String message) {
        super(message);
    }
}
