package io.tokenstair.job.clock;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

/** Sources are idle until they have their partitions: whoever aligns stamps waits for segments all the same. */
class HoldForSegmentsTest {
    @Test
    void sourcesThatHaveNoPartitionsYetAreNoReasonToGoOnWithoutSegments() throws Exception {
        PublishedSegment segment =
                Segments.of(FitClocksHarnessTest.samples()).published.get(0);
        try (OneInputStreamOperatorTestHarness<PublishedSegment, PublishedSegment> harness =
                new OneInputStreamOperatorTestHarness<>(new HoldForSegments())) {
            harness.open();
            harness.processWatermarkStatus(WatermarkStatus.IDLE);
            harness.processWatermarkStatus(WatermarkStatus.ACTIVE);
            harness.processElement(new StreamRecord<>(segment));
            harness.processWatermark(new Watermark(7));
            harness.processWatermarkStatus(WatermarkStatus.IDLE);

            assertThat(harness.getOutput())
                    .containsExactly(WatermarkStatus.ACTIVE, new StreamRecord<>(segment), new Watermark(7));
        }
    }
}
