package io.tokenstair.job.layer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.job.KeyedRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counts of layers add up, over a restore too. */
class ReportLayersHarnessTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 6})
    void aLayerIsReportedOnceWithTheSumOfItsCounts(int restoreOneIn) throws Exception {
        List<LayerCount> counts = new ArrayList<>();
        for (int subtask = 0; subtask < 4; subtask++) {
            for (Layer layer : Layer.values()) {
                LayerCount count = new LayerCount();
                count.layer = layer;
                count.events = layer.ordinal() * 10L;
                count.rejected = subtask;
                counts.add(count);
            }
        }
        KeyedRun<LayerCount, LayerReport> operator =
                new KeyedRun<>(ReportLayers::new, count -> count.layer.layerName(), count -> 0);

        assertThat(operator.run(counts, new Random(restoreOneIn), restoreOneIn))
                .hasSize(Layer.values().length)
                .contains(new LayerReport(null, "client", Layer.CLIENT.ordinal() > 0, 40L * Layer.CLIENT.ordinal(), 6)
                        .toString())
                .contains(new LayerReport(null, "gpu", true, 40L * Layer.GPU.ordinal(), 6).toString());
    }
}
