package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The way of one stream's tokens from the end of their step to the client: the engine's front end, a network, a gateway, a network.
 * Chunks of a stream never overtake each other. The same function tells the way without one of the faults.
 */
final class DeliveryPath {
    private static final long FRONT_END_NANOS = 250_000;
    private static final long FRONT_END_ROW_NANOS = 12_000;
    private static final double NETWORK_JITTER_NANOS = 20_000;
    private static final long GATEWAY_NANOS = 30_000;
    private static final long WRITE_NANOS = 9_000;
    private static final double CLIENT_JITTER_NANOS = 40_000;
    private static final int GROUP_CHUNKS = 16;
    private static final long LOSS_SPAN_NANOS = 400_000_000L;

    private static final List<FaultKind> KINDS =
            List.of(FaultKind.OUTPUT_STALL, FaultKind.GATEWAY_BUFFERING, FaultKind.NETWORK, FaultKind.CLIENT_SLOW);

    private final Settings settings;
    private final RandomStream stream;

    /** One chunk on its way, in true time. */
    record Hop(long leftNanos, long gatewayNanos, long writeStartNanos, long writeEndNanos, long clientNanos) {}

    /**
     * The way of a stream.
     *
     * @param stream the random numbers of this stream
     */
    DeliveryPath(Settings settings, RandomStream stream) {
        this.settings = settings;
        this.stream = stream;
    }

    /** The way of each chunk. */
    List<Hop> hops(long[] madeNanos, int[] row) {
        return hops(madeNanos, row, settings.faults);
    }

    /** How much later each chunk arrived by each cause. */
    List<Map<Cause, Long>> lateNanos(long[] madeNanos, int[] row) {
        List<Hop> all = hops(madeNanos, row);
        List<Map<Cause, Long>> late = new ArrayList<>();
        for (int i = 0; i < madeNanos.length; i++) {
            late.add(new EnumMap<>(Cause.class));
        }
        for (FaultKind kind : KINDS) {
            Cause cause = kind.cause();
            if (cause == null || settings.faults.stream().noneMatch(fault -> fault.kind() == kind)) {
                continue;
            }
            List<Fault> others = settings.faults.stream()
                    .filter(fault -> fault.kind() != kind)
                    .toList();
            List<Hop> without = hops(madeNanos, row, others);
            for (int i = 0; i < madeNanos.length; i++) {
                long nanos = all.get(i).clientNanos() - without.get(i).clientNanos();
                if (nanos != 0) {
                    late.get(i).put(cause, nanos);
                }
            }
        }
        return late;
    }

    private List<Hop> hops(long[] madeNanos, int[] row, List<Fault> faults) {
        int count = madeNanos.length;
        long[] left = new long[count];
        long[] gateway = new long[count];
        for (int i = 0; i < count; i++) {
            long ready = madeNanos[i] + FRONT_END_NANOS + FRONT_END_ROW_NANOS * row[i];
            for (Fault fault : faults) {
                if (fault.kind() == FaultKind.OUTPUT_STALL && fault.activeAt(ready)) {
                    ready = fault.toNanos() + FRONT_END_ROW_NANOS * row[i];
                }
            }
            left[i] = after(left, i, ready);
            gateway[i] = after(
                    gateway,
                    i,
                    left[i] + settings.networkNanos + (long) stream.exponential(4L * i, NETWORK_JITTER_NANOS));
        }
        long[] released = released(gateway, faults);
        List<Hop> hops = new ArrayList<>(count);
        long writeEnd = Long.MIN_VALUE;
        long client = Long.MIN_VALUE;
        for (int i = 0; i < count; i++) {
            long writeStart = released[i] + GATEWAY_NANOS;
            writeEnd = Math.max(writeEnd, taken(writeStart, faults));
            client = Math.max(
                    client + 1,
                    writeEnd
                            + settings.clientNetworkNanos
                            + (long) stream.exponential(4L * i + 1, CLIENT_JITTER_NANOS)
                            + onItsWay(writeEnd, faults));
            hops.add(new Hop(left[i], gateway[i], writeStart, writeEnd, client));
        }
        return hops;
    }

    private static long after(long[] before, int i, long nanos) {
        return i == 0 ? nanos : Math.max(before[i - 1] + 1, nanos);
    }

    /** A gateway that buffers writes a group when it is full, when its first chunk has been held for long, and at the end. */
    private static long[] released(long[] gateway, List<Fault> faults) {
        long[] released = gateway.clone();
        int i = 0;
        while (i < gateway.length) {
            Fault buffering = null;
            for (Fault fault : faults) {
                if (fault.kind() == FaultKind.GATEWAY_BUFFERING && fault.activeAt(gateway[i])) {
                    buffering = fault;
                }
            }
            if (buffering == null) {
                i++;
                continue;
            }
            int end = i + 1;
            while (end < gateway.length
                    && end - i < GROUP_CHUNKS
                    && gateway[end] - gateway[i] <= buffering.sizeNanos()) {
                end++;
            }
            boolean full = end - i == GROUP_CHUNKS || end == gateway.length;
            long release = full ? gateway[end - 1] : gateway[i] + buffering.sizeNanos();
            for (int held = i; held < end; held++) {
                released[held] = release;
            }
            i = end;
        }
        return released;
    }

    /** When the socket has taken a write: a client that does not read takes what has come every so often. */
    private long taken(long writeStart, List<Fault> faults) {
        for (Fault fault : faults) {
            if (fault.kind() == FaultKind.CLIENT_SLOW
                    && fault.activeAt(writeStart)
                    && stream.chance(-1, fault.factor())) {
                long since = writeStart - fault.fromNanos();
                long until = fault.fromNanos() + (since / fault.sizeNanos() + 1) * fault.sizeNanos();
                return Math.max(writeStart + WRITE_NANOS, Math.min(until, fault.toNanos()));
            }
        }
        return writeStart + WRITE_NANOS;
    }

    /** What a lossy network adds: whoever is hit waits until what was lost has been sent again. */
    private long onItsWay(long writeEnd, List<Fault> faults) {
        for (Fault fault : faults) {
            if (fault.kind() == FaultKind.NETWORK && fault.activeAt(writeEnd)) {
                long span = (writeEnd - fault.fromNanos()) / LOSS_SPAN_NANOS;
                if (stream.chance(-2 - span, fault.factor())) {
                    long spanStart = fault.fromNanos() + span * LOSS_SPAN_NANOS;
                    return Math.max(0, spanStart + fault.sizeNanos() - writeEnd);
                }
            }
        }
        return 0;
    }
}
