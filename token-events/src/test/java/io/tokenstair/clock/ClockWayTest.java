package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.ClockFitted;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClockWayTest {
    private static final long SECOND = 1_000_000_000L;

    private final ClockWay way = ClockWay.between("a", "b");

    static ClockFitted segment(String from, String to, long index, long start, long offset, long drift, long bound) {
        return new ClockFitted(from, to, index, start, start + 300 * SECOND, offset, drift, bound, 0, 1, 9, false, 0L);
    }

    private boolean add(long index, long published, long start, long offset, long drift) {
        return way.add(segment("a", "b", index, start, offset, drift, 50), published);
    }

    @Test
    void whatIsPublishedLaterDoesNotCountForEarlierRecords() {
        add(0, 1_000, 0, 100, 0);
        add(1, 2_000, SECOND, 200, 0);

        assertThat(Objects.requireNonNull(way.align(5 * SECOND, 1_999)).epochNanos())
                .isEqualTo(5 * SECOND + 100);
        assertThat(Objects.requireNonNull(way.align(5 * SECOND, 2_000)).epochNanos())
                .isEqualTo(5 * SECOND + 200);
        assertThat(way.align(5 * SECOND, 999)).isNull();
        // A stamp from before the newest segment goes by the one it falls in.
        assertThat(Objects.requireNonNull(way.align(SECOND / 2, 2_000)).epochNanos())
                .isEqualTo(SECOND / 2 + 100);
    }

    @Test
    void segmentsOutOfOrderOrTwiceOrImpossibleChangeNothing() {
        assertThat(add(3, 1_000, 0, 100, 0)).isTrue();
        assertThat(add(3, 1_000, 0, 100, 0)).isFalse();
        assertThat(add(4, 999, 0, 100, 0)).isFalse();
        assertThat(add(4, 1_000, 0, 100, 1L << 40)).isFalse();
        assertThat(way.add(segment("a", "b", 5, 0, 0, 0, -1), 5_000)).isFalse();
        assertThat(add(4, 1_000, SECOND, 100, 0)).isTrue();
        // Another use of the two names counts from 0 again, later.
        assertThat(add(0, 9_000, SECOND, 100, 0)).isTrue();
        assertThat(way.count).isEqualTo(3);
    }

    @Test
    void thereAndBackIsTheSameWithinTheWidths() {
        Random random = new Random(1);
        for (int i = 0; i < 2_000; i++) {
            ClockWay drifting = ClockWay.between("a", "b");
            long drift = random.nextInt(1_100_000_000) - 550_000_000;
            drifting.add(segment("a", "b", 0, 7, random.nextLong() >> 4, drift, random.nextInt(20_000)), 0);
            long stamp = 7 + random.nextLong(300 * SECOND);
            AlignedStamp there = Objects.requireNonNull(drifting.align(stamp, 0));
            AlignedStamp back = Objects.requireNonNull(drifting.alignBack(there.epochNanos(), 0));

            assertThat(back.epochNanos()).isBetween(stamp - 2, stamp + 2);
            assertThat(back.boundNanos()).isBetween(there.boundNanos(), there.boundNanos() + 20);
        }
        assertThat(way.alignBack(5, 0)).isNull();
    }

    @Test
    void aStampBeyondTheRangeOfTimeIsNotAligned() {
        way.add(new ClockFitted("a", "b", 0, 0, Long.MAX_VALUE, Long.MAX_VALUE, 0, 0, 0, 0, 1, false, null), 0);
        way.add(new ClockFitted("a", "b", 1, 10, Long.MAX_VALUE, 0, 0, 1, Long.MAX_VALUE, 0, 1, false, null), 5);

        assertThat(way.align(5, 0)).isNull();
        assertThat(way.align(Long.MAX_VALUE, 5)).isNull();
        assertThat(way.align(10, 5)).isEqualTo(new AlignedStamp(10, 1, 0));
    }

    @Test
    void forgettingChangesNoAnswerForRecordsToCome() {
        ClockWay kept = ClockWay.between("a", "b");
        Random random = new Random(2);
        long published = 0;
        for (int i = 0; i < 2_000; i++) {
            published += 500 + random.nextInt(2_000);
            ClockFitted segment = segment("a", "b", i, published * 1_000_000, random.nextInt(50), 0, 5);
            kept.add(segment, published);
            way.add(segment, published);
            if (random.nextInt(5) == 0) {
                way.forget(published - 3_000);
            }
            for (int k = 0; k < 5; k++) {
                long millis = published - 3_000 + random.nextInt(4_000);
                long stamp = millis * 1_000_000 - random.nextLong(200 * SECOND);
                assertThat(way.align(stamp, millis)).isEqualTo(kept.align(stamp, millis));
            }
        }
        assertThat(way.count).isLessThan(500);
        assertThat(way.forget(published + ClockGraph.MEMORY_MILLIS + 1)).isFalse();
    }
}
