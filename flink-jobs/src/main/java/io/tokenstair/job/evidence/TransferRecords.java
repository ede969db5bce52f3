package io.tokenstair.job.evidence;

import io.tokenstair.event.KvTransferred;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Loads of KV blocks that requests wait for. Bounded by {@value #KEPT}: beyond it the oldest is dropped. */
public class TransferRecords {
    /** Most loads that are kept. */
    public static final int KEPT = 4_096;

    /** One load. */
    public static class Transfer {
        public String engineRequestId = "";
        public boolean remote;
        public String clockId = "";
        public long startNanos;
        public long endNanos;
        public String eventId = "";
        public @Nullable String peer;
        /** Whether a step has been seen that it could have missed. */
        public boolean settled;
        /** Where the step ended that was scheduled before the load was there, by the engine's clock; {@link Long#MIN_VALUE}: none was. */
        public long missedUntilNanos = Long.MIN_VALUE;

        /** For Flink's serializer. */
        public Transfer() {}
    }

    public List<Transfer> transfers = new ArrayList<>();

    /** How many of them are not settled. */
    public int openCount;

    /** For Flink's serializer. */
    public TransferRecords() {}

    /**
     * Takes a transfer: a load of one request. A later report of a load that was under way takes its place; until then it is known to
     * last to the stamp of the report.
     */
    void accept(KvTransferred transferred, String clockId, @Nullable Long reportedNanos, String eventId) {
        Long end = transferred.endNanos() != null ? transferred.endNanos() : reportedNanos;
        if (!transferred.direction().equals("load") || transferred.engineRequestId() == null || end == null) {
            return;
        }
        Transfer transfer = new Transfer();
        transfer.engineRequestId = transferred.engineRequestId();
        transfer.remote = !transferred.transferKind().equals("offload");
        transfer.clockId = clockId;
        transfer.startNanos = transferred.startNanos();
        transfer.endNanos = end;
        transfer.eventId = eventId;
        transfer.peer = transferred.peer();
        for (int i = 0; i < transfers.size(); i++) {
            Transfer earlier = transfers.get(i);
            if (earlier.startNanos == transfer.startNanos
                    && earlier.remote == transfer.remote
                    && earlier.engineRequestId.equals(transfer.engineRequestId)
                    && earlier.clockId.equals(clockId)) {
                remove(i);
                break;
            }
        }
        if (transfers.size() == KEPT) {
            remove(0);
        }
        transfers.add(transfer);
        openCount++;
    }

    private void remove(int i) {
        openCount -= transfers.remove(i).settled ? 0 : 1;
    }

    /** A step was scheduled and has run: whose load ended in between had missed it, and waited for its end too. */
    void stepped(long scheduledNanos, long endNanos, ClockShift.Ways ways) {
        if (openCount == 0) {
            return;
        }
        for (Transfer transfer : transfers) {
            ClockShift shift = transfer.settled ? null : ways.toEngine(transfer.clockId, endNanos);
            if (shift == null || transfer.endNanos + shift.addNanos() > endNanos) {
                continue;
            }
            transfer.settled = true;
            openCount--;
            if (transfer.endNanos + shift.addNanos() > scheduledNanos) {
                transfer.missedUntilNanos = endNanos;
            }
        }
    }

    /** Whether a load of a request was under way at a reading of the engine's clock. */
    boolean isUnderWay(String engineRequestId, long atNanos, ClockShift.Ways ways) {
        for (Transfer transfer : transfers) {
            if (transfer.engineRequestId.equals(engineRequestId)) {
                ClockShift shift = ways.toEngine(transfer.clockId, atNanos);
                if (shift != null
                        && transfer.startNanos + shift.addNanos() <= atNanos
                        && atNanos < transfer.endNanos + shift.addNanos()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** What loads of a request cover of its wait {@code [from, to)}; null when they cover nothing of it. */
    public @Nullable TransferWait during(String engineRequestId, long from, long to, ClockShift.Ways ways) {
        TransferWait wait = null;
        IntervalSet covered = new IntervalSet();
        for (Transfer transfer : transfers) {
            if (!transfer.engineRequestId.equals(engineRequestId)) {
                continue;
            }
            ClockShift shift = ways.toEngine(transfer.clockId, to);
            if (shift == null) {
                continue;
            }
            long start = Math.max(from, transfer.startNanos + shift.addNanos());
            long end = Math.min(to, transfer.endNanos + shift.addNanos());
            if (end - start <= shift.boundNanos()) {
                continue;
            }
            long added = covered.add(start, Math.max(end, Math.min(to, transfer.missedUntilNanos)));
            wait = wait == null ? new TransferWait() : wait;
            wait.add(transfer.remote ? added : 0, transfer.remote ? 0 : added, transfer.eventId, transfer.peer);
        }
        return wait;
    }

    /** Forgets the loads of a request that has ended. */
    public void forget(String engineRequestId) {
        if (!transfers.isEmpty()) {
            for (int i = transfers.size() - 1; i >= 0; i--) {
                if (transfers.get(i).engineRequestId.equals(engineRequestId)) {
                    remove(i);
                }
            }
        }
    }
}
