package io.tokenstair.collect.nsys;

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
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Imports exports of Nsight Systems. Their tables are made only when there is something to put in: a missing one is said, and is no
 * mistake. A row of each of them is a record that is accepted or refused.
 */
public final class NsysImport extends FileImport {
    private static final String FORMAT = "nsys-sqlite";
    private static final String KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL";
    private static final String GRAPH = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    private static final String MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY";
    private static final String MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET";
    private static final String RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME";
    private static final String SYNC = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
    private static final String MEMORY = "CUDA_GPU_MEMORY_USAGE_EVENTS";
    private static final String RANGES = "NVTX_EVENTS";
    private static final String SESSION = "TARGET_INFO_SESSION_START_TIME";
    private static final String DETAILS = "ANALYSIS_DETAILS";
    private static final String EXPORT = "META_DATA_EXPORT";

    private static final long YEAR_2000_NANOS = 946_684_800_000_000_000L;
    private static final long YEAR_2100_NANOS = 4_102_444_800_000_000_000L;
    private static final long FARTHEST_NANOS = Long.MAX_VALUE / 4;
    private static final int PROCESS_BITS = 24;
    private static final int MOST_KEYS = 1 << 16;
    private static final int MOST_SIZES = 1 << 18;

    /** Ranges of a thread that were pushed and popped, or started and ended, in the export's numbering. */
    private static final long PUSH_POP_RANGE = 59;

    private static final long START_END_RANGE = 60;

    private static final String[] COPY_KINDS = {
        "",
        "HtoD",
        "DtoH",
        "HtoA",
        "AtoH",
        "AtoA",
        "AtoD",
        "DtoA",
        "DtoD",
        "HtoH",
        "PtoP",
        "UVM HtoD",
        "UVM DtoH",
        "UVM DtoD"
    };

    private final ImportListener listener;
    private final @Nullable String engine;
    private final @Nullable String clock;

    /**
     * An import.
     *
     * @param engine what to call the engine; null for a name of its own per file
     * @param clock what to call the clock of the stamps; null for a name of its own per file
     */
    public NsysImport(
            @Nullable String engine, @Nullable String clock, LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
        this.listener = listener;
        this.engine = engine;
        this.clock = clock;
    }

    /** Small numbers for what a file numbers at large: processes, threads. */
    private static final class Keys {
        private final Map<Long, Integer> numbers = new HashMap<>();

        int of(@Nullable Long key) throws RejectedRecordException {
            if (key == null) {
                return 0;
            }
            Integer known = numbers.get(key);
            if (known == null) {
                if (numbers.size() == MOST_KEYS) {
                    throw new RejectedRecordException("more than " + MOST_KEYS + " processes or threads");
                }
                known = numbers.size() + 1;
                numbers.put(key, known);
            }
            return known;
        }
    }

    private record Allocation(
            @Nullable String deviceId, @Nullable Long sizeBytes) {}

    private record AllocationKey(int process, long correlation) {}

    /** What the first reading of a file found. */
    private static final class Contents {
        final CallTable calls = new CallTable();
        final SyncRecords syncs = new SyncRecords();
        final StepRanges steps = new StepRanges();
        final StampRange stamps = new StampRange();
        final Keys processes = new Keys();
        final Keys threads = new Keys();
        final Map<AllocationKey, Allocation> allocations = new HashMap<>();
        long launches;
        long callCount;
    }

    private static final NsysFile.RowCounter UNCOUNTED = new NsysFile.RowCounter() {
        @Override
        public void accepted() {}

        @Override
        public void rejected(String table, long rowNumber, String reason) {}
    };

