package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.RouteRecords;
import io.tokenstair.job.sink.ArchiveSinks;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.job.step.EngineRecord;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The determinism contract on every recorded run: streaming over the log and batch over the archive say the same findings, requests,
 * token analyses and statistics, at parallelism 1, 2 and 4, and the tokens are those of the pure analysis without Flink.
 */
class StreamBatchParityIT {
    @TempDir
    Path folder;

    static List<String> captures() throws Exception {
        return Captures.names();
    }

    @ParameterizedTest
    @MethodSource("captures")
    void streamingAndBatchSayTheSameAtEveryParallelism(String capture) throws Exception {
        Path log = Captures.log(capture, folder.resolve("log"));
        Path archive = folder.resolve("archive");
        archive(log, archive);

        CaptureAnalysis pure = CaptureAnalysis.of(log);
        TreeSet<String> tokens = new TreeSet<>();
        pure.tokens.values().forEach(token -> tokens.add(token.toString()));
        JobRuns first = null;
        for (int parallelism : new int[] {1, 2, 4}) {
            for (RuntimeExecutionMode mode : List.of(RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH)) {
                Source<RawRecord, ?, ?> source =
                        mode == RuntimeExecutionMode.BATCH ? ArchiveSource.of(archive) : FolderLogSource.bounded(log);
                JobRuns run = JobRuns.of(mode, parallelism, source, folder.resolve(mode + "-" + parallelism));
                assertThat(JobRuns.difference(run.tokens(), tokens))
                        .as("tokens, %s at %d", mode, parallelism)
                        .isEmpty();
                if (first == null) {
                    first = run;
                    assertThat(run.statistics()).anyMatch(row -> row.startsWith("Quantile["));
                    for (Finding finding : pure.findings) {
                        assertThat(run.findings()).contains(finding.toString());
                    }
                }
                assertThat(JobRuns.difference(run.findings(), first.findings()))
                        .as("findings, %s at %d", mode, parallelism)
                        .isEmpty();
                assertThat(JobRuns.difference(run.requests(), first.requests()))
                        .as("requests, %s at %d", mode, parallelism)
                        .isEmpty();
                assertThat(JobRuns.difference(run.statistics(), first.statistics()))
                        .as("statistics, %s at %d", mode, parallelism)
                        .isEmpty();
            }
        }
    }

    private static void archive(Path log, Path archive) throws Exception {
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.BATCH, 1);
        SingleOutputStreamOperator<EngineRecord> routed = environment
                .fromSource(
                        FolderLogSource.bounded(log),
                        WatermarkStrategy.noWatermarks(),
                        "log",
                        RawRecordTypeInfo.INSTANCE)
                .uid("log")
                .process(new RouteRecords(true))
                .uid("route-records");
        routed.getSideOutput(RouteRecords.ARCHIVE)
                .sinkTo(ArchiveSinks.raw(archive))
                .uid("raw-archive");
        environment.execute("archive");
    }
}
