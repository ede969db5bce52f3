package io.tokenstair.job.timer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WaitingTimesTest {
    @Test
    void takesWhatIsDueAndKeepsTheOrderOfTheRest() {
        WaitingTimes<Long> times = new WaitingTimes<>(Long::longValue);
        List<Long> waiting = new ArrayList<>();
        for (long time : new long[] {5, 3, 9, 3, Long.MAX_VALUE, 4}) {
            times.add(waiting, time);
        }
        List<Long> due = new ArrayList<>();

        times.takeDue(waiting, 4, due);

        assertThat(due).containsExactly(3L, 3L, 4L);
        assertThat(waiting).containsExactly(5L, 9L, Long.MAX_VALUE);
        assertThat(times.earliestMillis(waiting)).isEqualTo(5);
        times.takeDue(waiting, Long.MAX_VALUE, due);
        assertThat(waiting).isEmpty();
        assertThat(times.earliestMillis(waiting)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void readsTheTimesOfAListThatCameBack() {
        List<Long> waiting = new ArrayList<>(List.of(7L, 2L));
        WaitingTimes<Long> times = new WaitingTimes<>(Long::longValue);

        times.add(waiting, 1L);

        assertThat(waiting).containsExactly(7L, 2L, 1L);
        assertThat(times.earliestMillis(waiting)).isEqualTo(1);
    }

    @Test
    void saysTheSameAsLookingAtEach() {
        Random random = new Random(1);
        WaitingTimes<Long> times = new WaitingTimes<>(Long::longValue);
        List<Long> waiting = new ArrayList<>();
        for (int round = 0; round < 200; round++) {
            for (int i = random.nextInt(8); i > 0; i--) {
                times.add(waiting, (long) round + random.nextInt(20));
            }
            long complete = round;
            List<Long> expected =
                    waiting.stream().filter(time -> time <= complete).toList();
            List<Long> later = waiting.stream().filter(time -> time > complete).toList();
            List<Long> due = new ArrayList<>();
            times.takeDue(waiting, complete, due);
            assertThat(due).isEqualTo(expected);
            assertThat(waiting).isEqualTo(later);
            assertThat(times.earliestMillis(waiting))
                    .isEqualTo(later.stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE));
        }
    }
}
