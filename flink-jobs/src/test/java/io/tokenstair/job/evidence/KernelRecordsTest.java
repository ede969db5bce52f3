package io.tokenstair.job.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.KernelRan;
import org.junit.jupiter.api.Test;

class KernelRecordsTest {
    private static final ClockShift.Ways ONE_CLOCK = (clockId, aroundNanos) -> ClockShift.NONE;

    private final KernelRecords records = new KernelRecords();
    private final DeviceClocks clocks = new DeviceClocks();
    private long step;

    /** A step of one kernel; what it took beyond the usual, ns. */
    private long run(long grid, long nanos) {
        step++;
        records.accept(
                new KernelRan(
                        "e", "gpu", "7", step, "gemm", "gemm", 1_000 * step, nanos, grid, null, null, 1, null, null),
                "clock",
                "c/0",
                step);
        Evidence evidence = new Evidence();
        records.during(
                step, 1_000 * step - 500, 1_000 * step + 500, new StepWork(0, 1, 0), clocks, ONE_CLOCK, evidence);
        return evidence.nanos(EvidenceKind.KERNEL);
    }

    private void run(int steps, long grid, long nanos) {
        for (int i = 0; i < steps; i++) {
            run(grid, nanos);
        }
    }

    @Test
    void aNewGridIsJudgedByTheOnesBesideIt() {
        run(10, 100, 1_000);
        run(10, 200, 2_000);

        assertThat(run(150, 1_500)).isZero();
        assertThat(run(151, 2_500)).isBetween(950L, 1_000L);
        assertThat(run(300, 3_000)).isZero();
        assertThat(run(301, 4_500)).isBetween(1_450L, 1_500L);
    }

    @Test
    void farBeyondWhatRanNothingIsSaid() {
        run(10, 100, 1_000);
        run(10, 200, 2_000);

        assertThat(run(500, 50_000)).isZero();
    }

    @Test
    void whatIsLongerIsNotUsualBeforeItLastedFourTimesAsLong() {
        run(100, 100, 1_000);
        run(350, 100, 2_000);
        assertThat(run(100, 2_000)).isEqualTo(1_000);

        run(100, 100, 2_000);
        assertThat(run(100, 2_000)).isZero();
    }

    @Test
    void whatIsShorterIsUsualAtOnce() {
        run(10, 100, 2_000);
        run(20, 100, 1_000);

        assertThat(run(100, 2_000)).isEqualTo(1_000);
    }

    @Test
    void everyPromptSizeMayBeAGridOfItsOwn() {
        run(10, 100, 1_000);
        for (int i = 0; i < 3 * KernelRecords.KERNELS; i++) {
            run(1_000 + i, 10_000 + 10 * i);
            if (i % 100 == 0) {
                run(100, 1_000);
            }
        }

        assertThat(records.droppedRecords).isZero();
        assertThat(records.kernels).hasSizeLessThanOrEqualTo(KernelRecords.KERNELS);
        assertThat(run(100, 1_500)).isEqualTo(500);
    }
}