    @Override
    protected void read(Path path, int index, RecordReader reader, EventSpools spools)
            throws ImportException, IOException {
        try (NsysFile file = NsysFile.open(path)) {
            if (Stream.of(KERNEL, GRAPH, MEMCPY, MEMSET, RUNTIME, SYNC, RANGES, "StringIds", EXPORT)
                    .noneMatch(file::has)) {
                throw new ImportException(path
                        + ": a database, but no export of Nsight Systems: it has none of its tables" + " (" + KERNEL
                        + ", " + RUNTIME + ", " + RANGES + ", ...); make one with: nsys export --type sqlite");
            }
            if ((file.has(KERNEL) || file.has(RUNTIME)) && !file.has("StringIds", "value")) {
                throw new ImportException(
                        path + ": table StringIds is missing, which holds the names of kernels and calls;"
                                + " export the report again with: nsys export --type sqlite");
            }
            Contents contents = contents(file);
            contents.steps.choose();
            Long offset = wallOffset(file, contents);
            String source = TraceNames.sourceOf(path);
            TraceNames names = new TraceNames(
                    source,
                    engine == null ? FORMAT.substring(0, 4) + "-" + index : engine,
                    clock == null ? "nsys@" + source : clock);
            TraceSummary summary = new TraceSummary(reader.sourceName(path));
            DeviceTrace trace = new DeviceTrace(
                    names,
                    offset,
                    contents.calls,
                    contents.steps,
                    spools.collector(FORMAT + "@" + source, FileDigest.of(path, engine, clock), names.clockId()),
                    summary);
            dated(offset == null ? null : trace.wallMillis(contents.stamps.referenceNanos()));
            trace.writeSteps();
            emit(file, contents, trace, counter(reader, reader.sourceName(path)));
            say(file, contents, offset, summary);
        }
    }

    private static NsysFile.RowCounter counter(RecordReader reader, String source) {
        return new NsysFile.RowCounter() {
            @Override
            public void accepted() {
                reader.accepted(null);
            }

            @Override
            public void rejected(String table, long rowNumber, String reason) throws IOException {
                reader.rejected(source + ":" + table, rowNumber, reason, null);
            }
        };
    }

    // First reading: calls, waits, allocations and steps.

    private static Contents contents(NsysFile file) throws ImportException, IOException {
        Contents contents = new Contents();
        file.read(
                RUNTIME,
                List.of("start", "end", "nameId"),
                List.of("correlationId", "globalTid", "returnValue"),
                row -> noteCall(file, row, contents),
                UNCOUNTED);
        file.read(
                SYNC,
                List.of("start", "end"),
                List.of("correlationId", "globalPid", "deviceId", "streamId", "syncType"),
                row -> noteSync(row, contents),
                UNCOUNTED);
        file.read(
                MEMORY,
                List.of("start"),
                List.of("correlationId", "globalPid", "deviceId", "bytes"),
                row -> noteAllocation(row, contents),
                UNCOUNTED);
        file.read(
                RANGES,
                List.of("start", "end", "eventType"),
                List.of("text", "textId", "globalTid"),
                row -> noteRange(file, row, contents),
                UNCOUNTED);
        if (file.has(KERNEL) && contents.stamps.isEmpty()) {
            file.read(
                    KERNEL, List.of("start"), List.of(), row -> contents.stamps.sample(row.number("start")), UNCOUNTED);
        }
        return contents;
    }

    private static @Nullable Long processOf(@Nullable Long globalId) {
        return globalId == null ? null : Long.valueOf(globalId >>> PROCESS_BITS);
    }

    private static long end(NsysFile.Row row, long start) throws SQLException, RejectedRecordException {
        long end = row.number("end");
        if (end < start) {
            throw new RejectedRecordException("column end: before the start");
        }
        if (start > FARTHEST_NANOS || start < -FARTHEST_NANOS || end > FARTHEST_NANOS) {
            throw new RejectedRecordException("column start or end: out of range");
        }
        return end;
    }

    private static void noteCall(NsysFile file, NsysFile.Row row, Contents contents)
            throws SQLException, RejectedRecordException {
        long start = row.number("start");
        long end = end(row, start);
        Long thread = row.optional("globalTid");
        Long correlation = row.optional("correlationId");
        String name = file.string(row.number("nameId"));
        contents.callCount++;
        contents.launches += name != null && (name.contains("LaunchKernel") || name.contains("GraphLaunch")) ? 1 : 0;
        contents.stamps.sample(start);
        if (correlation != null) {
            contents.calls.add(
                    contents.processes.of(processOf(thread)), contents.threads.of(thread), correlation, start, end);
        }
    }

