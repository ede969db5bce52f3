package io.tokenstair.job.layer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.EventKind;
import io.tokenstair.job.source.RawRecord;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Each record is counted once, over checkpoints, restores and another parallelism. */
class CountLayersHarnessTest {
    private static final int MAX_PARALLELISM = 8;

    private final Map<String, Long> handedOn = new TreeMap<>();

    @Test
    void whatIsHandedOnBeforeACheckpointIsNotSaidAgain() throws Exception {
        try (var harness = harness(null, 1, 0)) {
            feed(harness, 30);
            harness.prepareSnapshotPreBarrier(1);
            take(harness);
            assertThat(handedOn).isEqualTo(Map.of("steps", 30L));
            harness.prepareSnapshotPreBarrier(2);
            feed(harness, 12);
            harness.processWatermark(Watermark.MAX_WATERMARK);
            harness.prepareSnapshotPreBarrier(3);
            take(harness);
        }
        assertThat(handedOn).isEqualTo(Map.of("steps", 42L));
    }

    @Test
    void everyLayerIsSaidAtTheEndAlsoOneThatHadNothing() throws Exception {
        try (var harness = harness(null, 1, 0)) {
            harness.processWatermark(Watermark.MAX_WATERMARK);
            assertThat(harness.extractOutputValues()).hasSameSizeAs(Layer.values());
        }
    }

    @Test
    void twoSubtasksThatAreStoppedGoOnAsThreeOfWhichOneHasNoInput() throws Exception {
        OperatorSubtaskState stopped = stop(0, 30);
        stop(1, 5);
        for (int subtask = 0; subtask < 2; subtask++) {
            try (var harness = harness(subtask == 0 ? stopped : null, 3, subtask)) {
                feed(harness, 10);
                harness.processWatermark(Watermark.MAX_WATERMARK);
                take(harness);
            }
        }

        assertThat(handedOn).isEqualTo(Map.of("steps", 55L));
    }

    private OperatorSubtaskState stop(int subtask, int steps) throws Exception {
        try (var harness = harness(null, 2, subtask)) {
            feed(harness, steps);
            harness.prepareSnapshotPreBarrier(1);
            take(harness);
            return harness.snapshot(1, 1);
        }
    }

    private static OneInputStreamOperatorTestHarness<RawRecord, LayerCount> harness(
            @Nullable OperatorSubtaskState restored, int parallelism, int subtask) throws Exception {
        OneInputStreamOperatorTestHarness<RawRecord, LayerCount> harness =
                new OneInputStreamOperatorTestHarness<>(new CountLayers(), MAX_PARALLELISM, parallelism, subtask);
        harness.setup();
        if (restored != null) {
            harness.initializeState(restored);
        }
        harness.open();
        return harness;
    }

    private static void feed(OneInputStreamOperatorTestHarness<RawRecord, LayerCount> harness, int steps)
            throws Exception {
        for (int i = 0; i < steps; i++) {
            RawRecord record = new RawRecord();
            record.kindTag = EventKind.STEP_COMPLETED.tag();
            harness.processElement(new StreamRecord<>(record));
        }
    }

    /** Adds what was handed on of layers with events. */
    private void take(OneInputStreamOperatorTestHarness<RawRecord, LayerCount> harness) {
        for (LayerCount count : harness.extractOutputValues()) {
            if (count.events > 0) {
                handedOn.merge(count.layer.layerName(), count.events, Long::sum);
            }
        }
        harness.getOutput().clear();
    }
}
