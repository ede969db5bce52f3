package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.Finding;
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
import java.util.List;
import java.util.TreeSet;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
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
                assertThat(difference(said.tokens, expectedTokens))
                        .as("%s at %d", mode, parallelism)
                        .isEmpty();
                if (findings == null) {
                    findings = said.findings;
                    for (Finding finding : pure.findings) {
                        assertThat(findings).contains(finding.toString());
                    }
                }
                assertThat(difference(said.findings, findings))
                        .as("%s at %d", mode, parallelism)
                        .isEmpty();
            }
        }
    }

    /** Up to six rows that only one side has: thousands would hide them. */
    private static List<String> difference(TreeSet<String> said, TreeSet<String> expected) {
        List<String> difference = new ArrayList<>();
        said.stream()
                .filter(row -> !expected.contains(row))
                .limit(3)
                .forEach(row -> difference.add("too much: " + row));
        expected.stream().filter(row -> !said.contains(row)).limit(3).forEach(row -> difference.add("missing: " + row));
        return difference;
    }

    private record Said(TreeSet<String> tokens, TreeSet<String> findings) {}

    private Said run(RuntimeExecutionMode mode, int parallelism, Path log, Path archive) throws Exception {
        StreamExecutionEnvironment environment = JobEnvironment.local(mode, parallelism);
        boolean batch = mode == RuntimeExecutionMode.BATCH;
        Source<RawRecord, ?, ?> source = batch ? ArchiveSource.of(archive) : FolderLogSource.bounded(log);
        Path results = folder.resolve(mode + "-" + parallelism);
        new AnalysisJob(batch, RuleLibrary.builtIn().rules(), null, results)
                .wire(environment
                        .fromSource(
                                source,
                                CollectorWatermarks.strategy(CollectorWatermarks.LATENESS),
                                "log",
                                RawRecordTypeInfo.INSTANCE)
                        .uid("log"));
        environment.execute("parity");
        return new Said(rows(results, ResultTables.TOKEN_ANALYSIS), rows(results, ResultTables.FINDING));
    }

    private static <R extends Record> TreeSet<String> rows(Path results, TableSchema<R> schema) throws Exception {
        List<String> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(results, schema.table())) {
            try (TableReader<R> reader = TableReader.open(schema, file)) {
                reader.forEachRemaining(row -> rows.add(row.toString()));
            }
        }
        TreeSet<String> set = new TreeSet<>(rows);
        assertThat(set).as("nothing is said twice").hasSameSizeAs(rows);
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
