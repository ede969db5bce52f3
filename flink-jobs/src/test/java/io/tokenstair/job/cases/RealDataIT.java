package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.collect.ImportMain;
import io.tokenstair.job.ToldInChinese;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What other projects recorded, imported as a user does, and what the job must and must not say of it. */
class RealDataIT {
    private static final Path REAL = Path.of("src/test/resources/real");
    private static final String READINGS = "time=t:s,running=running,waiting=waiting,kvUsed=kv_cache_pct:percent,"
            + "promptRate=prompt_throughput,generationRate=gen_throughput";

    @TempDir
    Path folder;

    private String said = "";

    @AfterEach
    void whatIsSaidIsToldInChineseToo() throws Exception {
        assertThat(CaseResults.read(folder.resolve("results")).findings()).allSatisfy(ToldInChinese::finding);
        assertThat(remarks()).allSatisfy(ToldInChinese::remark);
    }

    @Test
    void aFullCacheWithFreeSeatsIsKvPressureAndTheBatchSwings() throws Exception {
        CaseResults results = readings("vllm019_sharegpt_runs/RTX4090_Llama-3.1-8B/timeseries.csv", 256);

        Finding pressure = results.finding("KV_PRESSURE");
        assertThat(pressure.confidence()).isEqualTo("consistent-with");
        assertThat(pressure.requestId()).isNull();
        assertThat(pressure.narrative()).contains("in 151 of 184 scrapes");
        assertThat(results.finding("BATCH_OSCILLATION").confidence()).isEqualTo("consistent-with");
        assertThat(pressure.narrative()).contains("requests waited, 234 at most, and 23 to 49 of 256 that may ran");
        assertThat(results.finding("BATCH_OSCILLATION").narrative())
                .contains("changed direction from one scrape to the next 40 times");
        results.never("SEAT_LIMIT", "PREEMPTION", "PREEMPTION_STORM", "CONTEXT_STAIRCASE");
        assertThat(results.tokens()).isEmpty();
        assertThat(remarks()).singleElement().satisfies(remark -> {
            assertThat(remark.topic()).isEqualTo("prompts-against-decodes");
            assertThat(remark.narrative()).contains("r -0.57");
        });
    }

    @Test
    void aLimitOfSeatsWithUsageThatWasNeverRecordedIsNoKvPressure() throws Exception {
        CaseResults results = readings("vllm019_sharegpt_runs/RTXPRO6000_Llama-3.1-8B/timeseries.csv", 128);

        results.never("KV_PRESSURE", "PREEMPTION", "PREEMPTION_STORM", "PREFIX_HIT_COLLAPSE", "CONTEXT_STAIRCASE");
        assertThat(remark("kv-usage-not-recorded").narrative())
                .startsWith("No data on KV usage: it reads 0 in all of 67");
        assertThat(remark("seat-limit").narrative())
                .contains("In 36 of 38 scrapes with requests waiting, 104 at most")
                .contains("as many sequences as it may, 128")
                .endsWith("How full the KV pool was is not recorded.");
        assertThat(remark("seat-limit").confidence()).isEqualTo("consistent-with");
    }

    @Test
    void aLongQueueBesideAnAlmostEmptyCacheIsNoKvPressure() throws Exception {
        CaseResults results = run(
                "prometheus",
                REAL.resolve("sglang_metrics_dump/sglang_metrics_partial.prom").toString());

        results.never("KV_PRESSURE", "PREEMPTION", "SEAT_LIMIT");
        assertThat(results.findings()).isEmpty();
        assertThat(remark("queue-beside-free-kv").narrative())
                .contains(
                        "2826 at most, with up to 162 running and 28 % of the KV pool in use: KV space is not what they");
    }

