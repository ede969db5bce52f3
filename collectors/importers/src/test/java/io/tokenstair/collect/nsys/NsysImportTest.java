package io.tokenstair.collect.nsys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.Imported.Told;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NsysImportTest {
    private static final long RANK_0 = 0x1000_0050L << 24;
    private static final long RANK_1 = 0x1000_0051L << 24;
    private static final String KERNELS =
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
                    + " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER,"
                    + " gridY INTEGER, gridZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,"
                    + " graphNodeId INTEGER, graphId INTEGER)";
    private static final String CALLS =
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId"
                    + " INTEGER, nameId INTEGER, returnValue INTEGER)";
    private static final String STRINGS = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)";
    private static final String NAMES = "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'),"
            + " (3, 'cudaGraphLaunch_v10000'), (4, 'cudaStreamSynchronize_v3020'), (5, 'cudaMalloc_v3020'),"
            + " (6, 'cudaEventQuery_v3020'), (7, 'ncclDevKernel_AllReduce_Sum_bf16'), (8, 'cudaMemcpy_v3020'),"
            + " (9, '[Executor] _forward_step 41: 1 ctx reqs, 3 gen reqs'), (10, 'cudaFree_v3020')";

    @TempDir
    Path folder;

    private Told imported(Path file) throws ImportException {
        return Imported.file(
                listener -> new NsysImport(null, null, Imported.LIMITS, listener), file, folder.resolve("log"));
    }

    private Path database(String name, String... statements) throws Exception {
        Path file = folder.resolve(name);
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("made"));
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.executeUpdate(sql);
            }
        }
        Files.move(folder.resolve("made"), file);
        return file;
    }

    private static String kernel(long start, long end, long correlation, long process, String more) {
        return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + start + ", " + end + ", 0, 7, " + correlation + ", "
                + process + ", 1, 1, 2, 3, 4, 16, 32, " + more + ")";
    }

    private static String call(long start, long end, long thread, long correlation, int name, int code) {
        return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + start + ", " + end + ", " + thread + ", "
                + correlation + ", " + name + ", " + code + ")";
    }

    @Test
    void of3442KernelsOfARealExport1810HaveNoLaunchRecord() throws Exception {
        Path file = folder.resolve("h100.sqlite");
        try (InputStream in = new GZIPInputStream(
                Files.newInputStream(Imported.real().resolve("nsys_sqlite/h100_2gpu_1s.excerpt.sqlite.gz")))) {
            Files.copy(in, file);
        }
        Told told = imported(file);

        assertThat(told.line("joined"))
                .endsWith("3442 kernels, 0 copies and fills; 1632 joined to the call that launched them, 1810 without a"
                        + " launch record");
        assertThat(told.line("from launch"))
                .endsWith("p50 421.304 ms, p99 438.745 ms, longest 438.830 ms (1632 kernels)");
        assertThat(told.line("waits")).endsWith("8 stream-sync (856.929 ms)");
        List<KernelRan> kernels = told.imported().all(KernelRan.class);
        assertThat(kernels).filteredOn(ran -> ran.launchNanos() == null).hasSize(1_810);
        long[] waits = kernels.stream()
                .filter(ran -> ran.launchNanos() != null)
                .mapToLong(ran -> ran.startNanos() - Objects.requireNonNull(ran.launchNanos()))
                .toArray();
        // By the id alone 11 more would be joined, to calls of the other process, with waits below zero.
        assertThat(Arrays.stream(waits).min()).hasValue(8_704);
        assertThat(Arrays.stream(waits).max()).hasValue(438_830_012);
        assertThat(told.imported().all(StreamStalled.class)).hasSize(8).allSatisfy(stall -> {
            assertThat(stall.stallKind()).isEqualTo("stream-sync");
            assertThat(stall.driverCode()).isZero();
            assertThat(stall.streamId()).isNotNull();
        });
        // 2026-05-24T13:40:14.975716426Z at 35255823190 of the machine's clock.
        assertThat(Imported.wallMillis(told.imported().events().get(0)))
                .isBetween(1_779_630_135_000L, 1_779_630_137_000L);
        assertThat(told.imported().summary().rejected()).isZero();
    }

    @Test
    void idsAreThoseOfAProcessAndAGraphLaunchHasManyKernels() throws Exception {
        Told told = imported(database(
                "two.sqlite",
                KERNELS,
                CALLS,
                STRINGS,
                NAMES,
                call(1_000, 1_100, RANK_0 + 80, 5, 3, 0),
                kernel(2_000, 2_500, 5, RANK_0, "12884901890, NULL"),
                kernel(2_600, 2_700, 5, RANK_0, "12884901891, NULL"),
                kernel(3_000, 3_100, 5, RANK_1, "NULL, NULL"),
                kernel(900, 950, 6, RANK_0, "NULL, 9"),
                call(905, 910, RANK_0 + 80, 6, 2, 0)));

        List<KernelRan> kernels = told.imported().all(KernelRan.class);
        assertThat(kernels)
                .extracting(ran -> ran.startNanos() + " " + ran.launchNanos() + " " + ran.graphId())
                .containsExactlyInAnyOrder("2000 1000 3", "2600 1000 3", "3000 null null", "900 905 9");
        assertThat(kernels).allSatisfy(ran -> {
            assertThat(ran.gridCount()).isEqualTo(24);
            assertThat(ran.sharedMemoryBytes()).isEqualTo(48);
        });
        assertThat(told.line("would start before")).contains("1 kernel");
        assertThat(told.line("from launch")).contains("(2 kernels)");
        assertThat(told.line("session's start")).contains("undated");
    }

    @Test
    void waitsAllocationsAndStepsAreTold() throws Exception {
        Told told = imported(database(
                "all.sqlite",
                KERNELS,
                CALLS,
                STRINGS,
                NAMES,
                "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, streamId"
                        + " INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER)",
                "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (5002, 5090, 0, 7, 11, " + RANK_0 + ", 3),"
                        + " (6001, 6002, 0, 7, 12, " + RANK_0 + ", 1), (7000, 7100, 1, 4294967295, 99, " + RANK_0
                        + ", 4), (7200, 7300, 1, 4, 98, " + RANK_0 + ", 2)",
                "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, bytes"
                        + " INTEGER, correlationId INTEGER)",
                "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (4050, " + RANK_0 + ", 1, 4096, 13)",
                "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,"
                        + " textId INTEGER)",
                "INSERT INTO NVTX_EVENTS VALUES (1000, 9000, 59, NULL, " + (RANK_0 + 80) + ", 9), (9100, 9900, 59,"
                        + " '[Executor] _forward_step 42: 0 ctx reqs, 4 gen reqs', " + (RANK_0 + 80)
                        + ", NULL), (1200, NULL, 34, 'mark', 1, NULL)",
                "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, systemClockNs INTEGER)",
                "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779630014000000000, 500)",
                call(5_000, 5_100, RANK_0 + 80, 11, 4, 0),
                call(6_000, 6_003, RANK_0 + 80, 12, 6, 600),
                call(4_000, 4_100, RANK_0 + 80, 13, 5, 2),
                call(4_200, 4_300, RANK_0 + 80, 14, 10, 0),
                call(4_400, 4_500, RANK_0 + 80, 15, 8, 0),
                call(8_000, 8_010, RANK_0 + 80, 16, 2, 0),
                kernel(9_200, 9_300, 16, RANK_0, "NULL, NULL")));

        assertThat(told.imported().all(StreamStalled.class))
                .extracting(stall -> stall.stallKind() + " " + stall.startNanos() + " " + stall.streamId() + " "
                        + stall.deviceId() + " " + stall.driverCode() + " " + stall.stepId())
                .containsExactlyInAnyOrder(
                        "stream-sync 5000 7 0 0 41", "copy 4400 null null 0 41", "device-sync 7000 null 1 null null");
        assertThat(told.imported().all(MemoryChanged.class))
                .extracting(change -> change.change() + " " + change.sizeBytes() + " " + change.deviceId() + " "
                        + change.driverCode())
                .containsExactlyInAnyOrder("fail 4096 1 2", "free null null 0");
        assertThat(told.line("device memory")).endsWith("1 alloc, 1 free, 1 failed");
        List<StepCompleted> steps = told.imported().all(StepCompleted.class);
        assertThat(steps)
                .extracting(step -> step.stepId() + " " + step.forwardMode() + " " + step.decodeTokens())
                .containsExactly("41 mixed null", "42 decode null");
        // Launched in step 41, run in 42: it is of 41.
        assertThat(told.imported().only(KernelRan.class).stepId()).isEqualTo(41);
        assertThat(Imported.wallMillis(told.imported().events().get(0))).isEqualTo(1_779_630_014_000L);
    }

    @Test
    void anExportWithoutKernelsSaysSo() throws Exception {
        Told told = imported(database(
                "cpu.sqlite",
                STRINGS,
                "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)",
                "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT)",
                "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'step')"));

        assertThat(told.line("no GPU kernel in this file"))
                .contains("table CUPTI_ACTIVITY_KIND_KERNEL is missing")
                .endsWith("nothing is known of what a GPU did, which is not an idle GPU");
        assertThat(told.imported().summary().line()).isEqualTo("read 1, accepted 1, rejected 0");
    }

    @Test
    void kernelsWithoutATableOfCallsHaveNoLaunch() throws Exception {
        Told told = imported(database("k.sqlite", KERNELS, STRINGS, NAMES, kernel(10, 20, 5, RANK_0, "NULL, NULL")));

        assertThat(told.line("RUNTIME is missing")).contains("no kernel has a launch record");
        assertThat(told.imported().only(KernelRan.class).launchNanos()).isNull();
        assertThat(told.imported().only(KernelRan.class).correlationId()).isEqualTo(5);
    }

    @Test
    void badRowsAreRefusedWithTheirTableAndNumber() throws Exception {
        Told told = imported(
                database(
                        "bad.sqlite",
                        KERNELS,
                        STRINGS,
                        NAMES,
                        kernel(10, 20, 5, RANK_0, "NULL, NULL"),
                        kernel(20, 10, 6, RANK_0, "NULL, NULL"),
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES (1, 2, 77)",
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES (NULL, 2, 1)",
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES (1.5, 2, 1)",
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES ('x', 2, 1)",
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES (9000000000000000000, 9000000000000000001, 1)",
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName, gridX, gridY, gridZ) VALUES (1, 2, 1, 9223372036854775807, 2, 2)"));

        assertThat(told.imported().reasons())
                .containsExactly(
                        "column end: before the start",
                        "column demangledName: StringIds has no such id",
                        "column start: missing",
                        "column start: not a whole number",
                        "column start: not a whole number",
                        "column start or end: out of range",
                        "column gridX, gridY or gridZ: not the blocks of a grid");
        assertThat(told.imported().summary().line()).isEqualTo("read 8, accepted 1, rejected 7");
    }

    @Test
    void whatIsNoExportEndsInOneLine() throws Exception {
        refused(database("other.sqlite", "CREATE TABLE t (a INTEGER)"), "no export of Nsight Systems");
        refused(database("names.sqlite", KERNELS), "table StringIds is missing");
        refused(
                database("columns.sqlite", STRINGS, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER)"),
                "table CUPTI_ACTIVITY_KIND_KERNEL has no column end");
        refused(Files.writeString(folder.resolve("text.sqlite"), "hello"), "no SQLite database");
        refused(Files.createFile(folder.resolve("empty.sqlite")), "no SQLite database");
        byte[] whole = Files.readAllBytes(database("whole.sqlite", KERNELS, STRINGS, NAMES));
        refused(Files.write(folder.resolve("head.sqlite"), Arrays.copyOf(whole, 100)), "the file is cut");
        // A view may compute for ever.
        refused(
                database(
                        "view.sqlite",
                        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start"
                                + " + 1 FROM n) SELECT start, start AS end, 1 AS demangledName FROM n"),
                "no export of Nsight Systems");
    }

    private void refused(Path file, String problem) {
        assertThatExceptionOfType(ImportException.class)
                .isThrownBy(() -> imported(file))
                .withMessageStartingWith(file.toString())
                .withMessageContaining(problem)
                .matches(e -> !String.valueOf(e.getMessage()).contains("\n"));
    }

    @Test
    void aNameOfSignsIsRead() throws Exception {
        Told told = imported(database(
                "a b?mode=rwc&x#%41.sqlite", KERNELS, STRINGS, NAMES, kernel(10, 20, 5, RANK_0, "NULL, NULL")));

        assertThat(told.imported().all(KernelRan.class)).hasSize(1);
        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("a b?mode=rwc&x#%41.sqlite", "log");
        }
    }

    @Test
    void aDamagedExportIsTakenAsFarAsItGoesAndACutOneIsRefused() throws Exception {
        StringBuilder rows =
                new StringBuilder("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES ");
        for (int i = 0; i < 20_000; i++) {
            rows.append(i == 0 ? "" : ", ")
                    .append('(')
                    .append(i)
                    .append(", ")
                    .append(i + 1)
                    .append(", 1)");
        }
        byte[] whole = Files.readAllBytes(database("long.sqlite", KERNELS, STRINGS, NAMES, rows.toString()));
        refused(
                Files.write(folder.resolve("cut.sqlite"), Arrays.copyOf(whole, whole.length / 2)),
                "cut.sqlite: the file is cut: " + whole.length / 2 + " of its " + whole.length + " bytes are there");
        refused(Files.write(folder.resolve("start.sqlite"), Arrays.copyOf(whole, 30)), "SQLite cannot read it");
        Arrays.fill(whole, whole.length / 2, whole.length / 2 + 20_000, (byte) 0);
        Told told = imported(Files.write(folder.resolve("damaged.sqlite"), whole));

        assertThat(told.imported().summary().accepted()).isGreaterThan(100);
        assertThat(told.imported().summary().rejected()).isPositive();
        assertThat(told.imported().reasons())
                .anySatisfy(reason -> assertThat(reason).startsWith("SQLite cannot read on"));
    }
}
