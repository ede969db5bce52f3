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

        /** For Flink's serializer. */
        public Transfer() {}
    }

    public List<Transfer> transfers = new ArrayList<>();

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
                transfers.remove(i);
                break;
            }
        }
        if (transfers.size() == KEPT) {
            transfers.remove(0);
        }
        transfers.add(transfer);
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
            long added = covered.add(start, end);
            wait = wait == null ? new TransferWait() : wait;
            wait.add(transfer.remote ? added : 0, transfer.remote ? 0 : added, transfer.eventId, transfer.peer);
        }
        return wait;
    }

    /** Forgets the loads of a request that has ended. */
    public void forget(String engineRequestId) {
        if (!transfers.isEmpty()) {
            transfers.removeIf(transfer -> transfer.engineRequestId.equals(engineRequestId));
        }
    }
}
