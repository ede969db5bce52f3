package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.collect.ImportMain;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.FolderLogSource;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Remarks are part of the determinism contract: a replay of the raw tables says, to the byte, what the stream over the log said. */
class RemarkParityIT {
    private static final Path READINGS = Path.of("src/test/resources/real/vllm019_sharegpt_runs");

    @TempDir
    Path folder;

    @Test
    void aReplaySaysTheRemarksOfTheStream() throws Exception {
        readings("RTX4090_Llama-3.1-8B", 256, "a", folder.resolve("log-a"));
        readings("RTXPRO6000_Llama-3.1-8B", 128, "b", folder.resolve("log-b"));
        Path log = Logs.together(folder.resolve("log"), folder.resolve("log-a"), folder.resolve("log-b"));
        Path raw = folder.resolve("raw");
        JobRuns.of(RuntimeExecutionMode.STREAMING, 2, FolderLogSource.bounded(log), folder.resolve("stream"), raw);

        TreeSet<String> said = JobRuns.rows(folder.resolve("stream"), ResultTables.REMARK);
        assertThat(said).hasSizeGreaterThanOrEqualTo(3);
        for (String topic : Set.of("prompts-against-decodes", "kv-usage-not-recorded", "seat-limit")) {
            assertThat(said).anyMatch(row -> row.contains(topic));
        }
        for (int parallelism : new int[] {1, 3}) {
            Path replayed = folder.resolve("replay-" + parallelism);
            JobRuns.of(RuntimeExecutionMode.BATCH, parallelism, ArchiveSource.of(raw), replayed);
            assertThat(JobRuns.difference(JobRuns.rows(replayed, ResultTables.REMARK), said))
                    .as("remarks at %d", parallelism)
                    .isEmpty();
        }
    }

    private static void readings(String run, int seats, String engine, Path log) {
        StringWriter errors = new StringWriter();
        int code = ImportMain.run(
                new PrintWriter(new StringWriter()),
                new PrintWriter(errors, true),
                false,
                "steps-csv",
                READINGS.resolve(run).resolve("timeseries.csv").toString(),
                "--map",
                "time=t:s,running=running,waiting=waiting,kvUsed=kv_cache_pct:percent,"
                        + "promptRate=prompt_throughput,generationRate=gen_throughput",
                "--engine",
                engine,
                "--max-sequences",
                Integer.toString(seats),
                "--log",
                log.toString(),
                "--strict");
        assertThat(code).as(errors.toString()).isZero();
    }
}
