package io.tokenstair.collect.kineto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.Imported.Told;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces that others recorded: CUDA, HIP, MTIA and CPU alone. */
class RealTracesTest {
    @TempDir
    Path folder;

    private Told imported(String name) throws ImportException {
        return Imported.file(
                listener -> new KinetoImport(null, null, Imported.LIMITS, listener),
                Imported.real().resolve(name),
                folder.resolve("log"));
    }

    private static List<KernelRan> kernels(Imported imported) {
        return imported.all(KernelRan.class).stream()
                .filter(ran -> !"copy".equals(ran.kernelClass()))
                .toList();
    }

    private static long[] waits(Imported imported) {
        return kernels(imported).stream()
                .filter(ran -> ran.launchNanos() != null)
                .mapToLong(ran -> ran.startNanos() - Objects.requireNonNull(ran.launchNanos()))
                .sorted()
                .toArray();
    }

    private static long median(long[] sorted) {
        return sorted[(sorted.length - 1) / 2];
    }

    @Test
    void kernelsOfADeepQueueWait76MillisecondsFromLaunchToStart() throws Exception {
        Told told = imported("kineto_hta/ns_resolution.excerpt.json.gz");

        assertThat(told.line("kernels,"))
                .endsWith("4350 kernels, 0 copies and fills; 4350 joined to the call that launched them, 0 without a"
                        + " launch record");
        assertThat(told.line("from launch"))
                .endsWith("from launch to start: p50 76.468 ms, p99 88.912 ms, longest 90.943 ms (4350 kernels)");
        assertThat(told.line("steps")).contains("5 steps from ProfilerStep ranges");
        long[] waits = waits(told.imported());
        assertThat(median(waits)).isEqualTo(76_467_558);
        assertThat(told.imported().summary().line()).isEqualTo("read 8705, accepted 8705, rejected 0");
    }

    @Test
    void kernelsWithoutALaunchRecordHaveNoLaunchAndAreInNoFigure() throws Exception {
        Told told = imported("kineto_hta/negative_queue.excerpt.json.gz");

        assertThat(told.line("kernels (")).contains("920 kernels", "814 joined", "106 without a launch record");
        assertThat(told.line("from launch")).contains("p50 163.797 ms", "(814 kernels)");
        assertThat(median(waits(told.imported()))).isEqualTo(163_797_000);
        assertThat(kernels(told.imported()))
                .filteredOn(ran -> ran.launchNanos() == null)
                .hasSize(106)
                .allSatisfy(ran -> assertThat(ran.correlationId()).isNotNull());
        assertThat(kernels(told.imported())).noneMatch(ran -> ran.launchNanos() != null && ran.launchNanos() <= 0);
    }

    @Test
    void kernelsAndCallsOfHipAreKnownByTheirNames() throws Exception {
        Told told = imported("kineto_hta/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz");

        assertThat(told.line("kernels,")).contains("14 kernels, 2 copies and fills; 14 joined");
        assertThat(kernels(told.imported())).extracting(KernelRan::deviceId).containsOnly("2");
        assertThat(kernels(told.imported())).extracting(KernelRan::streamId).containsOnly("0");
        assertThat(told.imported().all(StreamStalled.class))
                .extracting(StreamStalled::stallKind)
                .containsExactlyInAnyOrder("copy", "copy", "device-sync");
        KernelRan first = kernels(told.imported()).get(0);
        // baseTimeNanoseconds 1735632360000000000 and ts 4203669603771.648
        assertThat(first.startNanos()).isEqualTo(1_735_632_360_000_000_000L + 4_203_669_603_771_648L);
        assertThat(first.stepId()).isEqualTo(1L);
        // The 14 kernels were launched in the first step, also those that ran in the second.
        assertThat(told.imported().all(StepCompleted.class))
                .extracting(StepCompleted::stepId)
                .containsExactly(1L, 2L);
    }

    @Test
    void jobsOfAnMtiaAcceleratorAreItsKernels() throws Exception {
        Told told = imported("kineto_hta/mtia.excerpt.json.gz");

        assertThat(told.line("MTIA")).contains("the device is an MTIA accelerator: its jobs are taken as kernels");
        assertThat(told.line("joined")).contains("60 kernels, 20 copies and fills; 60 joined");
        assertThat(kernels(told.imported()))
                .extracting(KernelRan::kernelName)
                .contains("permute_2d_sparse_data-dtype_Int", "cumsum-dtype_Int");
    }