    @Test
    void theRoleChunkOfAChatBenchmarkIsNoToken() throws Exception {
        CaseResults results = run(
                "vllm-bench",
                REAL.resolve("vllm_bench_itls_qwen05b/day05_large_i2048_o256_c4.json")
                        .toString());

        assertThat(results.requests()).hasSize(8).allSatisfy(request -> {
            assertThat(request.tokenCount()).isEqualTo(256);
            assertThat(request.state()).isEqualTo("complete");
            assertThat(request.requestCauses()).containsExactly("ROLE_CHUNK");
            assertThat(request.engines()).isEmpty();
        });
        assertThat(results.tokens())
                .hasSize(8 * 256)
                .allMatch(token -> token.gapBasis().equals("delivered"));
        // 43.872 ms to the role, 7 us on to the first token.
        assertThat(request(results, "day05_large_i2048_o256_c4.json#0").ttftNanos())
                .isBetween(43_878_000L, 43_881_000L);
        long most = results.tokens().stream()
                .filter(token -> token.tokenIndex() > 0)
                .mapToLong(token -> Objects.requireNonNull(token.gapNanos()))
                .max()
                .orElseThrow();
        assertThat(most / 1e6).isCloseTo(23.7, within(0.05));
        assertThat(results.findings()).allMatch(finding -> finding.cause().equals("UNRESOLVED_STALL"));
    }

    @Test
    void aBenchmarkWhereEveryRequestFailedIsNoDataAndNoFindingComesOfItsZeros() throws Exception {
        Path file = folder.resolve("failed.json");
        Files.writeString(
                file,
                "{\"backend\": \"vllm\", \"model_id\": \"m\", \"completed\": 0, \"failed\": 3, \"duration\": 1.5,"
                        + " \"median_ttft_ms\": 0.0, \"median_tpot_ms\": 0.0, \"p99_tpot_ms\": 0.0, \"ttfts\": [0.0, 0.0, 0.0],"
                        + " \"itls\": [[], [], []], \"input_lens\": [9, 9, 9], \"output_lens\": [0, 0, 0],"
                        + " \"start_times\": [1.0, 1.1, 1.2], \"errors\": [\"refused\", \"refused\", \"refused\"]}");
        CaseResults results = run("vllm-bench", file.toString());

        assertThat(results.requests()).hasSize(3).allSatisfy(request -> {
            assertThat(request.ttftNanos()).isNull();
            assertThat(request.tpotNanos()).isNull();
            assertThat(request.tokenCount()).isZero();
            assertThat(request.endReason()).isEqualTo("error");
        });
        assertThat(results.tokens()).isEmpty();
        assertThat(results.findings()).isEmpty();
        assertThat(remark("no-data").narrative()).startsWith("No data: no request succeeded in 1 run");
    }

    @Test
    void chunksOfSglangsBenchmarkComeOutAsTheyWereMeasured() throws Exception {
        CaseResults results = run(
                "sglang-bench", REAL.resolve("sglang_bench_serving/bench.jsonl").toString());

        assertThat(results.requests()).hasSize(10).allMatch(request -> request.fromEpochNanos() == null);
        List<Long> ttfts = results.requests().stream()
                .map(request -> Objects.requireNonNull(request.ttftNanos()))
                .sorted()
                .toList();
        assertThat((ttfts.get(4) + ttfts.get(5)) / 2e6).isCloseTo(75.0, within(0.001));
        assertThat(results.tokens()).hasSize(608);
        List<Long> gaps = results.tokens().stream()
                .filter(token -> token.tokenIndex() > 0)
                .map(token -> Objects.requireNonNull(token.gapNanos()))
                .sorted()
                .toList();
        assertThat(gaps).hasSize(598);
        assertThat((gaps.get(298) + gaps.get(299)) / 2e6).isCloseTo(32.14, within(0.001));
        assertThat(gaps.get(597) / 1e6).isCloseTo(1284.167, within(0.001));
        TokenAnalysis slowest = results.tokens().stream()
                .filter(token -> token.tokenIndex() > 0 && token.gapNanos() != null)
                .max(Comparator.comparingLong(token -> Objects.requireNonNull(token.gapNanos())))
                .orElseThrow();
        assertThat(slowest.requestId() + " " + slowest.tokenIndex()).isEqualTo("bench.jsonl#6 17");
        assertThat(results.findings()).allMatch(finding -> finding.cause().equals("UNRESOLVED_STALL"));
    }

