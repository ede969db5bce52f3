package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.job.source.Records;
import io.tokenstair.rule.library.RuleLibrary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the graph of the analysis promises to savepoints: a name for everything that keeps state. */
class JobGraphTest {
    @TempDir
    Path folder;

    private StreamGraph graph(RuntimeExecutionMode mode) throws Exception {
        Path log = folder.resolve("log-" + mode);
        Records.writePartition(log, 0, 3);
        StreamExecutionEnvironment environment = JobEnvironment.local(mode, 2);
        boolean batch = mode == RuntimeExecutionMode.BATCH;
        new AnalysisJob(batch, RuleLibrary.builtIn().rules(), folder.resolve("raw"), folder.resolve("results"))
                .wire(environment
                        .fromSource(
                                batch ? FolderLogSource.bounded(log) : FolderLogSource.unbounded(log),
                                CollectorWatermarks.strategy(CollectorWatermarks.LATENESS),
                                "log",
                                RawRecordTypeInfo.INSTANCE)
                        .uid("log"));
        return environment.getStreamGraph(false);
    }

    @ParameterizedTest
    @EnumSource(names = {"STREAMING", "BATCH"})
    void everyOperatorHasAUidOfItsOwn(RuntimeExecutionMode mode) throws Exception {
        List<String> uids = new ArrayList<>();
        for (StreamNode node : graph(mode).getStreamNodes()) {
            assertThat(node.getTransformationUID()).as(node.getOperatorName()).isNotNull();
            uids.add(node.getTransformationUID());
        }

        assertThat(uids)
                .doesNotHaveDuplicates()
                .contains(
                        "log",
                        "route-records",
                        "analyse-steps",
                        "analyse-requests",
                        "schedule-rules",
                        "run-rules-request",
                        "run-rules-engine",
                        "raw-archive",
                        "rejected-archive",
                        "token-analysis",
                        "finding");
    }

    @Test
    void bothModesNameTheSameOperators() throws Exception {
        assertThat(uids(graph(RuntimeExecutionMode.STREAMING))).isEqualTo(uids(graph(RuntimeExecutionMode.BATCH)));
    }

    private static List<String> uids(StreamGraph graph) {
        return graph.getStreamNodes().stream()
                .map(node -> String.valueOf(node.getTransformationUID()))
                // A sink's writer and committer are expanded by mode.
                .filter(uid -> !uid.contains("archive") && !uid.contains("sink"))
                .sorted()
                .toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"STREAMING", "BATCH"})
    void nothingNeedsAGenericTypeOrAGeneratedUid(RuntimeExecutionMode mode) throws Exception {
        assertThat(JobEnvironment.settings(mode).get(PipelineOptions.GENERIC_TYPES))
                .isFalse();
        assertThat(JobEnvironment.settings(mode).get(PipelineOptions.AUTO_GENERATE_UIDS))
                .isFalse();
        assertThat(JobEnvironment.settings(mode).get(CheckpointingOptions.ENABLE_UNALIGNED))
                .isFalse();
        // Asks every operator for its serializers and its uid.
        assertThat(graph(mode).getJobGraph().getNumberOfVertices()).isPositive();
    }

    @ParameterizedTest
    @EnumSource(names = {"STREAMING", "BATCH"})
    void keysKeepTheirPlaceWhateverTheParallelism(RuntimeExecutionMode mode) throws Exception {
        for (StreamNode node : graph(mode).getStreamNodes()) {
            assertThat(node.getMaxParallelism()).as(node.getOperatorName()).isIn(-1, JobEnvironment.MAX_PARALLELISM);
        }
    }
}
