package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.KvLookup;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostAndStatLogLayerTest {
    @TempDir
    Path folder;

    @Test
    void aLineIsASamplePerProcessDatedByTheOffsetOfTheCapture() {
        Path run = Imported.folder(
                folder.resolve("run"),
                "host_sched.jsonl",
                "{\"mono_ns\":5000000000,\"api\":[10,20],\"engine\":[30,40],\"worker\":[50,60],\"steal_ticks\":491}",
                "{\"mono_ns\":5010000000,\"engine\":[31,41]}",
                "{\"mono_ns\":5020000000,\"engine\":[31]}",
                "{\"mono_ns\":5030000000}",
                "{\"mono_ns\":5040000000,\"engine\":[31,-1]}");
        Imported.folder(
                run, "meta.json", "{\"scenario_begin\":{\"mono_ns\":4000000000,\"wall_ns\":1795967308000000000}}");
        Imported imported = Imported.of(run, folder.resolve("log"));
        assertThat(imported.all(HostSampled.class))
                .containsExactly(
                        new HostSampled("host@capture", "api", "main", 10L, 20L, 4_910_000_000L, "vllm-0"),
                        new HostSampled("host@capture", "engine", "main", 30L, 40L, 4_910_000_000L, "vllm-0"),
                        new HostSampled("host@capture", "worker", "main", 50L, 60L, 4_910_000_000L, "vllm-0"),
                        new HostSampled("host@capture", "engine", "main", 31L, 41L, null, "vllm-0"));
        assertThat(imported.from("vllm-host").get(0).header().coarseEpochMillis())
                .isEqualTo(1_795_967_309_000L);
        assertThat(imported.reasons())
                .containsExactly(
                        "field engine: needs two totals: on a core, waiting for a core",
                        "field engine: missing, and api and worker too",
                        "field engine[1]: not a total of at least 0");
    }

    @Test
    void lookUpsAreEventsWhereSomethingWasAskedFor() {
        Path run = Imported.folder(
                folder.resolve("run"),
                "statlog.jsonl",
                "{\"mono_ns\":1,\"wall_ns\":1795967042762009748,\"engine_initialized\":0}",
                stat(0, 0, 0, 0),
                stat(16, 8, 0, 0),
                stat(0, 0, 512, 288));
        Imported imported = Imported.of(run, folder.resolve("log"));
        assertThat(imported.all(KvLookup.class))
                .containsExactly(
                        new KvLookup("vllm-0", 1, 16L, 8L, 0L, 0L), new KvLookup("vllm-0", 1, 0L, 0L, 512L, 288L));
        assertThat(imported.layer("statlog")).isEqualTo(new LayerCount("statlog", 4, 4, 0, false));
    }

    private static String stat(int queries, int hits, int preemptedQueries, int preemptedHits) {
        return "{\"mono_ns\":2,\"wall_ns\":1795967042762009749,\"engine\":1,\"sched\":{\"prefix_queries\":" + queries
                + ",\"prefix_hits\":" + hits + ",\"preempted_queries\":" + preemptedQueries + ",\"preempted_hits\":"
                + preemptedHits + "}}";
    }
}
