package io.tokenstair.collect.importer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.kineto.KinetoImport;
import io.tokenstair.collect.nsys.NsysImport;
import io.tokenstair.fuzz.Mutations;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real traces of GPU profilers that something happened to: read or refused with a reason, counted, and nothing else is thrown. */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class MutatedTracesTest {
    private static final int TRACES = 10_000;
    private static final int DATABASES = 2_000;

    @TempDir
    Path folder;

    private static byte[] unzipped(String name) throws IOException {
        try (InputStream in =
                new GZIPInputStream(Files.newInputStream(Imported.real().resolve(name)))) {
            return in.readAllBytes();
        }
    }

    private void readsOrRefuses(FileImport importer, List<byte[]> originals, int inputs, long seed) throws IOException {
        Mutations mutations = new Mutations(
                seed,
                originals,
                "nan",
                "\"ph\": \"X\"",
                "\"dur\": -5,",
                "\"correlation\": 4294967296,",
                "\"traceEvents\": [",
                "\"baseTimeNanoseconds\": 9e99,",
                "\"ts\": 1e15,");
        Path file = folder.resolve("input");
        DamagedFile damaged = new DamagedFile(file, folder.resolve("log"));
        for (int i = 0; i < inputs; i++) {
            Files.write(file, mutations.next());
            try {
                damaged.read(importer);
            } catch (RuntimeException | StackOverflowError e) {
                Files.copy(
                        file,
                        Files.createTempFile("mutated", ".trace"),
                        java.nio.file.StandardCopyOption.REPLACE_EXISTING);
                throw new AssertionError("input " + i + " of seed " + seed, e);
            }
        }
        assertThat(damaged.read()).isGreaterThan(10L * inputs);
        assertThat(damaged.rejected()).isPositive();
        assertThat(damaged.refused()).isPositive();
    }

    @Test
    void tracesOfThePyTorchProfiler() throws IOException {
        List<byte[]> originals = new ArrayList<>();
        for (String name : List.of(
                "kineto_hta/critical_path__cuda_event_sync__event_sync_trace.json.gz",
                "kineto_hta/triton_example__triton_example.json.gz",
                "kineto_hta/cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
                "kineto_hta/cupti_profiler.excerpt.json.gz",
                "kineto_cpu_torch/trace.excerpt.json.gz")) {
            originals.add(unzipped(name));
        }
        // As it lies there, zipped.
        originals.add(Files.readAllBytes(Imported.real().resolve("kineto_hta/mtia.excerpt.json.gz")));
        readsOrRefuses(
                new KinetoImport(null, null, LineSource.Limits.DEFAULT, DamagedFile.SILENT), originals, TRACES, 11);
    }

    @Test
    void exportsOfNsightSystems() throws Exception {
        Path file = folder.resolve("small.sqlite");
        try (var connection = java.sql.DriverManager.getConnection("jdbc:sqlite:" + file);
                var statement = connection.createStatement()) {
            statement.executeUpdate("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
            statement.executeUpdate(
                    "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel'), (3, 'cudaMalloc')");
            statement.executeUpdate(
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, correlationId"
                            + " INTEGER, globalPid INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER)");
            statement.executeUpdate(
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId"
                            + " INTEGER, globalTid INTEGER, nameId INTEGER, returnValue INTEGER)");
            statement.executeUpdate(
                    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT)");
            statement.executeUpdate(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120) INSERT INTO"
                            + " CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 1000, i * 1000 + 500, i, 1 << 24, 1, 1, 2, 3 FROM n");
            statement.executeUpdate(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120) INSERT INTO"
                            + " CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 990, i * 990 + 5, i, 1 << 24, 2 + i % 2, 0 FROM n");
            statement.executeUpdate(
                    "INSERT INTO NVTX_EVENTS VALUES (1, 9000, 59, 'execute_context_1(5)_generation_0(0)')");
        }
        readsOrRefuses(
                new NsysImport(null, null, LineSource.Limits.DEFAULT, DamagedFile.SILENT),
                List.of(Files.readAllBytes(file)),
                DATABASES,
                12);
    }
}