    private static void noteSync(NsysFile.Row row, Contents contents) throws SQLException, RejectedRecordException {
        Long correlation = row.optional("correlationId");
        if (correlation != null) {
            contents.syncs.add(
                    contents.processes.of(processOf(row.optional("globalPid"))),
                    correlation,
                    id(row.optional("deviceId")),
                    id(row.optional("streamId")));
        }
    }

    private static void noteAllocation(NsysFile.Row row, Contents contents)
            throws SQLException, RejectedRecordException {
        Long correlation = row.optional("correlationId");
        if (correlation != null && contents.allocations.size() < MOST_SIZES) {
            contents.allocations.putIfAbsent(
                    new AllocationKey(contents.processes.of(processOf(row.optional("globalPid"))), correlation),
                    new Allocation(id(row.optional("deviceId")), row.optional("bytes")));
        }
    }

    private static void noteRange(NsysFile file, NsysFile.Row row, Contents contents)
            throws SQLException, RejectedRecordException {
        long type = row.number("eventType");
        if (type != PUSH_POP_RANGE && type != START_END_RANGE || row.optional("end") == null) {
            return;
        }
        String text = row.text("text");
        Long textId = row.optional("textId");
        if (text == null && textId != null) {
            text = file.string(textId);
        }
        if (text != null) {
            long start = row.number("start");
            contents.steps.add(contents.threads.of(row.optional("globalTid")), text, start, end(row, start));
        }
    }

    /** A device or stream as text; null for none, which is -1 in 32 bits. */
    private static @Nullable String id(@Nullable Long number) {
        return number == null || number == -1 || number == 0xFFFF_FFFFL ? null : number.toString();
    }

    /** What to add to a stamp for the wall clock: by the session's start, where the export has it and shifted nothing. */
    private static @Nullable Long wallOffset(NsysFile file, Contents contents) throws ImportException, IOException {
        long reference = contents.stamps.referenceNanos();
        if (contents.stamps.isEmpty()) {
            return null;
        }
        if (reference >= YEAR_2000_NANOS && reference < YEAR_2100_NANOS) {
            return 0L;
        }
        @Nullable Long[] start = new @Nullable Long[3];
        if (file.has(SESSION, "utcEpochNs")) {
            file.read(
                    SESSION,
                    List.of("utcEpochNs"),
                    List.of("systemClockNs"),
                    row -> {
                        start[0] = row.optional("utcEpochNs");
                        start[1] = row.optional("systemClockNs");
                    },
                    UNCOUNTED);
        }
        if (start[1] == null && file.has(DETAILS, "startTime")) {
            file.read(DETAILS, List.of("startTime"), List.of(), row -> start[1] = row.optional("startTime"), UNCOUNTED);
        }
        if (file.has(EXPORT, "name") && file.has(EXPORT, "value")) {
            file.read(
                    EXPORT,
                    List.of("name", "value"),
                    List.of(),
                    row -> {
                        if ("EXPORT_PARAM_TIME_SHIFT".equals(row.text("name")) && !"0".equals(row.text("value"))) {
                            start[2] = 1L;
                        }
                    },
                    UNCOUNTED);
        }
        Long epoch = start[0];
        Long own = start[1];
        if (epoch == null
                || own == null
                || start[2] != null
                || own < 0
                || epoch < YEAR_2000_NANOS
                || epoch >= YEAR_2100_NANOS
                || own > YEAR_2100_NANOS) {
            return null;
        }
        long first = epoch - own + reference;
        return first >= YEAR_2000_NANOS && first < YEAR_2100_NANOS ? Long.valueOf(epoch - own) : null;
    }

    // Second reading: events, and what is counted.

