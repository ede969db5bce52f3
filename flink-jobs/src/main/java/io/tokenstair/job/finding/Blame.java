package io.tokenstair.job.finding;

import io.tokenstair.cause.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Who a milestone says did it.
 *
 * @param culprit the other request, process or rank; null when none is known
 * @param deviceId the device; null when none is known
 */
public record Blame(@Nullable String culprit, @Nullable String deviceId) {
    /** The culprit of a cause: some causes name a device. */
    public static Blame of(Cause cause, @Nullable String culprit) {
        return switch (cause) {
            case THERMAL_CLOCK, ALLOC_STALL, DRIVER_ERROR, KERNEL_SLOW -> new Blame(null, culprit);
            default -> new Blame(culprit, null);
        };
    }
}
