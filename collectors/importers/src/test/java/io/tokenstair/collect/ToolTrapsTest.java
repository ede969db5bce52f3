package io.tokenstair.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.collect.aiperf.AiperfImport;
import io.tokenstair.collect.bench.BenchImport;
import io.tokenstair.collect.dynamo.DynamoTraceImport;
import io.tokenstair.collect.dynamo.ForwardPassImport;
import io.tokenstair.collect.guidellm.GuideLlmImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.kv.KvEventsImport;
import io.tokenstair.collect.llamacpp.LlamaCppLogImport;
import io.tokenstair.collect.stream.SseCaptureImport;
import io.tokenstair.collect.trtllm.IterationsImport;
import io.tokenstair.collect.trtllm.TritonTraceImport;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.StepCompleted;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What real outputs hold that is easily taken for something else, and inputs that cannot be right. */
class ToolTrapsTest {
    private static final LineSource.Limits LIMITS = LineSource.Limits.DEFAULT;

    @TempDir
    Path folder;

    private static <E extends Event> List<E> of(Imported imported, Class<E> kind) {
        return imported.events().stream()
                .map(LoggedEvent::event)
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    private static List<Chunk> chunks(Imported imported) {
        List<Chunk> chunks = new ArrayList<>();
        of(imported, ChunkDelivered.class).forEach(record -> chunks.addAll(record.chunks()));
        return chunks;
    }

    private static List<Double> samples(Imported imported, String name) {
        return of(imported, MetricSampled.class).stream()
                .filter(sample -> sample.name().equals(name))
                .map(MetricSampled::sampledValue)
                .toList();
    }

    private static String reason(Imported imported) {
        List<Rejected> rejects = of(imported, Rejected.class);
        assertThat(rejects).hasSize(1);
        assertThat(imported.summary().rejected()).isEqualTo(1);
        return rejects.get(0).reason();
    }

    private Imported real(Imported.Format format, String name) throws ImportException {
        return Imported.file(format, Imported.real().resolve(name), folder.resolve("log"))
                .imported();
    }

    // ---- streams

    private Imported stream(String... data) throws ImportException {
        List<String> lines = new ArrayList<>();
        long nanos = 1_000_000_000L;
        lines.add(line(nanos, "\"kind\":\"sent\",\"path\":\"/v1/completions\""));
        for (String chunk : data) {
            nanos += 10_000_000;
            lines.add(line(
                    nanos,
                    "\"kind\":\"line\",\"line\":\"data: "
                            + chunk.replace("\\", "\\\\").replace("\"", "\\\"") + "\""));
        }
        lines.add(line(nanos + 1, "\"kind\":\"closed\""));
        return Imported.file(
                listener -> new SseCaptureImport(LIMITS, listener), folder, "s.jsonl", lines.toArray(String[]::new));
    }

    private static String line(long nanos, String fields) {
        return "{\"req\":\"r\",\"mono_ns\":" + nanos + ",\"epoch_ns\":" + (1_795_965_936_000_000_000L + nanos) + ","
                + fields + "}";
    }

    private static List<Integer> counts(Imported imported) {
        return chunks(imported).stream().map(Chunk::tokenCount).toList();
    }

    @Test
    void tokenIdsAreCountedNotChunks() throws Exception {
        Imported imported = stream(
                "{\"choices\":[{\"index\":0,\"text\":\"a\",\"token_ids\":[1]}]}",
                "{\"choices\":[{\"index\":0,\"text\":\"bcde\",\"token_ids\":[2,3,4,5]}]}",
                "{\"choices\":[{\"index\":0,\"text\":\"\",\"token_ids\":[],\"finish_reason\":\"length\"}]}",
                "[DONE]");
        assertThat(counts(imported)).containsExactly(1, 4, 0);
        assertThat(chunks(imported).get(1).firstTokenIndex()).isEqualTo(1);
    }

    @Test
    void aRunningCountPlacesTokensWhoseTextIsHeldBack() throws Exception {
        assertThat(
                        counts(
                                stream(
                                        "{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}",
                                        "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":{\"completion_tokens\":1}}",
                                        "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}],\"usage\":{\"completion_tokens\":2}}",
                                        "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"bc\"}}],\"usage\":{\"completion_tokens\":5}}")))
                .containsExactly(0, 1, 1, 3);
    }

    @Test
    void chunksWithoutTextAreTokensOnlyWhereThatAddsUp() throws Exception {
        String text = "{\"choices\":[{\"index\":0,\"text\":\"a\"}]}";
        String empty = "{\"choices\":[{\"index\":0,\"text\":\"\"}]}";
        assertThat(counts(stream(text, empty, text, "{\"choices\":[],\"usage\":{\"completion_tokens\":3}}")))
                .containsExactly(1, 1, 1);
        assertThat(counts(stream2(text, empty, text, "{\"choices\":[],\"usage\":{\"completion_tokens\":2}}")))
                .containsExactly(1, 0, 1);
    }

    private Imported stream2(String... data) throws ImportException, IOException {
        Path again = Files.createDirectories(folder.resolve("again"));
        ToolTrapsTest other = new ToolTrapsTest();
        other.folder = again;
        return other.stream(data);
    }

    @Test
    void theTotalOfTheLastWordSaysNothingOfWhichChunkHeldWhat() throws Exception {
        Imported imported = stream(
                "{\"choices\":[{\"index\":0,\"text\":\"abcd\"}]}",
                "{\"choices\":[{\"index\":0,\"text\":\"efgh\",\"finish_reason\":\"length\"}],\"usage\":{\"completion_tokens\":8}}");
        assertThat(counts(imported)).containsExactly(1, 1);
        assertThat(of(imported, RequestCompleted.class).get(0).outputTokens()).isEqualTo(8);
    }

    @Test
    void choicesAreCountedOneByOneAndChunksOfOneInstantStayApart() throws Exception {
        Imported imported = stream(
                "{\"choices\":[{\"index\":1,\"text\":\"a\"}]}",
                "{\"choices\":[{\"index\":0,\"text\":\"b\"},{\"index\":1,\"text\":\"c\"}]}");
        assertThat(chunks(imported)).extracting(Chunk::sequenceIndex).containsExactly(1, 0, 1);
        assertThat(chunks(imported)).extracting(Chunk::firstTokenIndex).containsExactly(0, 0, 1);
    }

    @Test
    void aStreamOfSglangCountsByItsMetaInfo() throws Exception {
        assertThat(counts(stream(
                        "{\"text\":\"a\",\"meta_info\":{\"id\":\"x\",\"prompt_tokens\":5,\"completion_tokens\":1,\"cached_tokens\":2}}",
                        "{\"text\":\"abc\",\"meta_info\":{\"id\":\"x\",\"prompt_tokens\":5,\"completion_tokens\":3,"
                                + "\"cached_tokens\":2,\"finish_reason\":{\"type\":\"length\"}}}")))
                .containsExactly(1, 2);
    }

    @Test
    void eventsOfTheResponsesFormAreTokensByTheirDeltas() throws Exception {
        Imported imported = stream(
                "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"usage\":null}}",
                "{\"type\":\"response.output_item.added\",\"item\":{\"id\":\"msg_1\",\"content\":[]}}",
                "{\"type\":\"response.output_text.delta\",\"delta\":\" a\",\"logprobs\":[]}",
                "{\"type\":\"response.output_text.delta\",\"delta\":\"b\"}",
                "{\"type\":\"response.output_text.done\",\"text\":\" ab\"}",
                "{\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"incomplete_details\":"
                        + "{\"reason\":\"max_output_tokens\"},\"usage\":{\"input_tokens\":107,\"output_tokens\":2,"
                        + "\"input_tokens_details\":{\"cached_tokens\":4}}}}");
        assertThat(counts(imported)).containsExactly(0, 0, 1, 1, 0, 0);
        assertThat(chunks(imported).get(5).finish()).isEqualTo(Finish.LENGTH);
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.promptTokens()).isEqualTo(107);
        assertThat(completed.cachedTokens()).isEqualTo(4);
        assertThat(completed.outputTokens()).isEqualTo(2);
        assertThat(imported.summary().rejected()).isZero();
    }

    @Test
    void aResponseThatFailedIsAFailureAndOneThatIsCompletedMayHaveBeenCut() throws Exception {
        Imported imported = stream(
                "{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}",
                "{\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"error\":{\"type\":\"server_error\"}}}");
        assertThat(of(imported, RequestCompleted.class).get(0).outcome()).isEqualTo("failed");
        assertThat(chunks(stream2(
                        "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\"}}")))
                .extracting(Chunk::finish)
                .containsExactly(Finish.NONE);
    }

    @Test
    void eventsOfTheMessagesFormCountThePromptInThreeParts() throws Exception {
        Imported imported = stream(
                "{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"usage\":{\"cache_read_input_tokens\":3,"
                        + "\"input_tokens\":101,\"output_tokens\":1}}}",
                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
                "{\"type\":\"ping\"}",
                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"a\"}}",
                "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"b\"}}",
                "{\"type\":\"content_block_stop\",\"index\":1}",
                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":2}}",
                "{\"type\":\"message_stop\"}");
        assertThat(chunks(imported).stream().mapToInt(Chunk::tokenCount).sum()).isEqualTo(2);
        assertThat(chunks(imported)).extracting(Chunk::finish).contains(Finish.LENGTH);
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.promptTokens()).isEqualTo(104);
        assertThat(completed.cachedTokens()).isEqualTo(3);
        assertThat(completed.outputTokens()).isEqualTo(2);
        assertThat(imported.summary().rejected()).isZero();
    }

