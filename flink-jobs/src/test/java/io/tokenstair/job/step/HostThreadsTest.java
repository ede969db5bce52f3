package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tokenstair.event.HostSampled;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HostThreadsTest {
    private static final long PERIOD = 10_000_000;

    @Test
    void interpolatesBetweenSamples() {
        HostThreads threads = new HostThreads();
        sample(threads, "engine", 0, 0, 0);
        sample(threads, "engine", PERIOD, 6_000_000, 4_000_000);

        assertThat(threads.coreWaitNanos(0)).isZero();
        assertThat(threads.coreWaitNanos(PERIOD / 4)).isCloseTo(1_000_000, within(1.0));
        assertThat(threads.coreWaitNanos(PERIOD)).isEqualTo(4_000_000);
    }

    @Test
    void addsEngineCoreAndWorker() {
        HostThreads threads = new HostThreads();
        sample(threads, "engine", 0, 0, 0);
        sample(threads, "worker", 0, 0, 500);
        sample(threads, "engine", PERIOD, PERIOD - 2_000, 2_000);
        sample(threads, "worker", PERIOD, PERIOD - 500, 1_000);

        assertThat(threads.coreWaitNanos(PERIOD)).isEqualTo(3_000);
    }

    @Test
    void knowsNothingOutsideItsSamples() {
        HostThreads threads = new HostThreads();
        assertThat(threads.reported()).isFalse();
        assertThat(threads.coreWaitNanos(0)).isNaN();

        sample(threads, "engine", PERIOD, 0, 0);
        assertThat(threads.reported()).isTrue();
        assertThat(threads.coreWaitNanos(PERIOD)).isNaN();

        sample(threads, "engine", 2 * PERIOD, PERIOD, 0);
        assertThat(threads.coreWaitNanos(PERIOD - 1)).isNaN();
        assertThat(threads.coreWaitNanos(2 * PERIOD + 1)).isNaN();
    }

    @Test
    void coversAStampOnceEveryThreadWasSampledAfterIt() {
        HostThreads threads = new HostThreads();
        sample(threads, "engine", 0, 0, 0);
        sample(threads, "worker", 0, 0, 0);
        sample(threads, "engine", PERIOD, PERIOD, 0);

        assertThat(threads.covers(PERIOD)).isFalse();
        sample(threads, "worker", PERIOD, PERIOD, 0);
        assertThat(threads.covers(PERIOD)).isTrue();
        assertThat(threads.covers(PERIOD + 1)).isFalse();
    }

    @Test
    void aThreadThatNeitherRanNorWasReadyStalled() {
        HostThreads threads = new HostThreads();
        sample(threads, "engine", 0, 0, 0);
        sample(threads, "engine", PERIOD, PERIOD, 0);
        sample(threads, "engine", 2 * PERIOD, PERIOD + 1_000, 0);
        sample(threads, "engine", 3 * PERIOD, PERIOD + 2_000, 0);
        sample(threads, "engine", 4 * PERIOD, 2 * PERIOD, 0);

        assertThat(threads.engine.during(0, PERIOD, true)).isZero();
        assertThat(threads.engine.during(PERIOD, 3 * PERIOD, true)).isEqualTo(2.0 * PERIOD - 2_000);
        assertThat(threads.engine.during(3 * PERIOD, 4 * PERIOD, true)).isEqualTo(2_000);
    }

    @Test
    void aWaitThatTheKernelBooksAtItsEndIsNoStall() {
        HostThreads threads = new HostThreads();
        sample(threads, "engine", 0, 0, 0);
        sample(threads, "engine", PERIOD, PERIOD, 0);
        sample(threads, "engine", 2 * PERIOD, PERIOD, 0);
        sample(threads, "engine", 3 * PERIOD, PERIOD, 0);
        sample(threads, "engine", 4 * PERIOD, PERIOD, 3 * PERIOD);

        assertThat(threads.engine.during(0, 4 * PERIOD, true)).isZero();
        assertThat(threads.engine.during(0, 4 * PERIOD, false)).isEqualTo(3.0 * PERIOD);
    }

    @Test
    void aThreadThatStoodReadyDidNotStall() {
        HostThreads threads = new HostThreads();
        sample(threads, "engine", 0, 0, 0);
        sample(threads, "engine", PERIOD, 0, PERIOD);

        assertThat(threads.engine.total(PERIOD, true)).isZero();
        assertThat(threads.coreWaitNanos(PERIOD)).isEqualTo(PERIOD);
    }

    @Test
    void leavesOutOtherProcessesAndSamplesWithoutNumbers() {
        HostThreads threads = new HostThreads();
        sample(threads, "api", 0, 0, 0);
        sample(threads, "engine", 0, null, 5);
        sample(threads, "engine", 0, 5, null);

        assertThat(threads.reported()).isFalse();
    }

    @Test
    void aSampleThatIsNotLaterChangesNothing() {
        HostThreads threads = new HostThreads();
        sample(threads, "engine", 0, 0, 0);
        sample(threads, "engine", PERIOD, PERIOD, 100);
        sample(threads, "engine", PERIOD, 0, 900);
        sample(threads, "engine", PERIOD - 1, 0, 900);

        assertThat(threads.coreWaitNanos(PERIOD)).isEqualTo(100);
    }

    @Test
    void keepsTheLastSamplesOnly() {
        HostThreads threads = new HostThreads();
        for (int i = 0; i <= 1_000; i++) {
            sample(threads, "worker", i * PERIOD, i * PERIOD, i * 10L);
        }

        assertThat(threads.coreWaitNanos(0)).isNaN();
        assertThat(threads.coreWaitNanos(1_000 * PERIOD)).isEqualTo(10_000);
        assertThat(threads.coreWaitNanos(900 * PERIOD)).isEqualTo(9_000);
        assertThat(threads.worker.periodNanos()).isEqualTo(PERIOD);
    }

    private static HostThreads counted(@Nullable Long... totals) {
        HostThreads threads = new HostThreads();
        for (int i = 0; i < totals.length; i++) {
            threads.accept(
                    new HostSampled("host-a", "engine", "main", i * PERIOD, 0L, 0L, "engine-0", totals[i], null, null),
                    i * PERIOD,
                    "host/1/" + i);
        }
        return threads;
    }

    @Test
    void aWaitForBlockIoCountsWholeHoweverSoonAfterItTheStepEnds() {
        HostThreads threads = counted(0L, 0L, 0L, 0L, 3 * PERIOD);

        assertThat(threads.engine.blockIoWaitBeyondUsual(PERIOD, 3 * PERIOD + 1))
                .as("booked between the last two samples")
                .isEqualTo(3 * PERIOD);
        assertThat(threads.engine.blockIoWaitBeyondUsual(PERIOD, 3 * PERIOD)).isZero();
    }

    @Test
    void whatAThreadUsuallyWaitsForBlockIoIsTakenOff() {
        HostThreads threads = counted(0L, 1_000_000L, 2_000_000L, 3_000_000L, 9_000_000L);

        assertThat(threads.engine.blockIoWaitBeyondUsual(3 * PERIOD, 4 * PERIOD))
                .isEqualTo(5_000_000);
    }

    @Test
    void whereNoCountWasReadAWaitForBlockIoIsUnknown() {
        assertThat(counted(0L, null, 5L).engine.blockIoWaitBeyondUsual(PERIOD, 2 * PERIOD))
                .isNaN();
        assertThat(counted(0L, 5L, null).engine.blockIoWaitBeyondUsual(PERIOD, 2 * PERIOD))
                .isNaN();
        assertThat(counted(0L, 5L).engine.blockIoWaitBeyondUsual(PERIOD, 2 * PERIOD))
                .isNaN();
        assertThat(counted(0L, 5L).engine.blockIoWaitBeyondUsual(-1, PERIOD)).isNaN();
        assertThat(new HostThreads().engine.blockIoWaitBeyondUsual(0, 1)).isNaN();
        assertThat(counted(null, 4L, 9L).engine.blockIoWaitBeyondUsual(PERIOD, 2 * PERIOD))
                .as("what it usually waits is unknown, what it waited is not")
                .isEqualTo(5);
    }

    private static void sample(
            HostThreads threads, String role, long stampNanos, @Nullable Number onCore, @Nullable Number wait) {
        threads.accept(
                new HostSampled(
                        "host-a",
                        role,
                        "main",
                        onCore == null ? null : Long.valueOf(onCore.longValue()),
                        wait == null ? null : Long.valueOf(wait.longValue()),
                        null,
                        "engine-0"),
                stampNanos,
                "host/1/" + stampNanos);
    }
}
