package io.tokenstair.gateway;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.log.CollectorFeed;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Looks into what has passed, on a thread of its own, and tells the log. The threads that copy bytes only append to its queue; it looks
 * there some twenty times a second, so that nobody pays for waking it. Where it cannot follow, or stumbles, requests lose their record, which
 * is counted and told, and nothing else happens.
 */
final class Recorder implements AutoCloseable {
    /** Most bytes that wait to be looked into. */
    static final long MAX_QUEUED_BYTES = 64L << 20;

    private static final long REST_NANOS = 50_000_000L;

    private final CollectorFeed feed;
    private final long maxQueuedBytes;
    private final Queue<Seen> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong queuedBytes = new AtomicLong();
    private final AtomicLong brokenCount = new AtomicLong();
    private final AtomicLong chunkCount = new AtomicLong();
    private final AtomicLong tokenCount = new AtomicLong();
    private final Map<ExchangeRecord, Boolean> open = new IdentityHashMap<>();
    private final Thread thread = new Thread(this::run, "tokenstair-gateway-recorder");
    private final String clockId = HostClocks.elapsedId();
    private volatile boolean closing;

    /** Something that passed. One object for each, from the event loop to here. */
    abstract static class Seen {
        final Exchange.Observation of;
        /** Bytes that it holds on to, for as long as it waits. */
        final int bytes;

        Seen(Exchange.Observation of, int bytes) {
            this.of = of;
            this.bytes = bytes;
        }

        /** Tells it to the record of its request. */
        abstract void into(ExchangeRecord record);
    }

    /** How something that holds no bytes is looked into. */
    interface Look {
        /** Tells it to the record of its request. */
        void into(ExchangeRecord record);
    }

    private static final class Mark extends Seen {
        private final Look look;

        private Mark(Exchange.Observation of, Look look) {
            super(of, 0);
            this.look = look;
        }

        @Override
        void into(ExchangeRecord record) {
            look.into(record);
        }
    }

    Recorder(CollectorFeed feed, long maxQueuedBytes) {
        this.feed = feed;
        this.maxQueuedBytes = maxQueuedBytes;
        thread.setDaemon(true);
        thread.start();
    }

    /** The record of a request that begins. */
    ExchangeRecord record(ExchangeRecord.Start start) {
        return new ExchangeRecord(start, this::offer);
    }

    private void offer(long nanos, Event event) {
        if (event instanceof ChunkDelivered delivered) {
            chunkCount.addAndGet(delivered.chunks().size());
            long tokens = 0;
            for (Chunk chunk : delivered.chunks()) {
                tokens += chunk.tokenCount();
            }
            tokenCount.addAndGet(tokens);
        }
        feed.offer(clockId, nanos, event);
    }

    /** Appends bytes that passed; where too many wait already, the request's record ends here. */
    void bytes(Seen seen) {
        if (queuedBytes.get() + seen.bytes > maxQueuedBytes) {
            seen.of.lost = true;
            return;
        }
        queuedBytes.addAndGet(seen.bytes);
        queue.add(seen);
    }

    /** Appends what must not be missing: a few of these a request. */
    void mark(Exchange.Observation of, Look look) {
        queue.add(new Mark(of, look));
    }

    /** Chunks that were told so far: of several sequences in one event of a stream, one each. */
    long chunkCount() {
        return chunkCount.get();
    }

    /** Tokens in them. */
    long tokenCount() {
        return tokenCount.get();
    }

    /** Bytes that wait to be looked into. */
    long queuedBytes() {
        return queuedBytes.get();
    }

    /** Events that were lost on the way to the log. */
    long lostCount() {
        return feed.lostCount();
    }

    /** Requests whose record broke off. */
    long brokenCount() {
        return brokenCount.get();
    }

    private void run() {
        long lookedNanos = ElapsedClock.system().elapsedNanos();
        while (true) {
            boolean last = closing;
            lookIntoAll();
            long now = ElapsedClock.system().elapsedNanos();
            if (now - lookedNanos >= REST_NANOS) {
                lookedNanos = now;
                open.keySet().forEach(record -> record.flushWhereOld(now));
            }
            if (last) {
                return;
            }
            LockSupport.parkNanos(this, REST_NANOS);
        }
    }

    /** A method of its own: a loop that never returns stays with the interpreter for long. */
    private void lookIntoAll() {
        Seen seen = queue.poll();
        while (seen != null) {
            queuedBytes.addAndGet(-seen.bytes);
            look(seen);
            seen = queue.poll();
        }
    }

    private void look(Seen seen) {
        Exchange.Observation of = seen.of;
        ExchangeRecord record = of.record;
        if (!of.open) {
            of.open = true;
            open.put(record, Boolean.TRUE);
        }
        try {
            if (of.lost && !of.told) {
                of.told = true;
                brokenCount.incrementAndGet();
                record.breakOff("more passed than could be looked into");
            }
            seen.into(record);
        } catch (RuntimeException | StackOverflowError stumbled) {
            if (!of.told) {
                of.told = true;
                brokenCount.incrementAndGet();
            }
            try {
                record.breakOff("the record failed: " + stumbled.getClass().getSimpleName());
            } catch (RuntimeException again) {
                // It is counted already.
                of.lost = true;
            }
        }
        if (of.ended) {
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
