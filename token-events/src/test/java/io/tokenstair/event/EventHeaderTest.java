package io.tokenstair.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EventHeaderTest {
    @Test
    void orderIsByEventTimeThenCollectorThenEpochThenSequence() {
        List<EventHeader> ordered = List.of(
                header("b", 2, 9, 100L),
                header("a", 1, 5, 200L),
                header("a", 1, 6, 200L),
                header("a", 2, 0, 200L),
                header("b", 0, 0, 200L),
                header("a", 0, 0, 201L),
                header("a", 0, 1, null),
                header("a", 0, 2, null),
                header("b", 0, 0, null));
        List<EventHeader> shuffled = new ArrayList<>(ordered);
        Collections.shuffle(shuffled, new Random(3));
        shuffled.sort(EventHeader.ORDER);

        assertThat(shuffled).isEqualTo(ordered);
    }

    @Test
    void orderIgnoresTheRawStamp() {
        EventHeader early = new EventHeader("a", 1, 1, "x", 5L, 100L);
        EventHeader late = new EventHeader("a", 1, 1, "y", 9L, 100L);

        assertThat(EventHeader.ORDER.compare(early, late)).isZero();
    }

    @Test
    void eventIdNamesCollectorEpochAndSequence() {
        assertThat(header("engine-0", 12, 34, null).eventId()).isEqualTo("engine-0/12/34");
    }

    private static EventHeader header(String collectorId, long epoch, long sequence, @Nullable Long coarseEpochMillis) {
        return new EventHeader(collectorId, epoch, sequence, "clock", null, coarseEpochMillis);
    }
}
