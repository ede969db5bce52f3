package io.tokenstair.collect.live;

import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.Rejected;
import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.foreign.KvPayload;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The KV event messages of one publisher, that is of one rank, in the order of their numbers. A number that is missing is asked for
 * again; what the publisher no longer has is lost, and said so. The first number seen is no loss when nothing before it can be had: a
 * collector that starts later was not told. Evicted blocks wait, at most {@link #MAX_WAIT_NANOS}, for the probe's step that says what
 * they made room for.
 */
public final class KvMessages {
    /** How long a message waits for the probe. */
    public static final long MAX_WAIT_NANOS = 2_000_000_000L;

    private static final byte[] END_OF_REPLAY = {-1, -1, -1, -1, -1, -1, -1, -1};
    private static final int MAX_AHEAD = 16_384;
    private static final int MAX_WAITING = 16_384;

    private final String endpoint;
    private final String engineName;
    private final String collectorId;
    private final String clockId;
    private final EventOut out;
    private final Reasons reasons;

    // Messages that came ahead of one that is missing.
    private final TreeMap<Long, Received> ahead = new TreeMap<>();
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private long next = -1;
    private long lastEpochNanos;
    private long askedFrom = -1;
    private boolean replaying;
    private boolean replayedOnce;
    private long messageCount;
    private long lostCount;
    private long rejectedCount;

    /** What the probe knows of the evicted blocks of a rank. */
    public interface Reasons {
        /** Absent where no probe of that rank has been heard. */
        @Nullable
        KvEvictionReasons of(int rank);
    }

    private record Received(long clockNanos, byte[] payload) {}

    private record Waiting(long sequence, long clockNanos, KvPayload payload) {}

    /**
     * The messages of one publisher.
     *
     * @param endpoint what losses and rejects are said to be of
     * @param engineName name of its engine; ranks above 0 get their number behind it
     * @param collectorId who records
     * @param clockId the clock of arrivals
     * @param out takes the events
     * @param reasons what else is known of evictions
     */
    public KvMessages(
            String endpoint, String engineName, String collectorId, String clockId, EventOut out, Reasons reasons) {
        this.endpoint = endpoint;
        this.engineName = engineName;
        this.collectorId = collectorId;
        this.clockId = clockId;
        this.out = out;
        this.reasons = reasons;
    }

    /** Takes a published message: topic, sequence, payload. */
    public void published(List<byte[]> frames, long nowNanos) {
        if (frames.size() != 3) {
            reject(nowNanos, frames.size() + " frames, a message has 3: topic, sequence, payload");
            return;
        }
        take(frames.get(1), frames.get(2), nowNanos, false);
    }

    /**
     * Takes a message of the replay socket: an empty delimiter, the topic (publishers since 2026-07), sequence, payload. Returns true at
     * the end of the replay.
     */
    public boolean replayed(List<byte[]> frames, long nowNanos) {
        int last = frames.size() - 1;
        if (frames.size() < 2) {
            reject(nowNanos, "a replayed message of " + frames.size() + " frames");
            return false;
        }
        if (Arrays.equals(frames.get(last - 1), END_OF_REPLAY)) {
            replayEnded(nowNanos);
            return true;
        }
        take(frames.get(last - 1), frames.get(last), nowNanos, true);
        return false;
    }

    private void take(byte[] number, byte[] payload, long nowNanos, boolean replay) {
        if (number.length != Long.BYTES || number[0] < 0) {
            reject(nowNanos, "the sequence is not 8 bytes, at most 2^63 - 1");
            return;
        }
        long sequence = ByteBuffer.wrap(number).getLong();
        if (next < 0 && replay) {
            next = sequence;
        }
        if (next >= 0 && sequence < next) {
            if (replay || !isLater(payload)) {
                return;
            }
            // Published later than all before, under a number that was given before: the engine was started anew.
            ahead.clear();
            next = -1;
            replaying = false;
            replayedOnce = false;
        }
        Received received = new Received(nowNanos, payload);
        if (ahead.size() < MAX_AHEAD) {
            ahead.putIfAbsent(sequence, received);
        } else {
            giveUp(nowNanos);
            ahead.put(sequence, received);
        }
        drain();
    }

    private boolean isLater(byte[] payload) {
        try {
            return KvPayload.parse(payload).epochNanos() > lastEpochNanos;
        } catch (ForeignFormatException unreadable) {
            return false;
        }
    }

    private void drain() {
        while (!ahead.isEmpty() && ahead.firstKey() == next) {
            Map.Entry<Long, Received> first = ahead.pollFirstEntry();
            next = first.getKey() + 1;
            accept(first.getKey(), first.getValue());
        }
        // What has been passed by a replay that began earlier.
        while (!ahead.isEmpty() && ahead.firstKey() < next) {
            ahead.pollFirstEntry();
        }
    }

    /** The number to ask the publisher for again; -1 where nothing is missing, or it has been asked already. */
    public long wanted(boolean canReplay, long nowNanos) {
        if (ahead.isEmpty() || replaying) {
            return -1;
        }
        if (!canReplay) {
            giveUp(nowNanos);
            return -1;
        }
        replaying = true;
        askedFrom = next;
        return Math.max(0, next);
    }

    /**
     * The publisher has answered, or not in time: what is missing is lost. Where it answered, and what is missing came after that, it is
     * asked for again.
     */
    public void replayEnded(long nowNanos) {
        replaying = false;
        replayedOnce = true;
        if (next == askedFrom) {
            giveUp(nowNanos);
        }
    }

    /** Whether a replay is under way. */
    public boolean isReplaying() {
        return replaying;
    }

    private void giveUp(long nowNanos) {
        if (ahead.isEmpty()) {
            return;
        }
        long first = ahead.firstKey();
        if (next >= 0 && first > next) {
            lostCount += first - next;
            out.accept(collectorId, clockId, nowNanos, new CollectorGap(endpoint, next, first - 1));
        } else if (next < 0 && replayedOnce && first > 1) {
            // Asked from 0 on, the publisher had nothing before this one any more.
            lostCount += first;
            out.accept(collectorId, clockId, nowNanos, new CollectorGap(endpoint, 0, first - 1));
        }
        next = first;
        drain();
    }

    private void accept(long sequence, Received received) {
        messageCount++;
        KvPayload payload;
        try {
            payload = KvPayload.parse(received.payload());
        } catch (ForeignFormatException unreadable) {
            reject(received.clockNanos(), "message " + sequence + ": " + unreadable.reason());
            return;
        }
        lastEpochNanos = payload.epochNanos();
        waiting.add(new Waiting(sequence, received.clockNanos(), payload));
        while (waiting.size() > MAX_WAITING) {
            tell(waiting.remove());
        }
    }

    /** Makes events of the messages that have waited long enough. */
    public void settle(long nowNanos) {
        while (!waiting.isEmpty()) {
            Waiting first = waiting.peek();
            KvEvictionReasons known = reasons.of(first.payload().engineRank());
            boolean evicts = first.payload().events().stream().anyMatch(event -> event.tag() == KvPayload.Tag.REMOVED);
            if (evicts
                    && known != null
                    && !known.isKnown(first.sequence())
                    && nowNanos - first.clockNanos() < MAX_WAIT_NANOS) {
                return;
            }
            tell(waiting.remove());
        }
    }

    private void tell(Waiting message) {
        int rank = message.payload().engineRank();
        events(EngineName.ofRank(engineName, rank), message.sequence(), message.payload(), reasons.of(rank))
                .forEach(event -> out.accept(collectorId, clockId, message.clockNanos(), event));
    }

    /**
     * The events of a batch, in order.
     *
     * @param engineId whose batch it is
     * @param sequence its number among the batches of its engine
     * @param payload what it says
     * @param reasons what else is known of its evictions, which is used up; absent where nothing is
     */
    public static List<Event> events(
            String engineId, long sequence, KvPayload payload, @Nullable KvEvictionReasons reasons) {
        List<Event> told = new ArrayList<>(payload.events().size());
        for (int index = 0; index < payload.events().size(); index++) {
            KvPayload.KvEvent event = payload.events().get(index);
            told.add(
                    event.tag() == KvPayload.Tag.STORED
                            ? payload.event(engineId, sequence, index)
                            : evicted(engineId, sequence, payload, index, event, reasons));
        }
        return told;
    }

    /** An eviction, with what the probe knows of its blocks where it knows all of them. */
    private static KvBlocksEvicted evicted(
            String engineId,
            long sequence,
            KvPayload payload,
            int index,
            KvPayload.KvEvent event,
            @Nullable KvEvictionReasons reasons) {
        List<KvEvictionReasons.Known> known = new ArrayList<>();
        for (long hash : event.hashes()) {
            KvEvictionReasons.Known of = reasons == null ? null : reasons.take(hash);
            if (of != null) {
                known.add(of);
            }
        }
        boolean whole = !known.isEmpty() && known.size() == event.hashes().size();
        List<Long> reuseCount = new ArrayList<>();
        List<Long> idleNanos = new ArrayList<>();
        String reason = whole ? known.get(0).reason() : null;
        String wantedBy = whole ? known.get(0).wantedBy() : null;
        if (whole) {
            for (KvEvictionReasons.Known of : known) {
                reuseCount.add(of.reuseCount());
                idleNanos.add(of.idleNanos() == null ? -1L : of.idleNanos());
                reason = Objects.equals(reason, of.reason()) ? reason : null;
                wantedBy = Objects.equals(wantedBy, of.wantedBy()) ? wantedBy : null;
            }
        }
        return new KvBlocksEvicted(
                engineId,
                payload.engineRank(),
                sequence,
                payload.epochNanos(),
                index,
                event.medium(),
                event.hashes(),
                event.tag() == KvPayload.Tag.CLEARED,
                reason,
                wantedBy,
                reuseCount,
                idleNanos);
    }

    private void reject(long nowNanos, String reason) {
        rejectedCount++;
        out.accept(collectorId, clockId, nowNanos, new Rejected(endpoint, null, null, reason, null));
    }

    /** Messages read, lost and rejected so far. */
    public long[] counts() {
        return new long[] {messageCount, lostCount, rejectedCount};
    }
}
