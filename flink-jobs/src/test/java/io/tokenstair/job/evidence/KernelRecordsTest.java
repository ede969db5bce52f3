package io.tokenstair.job.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.DeviceSampled;
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

    /** What grows with the context may not hide what a lower clock costs, and no kernel of another class may be charged for it. */
    @Test
    void aLowerClockCostsItsShareOfWhatAllKernelsTookWhileTheContextGrows() {
        Evidence evidence = new Evidence();
        for (int i = 0; i < 400; i++) {
            boolean hot = i >= 100;
            long end = 100_000_000L * (i + 1);
            clocks.accept(
                    new DeviceSampled("e", "gpu", hot ? 1_200_000_000L : 1_800_000_000L, null, null, null, null),
                    "clock",
                    end - 50_000_000,
                    "d/0/" + i);
            for (String name : new String[] {"gemm", "attention"}) {
                records.accept(
                        new KernelRan(
                                "e",
                                "gpu",
                                "7",
                                (long) i,
                                name,
                                name,
                                end - 40_000_000,
                                hot ? 15_000_000 : 10_000_000,
                                null,
                                null,
                                null,
                                1,
                                null,
                                null),
                        "clock",
                        "c/0",
                        i);
            }
            evidence = new Evidence();
            records.during(i, end - 100_000_000, end, new StepWork(100 + 4L * i, 1, 0), clocks, ONE_CLOCK, evidence);
        }

        assertThat(evidence.nanos(EvidenceKind.THERMAL)).isEqualTo(10_000_000);
        assertThat(evidence.nanos(EvidenceKind.COLLECTIVE)).isZero();
        assertThat(evidence.nanos(EvidenceKind.KERNEL)).isZero();
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
