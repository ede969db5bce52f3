package io.tokenstair.log;

import io.tokenstair.clock.ClockSampler;
import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.EpochClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.wire.EventCodec;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The way from live collectors to the log. Offering an event never waits: a bounded queue, one writer thread. What cannot be kept
 * (queue full, disk full, broker away) is counted exactly, per collector, and told as {@link CollectorGap} events and a
 * {@value #LOST_METRIC} metric once the log is back: offered = kept + lost, and what is still on its way.
 */
public final class LogOutlet implements Closeable {
    /** Name of the metric that says how many events of a collector were lost so far. */
    public static final String LOST_METRIC = "tokenstair_collector_lost_events_total";

    private static final int BATCH_RECORDS = 1_024;
    private static final int GAPS_AT_ONCE = 64;
    private static final long BEAT_NANOS = 1_000_000_000L;

    private final String address;
    private final Settings settings;
    private final Outcomes outcomes = new Outcomes();
    private final LogPlace place;
    private final EpochClock wall = EpochClock.neverDecreasing(EpochClock.system());
    private final long collectorEpoch = wall.epochMillis();
    private final Thread writer;

    private final Object lock = new Object();
    // All below is guarded by the lock.
    private final Map<String, CollectorFeed> feeds = new LinkedHashMap<>();
    private final Deque<OutletRecord> queue = new ArrayDeque<>();
    private boolean dropping;
    private boolean closing;
    private long closeAtNanos;
    private boolean ended;
    private @Nullable String trouble;
    private long offeredCount;
    private long keptCount;
    private long lostCount;

    // Writer thread only.
    private @Nullable OutletRecord held;
    private long beatAtNanos = ElapsedClock.system().elapsedNanos();

    /**
     * How an outlet queues.
     *
     * @param queueEvents most events that wait for the writer; beyond, they are lost
     * @param linger how long the writer rests between two batches
     * @param retry how long it rests before it tries a log again that was away
     * @param closeWait how long closing waits for what is still queued
     */
    public record Settings(int queueEvents, Duration linger, Duration retry, Duration closeWait) {
        /** What suits a collector: 16,384 events, 50 ms, 1 s, 10 s. */
        public static final Settings DEFAULT =
                new Settings(16_384, Duration.ofMillis(50), Duration.ofSeconds(1), Duration.ofSeconds(10));

        /** Refuses a queue that holds nothing. */
        public Settings {
            if (queueEvents < 8) {
                throw new IllegalArgumentException("Cannot queue in so little room: " + queueEvents);
            }
        }
    }

    /**
     * How an outlet fares.
     *
     * @param offeredCount events that collectors offered
     * @param keptCount of those, how many the log has
     * @param lostCount of those, how many it will never have
     * @param queuedCount records, the outlet's own among them, that wait for the writer
     * @param trouble why the log cannot be written to now; absent when it can, as far as is known
     */
    public record Status(
            long offeredCount,
            long keptCount,
            long lostCount,
            int queuedCount,
            @Nullable String trouble) {}

    LogOutlet(String address, Settings settings, PlaceOpener opener) {
        this.address = address;
        this.settings = settings;
        this.place = opener.open(outcomes);
        this.writer = new Thread(this::write, "tokenstair-log-writer");
        writer.setDaemon(true);
        writer.start();
    }

    /** Makes a place that tells what becomes of records. */
    interface PlaceOpener {
        /** The place. */
        LogPlace open(LogPlace.Outcome outcome);
    }

    /** Opens an outlet with the usual settings. */
    public static LogOutlet open(String address) {
        return open(address, Settings.DEFAULT);
    }

    /**
     * Opens an outlet. A log that is away is none of its errors: it is tried again until it is there.
     *
     * @param address {@code kafka://host:port/topic} or a folder
     * @throws IllegalArgumentException when the address is neither
     */
    public static LogOutlet open(String address, Settings settings) {
        if (!address.startsWith("kafka:")) {
            Path folder = Path.of(address);
            return new LogOutlet(address, settings, outcome -> new FolderPlace(folder, outcome));
        }
        KafkaAddress kafka = KafkaAddress.of(address);
        if (kafka == null) {
            throw new IllegalArgumentException(
                    "Cannot read the address " + address + ": give kafka://host:port/topic or a folder");
        }
        return new LogOutlet(address, settings, outcome -> new KafkaPlace(kafka.servers(), kafka.topic(), outcome));
    }

    /** The address it writes to. */
    public String address() {
        return address;
    }

    /**
     * The feed of a collector; the same one for the same id.
     *
     * @throws IllegalArgumentException when the id is longer than {@link EventCodec#MAX_ID_BYTES}
     */
    public CollectorFeed feed(String collectorId) {
        if (collectorId.getBytes(StandardCharsets.UTF_8).length > EventCodec.MAX_ID_BYTES) {
            throw new IllegalArgumentException("Cannot take a collector id of this length: " + collectorId.length());
        }
        synchronized (lock) {
            return feeds.computeIfAbsent(collectorId, id -> new CollectorFeed(this, id));
        }
    }

    /** How it fares. */
    public Status status() {
        synchronized (lock) {
            return new Status(offeredCount, keptCount, lostCount, queue.size(), trouble);
        }
    }

    /** How many events it has room for now; 0 while it lets events go to catch up. */
    public int roomCount() {
        synchronized (lock) {
            return dropping || ended ? 0 : Math.max(0, settings.queueEvents() - queue.size());
        }
    }

    /** How many events it has room for when its queue is empty. */
    public int mostCount() {
        return settings.queueEvents();
    }

    boolean offer(CollectorFeed feed, String clockId, @Nullable Long clockNanos, Event event) {
        boolean wake;
        synchronized (lock) {
            offeredCount++;
            if (dropping || ended || queue.size() >= settings.queueEvents()) {
                // Until there is room for more than one, so that losses come in few ranges.
                dropping = true;
                feed.lose(feed.takeSequence(), true);
                lostCount++;
                return false;
            }
            enqueue(feed, clockId, clockNanos, event, false);
            wake = queue.size() == settings.queueEvents() / 2;
            if (wake) {
                lock.notifyAll();
            }
        }
        return true;
    }

    private void enqueue(CollectorFeed feed, String clockId, @Nullable Long clockNanos, Event event, boolean own) {
        EventHeader header = new EventHeader(
                feed.collectorId(), collectorEpoch, feed.takeSequence(), clockId, clockNanos, wall.epochMillis());
        queue.add(new OutletRecord(feed, new LoggedEvent(header, event), own));
    }

    void beat(CollectorFeed feed, ClockSampler clocks) {
        ClockSampledNow first = ClockSampledNow.read(clocks);
        synchronized (lock) {
            feed.setSampler(clocks);
            say(feed, first.clockId(), first.nanos(), first.event());
        }
    }

    long lostCount(CollectorFeed feed) {
        synchronized (lock) {
            return feed.lost();
        }
    }

    /** Queues what the outlet itself has to say; where there is no room it is not said. */
    private boolean say(CollectorFeed feed, String clockId, long clockNanos, Event event) {
        if (dropping || ended || queue.size() >= settings.queueEvents()) {
            return false;
        }
        enqueue(feed, clockId, clockNanos, event, true);
        return true;
    }

    private record ClockSampledNow(String clockId, long nanos, Event event) {
        static ClockSampledNow read(ClockSampler clocks) {
            var sample = clocks.sample();
            return new ClockSampledNow(sample.localClockId(), sample.beforeNanos(), sample);
        }
    }

    private void write() {
        boolean more = true;
        while (more) {
            try {
                beatWhereDue();
                drain();
                place.flush();
                setTrouble(null);
                tellLosses();
                more = rest(settings.linger(), false);
            } catch (IOException | RuntimeException away) {
                setTrouble(reason(away));
                more = rest(settings.retry(), true);
            }
        }
    }

    /** Hands records over until none is left or the place has no room. */
    private void drain() throws IOException {
        for (int i = 0; i < BATCH_RECORDS; i++) {
            OutletRecord record = held != null ? held : poll();
            if (record == null) {
                return;
            }
            held = record;
            byte[] bytes = encode(record);
            if (bytes != null && !place.take(record, bytes)) {
                return;
            }
            held = null;
        }
    }

    /** The record's bytes; null where it has none that a reader takes: then it is lost. */
    private byte @Nullable [] encode(OutletRecord record) {
        byte[] bytes;
        try {
            bytes = EventCodec.encode(record.logged());
        } catch (RuntimeException unwritable) {
            outcomes.lost(record, reason(unwritable));
            return null;
        }
        if (bytes.length > FolderLogReader.MAX_RECORD_BYTES) {
            outcomes.lost(record, "longer than a reader takes");
            return null;
        }
        return bytes;
    }

    private @Nullable OutletRecord poll() {
        synchronized (lock) {
            OutletRecord record = queue.poll();
            if (dropping && queue.size() <= settings.queueEvents() / 2) {
                dropping = false;
            }
            return record;
        }
    }

    /** Rests; false when closing and nothing is left to write, or writing is in vain. */
    private boolean rest(Duration pause, boolean inVain) {
        synchronized (lock) {
            boolean full = queue.size() >= settings.queueEvents() / 2;
            if (closing) {
                boolean left = !queue.isEmpty() || held != null || hasLosses();
                if (!left || ElapsedClock.system().elapsedNanos() - closeAtNanos >= 0) {
                    return false;
                }
            }
            if (full && !inVain) {
                return true;
            }
            try {
                lock.wait(Math.max(1, closing ? Math.min(20, pause.toMillis()) : pause.toMillis()));
            } catch (InterruptedException stopped) {
                // Nobody but a program that ends interrupts this thread: what is queued is counted as lost.
                closing = true;
                closeAtNanos = ElapsedClock.system().elapsedNanos();
            }
            return true;
        }
    }

    private boolean hasLosses() {
        for (CollectorFeed feed : feeds.values()) {
            if (feed.hasLostRanges()) {
                return true;
            }
        }
        return false;
    }

    private void beatWhereDue() {
        long now = ElapsedClock.system().elapsedNanos();
        if (now - beatAtNanos < BEAT_NANOS) {
            return;
        }
        beatAtNanos = now;
        List<CollectorFeed> all;
        synchronized (lock) {
            all = List.copyOf(feeds.values());
        }
        for (CollectorFeed feed : all) {
            ClockSampler clocks;
            synchronized (lock) {
                clocks = feed.sampler();
            }
            if (clocks != null) {
                ClockSampledNow sample = ClockSampledNow.read(clocks);
                synchronized (lock) {
                    say(feed, sample.clockId(), sample.nanos(), sample.event());
                }
            }
        }
    }

    /** Queues the gaps of the collectors that lost something. */
    private void tellLosses() {
        synchronized (lock) {
            if (dropping) {
                return;
            }
            long now = ElapsedClock.system().elapsedNanos();
            for (CollectorFeed feed : feeds.values()) {
                int room = Math.min(GAPS_AT_ONCE, settings.queueEvents() - queue.size() - 1);
                if (!feed.hasLostRanges() || room <= 0) {
                    continue;
                }
                for (long[] range : feed.takeLostRanges(room)) {
                    say(feed, HostClocks.elapsedId(), now, new CollectorGap(feed.collectorId(), range[0], range[1]));
                }
                long lost = feed.unreportedLostCount();
                if (lost >= 0) {
                    say(
                            feed,
                            HostClocks.elapsedId(),
                            now,
                            new MetricSampled(
                                    feed.collectorId(), LOST_METRIC, "collector=" + feed.collectorId(), lost));
                }
            }
        }
    }

    private void setTrouble(@Nullable String reason) {
        synchronized (lock) {
            trouble = reason;
        }
    }

    private static String reason(Exception away) {
        String message = away.getMessage();
        return message == null || message.isBlank()
                ? away.getClass().getSimpleName()
                : away.getClass().getSimpleName() + ": "
                        + message.lines().findFirst().orElse("");
    }

    private final class Outcomes implements LogPlace.Outcome {
        @Override
        public void kept(OutletRecord record) {
            synchronized (lock) {
                if (!record.own()) {
                    keptCount++;
                }
            }
        }

        @Override
        public void lost(OutletRecord record, String reason) {
            synchronized (lock) {
                if (!record.own()) {
                    lostCount++;
                }
                if (record.logged().event() instanceof CollectorGap gap) {
                    // What it told has to be told again.
                    record.feed().lose(gap.firstMissingSequence(), gap.lastMissingSequence());
                }
                record.feed().lose(record.sequence(), !record.own());
            }
        }
    }

    /** Writes what is queued, for as long as the settings say; what is left then is lost, and counted. */
    @Override
    public void close() {
        synchronized (lock) {
            if (!closing) {
                closing = true;
                closeAtNanos = ElapsedClock.system().elapsedNanos()
                        + settings.closeWait().toNanos();
            }
            lock.notifyAll();
        }
        boolean interrupted = false;
        while (writer.isAlive()) {
            try {
                writer.join();
            } catch (InterruptedException stopped) {
                interrupted = true;
                writer.interrupt();
            }
        }
        place.close(Duration.ofNanos(
                Math.max(100_000_000L, closeAtNanos - ElapsedClock.system().elapsedNanos())));
        synchronized (lock) {
            ended = true;
            OutletRecord record = held;
            held = null;
            for (; record != null || !queue.isEmpty(); record = null) {
                outcomes.lost(record != null ? record : queue.remove(), "closed");
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