    @Test
    void aPromptThatIsEchoedIsNoOutput() throws Exception {
        assertThat(
                        counts(
                                stream(
                                        "{\"choices\":[{\"index\":0,\"text\":\"the prompt a\",\"logprobs\":{\"tokens\":[\"the\",\" prompt\",\" a\"],"
                                                + "\"token_logprobs\":[null,-1.5,-2.5]}}]}",
                                        "{\"choices\":[{\"index\":0,\"text\":\"b\",\"logprobs\":{\"tokens\":[\"b\"],\"token_logprobs\":[-1]}}]}")))
                .containsExactly(1, 1);
    }

    @Test
    void choicesThatEachCountTheirOwnTokensAreSummed() throws Exception {
        Imported imported = stream(
                "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"}}]}",
                "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"}}]}",
                "null",
                "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}",
                "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}");
        assertThat(of(imported, RequestCompleted.class).get(0).outputTokens()).isEqualTo(2);
        assertThat(imported.summary().rejected()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"id\":\"cmpl-1\",\"choices\":[{\"index\":0,\"text\":\"ab\",\"finish_reason\":\"length\"}],"
                        + "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":5}}",
                "{\"content\":\"ab\",\"tokens\":[],\"stop\":true,\"stop_type\":\"limit\",\"tokens_predicted\":5,\"tokens_evaluated\":7}",
                "{\"text\":\"ab\",\"meta_info\":{\"id\":\"x\",\"prompt_tokens\":7,\"completion_tokens\":5,"
                        + "\"finish_reason\":{\"type\":\"length\"}}}",
                "{\"id\":\"r\",\"object\":\"response\",\"error\":null,\"incomplete_details\":{\"reason\":\"max_output_tokens\"},"
                        + "\"usage\":{\"input_tokens\":7,\"output_tokens\":5}}",
                "{\"id\":\"m\",\"type\":\"message\",\"stop_reason\":\"max_tokens\",\"usage\":{\"input_tokens\":3,"
                        + "\"cache_creation_input_tokens\":4,\"output_tokens\":5}}"
            })
    void anAnswerThatWasNotStreamedIsOneChunkOfAllItsTokens(String body) throws Exception {
        Imported imported = Imported.file(
                listener -> new SseCaptureImport(LIMITS, listener),
                folder,
                "s.jsonl",
                line(1_000_000_000L, "\"kind\":\"sent\",\"path\":\"/v1/completions\""),
                line(1_100_000_000L, "\"kind\":\"status\",\"status\":200"),
                line(1_200_000_000L, "\"kind\":\"body\",\"line\":\"" + body.replace("\"", "\\\"") + "\""),
                line(1_200_000_001L, "\"kind\":\"closed\""));
        Chunk chunk = chunks(imported).get(0);
        assertThat(counts(imported)).containsExactly(5);
        assertThat(chunk.arrivedNanos()).isEqualTo(1_200_000_000L);
        assertThat(chunk.finish()).isEqualTo(Finish.LENGTH);
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.promptTokens()).isEqualTo(7);
        assertThat(completed.outputTokens()).isEqualTo(5);
        assertThat(completed.outcome()).isEqualTo("complete");
    }

    @Test
    void theBodyOfAnAnswerMayStandUnderItsKind() throws Exception {
        Imported imported = Imported.file(
                listener -> new SseCaptureImport(LIMITS, listener),
                folder,
                "s.jsonl",
                line(1_000_000_000L, "\"kind\":\"sent\",\"path\":\"/v1/completions\""),
                line(1_200_000_000L, "\"kind\":\"body\",\"body\":\"{\\\"usage\\\":{\\\"completion_tokens\\\":5}}\""),
                line(1_200_000_001L, "\"kind\":\"closed\""));
        assertThat(of(imported, RequestCompleted.class).get(0).outputTokens()).isEqualTo(5);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"kind\":\"client_abort\" | client-closed",
                "\"kind\":\"line\",\"line\":\"data: {\\\"error\\\":{\\\"message\\\":\\\"no\\\"}}\" | failed",
            })
    void aStreamThatItsClientLeftOrAnErrorBrokeHasEndedThoughNobodyNotedItsClosing(String last, String outcome)
            throws Exception {
        Imported imported = Imported.file(
                listener -> new SseCaptureImport(LIMITS, listener),
                folder,
                "s.jsonl",
                line(1_000_000_000L, "\"kind\":\"sent\",\"path\":\"/v1/completions\""),
                line(
                        1_100_000_000L,
                        "\"kind\":\"line\",\"line\":\"data: {\\\"choices\\\":[{\\\"text\\\":\\\"a\\\"}]}\""),
                line(1_200_000_000L, last));
        assertThat(counts(imported)).startsWith(1);
        assertThat(of(imported, RequestCompleted.class))
                .extracting(RequestCompleted::outcome)
                .containsExactly(outcome);
        assertThat(imported.events().stream()
                        .filter(logged -> logged.event() instanceof RequestCompleted)
                        .map(logged -> logged.header().clockNanos()))
                .containsExactly(1_200_000_000L);
    }

    @Test
    void aRefusalIsStampedWhenItCameAndItsLatencyIsTheWaitForASlot() throws Exception {
        Imported imported =
                real(listener -> new SseCaptureImport(LIMITS, listener), "llamacpp/main_sse_capture.jsonl.gz");
        RequestCompleted refused = of(imported, RequestCompleted.class).stream()
                .filter(completed -> completed.requestId().equals("r6"))
                .findFirst()
                .orElseThrow();
        assertThat(refused.outcome()).isEqualTo("http-error");
        assertThat(refused.errorType()).isEqualTo("exceed_context_size_error");
        LoggedEvent sent = logged(imported, RequestReceived.class, "r6");
        LoggedEvent ended = logged(imported, RequestCompleted.class, "r6");
        long nanos = java.util.Objects.requireNonNull(ended.header().clockNanos())
                - java.util.Objects.requireNonNull(sent.header().clockNanos());
        assertThat(nanos).isBetween(456_638_000L, 456_639_500L);
        // It was shifted: only the last word of the stream says so.
        assertThat(samples(imported, "llamacpp:request_truncated")).containsExactly(1.0);
    }

    private static LoggedEvent logged(Imported imported, Class<?> kind, String requestId) {
        return imported.events().stream()
                .filter(event -> kind.isInstance(event.event()))
                .filter(event -> event.event().toString().contains("requestId=" + requestId + ","))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void anErrorInsideAStreamOfStatus200IsAFailureAndItsTokensCount() throws Exception {
        Imported imported = stream(
                "{\"choices\":[{\"index\":0,\"text\":\"a\"}]}",
                "{\"error\":{\"code\":500,\"message\":\"secret prompt\",\"type\":\"server_error\"}}");
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.outcome()).isEqualTo("failed");
        assertThat(completed.errorType()).isEqualTo("server_error");
        assertThat(counts(imported)).containsExactly(1);
        assertThat(imported.events().toString()).doesNotContain("secret");
    }

    @Test
    void oneFullContextIsOneIncidentInTheLogHoweverManyRequestsItEnds() throws Exception {
        Imported imported =
                real(listener -> new LlamaCppLogImport(null, LIMITS, listener), "llamacpp/kvfull_server.log");
        assertThat(samples(imported, "llamacpp:context_full")).containsExactly(1.0);
    }

    @Test
    void bytesOfALogThatAreNoTextAreNoError() throws Exception {
        Path log = Imported.real().resolve("llamacpp/main_server.log");
        byte[] bytes = Files.readAllBytes(log);
        assertThat(new String(bytes, StandardCharsets.UTF_8)).contains("\ufffd");
        Imported imported = real(listener -> new LlamaCppLogImport(null, LIMITS, listener), "llamacpp/main_server.log");
        assertThat(imported.summary().rejected()).isZero();
        assertThat(samples(imported, "llamacpp:context_shift_discarded_tokens")).containsExactly(127.0);
        assertThat(imported.events().toString()).doesNotContain("popa");
    }

    // ---- KV events

    @Test
    void aPositionalBlockOfNineElementsWhoseParentIsZeroBeginsAChain() throws Exception {
        // [ts, [["BlockStored", [101], 0, [1,2,3,4], 4, null, "GPU", null, null]], 0]
        String payload = "93cb41daac4ee0100000919" + "9ab426c6f636b53746f7265649165009401020304" + "04c0a3475055c0c000";
        Imported imported = Imported.file(
                listener -> new KvEventsImport("e", LIMITS, listener),
                folder,
                "kv.jsonl",
                "{\"recv_mono_ns\": 5, \"recv_epoch_ns\": 1795967456000000000, \"frames_hex\": [\"6b\","
                        + " \"0000000000000001\", \"" + payload + "\"]}");
        KvBlocksStored stored = of(imported, KvBlocksStored.class).get(0);
        assertThat(stored.parentBlockHash()).isNull();
        assertThat(stored.blockHashes()).containsExactly(101L);
        assertThat(stored.storedTokens()).isEqualTo(4);
        assertThat(stored.medium()).isEqualTo("GPU");
        assertThat(of(imported, io.tokenstair.event.CollectorGap.class)).isEmpty();
    }

    @Test
    void aLaterHoleInTheNumbersIsALoss() throws Exception {
        String message = "{\"recv_mono_ns\": 5, \"recv_epoch_ns\": 1795967456000000000, \"frames_hex\": [\"\","
                + " \"000000000000000%d\", \"93cb41daac4ee010000090c0\"]}";
        Imported imported = Imported.file(
                listener -> new KvEventsImport("e", LIMITS, listener),
                folder,
                "kv.jsonl",
                String.format(message, 1),
                String.format(message, 4));
        assertThat(of(imported, io.tokenstair.event.CollectorGap.class))
                .singleElement()
                .satisfies(gap -> {
                    assertThat(gap.firstMissingSequence()).isEqualTo(2);
                    assertThat(gap.lastMissingSequence()).isEqualTo(3);
                });
    }

    // ---- Dynamo

    private static String pass(long counter, String wall, int decodes, int preempted) {
        return "{\"event\":{\"schema\":\"dynamo.fpm.trace.v1\",\"observed_at_unix_ms\":" + (1795966208931L + counter)
                + ",\"fpm\":{\"worker_id\":\"7\",\"dp_rank\":0,\"counter_id\":" + counter + ",\"wall_time\":" + wall
                + ",\"scheduled_requests\":{\"num_decode_requests\":" + decodes
                + ",\"sum_decode_kv_tokens\":" + 100 * decodes + "},\"queued_requests\":{\"num_decode_requests\":"
                + preempted
                + ",\"sum_decode_kv_tokens\":" + 49 * preempted + "}}}}";
    }

    @Test
    void aHeartbeatIsNoStepAndAHoleInTheCountersIsALoss() throws Exception {
        Imported imported = Imported.file(
                listener -> new ForwardPassImport(LIMITS, listener),
                folder,
                "fpm.jsonl",
                pass(1, "0.0", 0, 0),
                pass(2, "0.03", 4, 1),
                pass(5, "0.03", 4, 0));
        assertThat(of(imported, StepCompleted.class))
                .extracting(StepCompleted::stepId)
                .containsExactly(2L, 5L);
        assertThat(samples(imported, "dynamo:num_paused_requests")).containsExactly(0.0, 1.0, 0.0);
        assertThat(of(imported, io.tokenstair.event.CollectorGap.class))
                .singleElement()
                .satisfies(gap -> assertThat(gap.firstMissingSequence()).isEqualTo(3));
        // Who was preempted is not in the record.
        assertThat(of(imported, RequestPreempted.class)).isEmpty();
    }

    @Test
    void workThatTookNoTimeIsNoMeasurement() throws Exception {
        assertThat(reason(Imported.file(
                        listener -> new ForwardPassImport(LIMITS, listener),
                        folder,
                        "fpm.jsonl",
                        pass(2, "0.0", 4, 1),
                        pass(3, "0.1", 4, 1))))
                .contains("wall_time", "no measurement");
    }

    private Imported trace(String fields) throws ImportException {
        return Imported.file(
                listener -> new DynamoTraceImport(LIMITS, listener),
                folder,
                "t.jsonl",
                "{\"event\":{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_end\",\"event_time_unix_ms\":"
                        + "1795966210204,\"request\":{\"request_id\":\"d\"," + fields
                        + ",\"worker\":{\"decode_worker_id\":18446744073709551615}}}}");
    }

    @Test
    void aForecastOfTheRouterIsNoHitAndAWaitForAdmissionNoPrefill() throws Exception {
        Imported imported = trace("\"input_tokens\":146,\"output_tokens\":50,\"cached_tokens\":96,\"kv_hit_rate\":60,"
                + "\"request_received_ms\":1795966205785,\"prefill_wait_time_ms\":0.6,\"prefill_time_ms\":2892.7,"
                + "\"ttft_ms\":2893.3,\"total_time_ms\":4419.3,\"avg_itl_ms\":31.1");
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.cachedTokens()).isNull();
        assertThat(completed.meanGapNanos()).isEqualTo(31_100_000L);
        assertThat(samples(imported, "dynamo:router_forecast_cached_tokens")).containsExactly(96.0);
        // Per cent where a share belongs.
        assertThat(samples(imported, "dynamo:router_forecast_hit_ratio")).containsExactly(0.6);
        assertThat(imported.events().toString()).contains("worker-18446744073709551615");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"request_received_ms\":1795966205,\"total_time_ms\":4419.3",
                "\"request_received_ms\":1795966205785,\"total_time_ms\":4.4193",
                "\"request_received_ms\":1795966205785,\"total_time_ms\":4419.3,\"ttft_ms\":9000",
                "\"request_received_ms\":1795966205785,\"total_time_ms\":-1",
                "\"request_received_ms\":1795966210204,\"total_time_ms\":0,\"output_tokens\":5",
                "\"request_received_ms\":1795966205785,\"total_time_ms\":4419.3,\"kv_hit_rate\":600",
                "\"request_received_ms\":1795966205785,\"total_time_ms\":1e400",
                "\"request_received_ms\":1795966205785,\"total_time_ms\":\"4419\""
            })
    void unitsAndClocksThatAreMixedAreRefused(String fields) throws Exception {
        Path file = folder.resolve("t.jsonl");
        try {
            Imported imported = trace(fields);
            assertThat(reason(imported)).startsWith("field ");
        } catch (ImportException e) {
            throw new AssertionError(Files.readString(file), e);
        }
    }

    @Test
    void aContextThatIsFullNamesItsTaskWithoutTimingsToo() throws Exception {
        Imported imported = stream(
                "{\"index\":0,\"content\":\"a\",\"tokens\":[5],\"stop\":false,\"tokens_predicted\":1,\"tokens_evaluated\":230}",
                "{\"index\":0,\"content\":\"b\",\"tokens\":[6],\"stop\":false,\"tokens_predicted\":2,\"tokens_evaluated\":230}",
                "{\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\",\"type\":\"server_error\"}}");
        assertThat(of(imported, IdAliased.class)).extracting(IdAliased::alias).contains("llamacpp:broken:232");
    }

    // ---- AIPerf

    private Imported record(String metadata, String metrics, String rest) throws ImportException {
        return Imported.file(
                listener -> new AiperfImport(LIMITS, listener),
                folder,
                "profile_export.jsonl",
                "{\"metadata\":{\"x_request_id\":\"x\",\"request_start_ns\":1795966320988651413" + metadata
                        + "},\"metrics\":{" + metrics + "}" + rest + "}");
    }

    @Test
    void theConnectingIsNoPartOfTheTimeToTheFirstToken() throws Exception {
        Imported imported = record(
                "",
                "\"http_req_connecting\":{\"value\":1175.0,\"unit\":\"ms\"},\"time_to_first_token\":{\"value\":1.227,\"unit\":"
                        + "\"s\"},\"inter_chunk_latency\":{\"value\":[8.0],\"unit\":\"ms\"},\"usage_completion_tokens\":{\"value\":2},"
                        + "\"output_sequence_length\":{\"value\":9}",
                "");
        LoggedEvent sent = imported.events().stream()
                .filter(event -> event.event() instanceof RequestReceived)
                .findFirst()
                .orElseThrow();
        assertThat(chunks(imported).get(0).arrivedNanos()
                        - java.util.Objects.requireNonNull(sent.header().clockNanos()))
                .isEqualTo(52_000_000L);
        assertThat(of(imported, RequestCompleted.class).get(0).outputTokens()).isEqualTo(2);
    }

    @Test
    void withoutTheGapsTheFirstTokenAndTheMeanAreStatedAndNoTokenIsMadeUp() throws Exception {
        Imported imported = record(
                "",
                "\"time_to_first_token\":{\"value\":50,\"unit\":\"ms\"},\"request_latency\":{\"value\":130,\"unit\":\"ms\"},"
                        + "\"usage_completion_tokens\":{\"value\":9}",
                "");
        assertThat(chunks(imported)).isEmpty();
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.outputTokens()).isEqualTo(9);
        assertThat(completed.meanGapNanos()).isEqualTo(10_000_000L);
        assertThat(completed.firstTokenNanos()).isNotNull();
    }

    @Test
    void wallReadingsInAnotherUnitAreRefusedAndAFileNamedTwiceIsReadOnce() throws Exception {
        Path file = folder.resolve("s.jsonl");
        Files.writeString(
                file, "{\"req\":\"r\",\"mono_ns\":1000001,\"epoch_ns\":1795965936000000,\"kind\":\"sent\"}\n");
        Imported imported = Imported.file(
                        listener -> new SseCaptureImport(LIMITS, listener), file, folder.resolve("log"))
                .imported();
        assertThat(imported.summary().read()).isEqualTo(1);
        assertThat(reason(imported)).contains("epoch_ns", "another unit");
        ImportListener silent = new ImportListener() {
            @Override
            public void progress(String layer, long read) {}

            @Override
            public void missing(String layer, String files, Path missingIn) {}
        };
        assertThat(new SseCaptureImport(LIMITS, silent)
                        .run(List.of(file, file), folder.resolve("again"))
                        .read())
                .isEqualTo(1);
    }

    @Test
    void aCancelledRequestKeepsNoLatencies() throws Exception {
        Imported imported = record(
                ",\"request_end_ns\":1795966321988651413,\"was_cancelled\":true",
                "",
                ",\"error\":{\"code\":499,\"type\":\"RequestCancellationError\",\"message\":\"x\"}");
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.outcome()).isEqualTo("client-closed");
        assertThat(completed.outputTokens()).isNull();
        assertThat(chunks(imported)).isEmpty();
    }

    @Test
    void theFirstReleasesCalledTheTimeToTheFirstTokenByItsShortName() throws Exception {
        Imported imported = record(
                "",
                "\"ttft\":{\"value\":255.5,\"unit\":\"ms\"},\"ttst\":{\"value\":4.5,\"unit\":\"ms\"},"
                        + "\"request_latency\":{\"value\":265,\"unit\":\"ms\"},"
                        + "\"inter_chunk_latency\":{\"value\":[4.5,5.0],\"unit\":\"ms\"}",
                ",\"error\":null");
        assertThat(chunks(imported))
                .extracting(chunk -> chunk.arrivedNanos() - 1795966320988651413L)
                .containsExactly(255_500_000L, 260_000_000L, 265_000_000L);
    }

    @Test
    void aCancelledRequestIsKeptThoughItsEndIsOfAnotherClock() throws Exception {
        Imported imported = record(
                ",\"request_end_ns\":4440670232134296",
                "",
                ",\"error\":{\"code\":499,\"type\":\"RequestCancellationError\",\"message\":\"x\"}");
        assertThat(imported.summary().line()).isEqualTo("read 1, accepted 1, rejected 0");
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.outcome()).isEqualTo("client-closed");
        assertThat(completed.clientClosedNanos()).isNull();
    }

    @Test
    void theTurnsOfASessionAreRequestsOfTheirOwn() throws Exception {
        String turn = "{\"metadata\":{\"session_num\":4,\"turn_index\":%d,\"request_start_ns\":1795966320988651413},"
                + "\"metrics\":{\"time_to_first_token\":{\"value\":50,\"unit\":\"ms\"}}}";
        Imported imported = Imported.file(
                listener -> new AiperfImport(LIMITS, listener),
                folder,
                "profile_export.jsonl",
                String.format(turn, 0),
                String.format(turn, 1));
        assertThat(of(imported, RequestReceived.class))
                .extracting(RequestReceived::requestId)
                .containsExactly("profile_export.jsonl#4", "profile_export.jsonl#4.1");
        assertThat(of(imported, IdAliased.class))
                .extracting(IdAliased::alias)
                .containsExactly("session-4", "session-4.1");
    }

    @Test
    void aggregatesOfReleasesThatDoNotNameTheirVersionAreRead() throws Exception {
        Imported imported = Imported.file(
                listener -> new AiperfImport(LIMITS, listener),
                folder,
                "profile_export_aiperf.json",
                "{\"request_latency\":{\"unit\":\"ms\",\"avg\":300.0},\"request_count\":{\"unit\":\"requests\",\"avg\":8.0},"
                        + "\"time_to_first_token\":{\"unit\":\"ms\",\"p50\":40.5,\"p99\":90.0},"
                        + "\"input_config\":{},\"was_cancelled\":false}");
        assertThat(of(imported, MetricSampled.class))
                .extracting(MetricSampled::name)
                .contains("bench:median_ttft_seconds", "bench:completed");
    }

    private Imported raw(String metadata, String rest) throws ImportException {
        return Imported.file(
                listener -> new AiperfImport(LIMITS, listener),
                folder,
                "profile_export_raw.jsonl",
                "{\"metadata\":{\"x_request_id\":\"x\",\"request_start_ns\":1795966320988651413,\"request_end_ns\":1795966321988651413"
                        + metadata + "},\"start_perf_ns\":1000," + rest + "}");
    }

    @Test
    void aRawRecordOfAConnectionThatWasRefusedFailed() throws Exception {
        RequestCompleted completed = of(
                        raw("", "\"responses\":[],\"error\":{\"type\":\"ClientConnectorError\",\"message\":\"x\"}"),
                        RequestCompleted.class)
                .get(0);
        assertThat(completed.outcome()).isEqualTo("failed");
        assertThat(completed.errorType()).isEqualTo("ClientConnectorError");
    }

    @Test
    void aRawAnswerInOnePieceHasItsIdAndCountsAndNoTokenIsMadeUp() throws Exception {
        Imported imported = raw(
                ",\"benchmark_phase\":\"warmup\"",
                "\"status\":200,\"responses\":[{\"perf_ns\":250001000,\"content_type\":\"application/json\",\"text\":\""
                        + "{\\\"id\\\":\\\"chatcmpl-7\\\",\\\"choices\\\":[{\\\"index\\\":0,\\\"message\\\":{\\\"content\\\":\\\"a\\\"},"
                        + "\\\"finish_reason\\\":\\\"length\\\"}],\\\"usage\\\":{\\\"prompt_tokens\\\":90,\\\"completion_tokens\\\":12,"
                        + "\\\"prompt_tokens_details\\\":{\\\"cached_tokens\\\":80}}}\"}]");
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.outcome()).isEqualTo("complete");
        assertThat(completed.outputTokens()).isEqualTo(12);
        assertThat(completed.promptTokens()).isEqualTo(90);
        assertThat(completed.cachedTokens()).isEqualTo(80);
        assertThat(of(imported, IdAliased.class)).extracting(IdAliased::alias).contains("chatcmpl-7", "7");
        assertThat(of(imported, RequestReceived.class).get(0).warmup()).isTrue();
        assertThat(chunks(imported)).allMatch(chunk -> chunk.tokenCount() == 0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"time_to_first_token\":{\"value\":0.0,\"unit\":\"ms\"},\"inter_chunk_latency\":{\"value\":[0.0,0.0],\"unit\":\"ms\"}",
                "\"time_to_first_token\":{\"value\":50,\"unit\":\"ms\"},\"inter_chunk_latency\":{\"value\":[900000],\"unit\":\"ms\"},"
                        + "\"request_latency\":{\"value\":60,\"unit\":\"ms\"}",
                "\"time_to_first_token\":{\"value\":50,\"unit\":\"parsec\"}",
                "\"time_to_first_token\":{\"value\":50,\"unit\":\"ms\"},\"inter_chunk_latency\":{\"value\":[-1],\"unit\":\"ms\"}",
                "\"time_to_first_token\":{\"value\":50,\"unit\":\"ms\"},\"http_req_connecting\":{\"value\":60,\"unit\":\"ms\"}"
            })
    void latenciesThatCannotBeAreRefused(String metrics) throws Exception {
        assertThat(reason(record("", metrics, ""))).startsWith("field ");
    }

    @Test
    void tablesOfAiperfAreRefusedWithWhatToNameInstead() throws Exception {
        assertThatThrownBy(() -> Imported.file(
                        listener -> new AiperfImport(LIMITS, listener),
                        folder,
                        "profile_export_aiperf.csv",
                        "Metric,avg"))
                .hasStackTraceContaining("; name profile_export.jsonl");
    }

    // ---- GuideLLM, TensorRT-LLM

    private Imported report(String request) throws ImportException {
        return Imported.file(
                listener -> new GuideLlmImport(LIMITS, listener),
                folder,
                "benchmarks.json",
                "{\"benchmarks\":[{\"requests\":{\"successful\":[" + request + "],\"errored\":[],\"total\":null}}]}");
    }

    @Test
    void oneMeanGapIsNotAGapOfAToken() throws Exception {
        Imported imported = report(
                "{\"request_id\":\"g\",\"request_start_time\":1795966440.25,\"request_end_time\":"
                        + "1795966441.75,\"time_to_first_token_ms\":35.5,\"inter_token_latency_ms\":29.3,\"output_tokens\":50}");
        assertThat(chunks(imported)).isEmpty();
        RequestCompleted completed = of(imported, RequestCompleted.class).get(0);
        assertThat(completed.meanGapNanos()).isEqualTo(29_300_000L);
        assertThat(completed.firstTokenNanos()).isEqualTo(1_795_966_440_285_500_000L);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"request_end_time\":1795966441.75,\"time_to_first_token_ms\":0,\"output_tokens\":50",
                "\"request_end_time\":1795966441.75,\"time_to_first_token_ms\":35500",
                "\"request_end_time\":1795966441.75,\"inter_token_latency_ms\":29300,\"output_tokens\":50",
                "\"request_end_time\":1795966440.0",
                "\"request_end_time\":Infinity",
                "\"request_end_time\":1795966441750"
            })
    void reportsThatCannotBeAreRefused(String fields) throws Exception {
        assertThat(reason(report("{\"request_id\":\"g\",\"request_start_time\":1795966440.25," + fields + "}")))
                .contains("field ");
    }

    @Test
    void aRequestThatWasCancelledBeforeItWasSentWasNeverSent() throws Exception {
        assertThat(reason(report(
                        "{\"request_id\":\"g\",\"request_start_time\":1795966440.25,\"request_end_time\":1795966441.75,"
                                + "\"info\":{\"timings\":{\"resolve_start\":1795966440.25,\"request_start\":null}}}")))
                .contains("was never sent");
    }

    private static String iteration(int number, String requests) {
        return "{\"timestamp\":\"11-29-2026 13:00:00.0" + (10 + number) + "000\",\"iter\":" + number
                + ",\"iterLatencyMS\":1.0,\"kvCacheStats\":{\"tokensPerBlock\":32},\"requestStats\":[" + requests
                + "]}";
    }

    @Test
    void iterationsWithRequestStatsHaveARowAScheduledRequest() throws Exception {
        Imported imported = Imported.file(
                listener -> new IterationsImport(null, LIMITS, listener),
                folder,
                "i.json",
                "["
                        + iteration(
                                1,
                                "{\"id\":7,\"stage\":\"CONTEXT_IN_PROGRESS\",\"contextPrefillPosition\":64,"
                                        + "\"numGeneratedTokens\":1,\"scheduled\":true,\"paused\":false,\"reusedBlocksPerRequest\":1}"),
                ",",
                iteration(
                        2,
                        "{\"id\":7,\"stage\":\"GENERATION_IN_PROGRESS\",\"contextPrefillPosition\":64,"
                                + "\"numGeneratedTokens\":1,\"scheduled\":false,\"paused\":true}"),
                ",",
                iteration(
                                4,
                                "{\"id\":7,\"stage\":\"GENERATION_COMPLETE\",\"contextPrefillPosition\":64,"
                                        + "\"numGeneratedTokens\":2,\"scheduled\":true,\"paused\":false}")
                        + "]");
        List<StepCompleted> steps = of(imported, StepCompleted.class);
        assertThat(steps).extracting(step -> step.rows().count()).containsExactly(1, 0, 1);
        assertThat(of(imported, RequestPreempted.class)).hasSize(1);
        assertThat(of(imported, io.tokenstair.event.CollectorGap.class))
                .singleElement()
                .satisfies(gap -> assertThat(gap.firstMissingSequence()).isEqualTo(3));
        assertThat(steps.get(2).updateEndNanos() - steps.get(0).updateEndNanos())
                .isEqualTo(3_000_000L);
    }

    // ---- any of them

    @Test
    void anObjectThatCannotBeCostsNoOtherOfItsArray() throws Exception {
        Imported iterations = Imported.file(
                listener -> new IterationsImport(null, LIMITS, listener),
                folder,
                "poll.json",
                "[{\"iter\":1,\"iterLatencyMS\":5.0,\"kvCacheStats\":{\"usedNumBlocks\":5,\"maxNumBlocks\":4}},",
                "{\"iter\":2,\"iterLatencyMS\":Infinity},{\"iter\":3,\"iterLatencyMS\":-1},",
                "{\"iter\":4,\"iterLatencyMS\":5.0},{\"iterLatencyMS\":5},{\"iter\":6,\"iterLatencyMS\":7.0},",
                "{\"iter\":7,\"iterLatencyMS\":0,\"numActiveRequests\":1}]");
        assertThat(iterations.summary().line()).isEqualTo("read 7, accepted 2, rejected 5");
        assertThat(of(iterations, StepCompleted.class))
                .extracting(StepCompleted::stepId)
                .containsExactly(4L, 6L);
        Path next = Files.createDirectory(folder.resolve("next"));
        Imported traces = Imported.file(
                listener -> new TritonTraceImport(null, null, LIMITS, listener),
                next,
                "trace.json",
                "[ {\"model_name\": \"m\", \"id\": 1}, {\"id\": 2}, {\"timestamps\": []},",
                "{\"timestamps\": [{\"name\": \"QUEUE_START\", \"ns\": 5}], \"id\": 1}]");
        assertThat(traces.summary().line()).isEqualTo("read 4, accepted 2, rejected 2");
        Path run = Files.createDirectory(folder.resolve("run"));
        Imported requests = Imported.file(
                listener -> new BenchImport(BenchImport.Tool.VLLM, LIMITS, listener),
                run,
                "requests.json",
                "[{\"request_id\":\"a\",\"queued_ts\":5.0,\"scheduled_ts\":4.0,\"first_token_ts\":6.0,\"last_token_ts\":7.0},",
                "{\"request_id\":\"b\",\"queued_ts\":5.0,\"scheduled_ts\":5.5,\"first_token_ts\":6.0,\"last_token_ts\":7.0}]");
        assertThat(requests.summary().line()).isEqualTo("read 2, accepted 1, rejected 1");
    }

    @Test
    void aCutGzipFileIsReadAsFarAsItGoes() throws Exception {
        byte[] whole = Files.readAllBytes(Imported.real().resolve("dynamo_mocker/sse_capture.jsonl.gz"));
        Path cut = folder.resolve("cut.jsonl.gz");
        Files.write(cut, java.util.Arrays.copyOf(whole, whole.length / 2));
        Imported imported = Imported.file(
                        listener -> new SseCaptureImport(LIMITS, listener), cut, folder.resolve("log"))
                .imported();
        assertThat(imported.summary().accepted()).isGreaterThan(100);
        assertThat(reason(imported)).contains("cut");
    }

    @Test
    void aZipBombIsReadUpToItsLimit() throws Exception {
        Path bomb = folder.resolve("bomb.jsonl.gz");
        try (GZIPOutputStream zip = new GZIPOutputStream(Files.newOutputStream(bomb))) {
            byte[] line = (line(5, "\"kind\":\"sent\"") + "\n").getBytes(StandardCharsets.UTF_8);
            zip.write(line);
            byte[] zeros = new byte[1 << 20];
            for (int i = 0; i < 64; i++) {
                zip.write(zeros);
            }
        }
        LineSource.Limits limits = new LineSource.Limits(1 << 16, 8L << 20);
        for (Imported.Format format : List.<Imported.Format>of(
                listener -> new SseCaptureImport(limits, listener),
                listener -> new KvEventsImport(null, limits, listener),
                listener -> new GuideLlmImport(limits, listener),
                listener -> new IterationsImport(null, limits, listener),
                listener -> new TritonTraceImport(null, null, limits, listener))) {
            try {
                Path log = Files.createTempDirectory(folder, "log");
                Imported imported = Imported.file(format, bomb, log).imported();
                assertThat(imported.summary().rejected()).isPositive();
            } catch (ImportException e) {
                assertThat(e.getMessage()).doesNotContain("\n");
            }
        }
    }

    @Test
    void deepJsonHugeIdsAndControlCharactersAreRefusedOrKeptAsTheyAre() throws Exception {
        String deep = "[".repeat(100) + "]".repeat(100);
        Imported imported = Imported.file(
                listener -> new SseCaptureImport(LIMITS, listener),
                folder,
                "s.jsonl",
                line(1, "\"kind\":\"sent\""),
                line(2, "\"kind\":\"line\",\"line\":\"data: {\\\"choices\\\":" + deep + "}\""),
                line(3, "\"kind\":\"closed\"").replace("\"r\"", "\"" + "x".repeat(300) + "\""),
                line(4, "\"kind\":\"sent\"").replace("\"r\"", "\"a\\u001b[31m\\u0000\""),
                "{\"kind\":\"sent\",\"req\":\"later\",\"mono_ns\":5,\"epoch_ns\":5}",
                "{\"kind\":\"sent\",\"req\":\"far\",\"mono_ns\":9223372036854775807,\"epoch_ns\":1795965936000000000}");
        assertThat(imported.summary().read()).isEqualTo(6);
        assertThat(of(imported, Rejected.class))
                .extracting(Rejected::reason)
                .anyMatch(reason -> reason.contains("nested deeper"))
                .anyMatch(reason -> reason.contains("300 bytes"))
                .anyMatch(reason -> reason.contains("mixed clocks"))
                .anyMatch(reason -> reason.contains("another clock"))
                .hasSize(4);
        assertThat(of(imported, RequestReceived.class))
                .extracting(RequestReceived::requestId)
                .containsExactly("r", "a\u001b[31m\u0000");
    }

    @Test
    void aFileOfAnotherKindIsRefusedWithWhatToName() {
        for (Imported.Format format : List.<Imported.Format>of(
                listener -> new SseCaptureImport(LIMITS, listener),
                listener -> new KvEventsImport(null, LIMITS, listener),
                listener -> new DynamoTraceImport(LIMITS, listener),
                listener -> new ForwardPassImport(LIMITS, listener),
                listener -> new LlamaCppLogImport(null, LIMITS, listener),
                listener -> new AiperfImport(LIMITS, listener),
                listener -> new GuideLlmImport(LIMITS, listener),
                listener -> new IterationsImport(null, LIMITS, listener),
                listener -> new TritonTraceImport(null, null, LIMITS, listener))) {
            assertThatThrownBy(() -> Imported.file(format, folder, "other.txt", "{\"something\": 1}", "else"))
                    .hasStackTraceContaining("; name ");
        }
    }
}
