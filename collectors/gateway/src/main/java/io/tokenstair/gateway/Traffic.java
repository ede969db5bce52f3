package io.tokenstair.gateway;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What all event loops of a gateway share: the ids in use, and counts. */
final class Traffic implements RequestIdentity.OpenIds {
    private final Set<String> openIds = ConcurrentHashMap.newKeySet();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong sentAgain = new AtomicLong();
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

    void ended() {
        open.decrementAndGet();
    }

    /** Counts a connection; false where there are that many already. */
    boolean connect(int most) {
        if (connections.incrementAndGet() > most) {
            connections.decrementAndGet();
            return false;
        }
        return true;
    }

    void disconnect() {
        connections.decrementAndGet();
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