    private static void emit(NsysFile file, Contents contents, DeviceTrace trace, NsysFile.RowCounter counter)
            throws ImportException, IOException {
        file.read(
                KERNEL,
                List.of("start", "end"),
                List.of(
                        "demangledName",
                        "shortName",
                        "deviceId",
                        "streamId",
                        "correlationId",
                        "globalPid",
                        "gridX",
                        "gridY",
                        "gridZ",
                        "staticSharedMemory",
                        "dynamicSharedMemory",
                        "graphId",
                        "graphNodeId"),
                row -> kernel(file, row, contents, trace),
                counter);
        file.read(
                GRAPH,
                List.of("start", "end"),
                List.of("deviceId", "streamId", "correlationId", "globalPid", "graphId"),
                row -> {
                    Long graph = row.optional("graphId");
                    ran(row, contents, trace, DeviceWork.Kind.GRAPH, "graph " + (graph == null ? "" : graph), graph);
                },
                counter);
        file.read(
                MEMCPY,
                List.of("start", "end"),
                List.of("deviceId", "streamId", "correlationId", "globalPid", "copyKind", "graphNodeId"),
                row -> {
                    Long kind = row.optional("copyKind");
                    String word =
                            kind == null || kind <= 0 || kind >= COPY_KINDS.length ? "" : COPY_KINDS[kind.intValue()];
                    ran(row, contents, trace, DeviceWork.Kind.COPY, ("Memcpy " + word).strip(), null);
                },
                counter);
        file.read(
                MEMSET,
                List.of("start", "end"),
                List.of("deviceId", "streamId", "correlationId", "globalPid", "graphNodeId"),
                row -> ran(row, contents, trace, DeviceWork.Kind.COPY, "Memset", null),
                counter);
        file.read(
                RUNTIME,
                List.of("start", "end", "nameId"),
                List.of("correlationId", "globalTid", "returnValue"),
                row -> call(file, row, contents, trace),
                counter);
        file.read(
                SYNC,
                List.of("start", "end"),
                List.of("correlationId", "globalPid", "deviceId", "streamId", "syncType"),
                row -> sync(row, contents, trace),
                counter);
        file.read(MEMORY, List.of("start"), List.of(), row -> row.number("start"), counter);
        file.read(
                RANGES,
                List.of("start", "end", "eventType"),
                List.of("text", "textId", "globalTid"),
                row -> {
                    row.number("start");
                    row.number("eventType");
                    row.text("text");
                },
                counter);
    }

    private static void kernel(NsysFile file, NsysFile.Row row, Contents contents, DeviceTrace trace)
            throws SQLException, RejectedRecordException, IOException {
        Long nameId = row.optional("demangledName");
        String name = nameId == null ? null : file.string(nameId);
        if (name == null) {
            Long shortId = row.optional("shortName");
            name = shortId == null ? null : file.string(shortId);
        }
        if (name == null) {
            throw new RejectedRecordException("column demangledName: StringIds has no such id");
        }
        Long graph = row.optional("graphId");
        Long node = row.optional("graphNodeId");
        if ((graph == null || graph == 0) && node != null) {
            // The upper half of a node's number is its graph's.
            graph = node >>> 32;
        }
        ran(
                row,
                contents,
                trace,
                DeviceTrace.isCollective(name) ? DeviceWork.Kind.COLLECTIVE : DeviceWork.Kind.KERNEL,
                name,
                graph);
    }

    private static void ran(
            NsysFile.Row row,
            Contents contents,
            DeviceTrace trace,
            DeviceWork.Kind kind,
            String name,
            @Nullable Long graph)
            throws SQLException, RejectedRecordException, IOException {
        long start = row.number("start");
        long end = end(row, start);
        contents.stamps.check("start", start);
        trace.ran(new DeviceWork(
                kind,
                name,
                contents.processes.of(processOf(row.optional("globalPid"))),
                id(row.optional("deviceId")),
                id(row.optional("streamId")),
                start,
                end - start,
                blocks(row),
                shared(row),
                graph == null || graph == 0 ? null : graph.toString(),
                row.optional("correlationId")));
    }

    private static @Nullable Long blocks(NsysFile.Row row) throws SQLException, RejectedRecordException {
        Long x = row.optional("gridX");
        Long y = row.optional("gridY");
        Long z = row.optional("gridZ");
        if (x == null || y == null || z == null) {
            return null;
        }
        // A grid has at most 2^31 by 2^16 by 2^16 blocks.
        if (x < 0 || y < 0 || z < 0 || x > Integer.MAX_VALUE || y > 0xFFFF || z > 0xFFFF) {
            throw new RejectedRecordException("column gridX, gridY or gridZ: not the blocks of a grid");
        }
        return x * y * z;
    }

