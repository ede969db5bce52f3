package io.tokenstair.collect.kineto;

import io.tokenstair.collect.device.CallKind;
import io.tokenstair.collect.device.CallTable;
import io.tokenstair.collect.device.DeviceTrace;
import io.tokenstair.collect.device.DeviceWork;
import io.tokenstair.collect.device.StampRange;
import io.tokenstair.collect.device.StepRanges;
import io.tokenstair.collect.device.SyncRecords;
import io.tokenstair.collect.device.TraceNames;
import io.tokenstair.collect.device.TraceSummary;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Excerpt;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Imports traces of the PyTorch profiler. A file is read twice: its base time and the calls that launched its kernels may stand behind
 * what needs them.
 */
public final class KinetoImport extends FileImport {
    private static final String FORMAT = "kineto";
    private static final long YEAR_2000_NANOS = 946_684_800_000_000_000L;
    private static final long YEAR_2100_NANOS = 4_102_444_800_000_000_000L;
    private static final int MOST_THREADS = 1 << 16;
    private static final int MOST_CATEGORIES = 256;
    private static final int MOST_CATEGORY_CHARACTERS = 64;

    private static final Set<String> KERNELS = Set.of("kernel", "gpu_kernel", "concurrent_kernel");
    private static final Set<String> COPIES = Set.of("gpu_memcpy", "gpu_memset", "memcpy", "memset");
    private static final Set<String> CALLS = Set.of(
            "cuda_runtime",
            "cuda_driver",
            "hip_runtime",
            "hip_driver",
            "runtime",
            "driver",
            "xpu_runtime",
            "xpu_driver",
            "privateuse1_runtime",
            "privateuse1_driver",
            "mtia_runtime");
    private static final String MTIA_JOBS = "mtia_ccp_events";

    private final LineSource.Limits limits;
    private final ImportListener listener;
    private final @Nullable String engine;
    private final @Nullable String clock;

    /**
     * An import.
     *
     * @param engine what to call the engine; null for a name of its own per file
     * @param clock what to call the clock of the stamps; null for a name of its own per file
     */
    public KinetoImport(
            @Nullable String engine, @Nullable String clock, LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
        this.limits = limits;
        this.listener = listener;
        this.engine = engine;
        this.clock = clock;
    }

    /** What the first reading of a file found. */
    private static final class Contents {
        final KinetoHeader header = new KinetoHeader();
        final CallTable calls = new CallTable();
        final SyncRecords syncs = new SyncRecords();
        final StepRanges steps = new StepRanges();
        final StampRange stamps = new StampRange();
        final Map<String, Integer> threads = new HashMap<>();
        final Map<String, Long> categories = new TreeMap<>();
        long launches;
        long deviceCalls;

        int thread(KinetoEvent event) {
            Integer known = threads.get(event.threadKey);
            if (known == null) {
                known = Math.min(threads.size(), MOST_THREADS - 1);
                if (threads.size() < MOST_THREADS) {
                    threads.put(event.threadKey, known);
                }
            }
            return known;
        }
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws ImportException, IOException {
        if (!Files.isRegularFile(file)) {
            throw new ImportException(file + ": no regular file; a trace is read twice, so write it to a file first");
        }
        Contents contents = contents(file);
        long base = contents.header.baseNanos();
        contents.calls.shift(base);
        contents.steps.shift(base);
        contents.steps.choose();
        long first = base + contents.stamps.referenceNanos();
        boolean dated = !contents.stamps.isEmpty()
                && contents.header.baseProblem() == null
                && first >= YEAR_2000_NANOS
                && first < YEAR_2100_NANOS;
        String source = TraceNames.sourceOf(file);
        TraceNames names = new TraceNames(
                source,
                engine == null ? FORMAT + "-" + index : engine,
                clock == null ? (dated ? "wall@" : "trace@") + source : clock);
        TraceSummary summary = new TraceSummary(reader.sourceName(file));
        DeviceTrace trace = new DeviceTrace(
                names,
                dated ? 0L : null,
                contents.calls,
                contents.steps,
                spools.collector(FORMAT + "@" + source, FileDigest.of(file, engine, clock), names.clockId()),
                summary);
        dated(dated ? trace.wallMillis(first) : null);
        trace.writeSteps();
        emit(file, contents, trace, reader);
        if (contents.header.baseProblem() != null) {
            summary.remark(contents.header.baseProblem() + ": the trace is undated");
        }
        say(contents, summary);
    }

