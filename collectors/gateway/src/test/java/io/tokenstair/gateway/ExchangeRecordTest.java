package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExchangeRecordTest {
    /** Chunks with tokens of each recorded request, as an independent count of the recording gives them. */
    private static final Map<String, Map<String, Integer>> TOKENS = Map.of(
            "llamacpp-main", Map.of("warm", 4, "r1", 64, "r2", 48, "r3", 180, "r4", 40, "r5", 30, "r6", 0, "r7", 38),
            "llamacpp-spec", Map.of("s1", 48, "s2", 40),
            "llamacpp-kvfull", Map.of("k-1", 37, "k-2", 38, "k-3", 40, "k-4", 30),
            "dynamo", Map.of("a1", 60, "a2", 120, "a3", 150, "a4", 140, "a5", 50, "a6", 20, "a7", 24),
            "llmd", Map.of("m1", 40, "m2", 50, "m3", 30, "m4", 45, "m5", 20, "m6", 0, "ax", 12));

    private static final Map<String, Double> TTFT_MILLIS =
            Map.of("r1", 299.283, "r4", 91.415, "s2", 41.82, "k-1", 315.538, "a3", 55.25, "a6", 86.698, "m2", 61.671);

    @Test
    void everyRecordedStreamIsCountedAsAnIndependentCountDoes() throws Exception {
        for (String name : RecordedStreams.NAMES) {
            Map<String, Integer> tokens = new LinkedHashMap<>();
            for (Map.Entry<String, RecordedStreams.Stream> entry :
                    RecordedStreams.read(name).entrySet()) {
                RecordedStreams.Stream stream = entry.getValue();
                List<Chunk> chunks = chunks(replay(entry.getKey(), stream));
                int next = 0;
                for (Chunk chunk : chunks) {
                    if (chunk.tokenCount() > 0) {
                        assertThat(chunk.firstTokenIndex()).isEqualTo(next);
                        next += chunk.tokenCount();
                    }
                }
                tokens.put(entry.getKey(), next);
                Double ttft = TTFT_MILLIS.get(entry.getKey());
                if (ttft != null) {
                    long first = chunks.stream()
                            .filter(chunk -> chunk.tokenCount() > 0)
                            .findFirst()
                            .orElseThrow()
                            .arrivedNanos();
                    assertThat(Math.round((first - stream.sentNanos) / 1e3)).isEqualTo(Math.round(ttft * 1e3));
                }
            }
            assertThat(tokens).as(name).isEqualTo(TOKENS.get(name));
        }
    }

    @Test
    void whatTheStreamsSayOfTheirEndIsTold() throws Exception {
        Map<String, RecordedStreams.Stream> main = RecordedStreams.read("llamacpp-main");
        RequestCompleted r2 = completed(replay("r2", main.get("r2")));
        assertThat(r2.outcome()).isEqualTo("complete");
        assertThat(r2.outputTokens()).isEqualTo(48);
        assertThat(r2.promptTokens()).isEqualTo(129);
        assertThat(r2.cachedTokens()).isEqualTo(100);
        // An error inside a 200 stream; 40 were counted by the engine, 38 were sent, and no usage says either.
        List<Event> r7 = replay("r7", main.get("r7"));
        assertThat(completed(r7).outcome()).isEqualTo("failed");
        assertThat(completed(r7).httpStatus()).isEqualTo(200);
        assertThat(completed(r7).errorType()).isEqualTo("server_error");
        List<Chunk> chunks = chunks(r7);
        assertThat(chunks.get(chunks.size() - 1).finish()).isEqualTo(Finish.ERROR);
        // Drafts that share a step come as chunks of their own.
        assertThat(chunks(replay("s1", RecordedStreams.read("llamacpp-spec").get("s1"))))
                .filteredOn(chunk -> chunk.tokenCount() > 0)
                .hasSize(48);
        Map<String, RecordedStreams.Stream> dynamo = RecordedStreams.read("dynamo");
        RequestCompleted a7 = completed(replay("a7", dynamo.get("a7")));
        assertThat(a7.outputTokens()).isEqualTo(24);
        assertThat(a7.cachedTokens()).isEqualTo(96);
        assertThat(replay("a1", dynamo.get("a1")))
                .contains(new IdAliased("a1", "cmpl-d399e3a1-b7cf-4df0-b553-27cbd0cc241b", "stream-id"));
    }

    /** As the server's own log prints it: main_server.log, tasks 1, 8, 10, 11, 12 and 18. */
    private static final Map<String, String> WORK = Map.of(
            "warm", "llamacpp:work:119:111.23:4:10.51",
            "r1", "llamacpp:work:120:294.89:64:680.39",
            "r2", "llamacpp:work:29:96.12:48:476.76",
            "r3", "llamacpp:work:150:244.61:180:1207.15",
            "r4", "llamacpp:work:42:55.23:40:539.35",
            "r5", "llamacpp:work:59:67.20:30:300.79");

    @Test
    void anAnswerOfLlamaCppSaysWhatItsServersLogSaysOfTheTask() throws Exception {
        Map<String, String> work = new LinkedHashMap<>();
        for (Map.Entry<String, RecordedStreams.Stream> entry :
                RecordedStreams.read("llamacpp-main").entrySet()) {
            for (Event event : replay(entry.getKey(), entry.getValue())) {
                if (event instanceof IdAliased aliased && aliased.aliasOrigin().equals("llamacpp-work")) {
                    assertThat(work.put(aliased.requestId(), aliased.alias())).isNull();
                }
            }
        }
        // Neither one that was refused nor one that broke has all of it.
        assertThat(work).isEqualTo(WORK);
    }

    @Test
    void theCutsOfTheBytesDoNotMatter() throws Exception {
        Random cuts = new Random(11);
        for (Map.Entry<String, RecordedStreams.Stream> entry :
                RecordedStreams.read("llamacpp-kvfull").entrySet()) {
            RecordedStreams.Stream stream = entry.getValue();
            List<String> whole = counts(chunks(replay(entry.getKey(), stream)));
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (int i = 0; i < stream.lines.size(); i++) {
                all.write(stream.bytes(i));
            }
            byte[] bytes = all.toByteArray();
            for (int round = 0; round < 20; round++) {
                List<Event> events = new ArrayList<>();
                ExchangeRecord record = record(entry.getKey(), stream, events);
                int at = 0;
                while (at < bytes.length) {
                    int end = Math.min(bytes.length, at + 1 + cuts.nextInt(round < 10 ? 3 : 700));
                    record.piece(java.util.Arrays.copyOfRange(bytes, at, end), new Stamps(at, (long) at, (long) at));
                    at = end;
                }
                record.ended(end());
                assertThat(counts(chunks(events))).isEqualTo(whole);
            }
        }
    }

    @Test
    void bestEvidenceCounts() {
        assertThat(tally("""
                {"id":"cmpl-1","choices":[{"index":0,"text":"abc","token_ids":[1,2,3]}]}
                {"id":"cmpl-1","choices":[{"index":0,"text":"","token_ids":[4],"finish_reason":"stop"}]}
                """)).isEqualTo("0:0+3 0:3+1STOP");
        assertThat(tally("""
                {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}
                {"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a"},{"token":"b"}]}}]}
                {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}
                """)).isEqualTo("0:+0 0:0+2 0:+0LENGTH");
        assertThat(tally("""
                {"choices":[{"index":0,"text":"a"}],"usage":{"prompt_tokens":5,"completion_tokens":4}}
                {"choices":[{"index":0,"text":"b"}],"usage":{"prompt_tokens":5,"completion_tokens":6}}
                {"choices":[{"index":0,"text":"","finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":7}}
                {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}
                """)).isEqualTo("0:0+4 0:4+2 0:6+1STOP");
        // Probabilities that begin with those of the prompt, whose first token has none, do not count the output.
        assertThat(tally("""
                {"choices":[{"index":0,"text":"the prompt a","logprobs":{"token_logprobs":[null,-1,-2],"tokens":["the"," prompt"," a"]}}]}
                {"choices":[{"index":0,"text":"b","logprobs":{"token_logprobs":[-1],"tokens":["b"]}}]}
                """)).isEqualTo("0:0+1 0:1+1");
    }

    @Test
    void messagesCountThePromptInThreeParts() {
        AnswerPart part = java.util.Objects.requireNonNull(
                AnswerPart.read("""
                {"type":"message_start","message":{"id":"m","usage":{"cache_creation_input_tokens":64,"input_tokens":3,
                "cache_read_input_tokens":5,"output_tokens":1}}}""".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
        assertThat(part.usagePromptTokens).isEqualTo(72);
        assertThat(part.usageCachedTokens).isEqualTo(5);
    }

    @Test
    void severalChoicesAreSequencesOfTheirOwn() {
        assertThat(tally("""
                {"choices":[{"index":0,"text":"a"},{"index":1,"text":"b"}]}
                {"choices":[{"index":1,"text":"c","finish_reason":"stop"}]}
                {"choices":[{"index":0,"text":"d","finish_reason":"length"}]}
                {"choices":[],"usage":{"completion_tokens":4}}
                """)).isEqualTo("0:0+1 1:0+1 1:1+1STOP 0:1+1LENGTH");
    }

    @Test
    void otherFormsOfStreamsAreUnderstood() {
        // SGLang's generate: texts and counts are cumulative.
        assertThat(tally("""
                {"text":"a","meta_info":{"id":"x","completion_tokens":1,"prompt_tokens":9,"finish_reason":null}}
                {"text":"abc","meta_info":{"id":"x","completion_tokens":3,"prompt_tokens":9,"finish_reason":{"type":"length"}}}
                """)).isEqualTo("0:0+1 0:1+2LENGTH");
        // TGI.
        assertThat(tally("""
                {"index":1,"token":{"id":4,"text":"a"},"generated_text":null,"details":null}
                {"index":2,"token":{"id":5,"text":"b"},"generated_text":"ab","details":{"finish_reason":"eos_token"}}
                """)).isEqualTo("0:0+1 0:1+1STOP");
        // Tools: a call's pieces are tokens too.
        assertThat(tally("""
                {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}
                {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}}]}
                {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
                """)).isEqualTo("0:+0 0:0+1 0:+0STOP");
        // The responses form.
        assertThat(tally("""
                {"type":"response.created","response":{"id":"resp_1","usage":null,"error":null}}
                {"type":"response.output_text.delta","delta":"a"}
                {"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":3,"output_tokens":1}}}
                """)).isEqualTo("0:0+1");
    }

    @Test
    void anEventThatEndsAPartOfAResponseRepeatsItsTextAndHoldsNoToken() {
        assertThat(tally("""
                {"type":"response.created","response":{"id":"resp_1","incomplete_details":null,"usage":null,"error":null}}
                {"type":"response.content_part.added","part":{"type":"output_text","text":""}}
                {"type":"response.reasoning_text.delta","delta":"a"}
                {"type":"response.reasoning_text.done","text":"a"}
                {"type":"response.output_text.delta","delta":"b","logprobs":[]}
                {"delta":"cd","logprobs":[{"token":"c"},{"token":"d"}],"type":"response.output_text.delta"}
                {"text":"bcd","type":"response.output_text.done","logprobs":[{"token":"c"},{"token":"d"}]}
                {"type":"response.function_call_arguments.delta","delta":"{}"}
                {"type":"response.function_call_arguments.done","arguments":"{}"}
                {"type":"response.content_part.done","part":{"type":"output_text","text":"bcd"}}
                {"type":"response.output_item.done","item":{"content":[{"type":"output_text","text":"bcd"}]}}
                {"type":"response.incomplete","response":{"id":"resp_1","incomplete_details":{"reason":"max_output_tokens"},"output":[{"text":"b"}],"usage":{"input_tokens":3,"output_tokens":5}}}
                """.replaceAll("\n +", "\n"))).isEqualTo("0:0+1 0:+0 0:1+1 0:2+2 0:+0 0:4+1 0:+0LENGTH");
    }

    @Test
    void anEventThatIsAnErrorMakesTheRequestFailed() {
        RequestCompleted completed = completed(run("""
                {"type":"response.output_text.delta","delta":"a"}
                {"type":"error","code":"server_error","message":"secret"}
                """, true));
        assertThat(completed.outcome()).isEqualTo("failed");
        assertThat(completed.errorType()).isEqualTo("server_error");
    }

    /** Some servers tell an error by the event's name alone, with data of any form, or none. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "event: error\ndata: {\"message\":\"secret\",\"type\":\"overloaded_error\"}\n\n",
                "event:error\ndata: secret\n\n",
                "event: error\n: secret\n\n",
                "data: {\"error\":\"secret\"}\r\nevent: error\r\n\r\n",
                "event: error\n: secret"
            })
    void anEventThatIsNamedErrorMakesTheRequestFailed(String error) {
        List<Event> events = new ArrayList<>();
        ExchangeRecord record = record("q", events, true);
        record.answer(200, AnswerForm.EVENTS);
        String stream = "event: message\ndata: {\"choices\":[{\"index\":0,\"text\":\"a\"}]}\n\n" + error;
        for (byte each : stream.getBytes(StandardCharsets.UTF_8)) {
            record.piece(new byte[] {each}, new Stamps(1, 1L, 1L));
        }
        record.ended(end());
        assertThat(completed(events).outcome()).isEqualTo("failed");
        assertThat(text(chunks(events))).isEqualTo("0:0+1 0:+0ERROR");
        assertThat(events.toString()).doesNotContain("secret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"event: errors\n", "event: message\n", "eventerror\n", "event: error\nevent: message\n"})
    void anyOtherNameOfAnEventSaysNothing(String name) {
        List<Event> events = new ArrayList<>();
        ExchangeRecord record = record("q", events, true);
        record.answer(200, AnswerForm.EVENTS);
        record.piece(
                (name + "data: {\"choices\":[{\"index\":0,\"text\":\"a\"}]}\n\n").getBytes(StandardCharsets.UTF_8),
                new Stamps(1, 1L, 1L));
        record.ended(end());
        assertThat(completed(events).outcome()).isEqualTo("complete");
        assertThat(text(chunks(events))).isEqualTo("0:0+1");
    }

    @Test
    void aWholeResponseIsOneChunkOfItsTokens() {
        String response = "{\"id\":\"resp_1\",\"object\":\"response\",\"incomplete_details\":%s,"
                + "\"output\":[{\"type\":\"message\"}],\"usage\":{\"input_tokens\":3,\"output_tokens\":5}}";
        assertThat(whole(String.format(response, "null"), "{}")).isEqualTo("0:0+5 of 5");
        assertThat(whole(String.format(response, "{\"reason\":\"max_output_tokens\"}"), "{}"))
                .isEqualTo("0:0+5LENGTH of 5");
    }

    @Test
    void whatNothingCountsIsOneTokenOrNotToldAndItsSumIsUnknown() {
        String lines = """
                {"choices":[{"index":0,"text":"several words"}]}
                {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}
                """;
        List<Event> one = run(lines, true);
        assertThat(text(chunks(one))).isEqualTo("0:0+1 0:+0STOP");
        assertThat(completed(one).outputTokens()).isNull();
        assertThat(completed(one).chunkCount()).isEqualTo(2);
        assertThat(text(chunks(run(lines, false)))).isEqualTo("0:+0STOP");
    }

    @Test
    void anAnswerThatIsNotStreamedIsOneChunkWithItsUsage() {
        List<Event> events = new ArrayList<>();
        ExchangeRecord record = record("q", events, true);
        record.answer(200, AnswerForm.JSON);
        byte[] answer =
                "{\"id\":\"cmpl-q\",\"choices\":[{\"index\":0,\"text\":\"secret\",\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":8}}"
                        .getBytes(StandardCharsets.UTF_8);
        record.piece(answer, new Stamps(7, 8L, 9L));
        record.ended(end());
        assertThat(text(chunks(events))).isEqualTo("0:0+8LENGTH");
        assertThat(completed(events).outputTokens()).isEqualTo(8);
        assertThat(events.toString()).doesNotContain("secret");
    }

    @Test
    void choicesOfAnAnswerThatIsNotStreamedHaveTheTokensThatItSaysOfEach() {
        String usage = "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":8}";
        assertThat(whole(
                        "{\"choices\":[{\"index\":0,\"text\":\"a\",\"token_ids\":[1,2,3],\"finish_reason\":\"stop\"},"
                                + "{\"index\":1,\"text\":\"b\",\"token_ids\":[1,2,3,4,5],\"finish_reason\":\"length\"}],"
                                + usage
                                + "}",
                        "{}"))
                .isEqualTo("0:0+3STOP 1:0+5LENGTH of 8");
        assertThat(whole(
                        "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\"},\"logprobs\":{\"content\":[{},{}]}},"
                                + "{\"index\":1,\"message\":{\"content\":\"b\"},\"logprobs\":{\"content\":[{}]}}]}",
                        "{}"))
                .isEqualTo("0:0+2 1:0+1 of 3");
        // What usage leaves for the last one.
        assertThat(whole(
                        "{\"choices\":[{\"index\":0,\"text\":\"a\",\"token_ids\":[1,2]},{\"index\":1,\"text\":\"b\"}],"
                                + usage + "}",
                        "{}"))
                .isEqualTo("0:0+2 1:0+6 of 8");
        // As many as were asked for, of each: no other share adds up.
        String two = "{\"choices\":[{\"index\":0,\"text\":\"a\"},{\"index\":1,\"text\":\"b\"}]," + usage + "}";
        assertThat(whole(two, "{\"max_tokens\":4,\"n\":2}")).isEqualTo("0:0+4 1:0+4 of 8");
        // Eight of two choices, of at most five each: nobody can say of which how many.
        assertThat(whole(two, "{\"max_tokens\":5,\"n\":2}")).isEqualTo(" of 8");
        assertThat(whole(two, "{}")).isEqualTo(" of 8");
        assertThat(whole("{\"choices\":[{\"index\":0,\"text\":\"a\"},{\"index\":1,\"text\":\"b\"}]}", "{}"))
                .isEqualTo(" of null");
    }

    private static String whole(String answer, String body) {
        List<Event> events = new ArrayList<>();
        ExchangeRecord record = record("q", events, true);
        record.body(body.getBytes(StandardCharsets.UTF_8));
        record.bodyEnded();
        record.answer(200, AnswerForm.JSON);
        record.piece(answer.getBytes(StandardCharsets.UTF_8), new Stamps(7, 8L, 9L));
        record.ended(end());
        return text(chunks(events)) + " of " + completed(events).outputTokens();
    }

    @Test
    void anAnswerThatCannotBeReadHasNoCounts() {
        List<Event> events = new ArrayList<>();
        ExchangeRecord record = record("q", events, true);
        record.answer(200, AnswerForm.of("text/event-stream", "gzip"));
        record.piece(new byte[] {1, 2, 3}, new Stamps(7, 8L, 9L));
        record.ended(end());
        assertThat(completed(events).outputTokens()).isNull();
        assertThat(completed(events).chunkCount()).isNull();
        assertThat(chunks(events)).isEmpty();
    }

    @Test
    void noTextOfARequestIsKept() {
        List<Event> events = new ArrayList<>();
        ExchangeRecord record = record("q", events, true);
        record.body(
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"secret\"}],\"max_tokens\":5,\"n\":2,\"priority\":-1}"
                        .getBytes(StandardCharsets.UTF_8));
        record.bodyEnded();
        record.ended(end());
        RequestReceived received = (RequestReceived) events.get(0);
        assertThat(received.model()).isEqualTo("m");
        assertThat(received.maxTokens()).isEqualTo(5);
        assertThat(received.choicesCount()).isEqualTo(2);
        assertThat(received.priority()).isEqualTo(-1);
        assertThat(received.promptTokens()).isNull();
        assertThat(events.toString()).doesNotContain("secret");
        assertThat(RequestShape.read("{\"prompt\":[1,2,3],\"max_tokens\":4}".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(new RequestShape(null, 3L, 4L, null, null));
        assertThat(RequestShape.read("[1]".getBytes(StandardCharsets.UTF_8))).isEqualTo(RequestShape.UNKNOWN);
        assertThat(RequestShape.read("{\"prompt\":[[1,2],[3]],\"n\":1e9}".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(RequestShape.UNKNOWN);
    }

    @Test
    void aBrokenStreamEventEndsTheChunksAndSaysSo() {
        List<Event> events = run(
                "{\"choices\":[{\"index\":0,\"text\":\"a\"}]}\n{\"choices\":[\n{\"choices\":[{\"index\":0,\"text\":\"b\"}]}\n",
                true);
        assertThat(text(chunks(events))).isEqualTo("0:0+1");
        assertThat(completed(events).outputTokens()).isNull();
        assertThat(events)
                .anyMatch(event ->
                        event instanceof Rejected rejected && rejected.reason().contains("no JSON object"));
    }

    private static String tally(String lines) {
        return text(chunks(run(lines, true)));
    }

    private static List<Event> run(String lines, boolean uncountedIsOne) {
        List<Event> events = new ArrayList<>();
        ExchangeRecord record = record("q", events, uncountedIsOne);
        record.answer(200, AnswerForm.EVENTS);
        int i = 0;
        for (String line : lines.split("\n", -1)) {
            if (!line.isBlank()) {
                record.piece(
                        ("data: " + line.strip() + "\r\n\r\n").getBytes(StandardCharsets.UTF_8),
                        new Stamps(i, (long) i, (long) i));
                i++;
            }
        }
        record.piece("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8), new Stamps(i, null, null));
        record.ended(end());
        return events;
    }

    static List<Event> replay(String id, RecordedStreams.Stream stream) {
        List<Event> events = new ArrayList<>();
        ExchangeRecord record = record(id, stream, events);
        for (int i = 0; i < stream.lines.size(); i++) {
            long nanos = stream.arrivals.get(i);
            record.piece(stream.bytes(i), new Stamps(nanos, nanos, nanos));
        }
        record.ended(end());
        return events;
    }

    private static ExchangeRecord record(String id, RecordedStreams.Stream stream, List<Event> events) {
        ExchangeRecord record = record(id, events, true);
        record.body(stream.body.getBytes(StandardCharsets.UTF_8));
        record.answer(stream.status, stream.status == 200 ? AnswerForm.EVENTS : AnswerForm.JSON);
        return record;
    }

    static ExchangeRecord record(String id, List<Event> events, boolean uncountedIsOne) {
        return record(id, "/v1/completions", events, uncountedIsOne);
    }

    static ExchangeRecord record(String id, String route, List<Event> events, boolean uncountedIsOne) {
        RequestIdentity identity = new RequestIdentity(id, false, null);
        TraceContext trace = TraceContext.of(List.of(), () -> new byte[16]);
        return new ExchangeRecord(
                new ExchangeRecord.Start(1, identity, trace, route, uncountedIsOne),
                (nanos, event) -> events.add(event));
    }

    static ExchangeRecord.End end() {
        return new ExchangeRecord.End(1_000, "complete", 200, null, 2L, null);
    }

    static List<Chunk> chunks(List<Event> events) {
        List<Chunk> chunks = new ArrayList<>();
        for (Event event : events) {
            if (event instanceof ChunkDelivered delivered) {
                chunks.addAll(delivered.chunks());
            }
        }
        return chunks;
    }

    static RequestCompleted completed(List<Event> events) {
        return (RequestCompleted) events.get(events.size() - 1);
    }

    private static List<String> counts(List<Chunk> chunks) {
        return chunks.stream()
                .map(chunk -> chunk.chunkIndex() + "/" + text(List.of(chunk)))
                .toList();
    }

    private static String text(List<Chunk> chunks) {
        StringBuilder text = new StringBuilder();
        for (Chunk chunk : chunks) {
            text.append(text.isEmpty() ? "" : " ")
                    .append(chunk.sequenceIndex())
                    .append(':')
                    .append(chunk.firstTokenIndex() == null ? "" : chunk.firstTokenIndex())
                    .append('+')
                    .append(chunk.tokenCount())
                    .append(chunk.finish() == Finish.NONE ? "" : chunk.finish());
        }
        return text.toString();
    }
}
