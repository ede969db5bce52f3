package io.tokenstair.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LogOutletTest {
    private static final LogOutlet.Settings QUICK =
            new LogOutlet.Settings(256, Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofSeconds(5));

    @TempDir
    Path folder;

    private Path log() {
        return folder.resolve("log");
    }

    @Test
    void whatIsOfferedByManyThreadsIsReadInTheOrderOfItsNumbers() throws Exception {
        LogOutlet outlet = LogOutlet.open(log().toString());
        CollectorFeed one = outlet.feed("one");
        CollectorFeed two = outlet.feed("two");
        assertThat(outlet.feed("one")).isSameAs(one);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            CollectorFeed feed = t % 2 == 0 ? one : two;
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 1_000; i++) {
                    feed.offer(event(i));
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        outlet.close();
        assertThat(outlet.status()).isEqualTo(new LogOutlet.Status(4_000, 4_000, 0, 0, null));
        Map<String, Long> next = new HashMap<>();
        long millis = Long.MIN_VALUE;
        for (LoggedEvent logged : read(log())) {
            EventHeader header = logged.header();
            assertThat(header.sequence()).isEqualTo(next.merge(header.collectorId(), 1L, Long::sum) - 1);
            assertThat(header.coarseEpochMillis()).isGreaterThanOrEqualTo(millis);
            assertThat(header.clockId()).isEqualTo(HostClocks.elapsedId());
            millis = header.coarseEpochMillis();
        }
        assertThat(next).isEqualTo(Map.of("one", 2_000L, "two", 2_000L));
    }

    @Test
    void eachStartHasAPartitionOfItsOwn() throws Exception {
        for (int start = 0; start < 3; start++) {
            try (LogOutlet outlet = LogOutlet.open(log().toString(), QUICK)) {
                outlet.feed("a").offer(event(start));
            }
        }
        assertThat(FolderLogReader.partitions(log())).hasSize(3);
    }

    @Test
    void aDiskThatIsFullForAWhileCostsWhatDidNotFitInTheQueueAndTheLogSaysSo() throws Exception {
        Disk disk = new Disk(3_000);
        LogOutlet outlet = new LogOutlet("test", QUICK, outcome -> new FolderPlace(log(), outcome, disk::open));
        CollectorFeed feed = outlet.feed("a");
        CollectorFeed other = outlet.feed("b");
        int i = 0;
        while (outlet.status().trouble() == null) {
            feed.offer(event(i++));
            other.offer(event(i++));
        }
        assertThat(outlet.status().trouble()).contains("No space left on device");
        boolean dropped = false;
        for (int more = 0; more < 2_000; more++) {
            dropped |= !feed.offer(event(i++));
        }
        assertThat(dropped).isTrue();
        assertThat(feed.lostCount()).isPositive();
        disk.freeBytes.set(Long.MAX_VALUE);
        waitFor(() -> outlet.status().trouble() == null && outlet.status().queuedCount() == 0);
        feed.offer(event(i++));
        outlet.close();

        LogOutlet.Status status = outlet.status();
        assertThat(status.offeredCount()).isEqualTo(i);
        assertThat(status.keptCount() + status.lostCount()).isEqualTo(i);
        List<LoggedEvent> read = read(log());
        assertThat(read.stream().filter(logged -> logged.event() instanceof IdAliased))
                .hasSize((int) status.keptCount());
        long missing = 0;
        for (CollectorGap gap : of(CollectorGap.class, read)) {
            missing += gap.lastMissingSequence() - gap.firstMissingSequence() + 1;
        }
        assertThat(missing).isEqualTo(status.lostCount()).isPositive();
        assertGapsAreWhatIsMissing(read, "a");
        List<MetricSampled> metrics = of(MetricSampled.class, read).stream()
                .filter(metric -> metric.source().equals("a"))
                .toList();
        assertThat(metrics.get(metrics.size() - 1).sampledValue()).isEqualTo((double) feed.lostCount());
    }

    @Test
    void aFullQueueLosesWhatComesNextAndNothingElse() throws Exception {
        Path notYet = folder.resolve("file");
        Files.writeString(notYet, "in the way");
        LogOutlet outlet = LogOutlet.open(notYet.resolve("log").toString(), QUICK);
        CollectorFeed feed = outlet.feed("a");
        for (int i = 0; i < 1_000; i++) {
            feed.offer(event(i));
        }
        waitFor(() -> outlet.status().trouble() != null);
        assertThat(outlet.status().offeredCount()).isEqualTo(1_000);
        Files.delete(notYet);
        waitFor(() -> outlet.status().trouble() == null && outlet.status().queuedCount() == 0);
        outlet.close();
        LogOutlet.Status status = outlet.status();
        assertThat(status.keptCount() + status.lostCount()).isEqualTo(1_000);
        assertThat(status.keptCount()).isBetween(256L, 256L + 1_024L);
        assertGapsAreWhatIsMissing(read(notYet.resolve("log")), "a");
    }

    @Test
    void aLogThatNeverComesIsCountedAtTheEnd() throws Exception {
        Path file = folder.resolve("file");
        Files.writeString(file, "in the way");
        LogOutlet outlet = LogOutlet.open(
                file.resolve("log").toString(),
                new LogOutlet.Settings(64, Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMillis(200)));
        for (int i = 0; i < 100; i++) {
            outlet.feed("a").offer(event(i));
        }
        outlet.close();
        assertThat(outlet.status().keptCount()).isZero();
        assertThat(outlet.status().lostCount()).isEqualTo(100);
        assertThat(outlet.feed("a").offer(event(100))).isFalse();
        assertThat(outlet.status().lostCount()).isEqualTo(101);
    }

    @Test
    void theDeviceThatIsAlwaysFullHoldsNothingUp() throws Exception {
        Path full = Path.of("/dev/full");
        org.junit.jupiter.api.Assumptions.assumeTrue(Files.exists(full), "no /dev/full here");
        LogOutlet outlet = new LogOutlet(
                "test",
                new LogOutlet.Settings(64, Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMillis(200)),
                outcome ->
                        new FolderPlace(log(), outcome, segment -> FileChannel.open(full, StandardOpenOption.WRITE)));
        long started = System.nanoTime();
        for (int i = 0; i < 100_000; i++) {
            outlet.feed("a").offer(event(i));
        }
        assertThat(System.nanoTime() - started).isLessThan(5_000_000_000L);
        outlet.close();
        assertThat(outlet.status().keptCount()).isZero();
        assertThat(outlet.status().lostCount()).isEqualTo(100_000);
    }

    @Test
    void aLogThatIsTakenAwayIsBegunAgain() throws Exception {
        LogOutlet outlet = LogOutlet.open(log().toString(), QUICK);
        outlet.feed("a").offer(event(0));
        waitFor(() -> outlet.status().keptCount() == 1);
        try (var files = Files.walk(log())) {
            for (Path path : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
        AtomicLong offered = new AtomicLong(1);
        waitFor(() -> {
            outlet.feed("a").offer(event((int) offered.getAndIncrement()));
            return Files.isDirectory(log());
        });
        outlet.close();
        assertThat(read(log())).isNotEmpty();
    }

    @Test
    void anEventThatCannotBeWrittenIsLostAlone() throws Exception {
        LogOutlet outlet = LogOutlet.open(log().toString(), QUICK);
        CollectorFeed feed = outlet.feed("a");
        feed.offer(event(0));
        feed.offer("clock", 1L, new IdAliased("request", "x".repeat(FolderLogReader.MAX_RECORD_BYTES), "test"));
        feed.offer(event(2));
        waitFor(() -> outlet.status().keptCount() == 2);
        outlet.close();
        List<LoggedEvent> read = read(log());
        assertThat(of(CollectorGap.class, read)).containsExactly(new CollectorGap("a", 1, 1));
        assertThat(outlet.status().lostCount()).isEqualTo(1);
    }

    @Test
    void aFeedThatBeatsSaysItLivesAndReadsItsClocks() throws Exception {
        LogOutlet outlet = LogOutlet.open(log().toString(), QUICK);
        outlet.feed("a").beat(HostClocks.sampler());
        CountDownLatch never = new CountDownLatch(1);
        assertThat(never.await(1_200, java.util.concurrent.TimeUnit.MILLISECONDS))
                .isFalse();
        outlet.close();
        List<ClockSampled> samples = of(ClockSampled.class, read(log()));
        assertThat(samples).hasSizeGreaterThanOrEqualTo(2);
        assertThat(samples.get(0).localClockId()).isEqualTo(HostClocks.elapsedId());
        assertThat(samples.get(0).remoteClockId()).isEqualTo(HostClocks.epochId());
        assertThat(outlet.status().offeredCount()).isZero();
    }

    @Test
    void anAddressThatIsNoneIsRefused() {
        assertThatThrownBy(() -> LogOutlet.open("kafka://host/topic"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("kafka://host:port/topic");
    }

    private static void assertGapsAreWhatIsMissing(List<LoggedEvent> read, String collector) {
        java.util.TreeSet<Long> seen = new java.util.TreeSet<>();
        java.util.TreeSet<Long> gaps = new java.util.TreeSet<>();
        for (LoggedEvent logged : read) {
            if (logged.header().collectorId().equals(collector)) {
                assertThat(seen.add(logged.header().sequence())).isTrue();
                if (logged.event() instanceof CollectorGap gap) {
                    for (long lost = gap.firstMissingSequence(); lost <= gap.lastMissingSequence(); lost++) {
                        assertThat(gaps.add(lost)).isTrue();
                    }
                }
            }
        }
        java.util.TreeSet<Long> missing = new java.util.TreeSet<>();
        for (long sequence = 0; sequence <= seen.last(); sequence++) {
            if (!seen.contains(sequence)) {
                missing.add(sequence);
            }
        }
        assertThat(gaps).isEqualTo(missing).isNotEmpty();
    }

    private static Event event(int i) {
        return new IdAliased("request-" + i, "alias-" + i, "test");
    }

    private static <T extends Event> List<T> of(Class<T> type, List<LoggedEvent> read) {
        return read.stream()
                .map(LoggedEvent::event)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    private static List<LoggedEvent> read(Path log) throws IOException, WireException {
        List<LoggedEvent> read = new ArrayList<>();
        for (Path partition : FolderLogReader.partitions(log)) {
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                    read.add(EventCodec.decode(bytes));
                }
            }
        }
        return read;
    }

    private static void waitFor(BooleanSupplier condition) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        while (!condition.getAsBoolean()) {
            assertThat(never.await(5, java.util.concurrent.TimeUnit.MILLISECONDS))
                    .isFalse();
        }
    }

    /** A disk with so much room: real files, whose writes end where the room ends. */
    private static final class Disk {
        private final AtomicLong freeBytes;

        private Disk(long freeBytes) {
            this.freeBytes = new AtomicLong(freeBytes);
        }

        private WritableByteChannel open(Path segment) throws IOException {
            FileChannel file = FileChannel.open(segment, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            return new WritableByteChannel() {
                @Override
                public int write(ByteBuffer bytes) throws IOException {
                    int room = (int) Math.min(bytes.remaining(), freeBytes.get());
                    if (room == 0 && bytes.hasRemaining()) {
                        throw new IOException("No space left on device");
                    }
                    ByteBuffer part = bytes.slice().limit(room);
                    int written = file.write(part);
                    bytes.position(bytes.position() + written);
                    freeBytes.addAndGet(-written);
                    return written;
                }

                @Override
                public boolean isOpen() {
                    return file.isOpen();
                }

                @Override
                public void close() throws IOException {
                    file.close();
                }
            };
        }
    }
}