    @Test
    void collectivesAreTold() throws Exception {
        Told told = imported("kineto_hta/nccl.excerpt.json.gz");

        assertThat(told.line("kernels (")).contains("21 kernels (21 collective)");
        assertThat(kernels(told.imported())).extracting(KernelRan::kernelClass).containsOnly("collective");
    }

    @Test
    void allocationsAndWaitsAreTold() throws Exception {
        Told told = imported("kineto_hta/critical_path__alexnet__benchmark_result_2869224_1695835535_trace.json.gz");

        assertThat(told.line("device memory")).endsWith("device memory: 24 alloc, 15 free");
        assertThat(told.line("waits"))
                .endsWith("waits for the device: 16 stream-sync (0.559 ms), 5 device-sync (0.938 ms)");
        List<MemoryChanged> changes = told.imported().all(MemoryChanged.class);
        assertThat(changes).hasSize(39);
        // The trace does not say how much, where or whether it worked.
        assertThat(changes).allSatisfy(change -> {
            assertThat(change.sizeBytes()).isNull();
            assertThat(change.deviceId()).isNull();
            assertThat(change.driverCode()).isNull();
        });
        assertThat(told.imported().all(StreamStalled.class))
                .filteredOn(stall -> stall.stallKind().equals("stream-sync"))
                .hasSize(16)
                .allSatisfy(stall -> {
                    assertThat(stall.deviceId()).isEqualTo("0");
                    assertThat(stall.streamId()).isNotNull();
                });
        assertThat(told.imported().all(StepCompleted.class)).isEmpty();
    }

    @Test
    void aWaitForAnEventIsOneStallAndAQuestionForItIsNone() throws Exception {
        Told told = imported("kineto_hta/critical_path__cuda_event_sync__event_sync_trace.json.gz");

        assertThat(told.imported().all(StreamStalled.class))
                .extracting(StreamStalled::stallKind)
                .containsExactlyInAnyOrder("event-sync", "stream-sync", "device-sync");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kineto_hta/cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
                "kineto_hta/rank_non_gpu.excerpt.json.gz",
                "kineto_cpu_torch/trace.excerpt.json.gz"
            })
    void aTraceOfACpuSaysThatNothingIsKnownOfAGpu(String name) throws Exception {
        Told told = imported(name);

        assertThat(told.line("no GPU kernel in this file"))
                .endsWith("it holds CPU activity only; nothing is known of what a GPU did, which is not an idle GPU");
        assertThat(told.imported().all(KernelRan.class)).isEmpty();
        assertThat(told.imported().summary().rejected()).isZero();
    }

    @Test
    void rangesOfACounterProfilerAreNoKernels() throws Exception {
        assertThat(imported("kineto_hta/cupti_profiler.excerpt.json.gz").line("no GPU kernel in this file"))
                .contains("8 ranges of a counter profiler (cuda_profiler_range) stand in their place");
    }

    @Test
    void stepsOfAnEngineComeFromRangesThatNameThem() throws Exception {
        Told told = imported("kineto_cpu_torch/trace.excerpt.json.gz");

        assertThat(told.line("steps"))
                .endsWith("17 steps from vLLM's execute_context ranges: p50 0.469 ms, longest 7.683 ms;"
                        + " longest pause between two 30.224 ms, before step 10");
        List<StepCompleted> steps = told.imported().all(StepCompleted.class);
        assertThat(steps)
                .extracting(StepCompleted::stepId)
                .startsWith(0L, 1L, 2L)
                .endsWith(16L);
        StepCompleted first = steps.get(0);
        // ts 5110307734649.883: a double would be 27 ns off.
        assertThat(first.scheduleStartNanos()).isEqualTo(1_795_967_333_734_649_883L);
        assertThat(first.prefillTokens()).isEqualTo(192L);
        assertThat(first.decodeTokens()).isZero();
        assertThat(first.forwardMode()).isEqualTo("prefill");
        assertThat(steps.get(1).decodeTokens()).isEqualTo(3L);
        assertThat(steps.get(1).forwardMode()).isEqualTo("decode");
    }

    @Test
    void whatIsNoTraceIsRefusedInOneLine() {
        assertThatExceptionOfType(ImportException.class)
                .isThrownBy(() -> imported("kineto_hta/memory_timeline.excerpt.raw"))
                .withMessageContaining("an array without events");
        assertThatExceptionOfType(ImportException.class)
                .isThrownBy(() -> imported("kineto_hta/LICENSE"))
                .withMessageContaining("it does not begin as JSON does");
    }
}
