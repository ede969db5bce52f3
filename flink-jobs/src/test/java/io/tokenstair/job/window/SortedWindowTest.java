package io.tokenstair.job.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SortedWindowTest {

    @Test
    void saysWhatSortingTheLastValuesSays() {
        for (int capacity : new int[] {1, 2, 7, 64}) {
            Random random = new Random(capacity);
            SortedWindow window = new SortedWindow(capacity);
            List<Long> values = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                // Few different values, so that equal ones are common.
                long value = random.nextBoolean() ? random.nextInt(5) : random.nextInt() * 1_000L;
                values.add(value);
                window.add(value);
                List<Long> last = values.subList(Math.max(0, values.size() - capacity), values.size());

                assertThat(window.size()).isEqualTo(last.size());
                assertThat(window.median()).isEqualTo(median(last));
                assertThat(window.medianAbsoluteDeviation()).isEqualTo(deviation(last));
            }
        }
    }

    @Test
    void medianOfAnEvenCountIsTheLowerOne() {
        SortedWindow window = new SortedWindow(4);
        for (long value : new long[] {40, 10, 30, 20}) {
            window.add(value);
        }

        assertThat(window.median()).isEqualTo(20);
        assertThat(window.medianAbsoluteDeviation()).isEqualTo(10);
    }

    @Test
    void oneOutlierMovesNeitherByMuch() {
        SortedWindow window = new SortedWindow(9);
        for (int i = 0; i < 8; i++) {
            window.add(1_000 + i);
        }
        window.add(Integer.MAX_VALUE);

        assertThat(window.median()).isEqualTo(1_004);
        assertThat(window.medianAbsoluteDeviation()).isEqualTo(2);
    }

    private static long median(List<Long> values) {
        List<Long> sorted = values.stream().sorted().toList();
        return sorted.get((sorted.size() - 1) / 2);
    }

    private static long deviation(List<Long> values) {
        long median = median(values);
        return median(values.stream().map(value -> Math.abs(value - median)).toList());
    }
}
