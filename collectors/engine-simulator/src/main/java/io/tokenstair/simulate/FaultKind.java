package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What can be made to go wrong, and the cause that a token is slow by when it does. */
enum FaultKind {
    /** Attention kernels take longer by a factor. */
    KERNEL_SLOW(Cause.KERNEL_SLOW),
    /** From an instant on attention takes longer by a share, because part of the KV lies in a slower tier. Several make a staircase. */
    TIER_STAIR(Cause.KERNEL_SLOW),
    /** All kernels take longer by a factor while the device's clock is slower by it. */
    THERMAL(Cause.THERMAL_CLOCK),
    /** No graph is used while it lasts. */
    EAGER(Cause.KERNEL_FALLBACK),
    /** A kernel is compiled for a shape. */
    JIT(Cause.JIT_COMPILE),
    /** The allocator empties its pool and waits for the device. */
    ALLOC(Cause.ALLOC_STALL),
    /** A call waits for a stream. */
    SYNC(Cause.STREAM_SYNC),
    /** A wait ends with an error of the driver. */
    DRIVER_ERROR(Cause.DRIVER_ERROR),
    /** Another rank comes late to a collective operation. */
    COLLECTIVE(Cause.COLLECTIVE_WAIT),
    /** The engine's process stands still while a step is scheduled. */
    HOST_PAUSE(Cause.HOST_PAUSE),
    /** The engine's threads wait for a core in every step. */
    HOST_CONTENTION(Cause.HOST_CONTENTION),
    /** The engine has no step in flight. */
    HOST_GAP(Cause.HOST_GAP),
    /** The device is silent for a while and nothing records why. */
    UNRECORDED(Cause.UNRESOLVED_STALL),
    /** KV from another node comes slower by a factor. */
    REMOTE_KV(Cause.REMOTE_KV_ADMISSION),
    /** Blocks of the slower tier come slower by a factor. */
    OFFLOAD(Cause.KV_OFFLOAD),
    /** The engine's front end sends nothing. */
    OUTPUT_STALL(Cause.OUTPUT_STALL),
    /** The gateway holds chunks and writes them in groups. */
    GATEWAY_BUFFERING(Cause.GATEWAY_BUFFERING),
    /** What the gateway writes stays on the way. */
    NETWORK(Cause.NETWORK),
    /** A client does not read; the gateway's write blocks. */
    CLIENT_SLOW(Cause.CLIENT_SLOW),
    /** A client goes away in the middle of its answer. */
    CLIENT_ABORT(Cause.CLIENT_ABORT),
    /** A host's clock jumps. */
    CLOCK_STEP(null),
    /** A host's clock runs fast. */
    CLOCK_DRIFT(null),
    /** Nobody compares a host's clock with another one. */
    CLOCK_PATH(null),
    /** Records are lost on the way to the log. */
    LOSS(null),
    /** Records come twice. */
    DUPLICATES(null),
    /** Records come in another order. */
    REORDERING(null),
    /** Reading the model's shards takes longer. */
    SLOW_LOAD(Cause.MODEL_LOAD_SLOW);

    private final @Nullable Cause cause;

    FaultKind(@Nullable Cause cause) {
        this.cause = cause;
    }

    /** The cause that it makes a token slow by; null where it only makes evidence worse. */
    @Nullable
    Cause cause() {
        return cause;
    }

    /** The name in truth/faults.jsonl. */
    String faultName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** True for faults that end when their effect does; false for those that last. */
    boolean strikesOnce() {
        return switch (this) {
            case JIT, ALLOC, SYNC, DRIVER_ERROR, COLLECTIVE, HOST_PAUSE, HOST_GAP, UNRECORDED -> true;
            default -> false;
        };
    }
}
