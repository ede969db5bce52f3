package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.AnalysisJob;
import io.tokenstair.job.EngineRecord;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.RouteRecords;
import io.tokenstair.job.sink.ArchiveSinks;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.rule.library.RuleLibrary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The determinism contract on recorded runs: streaming over the log and batch over the archive, at parallelism 1, 2 and 4, say the
 * same findings and token analyses, and the same as the pure analysis without Flink.
 */
class StreamBatchParityIT {
    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"kv_pressure_preemption", "abort_and_n2", "async_order", "prefix_eviction"})
    void streamingAndBatchSayTheSameAtEveryParallelism(String capture) throws Exception {
        Path log = Captures.log(capture, folder.resolve("log"));
        Path archive = folder.resolve("archive");
        archive(log, archive);

        CaptureAnalysis pure = CaptureAnalysis.of(log);
        TreeSet<String> expectedTokens = new TreeSet<>();
        pure.tokens.values().forEach(token -> expectedTokens.add(token.toString()));
        TreeSet<String> findings = null;
        for (int parallelism : new int[] {1, 2, 4}) {
            for (RuntimeExecutionMode mode : List.of(RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH)) {
                Said said = run(mode, parallelism, log, archive);
                assertThat(said.tokens).as("%s at %d", mode, parallelism).isEqualTo(expectedTokens);
                if (findings == null) {
                    findings = said.findings;
                    for (Finding finding : pure.findings) {
                        assertThat(findings).contains(finding.toString());
                    }
                }
                assertThat(said.findings).as("%s at %d", mode, parallelism).isEqualTo(findings);
            }
        }
    }

    private record Said(TreeSet<String> tokens, TreeSet<String> findings) {}

    private static Said run(RuntimeExecutionMode mode, int parallelism, Path log, Path archive) throws Exception {
        StreamExecutionEnvironment environment = JobEnvironment.local(mode, parallelism);
        boolean batch = mode == RuntimeExecutionMode.BATCH;
        Source<RawRecord, ?, ?> source = batch ? ArchiveSource.of(archive) : FolderLogSource.bounded(log);
        AnalysisJob.Results results = new AnalysisJob(
                        batch, RuleLibrary.builtIn().rules(), null, null)
                .wire(environment
                        .fromSource(
                                source,
                                CollectorWatermarks.strategy(CollectorWatermarks.LATENESS),
                                "log",
                                RawRecordTypeInfo.INSTANCE)
                        .uid("log"));
        CloseableIterator<TokenAnalysis> tokens = results.tokens().collectAsync();
        CloseableIterator<Finding> findings = results.findings().collectAsync();
        environment.executeAsync("parity");
        return new Said(texts(tokens), texts(findings));
    }

    private static <T> TreeSet<String> texts(CloseableIterator<T> rows) throws Exception {
        Collection<String> texts = new ArrayList<>();
        try (rows) {
            rows.forEachRemaining(row -> texts.add(String.valueOf(row)));
        }
        TreeSet<String> set = new TreeSet<>(texts);
        assertThat(set).as("nothing is said twice").hasSameSizeAs(texts);
        return set;
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