    /** Reads calls, waits, steps and what stands beside the events. */
    private Contents contents(Path file) throws ImportException, IOException {
        Contents contents = new Contents();
        KinetoEvent event = new KinetoEvent();
        boolean any = false;
        boolean anyObject = false;
        try (TraceElements elements = new TraceElements(file, limits, contents.header)) {
            while (elements.next()) {
                any = true;
                anyObject |= elements.bytes()[0] == '{';
                try {
                    if (!elements.tooLong()) {
                        event.parse(elements.bytes(), elements.length());
                        note(event, contents);
                    }
                } catch (RejectedRecordException e) {
                    // The second reading counts it.
                    continue;
                }
            }
            if (!elements.hasEvents()) {
                throw new ImportException(file + ": "
                        + (elements.defect() == null ? "no traceEvents in it" : elements.defect())
                        + "; name a trace of torch.profiler's export_chrome_trace");
            }
            if (any && !anyObject) {
                throw new ImportException(file + ": an array without events; name a trace of torch.profiler's"
                        + " export_chrome_trace (a memory timeline or an execution trace is none)");
            }
        }
        return contents;
    }

    private static void note(KinetoEvent event, Contents contents) {
        if (!event.phase.equals("X")) {
            return;
        }
        if (event.category.length() <= MOST_CATEGORY_CHARACTERS
                && (contents.categories.size() < MOST_CATEGORIES || contents.categories.containsKey(event.category))) {
            contents.categories.merge(event.category, 1L, Long::sum);
        }
        if (CALLS.contains(event.category)) {
            contents.deviceCalls++;
            contents.launches += isLaunch(event.name) ? 1 : 0;
            contents.stamps.sample(event.startNanos);
            if (event.correlation != null) {
                contents.calls.add(
                        0,
                        contents.thread(event),
                        event.correlation,
                        event.startNanos,
                        event.startNanos + event.durationNanos);
            }
        } else if (event.category.equals("cuda_sync")) {
            CallKind kind = syncKind(event);
            if (event.correlation != null && kind != CallKind.OTHER) {
                contents.syncs.add(0, event.correlation, event.device, event.stream);
            }
        } else if (event.category.equals("user_annotation")) {
            contents.steps.add(
                    contents.thread(event), event.name, event.startNanos, event.startNanos + event.durationNanos);
            contents.stamps.sample(event.startNanos);
        } else if (KERNELS.contains(event.category) || event.category.equals(MTIA_JOBS)) {
            contents.stamps.sample(event.startNanos);
        }
    }

    private static boolean isLaunch(String name) {
        return name.contains("LaunchKernel") || name.contains("GraphLaunch") || name.startsWith("runFunction");
    }

    private static CallKind syncKind(KinetoEvent event) {
        return CallKind.ofSync(event.syncKind == null ? event.name : event.syncKind);
    }

    /** Reads a file again and makes events of it. */
    private void emit(Path file, Contents contents, DeviceTrace trace, RecordReader reader) throws IOException {
        String source = reader.sourceName(file);
        KinetoEvent event = new KinetoEvent();
        try (TraceElements elements = new TraceElements(file, limits, (name, json, length) -> {})) {
            while (elements.next()) {
                try {
                    if (elements.tooLong()) {
                        throw new RejectedRecordException("an event longer than " + limits.lineBytes() + " bytes");
                    }
                    event.parse(elements.bytes(), elements.length());
                    Long atNanos = emit(event, contents, trace);
                    reader.accepted(atNanos == null ? null : trace.wallMillis(atNanos));
                } catch (RejectedRecordException e) {
                    reader.rejectedAt(
                            source, elements.offset(), e.reason(), Excerpt.ofJson(elements.bytes(), elements.length()));
                }
            }
            String defect = elements.defect();
            if (defect != null) {
                reader.rejectedAt(source, elements.readBytes(), defect, null);
            }
        }
    }

