package io.tokenstair.gateway;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.log.CollectorFeed;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Looks into what has passed, on a thread of its own, and tells the log. The threads that copy bytes only append to its queue; it looks
 * there some fifty times a second, so that nobody pays for waking it. Where it cannot follow, or stumbles, requests lose their record, which
 * is counted and told, and nothing else happens.
 */
final class Recorder implements AutoCloseable {
    /** Most bytes that wait to be looked into. */
    static final long MAX_QUEUED_BYTES = 64L << 20;

    private static final long REST_NANOS = 20_000_000L;

    private final CollectorFeed feed;
    private final long maxQueuedBytes;
    private final Queue<Seen> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong queuedBytes = new AtomicLong();
    private final AtomicLong brokenCount = new AtomicLong();
    private final Map<ExchangeRecord, Boolean> open = new IdentityHashMap<>();
    private final Thread thread = new Thread(this::run, "tokenstair-gateway-recorder");
    private final String clockId = HostClocks.elapsedId();
    private volatile boolean closing;

    /** Something that passed. */
    private record Seen(Exchange.Observation of, int bytes, Look look) {}

    /** How it is looked into. */
    interface Look {
        /** Tells it to the record of its request. */
        void into(ExchangeRecord record);
    }

    Recorder(CollectorFeed feed, long maxQueuedBytes) {
        this.feed = feed;
        this.maxQueuedBytes = maxQueuedBytes;
        thread.setDaemon(true);
        thread.start();
    }

    /** The record of a request that begins. */
    ExchangeRecord record(ExchangeRecord.Start start) {
        return new ExchangeRecord(start, (nanos, event) -> feed.offer(clockId, nanos, event));
    }

    /** Appends bytes that passed; where too many wait already, the request's record ends here. */
    void bytes(Exchange.Observation of, int bytes, Look look) {
        if (queuedBytes.get() + bytes > maxQueuedBytes) {
            of.lost = true;
            return;
        }
        queuedBytes.addAndGet(bytes);
        queue.add(new Seen(of, bytes, look));
    }

    /** Appends what must not be missing: a few of these a request. */
    void mark(Exchange.Observation of, Look look) {
        queue.add(new Seen(of, 0, look));
    }

    /** Requests whose record broke off. */
    long brokenCount() {
        return brokenCount.get();
    }

    private void run() {
        long lookedNanos = ElapsedClock.system().elapsedNanos();
        while (true) {
            boolean last = closing;
            Seen seen = queue.poll();
            while (seen != null) {
                queuedBytes.addAndGet(-seen.bytes());
                look(seen);
                seen = queue.poll();
            }
            long now = ElapsedClock.system().elapsedNanos();
            if (now - lookedNanos > 20_000_000L) {
                lookedNanos = now;
                open.keySet().forEach(record -> record.flushWhereOld(now));
            }
            if (last) {
                return;
            }
            LockSupport.parkNanos(this, REST_NANOS);
        }
    }

    private void look(Seen seen) {
        ExchangeRecord record = seen.of().record;
        open.put(record, Boolean.TRUE);
        try {
            if (seen.of().lost && !seen.of().told) {
                seen.of().told = true;
                brokenCount.incrementAndGet();
                record.breakOff("more passed than could be looked into");
            }
            seen.look().into(record);
        } catch (RuntimeException | StackOverflowError stumbled) {
            if (!seen.of().told) {
                seen.of().told = true;
                brokenCount.incrementAndGet();
            }
            try {
                record.breakOff("the record failed: " + stumbled.getClass().getSimpleName());
            } catch (RuntimeException again) {
                // It is counted already.
                seen.of().lost = true;
            }
        }
        if (seen.of().ended) {
            open.remove(record);
        }
    }

    /** Looks into what is left, then ends. */
    @Override
    public void close() {
        closing = true;
        LockSupport.unpark(thread);
        try {
            thread.join(10_000);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
