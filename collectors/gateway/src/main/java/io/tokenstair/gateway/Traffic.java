package io.tokenstair.gateway;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What all event loops of a gateway share: the ids in use, and counts. */
final class Traffic implements RequestIdentity.OpenIds {
    private final Set<String> openIds = ConcurrentHashMap.newKeySet();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong sentAgain = new AtomicLong();
    private final AtomicLong refusedConnections = new AtomicLong();
    private final AtomicLong replacedIds = new AtomicLong();
    private final LongAdder straightPieces = new LongAdder();
    private final LongAdder usualPieces = new LongAdder();
    private final Map<String, AtomicLong> ended = new ConcurrentHashMap<>();
    private volatile boolean stopping;

    @Override
    public boolean take(String id) {
        return openIds.add(id);
    }

    void release(String id) {
        openIds.remove(id);
    }

    void began() {
        requests.incrementAndGet();
        open.incrementAndGet();
    }

    /** A request has ended so: one of the few outcomes that there are. */
    void ended(String outcome) {
        open.decrementAndGet();
        ended.computeIfAbsent(outcome, first -> new AtomicLong()).incrementAndGet();
    }

    /** Requests that have ended so. */
    long endedCount(String outcome) {
        AtomicLong count = ended.get(outcome);
        return count == null ? 0 : count.get();
    }

    /** A piece of an answer went to its client, past the queues or not. */
    void piece(boolean straight) {
        (straight ? straightPieces : usualPieces).increment();
    }

    long pieceCount(boolean straight) {
        return (straight ? straightPieces : usualPieces).sum();
    }

    /** A request's id was not used: hostile, or in use. */
    void idReplaced() {
        replacedIds.incrementAndGet();
    }

    long replacedIdCount() {
        return replacedIds.get();
    }

    /** Counts a connection; false where there are that many already. */
    boolean connect(int most) {
        if (connections.incrementAndGet() > most) {
            connections.decrementAndGet();
            refusedConnections.incrementAndGet();
            return false;
        }
        return true;
    }

    void disconnect() {
        connections.decrementAndGet();
    }

    int connectionCount() {
        return connections.get();
    }

    long refusedConnectionCount() {
        return refusedConnections.get();
    }

    int openCount() {
        return open.get();
    }

    long requestCount() {
        return requests.get();
    }

    /** A request went to the engine once more, for the connection it was on had been closed unanswered. */
    void sentAgain() {
        sentAgain.incrementAndGet();
    }

    long sentAgainCount() {
        return sentAgain.get();
    }

    void stop() {
        stopping = true;
    }

    boolean isStopping() {
        return stopping;
    }
}
