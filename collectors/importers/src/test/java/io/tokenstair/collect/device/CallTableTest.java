package io.tokenstair.collect.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CallTableTest {
    @Test
    void everyCallIsFoundByItsProcessAndId() {
        CallTable table = new CallTable();
        SplittableRandom random = new SplittableRandom(3);
        Map<String, Long> expected = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            int process = random.nextInt(4);
            long correlation = random.nextInt(4) == 0 ? random.nextLong(1, Long.MAX_VALUE) : random.nextInt(1, 200_000);
            if (expected.putIfAbsent(process + "/" + correlation, (long) i) == null) {
                table.add(process, 7, correlation, i, i + 5);
            }
        }
        assertThat(table.size()).isEqualTo(expected.size());
        expected.forEach((key, start) -> {
            String[] parts = key.split("/");
            int call = table.find(Integer.parseInt(parts[0]), Long.parseLong(parts[1]));
            assertThat(call).isNotEqualTo(CallTable.NONE);
            assertThat(table.startNanos(call)).isEqualTo(start);
            assertThat(table.thread(call)).isEqualTo(7);
        });
        assertThat(table.find(5, 1)).isEqualTo(CallTable.NONE);
    }

    @Test
    void twoClaimsOfOneIdAreNoCallUnlessOneHoldsTheOther() {
        CallTable table = new CallTable();
        table.add(0, 1, 9, 100, 200);
        table.add(0, 1, 9, 110, 190);
        assertThat(table.startNanos(table.find(0, 9))).isEqualTo(100);
        table.add(0, 1, 9, 90, 210);
        assertThat(table.startNanos(table.find(0, 9))).isEqualTo(90);
        table.add(0, 1, 9, 300, 310);
        assertThat(table.find(0, 9)).isEqualTo(CallTable.NONE);
        assertThat(table.isAmbiguous(0, 9)).isTrue();
        table.add(0, 2, 8, 100, 200);
        table.add(0, 3, 8, 100, 200);
        assertThat(table.isAmbiguous(0, 8)).isTrue();
    }

    @Test
    void whatIsTooManyIsCounted() {
        CallTable table = new CallTable(3);
        for (int i = 1; i <= 5; i++) {
            table.add(0, 0, i, i, i);
        }
        assertThat(table.size()).isEqualTo(3);
        assertThat(table.leftOut()).isEqualTo(2);
        assertThat(table.find(0, 4)).isEqualTo(CallTable.NONE);
    }

    @Test
    void zeroAndLessIsNoId() {
        CallTable table = new CallTable();
        table.add(0, 0, 0, 5, 6);
        table.add(0, 0, -1, 5, 6);
        assertThat(table.size()).isZero();
        assertThat(table.find(0, 0)).isEqualTo(CallTable.NONE);
    }
}
