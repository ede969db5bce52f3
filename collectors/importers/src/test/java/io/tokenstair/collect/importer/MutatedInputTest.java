package io.tokenstair.collect.importer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.bench.BenchImport;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.prometheus.PrometheusImport;
import io.tokenstair.collect.table.CsvImport;
import io.tokenstair.collect.table.CsvMap;
import io.tokenstair.collect.workload.MooncakeImport;
import io.tokenstair.fuzz.Mutations;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files that something happened to, {@value #FILES} of each format: whatever comes in is read or refused with a reason, counted, and nothing else is thrown.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class MutatedInputTest {
    private static final int FILES = 10_000;

    @TempDir
    Path folder;

    /** Makes an importer of a format. */
    private interface Format {
        FileImport importer(ImportListener listener) throws ImportException;
    }

    private void readsOrRefuses(Format format, long seed, String original) throws IOException, ImportException {
        Mutations mutations =
                new Mutations(seed, List.of(original.getBytes(StandardCharsets.UTF_8)), "\"itls\":", "[[[[");
        Path file = folder.resolve("input");
        DamagedFile damaged = new DamagedFile(file, folder.resolve("log"));
        for (int i = 0; i < FILES; i++) {
            byte[] input = mutations.next();
            Files.write(file, input);
            try {
                damaged.read(format.importer(DamagedFile.SILENT));
            } catch (RuntimeException e) {
                throw new AssertionError("input " + i + ": " + new String(input, StandardCharsets.UTF_8), e);
            }
        }
        assertThat(damaged.read()).isPositive();
        assertThat(damaged.rejected() + damaged.refused()).isPositive();
    }

    @Test
    void resultsOfVllm() throws IOException, ImportException {
        readsOrRefuses(
                listener -> new BenchImport(BenchImport.Tool.VLLM, LineSource.Limits.DEFAULT, listener),
                1,
                "{\n \"backend\": \"openai-chat\", \"model_id\": \"m\", \"request_rate\": \"inf\", \"completed\": 2,\n"
                        + " \"input_lens\": [7, 8], \"output_lens\": [2, 3], \"ttfts\": [0.02, 0.03],\n"
                        + " \"itls\": [[0.001, 0.005], [0.001, 0.004, 0.006]], \"start_times\": [100.0, 100.1],\n"
                        + " \"generated_texts\": [\"a\", \"b\"], \"errors\": [\"\", \"\"], \"median_tpot_ms\": 4.5\n}\n");
    }

    @Test
    void requestsWithStamps() throws IOException, ImportException {
        readsOrRefuses(
                listener -> new BenchImport(BenchImport.Tool.VLLM, LineSource.Limits.DEFAULT, listener),
                2,
                "{\"request_id\":\"a\",\"input_toks\":5,\"output_toks\":3,\"arrival_time\":1790000000.5,\"queued_ts\":10.0,"
                        + "\"scheduled_ts\":12.0,\"first_token_ts\":12.5,\"last_token_ts\":13.5}\n"
                        + "{\"request_id\":\"b\",\"input_toks\":5,\"output_toks\":3,\"arrival_time\":1790000001.5,\"queued_ts\":11.0,"
                        + "\"scheduled_ts\":12.0,\"first_token_ts\":12.5,\"last_token_ts\":13.5}\n");
    }

    @Test
    void resultsOfSglang() throws IOException, ImportException {
        String run = "{\"backend\":\"sglang\",\"request_rate\":Infinity,\"completed\":2,\"ttfts\":[0.02,0.5],"
                + "\"itls\":[[0.01,0.01,0.012],[]],\"output_lens\":[5,3],\"input_lens\":[1,2],\"errors\":[\"\",\"\"]}\n";
        readsOrRefuses(
                listener -> new BenchImport(BenchImport.Tool.SGLANG, LineSource.Limits.DEFAULT, listener),
                3,
                run + run);
    }

    @Test
    void workloads() throws IOException, ImportException {
        readsOrRefuses(
                listener -> new MooncakeImport(LineSource.Limits.DEFAULT, listener),
                4,
                "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}\n"
                        + "{\"timestamp\": 3000, \"input_length\": 1030, \"output_length\": 5, \"hash_ids\": [0, 1, 2]}\n"
                        + "{\"timestamp\": 3001, \"input_length\": 100, \"output_length\": 5, \"hash_ids\": [7]}\n");
    }

    @Test
    void tables() throws IOException, ImportException {
        readsOrRefuses(
                listener -> new CsvImport(
                        CsvMap.parse(List.of("time=t:s", "running=running", "kvUsed=kv:percent"), null, "e"),
                        LineSource.Limits.DEFAULT,
                        listener),
                5,
                "t,running,kv\n1.0,5,13.2\n2.0,6,14.1\n3.0,7,99.0\n");
    }

    @Test
    void scrapes() throws IOException, ImportException {
        readsOrRefuses(
                listener -> new PrometheusImport(LineSource.Limits.DEFAULT, listener),
                6,
                "# scraped mono_ns=5 wall_ns=1790000000000000000\n# TYPE a counter\nvllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3\n"
                        + "vllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 11 1790000000000\nvllm:kv_cache_usage_perc 0.5\n");
    }
}
