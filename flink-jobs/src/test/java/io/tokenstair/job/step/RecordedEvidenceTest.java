package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Part;
import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.KvTransferred;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.StreamStalled;
import io.tokenstair.job.step.EngineScript.Threads;
import io.tokenstair.job.step.Told.Token;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Causes that a record of its own shows: each named with it, and not without it. */
class RecordedEvidenceTest {
    private static final long MILLIS = 1_000_000;
    private static final String ENGINE = EngineScript.ENGINE;

    private static EngineScript warm() {
        return EngineTimelineTest.warm();
    }

    /** A step that is 60 ms late at its end, and something recorded over part of that. */
    private static EngineScript late(EngineScript engine) {
        engine.step().decode("a", "b").late(60 * MILLIS).run();
        return engine;
    }

    private static Token last(EngineScript engine) {
        Token token = engine.told().last("a");
        assertThat(token.sum()).isEqualTo(token.gap());
        return token;
    }

    private static StreamStalled stalled(String kind, long start, long end, @Nullable Integer code) {
        return new StreamStalled(ENGINE, "gpu-0", null, null, kind, start, end, code, null);
    }

    private static MemoryChanged memory(
            String change, @Nullable Long start, @Nullable Long end, @Nullable Integer code) {
        return new MemoryChanged(ENGINE, "gpu-0", null, change, 1L << 30, 0L, start, end, code);
    }

    // ---- compiles