    private static @Nullable Long shared(NsysFile.Row row) throws SQLException, RejectedRecordException {
        Long fixed = row.optional("staticSharedMemory");
        Long more = row.optional("dynamicSharedMemory");
        if (fixed == null || more == null) {
            return null;
        }
        if (fixed < 0 || more < 0 || fixed > Integer.MAX_VALUE || more > Integer.MAX_VALUE) {
            throw new RejectedRecordException("column staticSharedMemory or dynamicSharedMemory: out of range");
        }
        return fixed + more;
    }

    private static void call(NsysFile file, NsysFile.Row row, Contents contents, DeviceTrace trace)
            throws SQLException, RejectedRecordException, IOException {
        long start = row.number("start");
        long end = end(row, start);
        contents.stamps.check("start", start);
        String name = file.string(row.number("nameId"));
        if (name == null) {
            throw new RejectedRecordException("column nameId: StringIds has no such id");
        }
        CallKind kind = CallKind.of(name);
        if (!kind.isWait() && !kind.isMemory()) {
            return;
        }
        Long thread = row.optional("globalTid");
        int process = contents.processes.of(processOf(thread));
        Long correlation = row.optional("correlationId");
        Integer code = row.optionalInt("returnValue");
        if (kind.isWait()) {
            SyncRecords.Sync sync = correlation == null ? null : contents.syncs.find(process, correlation);
            trace.waited(
                    kind,
                    contents.threads.of(thread),
                    sync == null ? null : sync.deviceId(),
                    sync == null ? null : sync.streamId(),
                    start,
                    end,
                    code);
        } else {
            Allocation allocation =
                    correlation == null ? null : contents.allocations.get(new AllocationKey(process, correlation));
            trace.memory(
                    kind,
                    contents.threads.of(thread),
                    allocation == null ? null : allocation.deviceId(),
                    allocation == null ? null : allocation.sizeBytes(),
                    start,
                    end,
                    code);
        }
    }

    private static void sync(NsysFile.Row row, Contents contents, DeviceTrace trace)
            throws SQLException, RejectedRecordException, IOException {
        long start = row.number("start");
        long end = end(row, start);
        contents.stamps.check("start", start);
        int process = contents.processes.of(processOf(row.optional("globalPid")));
        Long correlation = row.optional("correlationId");
        if (correlation != null
                && (contents.calls.find(process, correlation) != CallTable.NONE
                        || contents.calls.isAmbiguous(process, correlation))) {
            return;
        }
        // The call was not recorded. One of an event may have been a question that waits for nothing.
        Long type = row.optional("syncType");
        CallKind kind = type == null
                ? CallKind.OTHER
                : type == 3 ? CallKind.STREAM_SYNC : type == 4 ? CallKind.DEVICE_SYNC : CallKind.OTHER;
        if (kind != CallKind.OTHER) {
            trace.waited(kind, -1, id(row.optional("deviceId")), id(row.optional("streamId")), start, end, null);
        }
    }

    private void say(NsysFile file, Contents contents, @Nullable Long offset, TraceSummary summary) {
        if (summary.kernels() == 0) {
            String why = "table " + KERNEL + " is " + (file.has(KERNEL) ? "empty" : "missing");
            if (contents.launches > 0) {
                why += ", though " + contents.launches + " calls launched some";
            } else if (contents.callCount == 0) {
                why += ", and so are calls of CUDA; record with: nsys profile --trace=cuda,nvtx";
            }
            summary.remark("no GPU kernel in this file: " + why
                    + "; nothing is known of what a GPU did, which is not an idle GPU");
        } else if (!file.has(RUNTIME)) {
            summary.remark("table " + RUNTIME + " is missing: no kernel has a launch record");
        }
        if (!file.has(SYNC) && summary.waits() > 0) {
            summary.remark("table " + SYNC + " is missing: waits do not name their stream");
        }
        if (!file.has(MEMORY) && summary.changesOfMemory() > 0) {
            summary.remark("table " + MEMORY + " is missing: allocations have no size; record with:"
                    + " nsys profile --cuda-memory-usage=true");
        }
        if (offset == null) {
            summary.remark("the session's start is not known: its records are undated");
        }
        summary.lines(contents.calls).forEach(listener::said);
    }
}
