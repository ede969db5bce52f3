package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.collect.ImportMain;
import io.tokenstair.job.AnalysisJob;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What other projects recorded, imported as a user does, and what the job must and must not say of it. */
class RealDataIT {
    private static final Path REAL = Path.of("src/test/resources/real");
    private static final String READINGS = "time=t:s,running=running,waiting=waiting,kvUsed=kv_cache_pct:percent,"
            + "promptRate=prompt_throughput,generationRate=gen_throughput";

    @TempDir
    Path folder;

    @Test
    void aFullCacheWithFreeSeatsIsKvPressureAndTheBatchSwings() throws Exception {
        CaseResults results = readings("vllm019_sharegpt_runs/RTX4090_Llama-3.1-8B/timeseries.csv");

        Finding pressure = results.finding("KV_PRESSURE");
        assertThat(pressure.confidence()).isEqualTo("consistent-with");
        assertThat(pressure.requestId()).isNull();
        assertThat(pressure.narrative()).contains("in 151 of 184 scrapes");
        assertThat(results.finding("BATCH_OSCILLATION").confidence()).isEqualTo("consistent-with");
        results.never("SEAT_LIMIT", "PREEMPTION", "PREEMPTION_STORM", "CONTEXT_STAIRCASE");
        assertThat(results.tokens()).isEmpty();
    }

    @Test
    void aLimitOfSeatsWithUsageThatWasNeverRecordedIsNoKvPressure() throws Exception {
        CaseResults results = readings("vllm019_sharegpt_runs/RTXPRO6000_Llama-3.1-8B/timeseries.csv");

        results.never("KV_PRESSURE", "PREEMPTION", "PREEMPTION_STORM", "PREFIX_HIT_COLLAPSE", "CONTEXT_STAIRCASE");
    }

    @Test
    void aLongQueueBesideAnAlmostEmptyCacheIsNoKvPressure() throws Exception {
        CaseResults results = run(
                "prometheus",
                REAL.resolve("sglang_metrics_dump/sglang_metrics_partial.prom").toString());

        results.never("KV_PRESSURE", "PREEMPTION", "SEAT_LIMIT");
        assertThat(results.findings()).isEmpty();
    }

    @Test
    void aTileEdgeIsAStepOfTheBatchAndNoStaircaseOfTheContext() throws Exception {
        CaseResults results = run(
                "steps-csv",
                REAL.resolve("kernel_latency_profiles/dense.csv").toString(),
                "--map",
                "batch=tokens,stepNanos=time_us:us",
                "--where",
                "layer=gate_up_proj",
                "--engine",
                "gate-up");
        List<StepAnalysis> steps = steps();

        assertThat(steps).hasSizeGreaterThan(40);
        double below = nanos(steps, 256);
        double above = nanos(steps, 272);
        assertThat(above / below).isCloseTo(1.60, within(0.01));
        results.never("KV_PRESSURE", "CONTEXT_STAIRCASE", "CONTEXT_GROWTH", "PREEMPTION");
        assertThat(results.tokens()).isEmpty();
    }

    private static double nanos(List<StepAnalysis> steps, int batch) {
        return steps.stream()
                .filter(step -> step.batchSequences() == batch)
                .mapToLong(StepAnalysis::stepNanos)
                .findFirst()
                .orElseThrow();
    }

    private CaseResults readings(String file) throws Exception {
        return run("steps-csv", REAL.resolve(file).toString(), "--map", READINGS, "--engine", "recorded");
    }

    private CaseResults run(String... command) throws Exception {
        Path log = folder.resolve("log");
        List<String> arguments = new ArrayList<>(Arrays.asList(command));
        arguments.addAll(List.of("--log", log.toString(), "--strict"));
        StringWriter errors = new StringWriter();
        int code = ImportMain.run(
                new PrintWriter(new StringWriter()),
                new PrintWriter(errors, true),
                false,
                arguments.toArray(String[]::new));
        assertThat(code).as(errors.toString()).isZero();
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.STREAMING, 2);
        new AnalysisJob(false, RuleLibrary.builtIn().rules(), null, folder.resolve("results"))
                .wire(environment
                        .fromSource(
                                FolderLogSource.bounded(log),
                                CollectorWatermarks.strategy(CollectorWatermarks.LATENESS),
                                "log",
                                RawRecordTypeInfo.INSTANCE)
                        .uid("log"));
        environment.execute("recorded");
        return CaseResults.read(folder.resolve("results"));
    }

    private List<StepAnalysis> steps() throws Exception {
        List<StepAnalysis> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(folder.resolve("results"), ResultTables.STEP_ANALYSIS.table())) {
            try (TableReader<StepAnalysis> reader = TableReader.open(ResultTables.STEP_ANALYSIS, file)) {
                reader.forEachRemaining(rows::add);
            }
        }
        return rows;
    }
}