    @Test
    void aShapeWasCompiledInTheStep() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(
                end - MILLIS,
                new ShapeCompiled(ENGINE, 0, "gpu-0", "8x4096", "attention", end - 58 * MILLIS, end - 2 * MILLIS));

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.JIT_COMPILE);
        assertThat(token.part(Part.KERNEL)).isEqualTo(56 * MILLIS);
        assertThat(token.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
        assertThat(String.join(" ", token.why().chain)).contains("8x4096");
        assertThat(token.why().evidence).contains("kernel", "records-a/1/0");
    }

    @Test
    void aCompileOfAnotherTimeOrOfAnotherClockIsNoEvidence() {
        EngineScript before = warm();
        long then = before.nowNanos();
        before.recorded(then, new ShapeCompiled(ENGINE, 0, "gpu-0", "8x4096", null, then - 50 * MILLIS, then));
        late(before.decode(3, "a", "b"));
        assertThat(last(before).cause()).isEqualTo(Cause.UNRESOLVED_STALL);

        EngineScript other = late(warm());
        long end = other.nowNanos();
        other.recorded(
                "host-b/mono", end, new ShapeCompiled(ENGINE, 0, "gpu-0", "8x4096", null, end - 50 * MILLIS, end));
        assertThat(last(other).cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void aRecordOfTheWallClockIsUsedWhereSamplesJoinItMoreCloselyThanItOverlaps() {
        for (long bound : new long[] {MILLIS, 80 * MILLIS}) {
            EngineScript engine = warm().idle(MILLIS).clockSampled(bound);
            late(engine.decode(3, "a", "b"));
            long wall = EngineScript.START_EPOCH_MILLIS * 1_000_000 + engine.nowNanos();
            engine.recorded(
                    "wall",
                    engine.nowNanos(),
                    new ShapeCompiled(ENGINE, 0, null, "8x4096", null, wall - 50 * MILLIS, wall));

            assertThat(last(engine).cause()).isEqualTo(bound == MILLIS ? Cause.JIT_COMPILE : Cause.UNRESOLVED_STALL);
        }
    }

    // ---- allocations, syncs, driver errors

    @Test
    void anAllocationThatFailedOwnsTheSyncItForced() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(end - 60 * MILLIS, memory("fail", null, end - 60 * MILLIS, 2));
        engine.recorded(end - 5 * MILLIS, stalled("device-sync", end - 59 * MILLIS, end - 5 * MILLIS, 0));
        engine.recorded(end - 4 * MILLIS, memory("alloc", end - 5 * MILLIS, end - 4 * MILLIS, 0));

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.ALLOC_STALL);
        assertThat(token.culprit()).isEqualTo("gpu-0");
        assertThat(token.part(Part.ALLOC)).isEqualTo(56 * MILLIS);
        assertThat(token.parts()).doesNotContainKey(Part.SYNC);
        assertThat(token.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
    }

    @Test
    void anAllocationOwnsOfASyncOnlyWhatItOverlaps() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(end - 50 * MILLIS, memory("alloc", end - 60 * MILLIS, end - 50 * MILLIS, null));
        engine.recorded(end, stalled("stream-sync", end - 55 * MILLIS, end - 10 * MILLIS, null));

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.STREAM_SYNC);
        assertThat(token.part(Part.ALLOC)).isEqualTo(10 * MILLIS);
        assertThat(token.part(Part.SYNC)).isEqualTo(40 * MILLIS);
        assertThat(token.part(Part.UNEXPLAINED)).isCloseTo(10 * MILLIS, within(MILLIS));
    }

    @Test
    void aRisingCountOfRetriesIsConsistentWithAnAllocationStall() {
        EngineScript engine = warm();
        engine.recorded(engine.nowNanos(), new AllocatorSampled(ENGINE, "gpu-0", null, null, null, 4L, 0L));
        late(engine);
        late(engine);
        engine.recorded(engine.nowNanos(), new AllocatorSampled(ENGINE, "gpu-0", null, null, null, 5L, 0L));
        engine.decode(3, "a", "b");
        Told told = engine.told();

        // One retry explains one step, not every stall between the samples.
        Token first = told.token("a", engine.madeTokens("a") - 5);
        assertThat(first.cause()).isEqualTo(Cause.ALLOC_STALL);
        assertThat(first.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
        assertThat(told.token("a", engine.madeTokens("a") - 4).cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void anAllocatorThatRetriedNothingIsNoEvidence() {
        EngineScript engine = warm();
        engine.recorded(engine.nowNanos(), new AllocatorSampled(ENGINE, "gpu-0", 1L, 1L, 1L, 4L, 0L));
        late(engine);
        engine.recorded(engine.nowNanos(), new AllocatorSampled(ENGINE, "gpu-0", 1L, 1L, 1L, 4L, 0L));

        assertThat(last(engine).cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void aSynchronisingCallWaited() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(end, stalled("stream-sync", end - 60 * MILLIS, end, 0));

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.STREAM_SYNC);
        assertThat(token.part(Part.SYNC)).isCloseTo(60 * MILLIS, within(MILLIS));
    }

    @Test
    void theSyncThatEveryStepHasExplainsNothing() {
        EngineScript engine = warm();
        for (int i = 0; i < 20; i++) {
            long begin = engine.nowNanos();
            engine.step().decode("a", "b").run();
            engine.recorded(engine.nowNanos(), stalled("stream-sync", begin + MILLIS, engine.nowNanos(), 0));
        }
        long begin = engine.nowNanos();
        engine.step().decode("a", "b").late(60 * MILLIS).run();
        engine.recorded(engine.nowNanos(), stalled("stream-sync", begin + MILLIS, engine.nowNanos() - 60 * MILLIS, 0));

        assertThat(last(engine).cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void theDriverReturnedAnErrorAroundTheStall() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(end, stalled("stream-sync", end - 60 * MILLIS, end, 700));

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.DRIVER_ERROR);
        assertThat(String.join(" ", token.why().chain)).contains("700");
    }

    @Test
    void aDriverErrorWithoutLengthIsConsistentWithTheStallAroundIt() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(end, stalled("event-sync", end - 30 * MILLIS, end - 30 * MILLIS, 719));
        Token token = last(engine);
        assertThat(token.cause()).isEqualTo(Cause.DRIVER_ERROR);
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());

        // A failed allocation that the allocator handled is no error of the driver's.
        EngineScript failed = late(warm());
        failed.recorded(failed.nowNanos(), memory("fail", null, failed.nowNanos() - MILLIS, 2));
        assertThat(last(failed).cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void whatRecordsCoverBeyondWhatRemainsIsNotCharged() {
        EngineScript engine = warm();
        long begin = engine.nowNanos();
        engine.step().decode("a", "b").run();
        engine.recorded(engine.nowNanos(), stalled("stream-sync", begin, engine.nowNanos(), 0));

        Token token = last(engine);

        assertThat(token.cause()).isNull();
        assertThat(token.part(Part.SYNC)).isLessThan(MILLIS);
    }

    // ---- pauses

    @Test
    void aRecordedPauseNamesItsProcess() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(end, new HostPaused(ENGINE, "host-a", "engine", "gc", end - 58 * MILLIS, end));

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
        assertThat(token.culprit()).isEqualTo("engine");
        assertThat(token.why().confidenceWhy).contains("pause record");
        assertThat(String.join(" ", token.why().chain)).contains("gc");
    }

    @Test
    void aPauseOfTheServerBeforeTheEngineHeldUpNoStep() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(end, new HostPaused(ENGINE, "host-a", "api", "gc", end - 58 * MILLIS, end));

        assertThat(last(engine).cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void aStallByCoreRecordsNamesItsProcessToo() {
        EngineScript engine = EngineTimelineTest.warm(new EngineScript().hostSampled());
        engine.step().decode("a", "b").late(120 * MILLIS, Threads.STAND_STILL).run();
        engine.decode(5, "a", "b");

        Token token = engine.told().token("a", engine.madeTokens("a") - 6);

        assertThat(token.cause()).isEqualTo(Cause.HOST_PAUSE);
        assertThat(token.culprit()).isEqualTo("engine");
    }

    // ---- transfers

    private static EngineScript arriving(@Nullable String transferKind, long fromEnd) {
        EngineScript engine = warm();
        engine.queue("late", 64);
        engine.decode(50, "a", "b");
        long now = engine.nowNanos();
        if (transferKind != null) {
            engine.recorded(
                    now,
                    new KvTransferred(
                            ENGINE,
                            0,
                            EngineScript.engineRequestId("late"),
                            transferKind,
                            "load",
                            now - fromEnd,
                            now,
                            1L << 20,
                            64L,
                            "prefill-7"));
        }
        engine.step().decode("a", "b").prefill("late", 64).run();
        return engine;
    }

    @Test
    void aRequestWaitedForItsBlocksFromAnotherNode() {
        Token token = arriving("remote", 250 * MILLIS).told().token("late", 0);

        assertThat(token.cause()).isEqualTo(Cause.REMOTE_KV_ADMISSION);
        assertThat(token.culprit()).isEqualTo("prefill-7");
        assertThat(token.part(Part.TRANSFER_WAIT)).isEqualTo(250 * MILLIS);
        assertThat(token.part(Part.QUEUE_WAIT)).isPositive();
        assertThat(token.sum()).isEqualTo(token.gap());
    }

    @Test
    void aRequestWaitedForItsBlocksFromASlowerTier() {
        assertThat(arriving("offload", 250 * MILLIS).told().token("late", 0).cause())
                .isEqualTo(Cause.KV_OFFLOAD);
    }

    @Test
    void withoutATransferRecordAWaitInTheQueueIsThat() {
        Token token = arriving(null, 0).told().token("late", 0);

        assertThat(token.cause()).isEqualTo(Cause.QUEUE_WAIT);
        assertThat(token.parts()).doesNotContainKey(Part.TRANSFER_WAIT);
    }

    // ---- kernels

    /** What the kernels of a step do: how many times longer than usual its gemm, its attention and its collective are. */
    private record Kernels(double gemm, double attention, double collective) {}

    private static final Kernels USUAL = new Kernels(1, 1, 1);

    private static void step(EngineScript engine, Kernels kernels, String deviceId) {
        long begin = engine.nowNanos();
        long extra = Math.round(
                (kernels.gemm - 1) * 3 * MILLIS + (kernels.attention - 1) * MILLIS + (kernels.collective - 1) * MILLIS);
        long id = engine.nextStepId();
        engine.step().decode("a", "b").late(extra).run();
        kernel(engine, id, deviceId, "ampere_gemm", "gemm", begin, 3 * MILLIS, kernels.gemm);
        kernel(engine, id, deviceId, "flash_fwd", "attention", begin + 3 * MILLIS, MILLIS, kernels.attention);
        kernel(engine, id, deviceId, "ncclAllReduce", "collective", begin + 4 * MILLIS, MILLIS, kernels.collective);
    }

    private static void kernel(
            EngineScript engine,
            long stepId,
            String deviceId,
            String name,
            String kernelClass,
            long start,
            long usual,
            double factor) {
        engine.recorded(
                engine.nowNanos(),
                new KernelRan(
                        ENGINE,
                        deviceId,
                        "7",
                        stepId,
                        name,
                        kernelClass,
                        start,
                        Math.round(usual * factor),
                        64L,
                        0L,
                        null,
                        32));
    }

    private static void clock(EngineScript engine, long megahertz, @Nullable String reason) {
        engine.recorded(
                engine.nowNanos(),
                new DeviceSampled(ENGINE, "gpu-0", megahertz * 1_000_000, null, 300_000L, 80_000L, reason));
    }

    private static EngineScript withKernels(boolean clocked) {
        EngineScript engine = warm();
        for (int i = 0; i < 20; i++) {
            if (clocked) {
                clock(engine, 1980, null);
            }
            step(engine, USUAL, "gpu-0");
        }
        return engine;
    }

    @Test
    void oneKernelTookLongerThanItEverDid() {
        EngineScript engine = withKernels(true);
        step(engine, new Kernels(5, 1, 1), "gpu-0");

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.KERNEL_SLOW);
        assertThat(token.culprit()).isEqualTo("gpu-0");
        assertThat(token.part(Part.KERNEL)).isCloseTo(12 * MILLIS, within(MILLIS));
        assertThat(token.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
        assertThat(String.join(" ", token.why().chain)).contains("ampere_gemm");
    }

    @Test
    void withoutDeviceSamplesTheSameClockIsNotKnown() {
        EngineScript engine = withKernels(false);
        step(engine, new Kernels(5, 1, 1), "gpu-0");

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.KERNEL_SLOW);
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
    }

    @Test
    void allKernelsFollowedALowerClock() {
        EngineScript engine = withKernels(true);
        clock(engine, 990, "sw-thermal");
        step(engine, new Kernels(2, 2, 1), "gpu-0");

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.THERMAL_CLOCK);
        assertThat(token.culprit()).isEqualTo("gpu-0");
        assertThat(token.part(Part.KERNEL)).isCloseTo(4 * MILLIS, within(MILLIS));
        assertThat(token.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
    }

    /** A step waits for its records: by then samples of many later steps are there. */
    @ParameterizedTest
    @ValueSource(ints = {100, 400, 5_000})
    void aLowerClockIsKnownHoweverOftenTheDeviceIsSampled(int samplesPerSecond) {
        EngineScript engine = withKernels(true);
        clock(engine, 990, "sw-thermal");
        step(engine, new Kernels(2, 2, 1), "gpu-0");
        long end = engine.nowNanos();
        for (int i = 1; i < 2 * samplesPerSecond; i++) {
            engine.recorded(
                    end + i * 1_000L * MILLIS / samplesPerSecond,
                    new DeviceSampled(ENGINE, "gpu-0", 1_980_000_000L, null, 300_000L, 60_000L, null));
        }

        assertThat(last(engine).cause()).isEqualTo(Cause.THERMAL_CLOCK);
    }

    @Test
    void oneSlowKernelAtALowerClockDoesNotFollowIt() {
        EngineScript engine = withKernels(true);
        clock(engine, 1780, "power");
        step(engine, new Kernels(5, 1, 1), "gpu-0");

        assertThat(last(engine).cause()).isEqualTo(Cause.KERNEL_SLOW);
    }

    @Test
    void aLowerClockThatSlowsNoKernelIsNoCause() {
        EngineScript engine = withKernels(true);
        clock(engine, 990, "sw-thermal");
        long begin = engine.nowNanos();
        engine.step().decode("a", "b").late(20 * MILLIS).run();
        kernel(engine, engine.nextStepId() - 1, "gpu-0", "ampere_gemm", "gemm", begin, 3 * MILLIS, 1);

        assertThat(last(engine).cause()).isNotIn(Cause.THERMAL_CLOCK, Cause.KERNEL_SLOW);
    }

    @Test
    void withoutKernelRecordsAStepInProportionToTheClockIsConsistentWithIt() {
        EngineScript engine = warm();
        for (int i = 0; i < 10; i++) {
            clock(engine, 1980, null);
            engine.decode(1, "a", "b");
        }
        long before = engine.nowNanos();
        engine.decode(1, "a", "b");
        long usual = engine.nowNanos() - before;
        clock(engine, 1200, "sw-thermal");
        engine.step().decode("a", "b").late(usual * 780 / 1200).run();

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.THERMAL_CLOCK);
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
    }

    @Test
    void aStallOutOfProportionToTheClockIsNotLaidToIt() {
        EngineScript engine = warm();
        for (int i = 0; i < 10; i++) {
            clock(engine, 1980, null);
            engine.decode(1, "a", "b");
        }
        clock(engine, 1800, "sw-thermal");
        late(engine);

        assertThat(last(engine).cause()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void aRankWaitedForAnotherOne() {
        EngineScript engine = withKernels(true);
        step(engine, new Kernels(1, 1, 20), "gpu-0");

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.COLLECTIVE_WAIT);
        assertThat(token.part(Part.COLLECTIVE)).isCloseTo(19 * MILLIS, within(MILLIS));
    }

    @Test
    void theLateRankIsTheCulprit() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(
                end, new StreamStalled(ENGINE, "gpu-0", null, null, "collective", end - 55 * MILLIS, end, null, 3));

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.COLLECTIVE_WAIT);
        assertThat(token.culprit()).isEqualTo("rank 3");
    }

    @Test
    void attentionThatGrowsWithTheContextIsNoSlowKernel() {
        EngineScript engine = withKernels(true);
        engine.queue("long", 8_000);
        engine.step().decode("a", "b").prefill("long", 8_000).run();
        long begin = engine.nowNanos();
        long id = engine.nextStepId();
        engine.step().decode("a", "b", "long").late(3 * MILLIS).run();
        kernel(engine, id, "gpu-0", "flash_fwd", "attention", begin, MILLIS, 8);

        assertThat(last(engine).parts()).doesNotContainKey(Part.KERNEL);
    }

    @Test
    void kernelRecordsThatLeaveAHoleShowThatTheDeviceStoodIdle() {
        EngineScript engine = withKernels(true);
        long begin = engine.nowNanos();
        long id = engine.nextStepId();
        engine.step().decode("a", "b").late(60 * MILLIS).run();
        kernel(engine, id, "gpu-0", "ampere_gemm", "gemm", begin, 3 * MILLIS, 1);
        kernel(engine, id, "gpu-0", "flash_fwd", "attention", begin, MILLIS, 1);

        Token token = last(engine);

        assertThat(token.cause()).isEqualTo(Cause.HOST_GAP);
        assertThat(token.why().confidence).isEqualTo(Confidence.CONSISTENT_WITH.levelName());
    }

    // ---- other kernels

    private static void steps(EngineScript engine, int count, String attention, long attentionNanos) {
        for (int i = 0; i < count; i++) {
            long begin = engine.nowNanos();
            long id = engine.nextStepId();
            engine.step()
                    .decode("a", "b")
                    .late(Math.max(0, attentionNanos - MILLIS))
                    .run();
            kernel(engine, id, "gpu-0", "ampere_gemm", "gemm", begin, 3 * MILLIS, 1);
            kernel(engine, id, "gpu-0", attention, "attention", begin + 3 * MILLIS, attentionNanos, 1);
        }
    }

    @Test
    void anotherAttentionKernelFromAPointOnIsAFallback() {
        EngineScript engine = warm();
        steps(engine, 100, "flash_fwd_splitkv", MILLIS);
        steps(engine, 20, "paged_attention_naive", 9 * MILLIS);
        Told told = engine.told();
        Token first = told.token("a", engine.madeTokens("a") - 20);

        assertThat(first.sum()).isEqualTo(first.gap());
        assertThat(first.cause()).isEqualTo(Cause.KERNEL_FALLBACK);
        assertThat(first.part(Part.GRAPH)).isCloseTo(8 * MILLIS, within(MILLIS));
        assertThat(first.why().confidence).isEqualTo(Confidence.ESTABLISHED.levelName());
        assertThat(first.why().confidenceWhy).startsWith("kernel records");
        assertThat(first.culprit()).isNull();
        assertThat(String.join(" ", first.why().chain))
                .contains("ran kernel paged_attention_naive where it usually runs flash_fwd_splitkv: 8.")
                .contains("kernel flash_fwd_splitkv gave way to paged_attention_naive");
        assertThat(told.findings(Cause.KERNEL_FALLBACK)).singleElement().satisfies(finding -> {
            assertThat(finding.rule()).isEqualTo("kernel-variant");
            assertThat(finding.requestId()).isNull();
            assertThat(finding.narrative())
                    .contains("ran where flash_fwd_splitkv usually does, in 20 steps: 8.0 ms longer");
            assertThat(finding.evidence()).isNotEmpty();
        });
    }

    @Test
    void anotherKernelThatIsAsFastIsNoFallback() {
        EngineScript engine = warm();
        steps(engine, 40, "flash_fwd_splitkv", MILLIS);
        steps(engine, 20, "flash_fwd_v3", MILLIS);
        Told told = engine.told();

        assertThat(told.findings(Cause.KERNEL_FALLBACK)).isEmpty();
        assertThat(told.last("a").cause()).isNull();
    }

    @Test
    void theKernelsOfPromptsAreNoFallback() {
        EngineScript engine = warm();
        steps(engine, 40, "flash_fwd_splitkv", MILLIS);
        engine.queue("long", 200);
        long begin = engine.nowNanos();
        long id = engine.nextStepId();
        engine.step().decode("a", "b").prefill("long", 200).late(5 * MILLIS).run();
        kernel(engine, id, "gpu-0", "flash_fwd_prefill", "attention", begin, 30 * MILLIS, 1);
        Told told = engine.told();

        assertThat(told.findings(Cause.KERNEL_FALLBACK)).isEmpty();
        assertThat(told.token("a", engine.madeTokens("a") - 1).cause()).isNotEqualTo(Cause.KERNEL_FALLBACK);
    }

    @Test
    void aSlowStepWithTheUsualKernelsIsNoFallback() {
        EngineScript engine = warm();
        steps(engine, 40, "flash_fwd_splitkv", MILLIS);
        steps(engine, 1, "flash_fwd_splitkv", 9 * MILLIS);

        assertThat(last(engine).cause()).isEqualTo(Cause.KERNEL_SLOW);
    }

    // ---- absurd records

    @Test
    void recordsThatCannotBeAreCountedAndNotUsed() {
        EngineScript engine = late(warm());
        long end = engine.nowNanos();
        engine.recorded(end, stalled("stream-sync", end, end - 60 * MILLIS, 0));
        engine.recorded(end, stalled("stream-sync", end - 400L * 86_400_000 * MILLIS, end, 0));
        engine.recorded(end, stalled("stream-sync", Long.MIN_VALUE, end, 0));
        engine.recorded(end, new KernelRan(ENGINE, null, null, null, "gemm", null, end, -5L, null, null, null, null));
        EngineState state = new EngineState();

        Token token = engine.told(state).last("a");

        assertThat(token.cause()).isEqualTo(Cause.UNRESOLVED_STALL);
        assertThat(state.evidence.absurdRecords).isEqualTo(4);
    }
}
