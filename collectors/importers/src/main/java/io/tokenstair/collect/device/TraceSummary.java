package io.tokenstair.collect.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * What is said of a trace when it has been read. The wait between launch and start is that of kernels, exact for the first
 * {@value #WAITS} of them.
 */
public final class TraceSummary {
    /** Most waits that are kept. */
    static final int WAITS = 1 << 22;

    private final String source;
    private final List<String> remarks = new ArrayList<>();
    private long[] waits = new long[64];
    private int waitCount;
    private long waitsLeftOut;
    private long kernels;
    private long collectives;
    private long graphs;
    private long copies;
    private long copiesWithoutLaunch;
    private long withoutLaunch;
    private long ambiguous;
    private long early;
    private final Map<CallKind, Long> stallCount = new EnumMap<>(CallKind.class);
    private final Map<CallKind, Long> stallNanos = new EnumMap<>(CallKind.class);
    private final Map<CallKind, Long> changes = new EnumMap<>(CallKind.class);
    private long failed;
    private long allocatorSamples;
    private @Nullable String stepLine;

    /** A summary of this file. */
    public TraceSummary(String source) {
        this.source = source;
    }

    void ran(DeviceWork work, @Nullable Long launchNanos, boolean severalCalls) {
        if (work.kind() == DeviceWork.Kind.COPY) {
            copies++;
            copiesWithoutLaunch += launchNanos == null ? 1 : 0;
            return;
        }
        kernels += work.kind() == DeviceWork.Kind.GRAPH ? 0 : 1;
        graphs += work.kind() == DeviceWork.Kind.GRAPH ? 1 : 0;
        collectives += work.kind() == DeviceWork.Kind.COLLECTIVE ? 1 : 0;
        if (launchNanos == null) {
            withoutLaunch++;
            ambiguous += severalCalls ? 1 : 0;
        } else if (launchNanos > work.startNanos()) {
            early++;
        } else if (waitCount == WAITS) {
            waitsLeftOut++;
        } else {
            if (waitCount == waits.length) {
                waits = Arrays.copyOf(waits, 2 * waits.length);
            }
            waits[waitCount++] = work.startNanos() - launchNanos;
        }
    }

    void waited(CallKind kind, long nanos) {
        stallCount.merge(kind, 1L, Long::sum);
        stallNanos.merge(kind, nanos, Long::sum);
    }

    void memory(CallKind kind, boolean callFailed) {
        changes.merge(kind, 1L, Long::sum);
        failed += callFailed ? 1 : 0;
    }

    void allocator() {
        allocatorSamples++;
    }

    void steps(StepRanges steps) {
        if (steps.steps().isEmpty()) {
            return;
        }
        long[] nanos = steps.sortedNanos();
        stepLine = count(nanos.length, "step") + " from " + steps.originWords() + ": p50 "
                + millis(nanos[(nanos.length - 1) / 2])
                + ", longest " + millis(nanos[nanos.length - 1])
                + pause(steps.steps())
                + (steps.otherThreads() == 0
                        ? ""
                        : "; " + steps.otherThreads() + " more threads write such ranges, not taken")
                + (steps.passedOver() == 0 ? "" : "; " + steps.passedOver() + " ranges passed over: they overlap");
    }

    private static String pause(List<StepRanges.Step> steps) {
        long longest = -1;
        int before = 0;
        for (int i = 1; i < steps.size(); i++) {
            long nanos = steps.get(i).startNanos() - steps.get(i - 1).endNanos();
            if (nanos > longest) {
                longest = nanos;
                before = i;
            }
        }
        return before == 0
                ? ""
                : "; longest pause between two " + millis(longest) + ", before step "
                        + steps.get(before).stepId();
    }

    /** Adds a line of the reader's own. */
    public void remark(String text) {
        remarks.add(text);
    }

    /** Kernels and graphs, copies not among them. */
    public long kernels() {
        return kernels + graphs;
    }

    /** Calls that waited for a device. */
    public long waits() {
        return stallCount.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Calls that changed the memory of a device. */
    public long changesOfMemory() {
        return changes.values().stream().mapToLong(Long::longValue).sum();
    }

    /** What is said, a line each. */
    public List<String> lines(CallTable calls) {
        List<String> lines = new ArrayList<>();
        if (kernels() > 0) {
            lines.add(count(kernels, "kernel") + (graphs == 0 ? "" : ", " + count(graphs, "whole graph"))
                    + (collectives == 0 ? "" : " (" + collectives + " collective)") + ", "
                    + count(copies, "copy or fill", "copies and fills") + "; " + (kernels() - withoutLaunch)
                    + " joined to the call that launched them, " + withoutLaunch + " without a launch record");
            if (waitCount > 0) {
                Arrays.sort(waits, 0, waitCount);
                lines.add("from launch to start: p50 " + millis(waits[(waitCount - 1) / 2]) + ", p99 "
                        + millis(waits[(int) ((waitCount - 1) * 99L / 100)]) + ", longest "
                        + millis(waits[waitCount - 1])
                        + " (" + (waitsLeftOut == 0 ? "" : "the first ") + count(waitCount, "kernel") + ")");
            }
            if (ambiguous > 0) {
                lines.add(ambiguous + " of those without: more than one call has their correlation id");
            }
            if (early > 0) {
                lines.add(count(early, "kernel")
                        + " would start before the launch: clocks or ids are wrong there, and they are in no figure");
            }
        } else if (copies > 0) {
            lines.add(count(copies, "copy or fill", "copies and fills") + ", " + copiesWithoutLaunch
                    + " without a launch record");
        }
        if (calls.leftOut() > 0) {
            lines.add(calls.leftOut() + " calls were left out, more than " + CallTable.MOST
                    + " are not held: their kernels have no launch record");
        }
        if (!stallCount.isEmpty()) {
            StringJoiner stalls = new StringJoiner(", ", "waits for the device: ", "");
            stallCount.forEach((kind, number) ->
                    stalls.add(number + " " + kind.word() + " (" + millis(stallNanos.getOrDefault(kind, 0L)) + ")"));
            lines.add(stalls.toString());
        }
        if (!changes.isEmpty()) {
            StringJoiner memory =
                    new StringJoiner(", ", "device memory: ", failed == 0 ? "" : ", " + failed + " failed");
            changes.forEach((kind, number) -> memory.add(number + " " + kind.word()));
            lines.add(memory.toString());
        }
        if (allocatorSamples > 0) {
            lines.add(allocatorSamples + " states of the memory allocator");
        }
        if (stepLine != null) {
            lines.add(stepLine);
        }
        lines.addAll(remarks);
        return lines.stream().map(line -> source + ": " + line).toList();
    }

    private static String count(long number, String noun) {
        return count(number, noun, noun + "s");
    }

    private static String count(long number, String one, String many) {
        return number + " " + (number == 1 ? one : many);
    }

    /** A length in ms with three decimals, rounded half up. */
    static String millis(long nanos) {
        long micros = (nanos + 500) / 1_000;
        return String.format(Locale.ROOT, "%d.%03d ms", micros / 1_000, micros % 1_000);
    }
}
