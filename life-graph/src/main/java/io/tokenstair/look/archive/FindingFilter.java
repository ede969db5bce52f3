package io.tokenstair.look.archive;

import io.tokenstair.cause.Severity;
import org.jspecify.annotations.Nullable;

/**
 * Which findings are asked for. An absent component does not restrict.
 *
 * @param request a request id or an alias
 * @param atLeast the least severity
 * @param sinceEpochNanos findings that lasted until then or later; findings without a time are left out
 */
public record FindingFilter(
        @Nullable String request,
        @Nullable Severity atLeast,
        @Nullable Long sinceEpochNanos) {

    /** Every finding. */
    public static final FindingFilter ALL = new FindingFilter(null, null, null);
}
