package io.tokenstair.collect.vllm;

import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.output.CollectorSpool;
import java.util.function.LongConsumer;

/** Reads one layer of one capture. */
final class LayerReader extends RecordReader {
    private final CaptureFolder capture;

    LayerReader(
            String layer,
            CaptureFolder capture,
            CaptureClock clock,
            LineSource.Limits limits,
            CollectorSpool importEvents,
            LongConsumer progress) {
        super(layer, capture::sourceName, clock::referenceWallMillis, limits, importEvents, progress);
        this.capture = capture;
    }

    CaptureFolder capture() {
        return capture;
    }
}
