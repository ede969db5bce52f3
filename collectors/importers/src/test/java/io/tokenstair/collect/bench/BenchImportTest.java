package io.tokenstair.collect.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BenchImportTest {
    @TempDir
    Path folder;

    private final List<String> notes = new ArrayList<>();

    private Imported imported(BenchImport.Tool tool, String... lines) throws ImportException {
        return Imported.file(
                listener -> new BenchImport(tool, LineSource.Limits.DEFAULT, noting()), folder, "r.json", lines);
    }

    private Imported vllm(String... lines) throws ImportException {
        return imported(BenchImport.Tool.VLLM, lines);
    }

    private Imported sglang(String... lines) throws ImportException {
        return imported(BenchImport.Tool.SGLANG, lines);
    }

    private ImportListener noting() {
        return new ImportListener() {
            @Override
            public void progress(String layer, long read) {}

            @Override
            public void missing(String layer, String files, Path missingIn) {}

            @Override
            public void said(String sentence) {
                notes.add(sentence);
            }
        };
    }

    private static List<Chunk> chunks(Imported imported, String requestId) {
        return imported.all(ChunkDelivered.class).stream()
                .filter(delivered -> delivered.requestId().equals(requestId))
                .flatMap(delivered -> delivered.chunks().stream())
                .toList();
    }

    private static String times(List<Chunk> chunks) {
        return chunks.stream()
                .map(chunk ->
                        chunk.firstTokenIndex() + "+" + chunk.tokenCount() + "@" + chunk.arrivedNanos() / 1_000_000)
                .collect(Collectors.joining(" "));
    }

    @Test
    void theRoleChunkOfAChatAnswerIsNoToken() throws Exception {
        Imported imported = vllm(
                "{\"backend\":\"openai-chat\",\"model_id\":\"m\",\"completed\":2,\"ttfts\":[0.02,0.03],",
                "\"itls\":[[0.001,0.005],[0.001,0.004,0.006]],\"output_lens\":[2,3],\"input_lens\":[7,8],",
                "\"start_times\":[100.0,100.1],\"errors\":[\"\",\"\"],\"generated_texts\":[\"secret\",\"\"]}");

        assertThat(times(chunks(imported, "r.json#0"))).isEqualTo("null+0@100020 0+1@100021 1+1@100026");
        assertThat(times(chunks(imported, "r.json#1"))).isEqualTo("null+0@100130 0+1@100131 1+1@100135 2+1@100141");
        assertThat(imported.all(RequestReceived.class))
                .extracting(RequestReceived::promptTokens)
                .containsExactly(7L, 8L);
        assertThat(imported.all(RequestReceived.class).get(0).model()).isEqualTo("m");
        assertThat(imported.all(RequestCompleted.class))
                .extracting(RequestCompleted::outputTokens)
                .containsExactly(2L, 3L);
        assertThat(imported.summary().line()).isEqualTo("read 2, accepted 2, rejected 0");
        assertThat(imported.events().toString()).doesNotContain("secret");
        assertThat(notes).anyMatch(note -> note.contains("its role and holds no token"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"openai-chat", "openai"})
    void aLastChunkThatComesWithTheTokenBeforeItIsTheEndAndNoToken(String backend) throws Exception {
        Imported imported =
                vllm("{\"backend\":\"" + backend + "\",\"ttfts\":[0.02,0.03],\"itls\":[[0.005,0.006,0.00001],"
                        + "[0.004,0.005,0.006,0.00001]],\"output_lens\":[3,4],\"start_times\":[100.0,100.1]}");

        assertThat(times(chunks(imported, "r.json#0"))).isEqualTo("0+1@100020 1+1@100025 2+1@100031 null+0@100031");
        assertThat(times(chunks(imported, "r.json#1")))
                .isEqualTo("0+1@100130 1+1@100134 2+1@100139 3+1@100145 null+0@100145");
        assertThat(notes).anyMatch(note -> note.contains("why it ended and holds no token"));
    }

    @Test
    void aChatAnswerMayHaveBothARoleAndAnEndWithoutTokens() throws Exception {
        Imported imported =
                vllm("{\"backend\":\"openai-chat\",\"ttfts\":[0.02],\"itls\":[[0.00001,0.005,0.006,0.00001]],"
                        + "\"output_lens\":[3],\"start_times\":[100.0]}");

        assertThat(times(chunks(imported, "r.json#0")))
                .isEqualTo("null+0@100020 0+1@100020 1+1@100025 2+1@100031 null+0@100031");
    }

    @Test
    void aRequestThatTookLongerThanTheRunIsInAnotherUnit() throws Exception {
        Imported imported = sglang(
                "{\"backend\":\"sglang-oai\",\"duration\":4.5,\"ttfts\":[20.0,0.02],\"itls\":[[5.0,6.0],[0.005,0.006]],"
                        + "\"output_lens\":[3,3]}");

        assertThat(imported.summary().line()).isEqualTo("read 2, accepted 1, rejected 1");
        assertThat(imported.all(Rejected.class).get(0).reason()).contains("31 s in a run of", "another unit");
    }

    @Test
    void aChunkATokenWhereThereAreAsManyOfOneAsOfTheOther() throws Exception {
        Imported imported = vllm(
                "{\"backend\":\"vllm\",\"ttfts\":[0.02],\"itls\":[[0.001,0.005]],\"output_lens\":[3],\"start_times\":[1]}");

        assertThat(times(chunks(imported, "r.json#0"))).isEqualTo("0+1@1020 1+1@1021 2+1@1026");
    }

    @Test
    void otherNumbersOfChunksThanOfTokensArePlacedNowhere() throws Exception {
        Imported imported = vllm(
                "{\"backend\":\"vllm\",\"ttfts\":[0.02,0.02],\"itls\":[[0.001,0.005],[0.001]],\"output_lens\":[9,1],\"start_times\":[1,2]}");

        assertThat(chunks(imported, "r.json#0")).isEmpty();
        assertThat(chunks(imported, "r.json#1")).isEmpty();
        assertThat(imported.all(RequestCompleted.class))
                .extracting(RequestCompleted::chunkCount)
                .containsExactly(3L, 2L);
        RequestCompleted first = imported.all(RequestCompleted.class).get(0);
        assertThat(first.outputTokens()).isEqualTo(9);
        // What the file does say: when the first chunk came, and 6 ms over the eight tokens after it.
        assertThat(first.firstTokenNanos()).isEqualTo(1_020_000_000L);
        assertThat(first.meanGapNanos()).isEqualTo(750_000L);
        assertThat(imported.all(RequestCompleted.class).get(1).meanGapNanos()).isNull();
        assertThat(notes)
                .anyMatch(note -> note.contains("2 of 2 requests have other numbers of chunks than of tokens"));
    }

    @Test
    void equalSharesOfOneChunkAreOneChunkAgain() throws Exception {
        Imported imported = sglang("{\"backend\":\"sglang\",\"request_rate\":Infinity,\"ttfts\":[0.02],"
                + "\"itls\":[[0.01,0.01,0.01,0.012,0.012]],\"output_lens\":[7],\"errors\":[\"\"]}");

        assertThat(times(chunks(imported, "r.json#0"))).isEqualTo("0+2@20 2+3@50 5+2@74");
    }

    @ParameterizedTest
    @CsvSource({
        "sglang, 3 0, 3 0",
        // SGLang's own form says 0 of itself; where it is OpenAI's a server that tells nothing reads the same.
        "sglang, 0 0, 0 0",
        "sglang-oai, 0 2, 0 2",
        "sglang-oai, 0 0, none none",
        // The client's tokenizer counts the prompts, of 7 and 8 tokens.
        "sglang-oai, 9 8, none 8"
    })
    void cachedTokensAreTakenWhereTheServerTellsThem(String backend, String listed, String taken) throws Exception {
        Imported imported = sglang("{\"backend\":\"" + backend + "\",\"input_lens\":[7,8],\"output_lens\":[2,2],"
                + "\"ttfts\":[0.02,0.03],\"itls\":[[0.005],[0.006]],\"errors\":[\"\",\"\"],\"cached_tokens\":["
                + listed.replace(' ', ',') + "],\"cached_tokens_details\":[null,{\"device\":2}]}");

        assertThat(imported.all(RequestCompleted.class).stream()
                        .map(completed -> completed.cachedTokens() == null
                                ? "none"
                                : completed.cachedTokens().toString())
                        .collect(Collectors.joining(" ")))
                .isEqualTo(taken);
    }

    @Test
    void aWholeAnswerAtOnceIsOneChunk() throws Exception {
        Imported imported = sglang(
                "{\"backend\":\"sglang-oai\",\"ttfts\":[0.5],\"itls\":[[]],\"output_lens\":[7],\"errors\":[\"\"]}");

        assertThat(times(chunks(imported, "r.json#0"))).isEqualTo("0+7@500");
    }

    @Test
    void withoutStartTimesEveryRequestHasAClockOfItsOwn() throws Exception {
        Imported imported = sglang(
                "{\"backend\":\"sglang-oai\",\"ttfts\":[0.5,0.1],\"itls\":[[0.1],[0.1]],\"output_lens\":[2,2]}",
                "{\"backend\":\"sglang-oai\",\"ttfts\":[0.7],\"itls\":[[0.1]],\"output_lens\":[2]}");

        assertThat(imported.from("sglang-bench").stream()
                        .map(event -> event.header().clockId())
                        .distinct())
                .contains("r.json#0/client", "r.json#1/client", "r.json:2#0/client");
        assertThat(imported.from("sglang-bench"))
                .allMatch(event -> event.header().coarseEpochMillis() == null);
        assertThat(imported.summary().line()).isEqualTo("read 3, accepted 3, rejected 0");
    }

    @Test
    void whereEveryRequestFailedThereIsNoData() throws Exception {
        Imported imported = vllm(
                "{\"backend\":\"vllm\",\"completed\":0,\"failed\":2,\"duration\":1.0,\"mean_ttft_ms\":0.0,"
                        + "\"median_tpot_ms\":0.0,\"p99_tpot_ms\":0.0,\"ttfts\":[0.0,0.0],\"itls\":[[],[]],\"output_lens\":[0,0],"
                        + "\"input_lens\":[5,5],\"start_times\":[1,2],\"errors\":[\"Traceback: secret\",\"Traceback\"]}");

        assertThat(imported.all(ChunkDelivered.class)).isEmpty();
        assertThat(imported.all(RequestCompleted.class))
                .extracting(RequestCompleted::outcome)
                .containsExactly("failed", "failed");
        assertThat(imported.all(MetricSampled.class))
                .extracting(MetricSampled::name)
                .containsExactlyInAnyOrder("bench:completed", "bench:failed");
        assertThat(notes).anyMatch(note -> note.contains("no data: every request failed (2)"));
        assertThat(imported.events().toString()).doesNotContain("secret");
        assertThat(imported.summary().line()).isEqualTo("read 2, accepted 2, rejected 0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "NaN|0.1|2|request 0: ttfts: not a time, NaN",
                "Infinity|0.1|2|request 0: ttfts: not a time, Infinity",
                "-0.1|0.1|2|request 0: ttfts: not a time, -0.1",
                "0.1|NaN|2|request 0: itls: not a time, NaN",
                "0.1|-1|2|request 0: itls: not a time, -1.0",
                "0.1|1e12|2|request 0: itls: not a time, 1.0E12",
                "0.1|\"x\"|2|request 0: itls: not a time, NaN",
                "0.1|0.1|-2|request 0: output_lens: not a count, -2.0",
                "0.1|0.1|1.5|request 0: output_lens: not a count, 1.5",
                "0.1|0.1|null|request 0: output_lens: not a count, NaN"
            })
    void whatCannotBeIsRefusedWithTheRequestBesideItTaken(String ttft, String gap, String tokens, String reason)
            throws Exception {
        Imported imported = sglang("{\"backend\":\"sglang-oai\",\"ttfts\":[" + ttft + ",0.1],\"itls\":[[" + gap
                + "],[0.1]],\"output_lens\":[" + tokens + ",2]}");

        assertThat(imported.reasons()).containsExactly(reason);
        assertThat(times(chunks(imported, "r.json#1"))).isEqualTo("0+1@100 1+1@200");
        assertThat(imported.summary().line()).isEqualTo("read 2, accepted 1, rejected 1");
    }

    @Test
    void aRunThatIsCutIsTakenAsFarAsItGoes() throws Exception {
        Imported imported =
                sglang("{\"backend\":\"sglang-oai\",\"output_lens\":[2,2],\"ttfts\":[0.1,0.2],\"itls\":[[0.1],[0.1");

        assertThat(times(chunks(imported, "r.json#0"))).isEqualTo("0+1@100 1+1@200");
        assertThat(imported.reasons()).containsExactly("not valid JSON: it ends inside a value (cut?)");
        assertThat(imported.summary().line()).isEqualTo("read 2, accepted 1, rejected 1");
    }

    @Test
    void aBrokenLineCostsNothingButItself() throws Exception {
        String run = "{\"backend\":\"sglang-oai\",\"ttfts\":[0.1],\"itls\":[[0.1]],\"output_lens\":[2]}";
        Imported imported = sglang(run, "{\"ttfts\":[0.1,}", "[1]", run + " x", run);

        assertThat(imported.reasons()).containsExactly("not valid JSON", "not a JSON object", "not valid JSON");
        assertThat(imported.summary().line()).isEqualTo("read 6, accepted 3, rejected 3");
    }

    @Test
    void aggregatesMakeNoRequestAndNoToken() throws Exception {
        Imported imported = vllm(
                "{\"date\":\"d\",\"model_id\":\"m\",\"max_concurrency\":4,\"request_rate\":\"inf\",\"completed\":40,"
                        + "\"total_input_tokens\":40960,\"total_output_tokens\":5120,\"median_ttft\":0.26,\"p99_ttft\":1.5,"
                        + "\"median_tpot\":0.0214,\"p99_tpot\":0.026,\"_file\":\"a/b/glm5_vllm_tp8_isl1024_osl128_conc4.json\"}",
                "{\"model_id\":\"m\",\"completed\":1,\"duration\":2.0,\"median_tpot_ms\":21.4}");

        assertThat(imported.all(RequestReceived.class)).isEmpty();
        assertThat(imported.all(MetricSampled.class).get(1)).satisfies(sample -> {
            assertThat(sample.name()).isEqualTo("bench:median_ttft_seconds");
            assertThat(sample.labels())
                    .isEqualTo("concurrency=\"4\",config=\"glm5_vllm_tp8\",input_tokens=\"1024\",model=\"m\","
                            + "output_tokens=\"128\",rate=\"inf\",run=\"r.json\"");
        });
        assertThat(imported.all(MetricSampled.class))
                .filteredOn(sample -> sample.name().equals("bench:median_tpot_seconds"))
                .extracting(MetricSampled::sampledValue)
                .containsExactly(0.0214, 0.0214);
        assertThat(imported.summary().line()).isEqualTo("read 2, accepted 2, rejected 0");
    }

    @Test
    void stampsOfTwoClocksInOneRecordAreNeverSubtracted() throws Exception {
        Imported imported = vllm(
                "{\"request_id\":\"bench-0\",\"input_toks\":5,\"output_toks\":3,"
                        + "\"arrival_time\":1790000000.5,\"queued_ts\":10.0,\"scheduled_ts\":12.0,\"first_token_ts\":12.5,\"last_token_ts\":13.5}");

        RequestQueued queued = imported.only(RequestQueued.class);
        assertThat(queued.arrivalEpochNanos()).isEqualTo(1_790_000_000_500_000_000L);
        assertThat(imported.from("vllm-bench").get(0).header().clockId()).endsWith("/r.json/monotonic");
        assertThat(Imported.clockNanos(imported.from("vllm-bench").get(0))).isEqualTo(10_000_000_000L);
        assertThat(imported.only(RequestFinished.class).outputTokens()).isEqualTo(3);
        assertThat(imported.all(MetricSampled.class))
                .extracting(sample -> sample.name() + " " + sample.sampledValue())
                .containsExactlyInAnyOrder(
                        "vllm:request_queue_time_seconds 2.0",
                        "vllm:request_prefill_time_seconds 0.5",
                        "vllm:request_decode_time_seconds 1.0",
                        "vllm:request_time_per_output_token_seconds 0.5");
        assertThat(imported.all(ChunkDelivered.class)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0|9.0|field scheduled_ts: before the stamp it must follow",
                "0.0|9.0|field queued_ts: missing, or 0: the request was not queued",
                "-1|9.0|field queued_ts: not a stamp in seconds",
                "NaN|9.0|field queued_ts: not a stamp in seconds"
            })
    void stampsThatCannotBeAreRefused(String queued, String scheduled, String reason) throws Exception {
        Imported imported =
                vllm("{\"request_id\":\"bench-0\",\"queued_ts\":" + queued + ",\"scheduled_ts\":" + scheduled + "}");

        assertThat(imported.reasons()).containsExactly(reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "not json|not JSON at its start",
                "{\"a\":1}|neither a run of the benchmark nor a request with the engine's stamps",
            })
    void aFileOfAnotherKindIsOneLine(String line, String problem) {
        assertThatExceptionOfType(ImportException.class)
                .isThrownBy(() -> rethrown(line))
                .withMessageContaining(problem)
                .withMessageContaining("; name a result that vllm bench serve --save-result wrote");
    }

    private void rethrown(String line) throws Exception {
        Files.write(folder.resolve("r.json"), line.getBytes(StandardCharsets.UTF_8));
        new BenchImport(BenchImport.Tool.VLLM, LineSource.Limits.DEFAULT, noting())
                .run(List.of(folder.resolve("r.json")), folder.resolve("log"));
    }

    @Test
    void listsOfDifferentLengthRefuseTheRun() throws Exception {
        Imported imported = vllm("{\"ttfts\":[0.1,0.2],\"itls\":[[0.1]],\"output_lens\":[2,2]}");

        assertThat(imported.reasons()).containsExactly("itls has 1 entries, ttfts 2");
        assertThat(imported.summary().line()).isEqualTo("read 1, accepted 0, rejected 1");
    }

    @Test
    void aGzippedFileIsTheSame() throws Exception {
        byte[] plain = "{\"ttfts\":[0.1],\"itls\":[[0.1]],\"output_lens\":[2]}".getBytes(StandardCharsets.UTF_8);
        byte[] zipped = Imported.gzip(plain);
        Files.write(folder.resolve("r.json.gz"), zipped);
        var summary = new BenchImport(BenchImport.Tool.VLLM, LineSource.Limits.DEFAULT, noting())
                .run(List.of(folder.resolve("r.json.gz")), folder.resolve("log"));
        assertThat(summary.line()).isEqualTo("read 1, accepted 1, rejected 0");

        Files.write(folder.resolve("cut.json.gz"), Arrays.copyOf(zipped, zipped.length - 9));
        var cut = new BenchImport(BenchImport.Tool.VLLM, LineSource.Limits.DEFAULT, noting())
                .run(List.of(folder.resolve("cut.json.gz")), folder.resolve("log2"));
        assertThat(cut.read()).isEqualTo(cut.accepted() + cut.rejected());
        assertThat(cut.rejected()).isPositive();
    }
}
