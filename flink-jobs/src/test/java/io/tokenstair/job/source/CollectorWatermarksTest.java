package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.wire.EventCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CollectorWatermarksTest {
    private final CollectorWatermarks watermarks =
            new CollectorWatermarks(Duration.ofSeconds(5), Duration.ofSeconds(60));
    private final Emitted emitted = new Emitted();

    @Test
    void theSlowestCollectorOfThePartitionCounts() {
        hear("fast", 100_000L);
        hear("slow", 90_000L);
        assertThat(next()).isEqualTo(90_000 - 5_000 - 1);
    }

    @Test
    void aCollectorThatFellSilentNoLongerHoldsTheOthersBack() {
        hear("gone", 10_000L);
        hear("fast", 70_000L);
        assertThat(next()).isEqualTo(4_999);
        hear("fast", 70_001L);
        assertThat(next()).isEqualTo(65_000);
    }

    @Test
    void aCollectorThatComesBackDoesNotTurnTimeBack() {
        hear("fast", 200_000L);
        assertThat(next()).isEqualTo(194_999);
        hear("back", 150_000L);
        hear("fast", 201_000L);
        assertThat(next()).isNull();
        hear("back", 201_000L);
        assertThat(next()).isEqualTo(195_999);
    }

    @Test
    void undatedRecordsMoveNothing() {
        hear("undated", null);
        assertThat(next()).isNull();
        hear("dated", 100_000L);
        hear("undated", null);
        assertThat(next()).isEqualTo(94_999);
    }

    @Test
    void anEarlierStampOfACollectorChangesNothing() {
        hear("a", 100_000L);
        hear("a", 99_000L);
        assertThat(next()).isEqualTo(94_999);
        assertThat(next()).isNull();
    }

    @Test
    void inventedCollectorNamesDoNotGrowTheStateWithoutBound() {
        for (int i = 0; i <= CollectorWatermarks.MAX_COLLECTORS; i++) {
            hear("invented-" + i, 100_000L + i);
        }
        assertThat(next()).isEqualTo(100_001 - 5_001);
    }

    private void hear(String collector, @Nullable Long epochMillis) {
        RawRecord record = RawRecord.of(EventCodec.encode(Records.event(collector, 0, epochMillis)), "p", 0);
        watermarks.onEvent(record, record.coarseEpochMillis, emitted);
    }

    private @Nullable Long next() {
        emitted.millis.clear();
        watermarks.onPeriodicEmit(emitted);
        return emitted.millis.isEmpty() ? null : emitted.millis.get(0);
    }

    /** Keeps what was emitted. */
    private static final class Emitted implements WatermarkOutput {
        private final List<Long> millis = new ArrayList<>();

        @Override
        public void emitWatermark(Watermark watermark) {
            millis.add(watermark.getTimestamp());
        }

        @Override
        public void markIdle() {}

        @Override
        public void markActive() {}
    }
}