    @Test
    void aWorkloadHasNoLatencyAndNoFinding() throws Exception {
        CaseResults results = run(
                "mooncake", REAL.resolve("mooncake/conversation_trace.jsonl").toString());

        assertThat(results.requests()).hasSize(250).allMatch(request -> request.ttftNanos() == null);
        assertThat(results.tokens()).isEmpty();
        assertThat(results.findings()).isEmpty();
        assertThat(remark("workload").narrative())
                .startsWith("A workload of 250 requests")
                .contains("arrivals come on ticks of about 3000 ms");
        assertThat(remark("prefix-sharing").confidence()).isEqualTo("established");
    }

    @Test
    void aggregatesOfRunsTellHowTpotGoesWithContextAndNameNoCause() throws Exception {
        CaseResults results = run(
                "vllm-bench",
                REAL.resolve("inferencex_tpot_vs_context/tpot_grid.jsonl").toString());

        assertThat(results.requests()).isEmpty();
        assertThat(results.tokens()).isEmpty();
        assertThat(results.findings()).isEmpty();
        assertThat(remarks()).hasSize(3).allMatch(remark -> remark.confidence().equals("consistent-with"));
        assertThat(of("GLM-5-FP8, glm5_fp8_vllm_tp8, 4 at once"))
                .contains("from 21.4 ms at 1024 tokens to 57.9 ms at 16384: consistent with a cost of context");
        assertThat(of("GLM-5-FP8, glm5_fp8_vllm_tp8, 32 at once"))
                .contains("to 205.2 ms at 8192 and stays there to 16384 (201.4 to 205.5 ms)")
                .contains("from 7.2 s to 41.5 s: consistent with a limit of admission");
        assertThat(of("MiniMax-M2.5, minimax_m25_vllm_tep8, 16 at once"))
                .contains("does not rise with the input length")
                .contains("its p99 does, from 39.0 ms to 205.9 ms: consistent with prompts of other requests");
    }

