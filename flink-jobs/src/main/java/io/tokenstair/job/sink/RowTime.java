package io.tokenstair.job.sink;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The event time that files a result row under its hour.
 *
 * @param <R> the rows
 */
@FunctionalInterface
public interface RowTime<R> extends Serializable {
    /** Event time of the row in epoch milliseconds; null for a row without. */
    @Nullable
    Long epochMillis(R row);
}
