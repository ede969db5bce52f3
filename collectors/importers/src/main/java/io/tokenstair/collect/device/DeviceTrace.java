package io.tokenstair.collect.device;

import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.Event;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a profiler recorded, as events. A kernel is joined to the call that launched it by correlation id; a launch that was not
 * recorded leaves its stamp absent.
 */
public final class DeviceTrace {
    private final TraceNames names;
    private final @Nullable Long wallOffsetNanos;
    private final CallTable calls;
    private final StepRanges steps;
    private final CollectorSpool events;
    private final TraceSummary summary;

    /**
     * A trace.
     *
     * @param wallOffsetNanos what to add to a stamp for the wall clock; null when the trace is undated
     * @param calls all calls of the trace
     * @param steps its steps, chosen
     * @param events takes the events
     * @param summary counts them
     */
    public DeviceTrace(
            TraceNames names,
            @Nullable Long wallOffsetNanos,
            CallTable calls,
            StepRanges steps,
            CollectorSpool events,
            TraceSummary summary) {
        this.names = names;
        this.wallOffsetNanos = wallOffsetNanos;
        this.calls = calls;
        this.steps = steps;
        this.events = events;
        this.summary = summary;
    }

    /** The wall reading at a stamp, in ms; null when the trace is undated. */
    public @Nullable Long wallMillis(long nanos) {
        return wallOffsetNanos == null ? null : Long.valueOf(Math.floorDiv(nanos + wallOffsetNanos, 1_000_000L));
    }

    private void add(long nanos, Event event) throws IOException {
        events.add(nanos, nanos, wallMillis(nanos), event);
    }

    /** Something ran on a device. */
    public void ran(DeviceWork work) throws IOException {
        Long correlation = work.correlationId();
        int call = correlation == null ? CallTable.NONE : calls.find(work.process(), correlation);
        Long launchNanos = call == CallTable.NONE ? null : Long.valueOf(calls.startNanos(call));
        Long stepId = launchNanos == null ? null : steps.stepAt(calls.thread(call), launchNanos);
        summary.ran(
                work,
                launchNanos,
                call == CallTable.NONE && correlation != null && calls.isAmbiguous(work.process(), correlation));
        add(
                work.startNanos(),
                new KernelRan(
                        names.engineId(),
                        work.deviceId(),
                        work.streamId(),
                        stepId,
                        TraceNames.kernel(work.name()),
                        kernelClass(work),
                        work.startNanos(),
                        work.durationNanos(),
                        work.gridCount(),
                        work.sharedMemoryBytes(),
                        work.graphId(),
                        null,
                        launchNanos,
                        correlation));
    }

    private static @Nullable String kernelClass(DeviceWork work) {
        return switch (work.kind()) {
            case COPY -> "copy";
            case COLLECTIVE -> "collective";
            case KERNEL, GRAPH -> null;
        };
    }

    /** True for a kernel whose name says that it talks to other devices. */
    public static boolean isCollective(String name) {
        return name.startsWith("nccl")
                || name.startsWith("rccl")
                || name.contains("ncclDevKernel")
                || name.contains("ncclKernel");
    }

    /** A call waited for a device. */
    public void waited(
            CallKind kind,
            int thread,
            @Nullable String deviceId,
            @Nullable String streamId,
            long startNanos,
            long endNanos,
            @Nullable Integer driverCode)
            throws IOException {
        summary.waited(kind, endNanos - startNanos);
        add(
                endNanos,
                new StreamStalled(
                        names.engineId(),
                        deviceId,
                        streamId,
                        steps.stepAt(thread, startNanos),
                        kind.word(),
                        startNanos,
                        endNanos,
                        driverCode,
                        null));
    }

    /** A call changed the memory of a device. */
    public void memory(
            CallKind kind,
            int thread,
            @Nullable String deviceId,
            @Nullable Long sizeBytes,
            long startNanos,
            long endNanos,
            @Nullable Integer driverCode)
            throws IOException {
        boolean failed = driverCode != null && driverCode != 0;
        summary.memory(kind, failed);
        add(
                endNanos,
                new MemoryChanged(
                        names.engineId(),
                        deviceId,
                        steps.stepAt(thread, startNanos),
                        failed ? "fail" : kind.word(),
                        sizeBytes,
                        null,
                        startNanos,
                        endNanos,
                        driverCode));
    }

    /** The state of an allocator was recorded. */
    public void allocator(
            @Nullable String deviceId, @Nullable Long reservedBytes, @Nullable Long activeBytes, long atNanos)
            throws IOException {
        summary.allocator();
        add(atNanos, new AllocatorSampled(names.engineId(), deviceId, reservedBytes, activeBytes, null, null, null));
    }

    /** Writes the steps. To be called once. */
    public void writeSteps() throws IOException {
        for (StepRanges.Step step : steps.steps()) {
            StepName name = step.name();
            add(
                    step.endNanos(),
                    new StepCompleted(
                            names.engineId(),
                            0,
                            step.stepId(),
                            // What the scheduler did before its range is not in the trace.
                            step.startNanos(),
                            null,
                            null,
                            step.endNanos(),
                            name.forwardMode(),
                            null,
                            null,
                            name.generationTokens(),
                            name.contextTokens(),
                            null,
                            null,
                            null,
                            null,
                            null,
                            null,
                            null,
                            List.of(),
                            SequenceRows.of(List.of())));
        }
        summary.steps(steps);
    }
}