    private String of(String subject) throws Exception {
        return remarks().stream()
                .filter(remark -> remark.subject().endsWith(subject))
                .map(Remark::narrative)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void twoClocksOfOneRecordAreNeverSubtracted() throws Exception {
        CaseResults results = run(
                "vllm-bench",
                REAL.resolve("vllm019_sharegpt_runs/RTX4090_Llama-3.1-8B/requests.jsonl")
                        .toString());

        assertThat(results.requests()).hasSize(60).allMatch(request -> request.ttftNanos() == null);
        assertThat(results.tokens()).isEmpty();
        assertThat(results.findings()).isEmpty();
        assertThat(remark("request-times").narrative()).startsWith("60 requests waited ");
    }

    private static RequestAnalysis request(CaseResults results, String id) {
        return results.requests().stream()
                .filter(request -> request.requestId().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private Remark remark(String topic) throws Exception {
        return remarks().stream()
                .filter(remark -> remark.topic().equals(topic))
                .findFirst()
                .orElseThrow();
    }

    private List<Remark> remarks() throws Exception {
        List<Remark> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(folder.resolve("results"), ResultTables.REMARK.table())) {
            try (TableReader<Remark> reader = TableReader.open(ResultTables.REMARK, file)) {
                reader.forEachRemaining(rows::add);
            }
        }
        return rows;
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

    @Test
    void kernelsThatWaitInADeepQueueAreNoFaultOfAStep() throws Exception {
        CaseResults results = run(
                "kineto",
                REAL.resolve("kineto_hta/ns_resolution.excerpt.json.gz").toString());

        assertThat(said).contains("4350 joined to the call that launched them, 0 without a launch record");
        assertThat(said).contains("from launch to start: p50 76.468 ms");
        assertThat(steps()).extracting(StepAnalysis::stepId).containsExactlyInAnyOrder(101L, 102L, 103L, 104L, 105L);
        assertThat(results.findings()).isEmpty();
        assertThat(results.tokens()).isEmpty();
    }

    @Test
    void kernelsWithoutALaunchRecordAreKeptWithoutOne() throws Exception {
        Path export = folder.resolve("h100.sqlite");
        try (InputStream in =
                new GZIPInputStream(Files.newInputStream(REAL.resolve("nsys_sqlite/h100_2gpu_1s.excerpt.sqlite.gz")))) {
            Files.copy(in, export);
        }
        CaseResults results = run("nsys-sqlite", export.toString());

        assertThat(said).contains("3442 kernels", "1632 joined", "1810 without a launch record");
        // Calls waited 857 ms for the GPU. No step is recorded, so nobody is said to have lost that.
        assertThat(said).contains("8 stream-sync (856.929 ms)");
        assertThat(results.findings()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kineto_hta/negative_queue.excerpt.json.gz",
                "kineto_hta/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz",
                "kineto_hta/mtia.excerpt.json.gz",
                "kineto_hta/nccl.excerpt.json.gz",
                "kineto_hta/critical_path__alexnet__benchmark_result_2869224_1695835535_trace.json.gz"
            })
    void kernelsOfHipMtiaAndCudaAloneAccuseNobody(String trace) throws Exception {
        CaseResults results = run("kineto", REAL.resolve(trace).toString());

        assertThat(said).contains("joined to the call that launched them");
        assertThat(results.findings()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kineto_hta/cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
                "kineto_hta/rank_non_gpu.excerpt.json.gz",
                "kineto_hta/cupti_profiler.excerpt.json.gz"
            })
    void aTraceWithoutKernelsIsNoIdleGpu(String trace) throws Exception {
        CaseResults results = run("kineto", REAL.resolve(trace).toString());

        assertThat(said).contains("no GPU kernel in this file", "which is not an idle GPU");
        assertThat(results.findings()).isEmpty();
    }

    @Test
    void aPauseBetweenTwoStepsOfATraceIsTimeInWhichNoneWasInFlight() throws Exception {
        CaseResults results = run(
                "kineto", REAL.resolve("kineto_cpu_torch/trace.excerpt.json.gz").toString());
        List<StepAnalysis> steps = steps();

        assertThat(said).contains("longest pause between two 30.224 ms, before step 10");
        assertThat(steps).hasSize(17);
        StepAnalysis idle = steps.stream()
                .max(Comparator.comparingLong(StepAnalysis::idleNanos))
                .orElseThrow();
        assertThat(idle.stepId()).isEqualTo(10);
        assertThat(idle.idleNanos()).isBetween(30_223_000L, 30_225_000L);
        assertThat(results.tokens()).isEmpty();
    }

    private static double nanos(List<StepAnalysis> steps, int batch) {
        return steps.stream()
                .filter(step -> step.batchSequences() == batch)
                .mapToLong(StepAnalysis::stepNanos)
                .findFirst()
                .orElseThrow();
    }

    private CaseResults readings(String file, int seats) throws Exception {
        return run(
                "steps-csv",
                REAL.resolve(file).toString(),
                "--map",
                READINGS,
                "--engine",
                "recorded",
                "--max-sequences",
                Integer.toString(seats));
    }

    private CaseResults run(String... command) throws Exception {
        Path log = folder.resolve("log");
        List<String> arguments = new ArrayList<>(Arrays.asList(command));
        arguments.addAll(List.of("--log", log.toString(), "--strict"));
        StringWriter errors = new StringWriter();
        StringWriter out = new StringWriter();
        int code = ImportMain.run(
                new PrintWriter(out, true), new PrintWriter(errors, true), false, arguments.toArray(String[]::new));
        assertThat(code).as(errors.toString()).isZero();
        said = out.toString();
        return CaseResults.ofLog(log, folder.resolve("results"));
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
