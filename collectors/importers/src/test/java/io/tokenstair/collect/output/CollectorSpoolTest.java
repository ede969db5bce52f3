package io.tokenstair.collect.output;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.IdAliased;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CollectorSpoolTest {
    @TempDir
    Path folder;

    private int runs;

    private CollectorSpool spool(long memoryBytes) {
        return new CollectorSpool("c", 1, "clock", () -> folder.resolve("run-" + runs++), memoryBytes);
    }

    private static List<byte[]> drain(CollectorSpool spool) throws IOException {
        List<byte[]> records = new ArrayList<>();
        CollectorSpool.Cursor cursor = spool.cursor();
        while (cursor.next()) {
            records.add(cursor.bytes());
        }
        return records;
    }

    private static void fill(CollectorSpool spool) throws IOException {
        Random random = new Random(3);
        for (int i = 0; i < 2000; i++) {
            long order = random.nextInt(500);
            @Nullable Long wall = random.nextInt(10) == 0 ? null : Long.valueOf(order + random.nextInt(3));
            spool.add(order, order, wall, new IdAliased("r" + i, "a", "o"));
        }
    }

    @Test
    void aSpoolOnDiskGivesTheSameAsOneInMemory() throws IOException, WireException {
        List<byte[]> held;
        try (CollectorSpool spool = spool(Long.MAX_VALUE)) {
            fill(spool);
            held = drain(spool);
        }
        assertThat(runs).isZero();
        try (CollectorSpool spool = spool(10_000)) {
            fill(spool);
            List<byte[]> spilled = drain(spool);
            assertThat(runs).isGreaterThan(5);
            assertThat(spilled).hasSize(2000);
            for (int i = 0; i < spilled.size(); i++) {
                assertThat(spilled.get(i)).isEqualTo(held.get(i));
            }
        }
        long previous = Long.MIN_VALUE;
        for (int i = 0; i < held.size(); i++) {
            var header = EventCodec.decode(held.get(i)).header();
            assertThat(header.sequence()).isEqualTo(i);
            long coarse = header.coarseEpochMillis() == null ? Long.MAX_VALUE : header.coarseEpochMillis();
            assertThat(coarse).isGreaterThanOrEqualTo(previous);
            previous = coarse;
            assertThat(EventCodec.encode(EventCodec.decode(held.get(i)))).isEqualTo(held.get(i));
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void manyFilesOfAnImportHoldNoMoreThanAFew() throws IOException {
        try (EventSpools spools = new EventSpools(folder.resolve("log"))) {
            long most = 0;
            for (int file = 0; file < 200; file++) {
                CollectorSpool spool = spools.collector("c", file, "clock");
                for (int i = 0; i < 50; i++) {
                    spool.add(i, (long) i, null, new IdAliased("r" + i, "a".repeat(200), "o"));
                }
                most = Math.max(most, spools.heldBytes());
            }
            assertThat(most).isLessThan(16 * 50 * 400L);
            assertThat(spools.write()).isEqualTo(200 * 50);
        }
    }
}