    /** Makes an event of what a trace's event says; its stamp, or null where it says nothing that is used. */
    private static @Nullable Long emit(KinetoEvent event, Contents contents, DeviceTrace trace)
            throws RejectedRecordException, IOException {
        boolean sample = event.category.equals("cpu_instant_event") && event.name.equals("[memory]");
        if (!event.phase.equals("X") && !sample) {
            return null;
        }
        DeviceWork.Kind kind = workKind(event);
        boolean call = CALLS.contains(event.category);
        boolean sync = event.category.equals("cuda_sync");
        if (kind == null && !call && !sync && !sample) {
            return null;
        }
        contents.stamps.check("ts", event.startNanos);
        long start = event.startNanos + contents.header.baseNanos();
        long end = start + event.durationNanos;
        if (kind != null) {
            trace.ran(new DeviceWork(
                    kind,
                    event.name,
                    0,
                    event.device,
                    event.stream,
                    start,
                    event.durationNanos,
                    event.gridCount,
                    event.sharedMemoryBytes,
                    event.graphId == null || event.graphId == 0 ? null : event.graphId.toString(),
                    event.correlation));
        } else if (call) {
            call(event, contents, trace, start, end);
        } else if (sample) {
            if (event.deviceType != null && event.deviceType > 0) {
                trace.allocator(event.device, event.totalReservedBytes, event.totalAllocatedBytes, start);
            }
        } else if (event.correlation == null
                || (contents.calls.find(0, event.correlation) == CallTable.NONE
                        && !contents.calls.isAmbiguous(0, event.correlation))) {
            // The call was not recorded, its synchronization was. One of an event may have been a question that waits
            // for nothing.
            CallKind syncKind = syncKind(event);
            if (syncKind.isWait() && syncKind != CallKind.EVENT_SYNC) {
                trace.waited(syncKind, -1, event.device, event.stream, start, end, null);
            }
        }
        return start;
    }

    private static void call(KinetoEvent event, Contents contents, DeviceTrace trace, long start, long end)
            throws IOException {
        CallKind kind = CallKind.of(event.name);
        SyncRecords.Sync sync = event.correlation == null ? null : contents.syncs.find(0, event.correlation);
        if (kind.isWait()) {
            // HIP names the stream's handle, which is not the stream of its kernels.
            String stream = event.stream == null || event.stream.startsWith("0x") ? null : event.stream;
            trace.waited(
                    kind,
                    contents.thread(event),
                    sync == null ? event.device : sync.deviceId(),
                    sync == null ? stream : sync.streamId(),
                    start,
                    end,
                    null);
        } else if (kind.isMemory()) {
            trace.memory(kind, contents.thread(event), event.device, null, start, end, null);
        }
    }

    private static DeviceWork.@Nullable Kind workKind(KinetoEvent event) {
        if (KERNELS.contains(event.category)) {
            return event.collective || DeviceTrace.isCollective(event.name)
                    ? DeviceWork.Kind.COLLECTIVE
                    : DeviceWork.Kind.KERNEL;
        }
        if (COPIES.contains(event.category)) {
            return DeviceWork.Kind.COPY;
        }
        if (event.category.equals("collective_comm")) {
            return DeviceWork.Kind.COLLECTIVE;
        }
        if (event.category.equals(MTIA_JOBS)) {
            return switch (event.name) {
                case "dma_request" -> DeviceWork.Kind.COPY;
                case "event_wait", "event_record" -> null;
                default -> DeviceWork.Kind.KERNEL;
            };
        }
        return null;
    }

    private void say(Contents contents, TraceSummary summary) {
        long profilerRanges = contents.categories.getOrDefault("cuda_profiler_range", 0L);
        long jobs = contents.categories.getOrDefault(MTIA_JOBS, 0L);
        if (summary.kernels() == 0) {
            String why = "it holds CPU activity only";
            if (profilerRanges > 0) {
                why = profilerRanges + " ranges of a counter profiler (cuda_profiler_range) stand in their place";
            } else if (contents.launches > 0) {
                why = contents.launches + " calls launched some, but what they launched was not recorded";
            } else if (contents.deviceCalls > 0) {
                why = contents.deviceCalls + " calls of a GPU's runtime, and none that launched one";
            }
            summary.remark("no GPU kernel in this file: " + why
                    + "; nothing is known of what a GPU did, which is not an idle GPU");
        } else if (jobs > 0) {
            summary.remark("the device is an MTIA accelerator: its jobs are taken as kernels");
        }
        String unused = contents.categories.entrySet().stream()
                .filter(entry -> isUnused(entry.getKey()))
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(6)
                .map(entry -> entry.getValue() + " " + Excerpt.escaped(entry.getKey()))
                .collect(Collectors.joining(", "));
        if (!unused.isEmpty()) {
            summary.remark("read, but no event of their own: " + unused);
        }
        summary.lines(contents.calls).forEach(listener::said);
    }

    private static boolean isUnused(String category) {
        return !KERNELS.contains(category)
                && !COPIES.contains(category)
                && !CALLS.contains(category)
                && !category.equals("cuda_sync")
                && !category.equals(MTIA_JOBS)
                && !category.equals("collective_comm");
    }
}
