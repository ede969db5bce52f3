package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetricsLayerTest {
    @TempDir
    Path folder;

    @Test
    void aScrapeIsStampedByItsFirstLineOrByTheMetaFile() {
        Path run = Imported.folder(
                folder.resolve("run"),
                "metrics_during_000.prom",
                "# scraped mono_ns=5000000000 wall_ns=1795967309098156867",
                "# HELP vllm:num_requests_running Running",
                "vllm:num_requests_running{model_name=\"tiny\",engine=\"0\"} 3.0",
                "vllm:nothing{engine=\"0\"} NaN",
                "no_labels 1e3 1795967309098");
        Imported.folder(run, "metrics_before.prom", "x 1");
        Imported.folder(run, "metrics_after.prom", "x{a=\"b\\\"c\"} +Inf");
        Imported.folder(
                run,
                "meta.json",
                "{\"scenario_begin\":{\"mono_ns\":4000000000,\"wall_ns\":1795967308098156867},"
                        + "\"scenario_end\":{\"mono_ns\":6000000000,\"wall_ns\":1795967310098156867}}");
        Imported imported = Imported.of(run, folder.resolve("log"));
        List<LoggedEvent> events = imported.from("vllm-metrics");
        assertThat(events.stream().map(LoggedEvent::event))
                .containsExactly(
                        new MetricSampled("/metrics", "x", "", 1),
                        new MetricSampled(
                                "/metrics", "vllm:num_requests_running", "engine=\"0\",model_name=\"tiny\"", 3),
                        new MetricSampled("/metrics", "vllm:nothing", "engine=\"0\"", Double.NaN),
                        new MetricSampled("/metrics", "no_labels", "", 1000),
                        new MetricSampled("/metrics", "x", "a=\"b\\\"c\"", Double.POSITIVE_INFINITY));
        assertThat(events.stream().map(logged -> logged.header().clockNanos()))
                .containsExactly(4_000_000_000L, 5_000_000_000L, 5_000_000_000L, 5_000_000_000L, 6_000_000_000L);
        assertThat(imported.layer("metrics")).isEqualTo(new LayerCount("metrics", 5, 5, 0, false));
    }

    @Test
    void withoutStampsASampleIsUndatedAndComesLast() {
        Path run = Imported.folder(folder.resolve("run"), "metrics_before.prom", "early 1");
        Imported.folder(
                run, "metrics_during_001.prom", "# scraped mono_ns=5000000000 wall_ns=1795967309098156867", "later 1");
        List<LoggedEvent> events = Imported.of(run, folder.resolve("log")).from("vllm-metrics");
        assertThat(events.get(0).header().coarseEpochMillis()).isEqualTo(1_795_967_309_098L);
        assertThat(events.get(1).header().coarseEpochMillis()).isNull();
        assertThat(events.get(1).header().clockNanos()).isNull();
        assertThat(((MetricSampled) events.get(1).event()).name()).isEqualTo("early");
    }

    @Test
    void wrongLinesAreRefused() {
        Path run = Imported.folder(
                folder.resolve("run"),
                "metrics_before.prom",
                "good 1 # {trace_id=\"x\"} 0.5",
                "0bad 1",
                "bad{a=\"1\"",
                "bad{a=1} 2",
                "bad{a=\"1\",a=\"2\"} 2",
                "bad{1a=\"1\"} 2",
                "bad{a=\"1\"b=\"2\"} 2",
                "bad",
                "bad 0x1p3",
                "bad 1d",
                "bad 1 text");
        Imported imported = Imported.of(run, folder.resolve("log"));
        assertThat(imported.layer("metrics")).isEqualTo(new LayerCount("metrics", 11, 1, 10, false));
        assertThat(imported.reasons())
                .contains(
                        "no metric name at the start of the line",
                        "labels without an end",
                        "a label without a quoted value",
                        "one label twice",
                        "a label without a valid name",
                        "labels not separated by commas",
                        "no number where the value belongs",
                        "something after the value that is no stamp");
    }
}
