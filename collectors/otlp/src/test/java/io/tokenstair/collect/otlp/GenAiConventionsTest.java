package io.tokenstair.collect.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.common.v1.KeyValueList;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.metrics.v1.Histogram;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.Sum;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.event.Event;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.SpanRecorded;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each page of the GenAI conventions as a table, read as protobuf and as JSON; docs/engines/otlp.md says which versions of them. */
class GenAiConventionsTest {
    private static final String SPAN = "00f067aa0ba902b7";
    private static final String SECRET = "SECRET";

    /** A call as a client's span tells it, and what is understood. */
    private record Call(
            String page,
            List<KeyValue> attributes,
            @Nullable Long promptTokens,
            @Nullable Long cachedTokens,
            @Nullable Long outputTokens,
            @Nullable Long firstTokenNanos,
            @Nullable String model) {
        @Override
        public String toString() {
            return page;
        }
    }

    private static KeyValue texts(String key, String... values) {
        ArrayValue.Builder array = ArrayValue.newBuilder();
        for (String value : values) {
            array.addValues(AnyValue.newBuilder().setStringValue(value));
        }
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder().setArrayValue(array))
                .build();
    }

    private static KeyValue structure(String key) {
        AnyValue message = AnyValue.newBuilder()
                .setKvlistValue(KeyValueList.newBuilder()
                        .addValues(Otlp.text("role", "user"))
                        .addValues(Otlp.text("content", SECRET)))
                .build();
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder()
                        .setArrayValue(ArrayValue.newBuilder().addValues(message)))
                .build();
    }

    /** What a request becomes, the same in both encodings. */
    private static OtlpBatch read(Message message) throws Exception {
        OtlpBatch binary = Otlp.decoded(new OtlpDecoder(), message);
        byte[] json = Otlp.json(message).getBytes(StandardCharsets.UTF_8);
        OtlpBatch text = new OtlpDecoder().decode(OtlpRequest.json(json, json.length, OtlpLimits.DEFAULT));
        assertThat(text.events()).isEqualTo(binary.events());
        assertThat(text.rejected()).isEqualTo(binary.rejected()).isZero();
        return binary;
    }

    private static List<Call> calls() {
        return List.of(
                new Call(
                        "client-inference.md: chat, all counts",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "chat"),
                                Otlp.text("gen_ai.provider.name", "openai"),
                                Otlp.text("gen_ai.request.model", "asked"),
                                Otlp.text("gen_ai.response.model", "m"),
                                texts("gen_ai.response.finish_reasons", "stop", "length"),
                                Otlp.whole("gen_ai.usage.input_tokens", 100),
                                Otlp.whole("gen_ai.usage.cache_read.input_tokens", 50),
                                Otlp.whole("gen_ai.usage.cache_write.input_tokens", 25),
                                Otlp.whole("gen_ai.usage.text.input_tokens", 90),
                                Otlp.whole("gen_ai.usage.output_tokens", 180),
                                Otlp.whole("gen_ai.usage.reasoning.output_tokens", 40),
                                Otlp.number("gen_ai.response.time_to_first_chunk", 0.5)),
                        100L,
                        50L,
                        180L,
                        Otlp.START + 500_000_000L,
                        "m"),
                new Call(
                        "client-inference.md: generate_content",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "generate_content"),
                                Otlp.text("gen_ai.provider.name", "gcp.gemini"),
                                Otlp.whole("gen_ai.usage.output_tokens", 3)),
                        null,
                        null,
                        3L,
                        null,
                        null),
                new Call(
                        "gen-ai-spans.md 1.28 to 1.36: text_completion, gen_ai.system, no cache",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "text_completion"),
                                Otlp.text("gen_ai.system", "az.ai.inference"),
                                Otlp.whole("gen_ai.usage.input_tokens", 7),
                                Otlp.whole("gen_ai.usage.output_tokens", 0)),
                        7L,
                        null,
                        0L,
                        null,
                        null),
                new Call(
                        "gen-ai-spans.md 1.37 to 1.41: cache_creation",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "chat"),
                                Otlp.whole("gen_ai.usage.input_tokens", 75),
                                Otlp.whole("gen_ai.usage.cache_read.input_tokens", 0),
                                Otlp.whole("gen_ai.usage.cache_creation.input_tokens", 25)),
                        75L,
                        0L,
                        null,
                        null,
                        null),
                new Call(
                        "1.27 and before: prompt_tokens and completion_tokens",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "chat"),
                                Otlp.whole("gen_ai.usage.prompt_tokens", 11),
                                Otlp.whole("gen_ai.usage.completion_tokens", 5)),
                        11L,
                        null,
                        5L,
                        null,
                        null),
                new Call(
                        "openai.md",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "chat"),
                                Otlp.text("gen_ai.provider.name", "openai"),
                                Otlp.text("openai.api.type", "responses"),
                                Otlp.text("openai.response.service_tier", "flex"),
                                Otlp.whole("gen_ai.request.choice.count", 2)),
                        null,
                        null,
                        null,
                        null,
                        null),
                new Call(
                        "anthropic.md: cached tokens left out of the prompt's, which contradicts the page",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "chat"),
                                Otlp.text("gen_ai.provider.name", "anthropic"),
                                Otlp.whole("gen_ai.usage.input_tokens", 4),
                                Otlp.whole("gen_ai.usage.cache_read.input_tokens", 900),
                                Otlp.whole("gen_ai.usage.output_tokens", 12)),
                        null,
                        null,
                        12L,
                        null,
                        null),
                new Call(
                        "aws-bedrock.md",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "chat"),
                                Otlp.text("gen_ai.provider.name", "aws.bedrock"),
                                Otlp.text("aws.bedrock.guardrail.id", "sgi5gkybzqak"),
                                Otlp.whole("gen_ai.usage.input_tokens", 21)),
                        21L,
                        null,
                        null,
                        null,
                        null),
                new Call(
                        "azure-ai-inference.md",
                        List.of(
                                Otlp.text("gen_ai.operation.name", "chat"),
                                Otlp.text("gen_ai.provider.name", "azure.ai.inference"),
                                Otlp.text("azure.resource_provider.namespace", "Microsoft.CognitiveServices"),
                                Otlp.whole("gen_ai.usage.output_tokens", 2)),
                        null,
                        null,
                        2L,
                        null,
                        null),
                new Call(
                        "OpenLLMetry",
                        List.of(
                                Otlp.text("llm.request.type", "chat"),
                                Otlp.text("gen_ai.system", "OpenAI"),
                                Otlp.whole("llm.usage.total_tokens", 36),
                                Otlp.whole("gen_ai.usage.prompt_tokens", 31),
                                Otlp.whole("gen_ai.usage.completion_tokens", 5),
                                Otlp.whole("gen_ai.usage.cache_read_input_tokens", 16)),
                        31L,
                        16L,
                        5L,
                        null,
                        null),
                new Call(
                        "OpenInference",
                        List.of(
                                Otlp.text("openinference.span.kind", "LLM"),
                                Otlp.text("llm.model_name", "m"),
                                Otlp.text("llm.provider", "openai"),
                                Otlp.whole("llm.token_count.prompt", 1000),
                                Otlp.whole("llm.token_count.prompt_details.cache_read", 700),
                                Otlp.whole("llm.token_count.prompt_details.cache_write", 100),
                                Otlp.whole("llm.token_count.completion", 500)),
                        1000L,
                        700L,
                        500L,
                        null,
                        "m"));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void aCallIsUnderstood(Call call) throws Exception {
        OtlpBatch batch = read(Otlp.traces(
                "app",
                "scope",
                Otlp.span("call", SPAN)
                        .setKind(Span.SpanKind.SPAN_KIND_CLIENT)
                        .addAttributes(Otlp.text("gen_ai.response.id", "chatcmpl-shop-7"))
                        .addAllAttributes(call.attributes())));
        RequestReceived received = Otlp.events(batch, RequestReceived.class).get(0);
        assertThat(received.requestId()).isEqualTo("shop-7");
        assertThat(received.promptTokens()).isEqualTo(call.promptTokens());
        assertThat(received.model()).isEqualTo(call.model());
        RequestCompleted completed = Otlp.events(batch, RequestCompleted.class).get(0);
        assertThat(completed.promptTokens()).isEqualTo(call.promptTokens());
        assertThat(completed.cachedTokens()).isEqualTo(call.cachedTokens());
        assertThat(completed.outputTokens()).isEqualTo(call.outputTokens());
        assertThat(completed.firstTokenNanos()).isEqualTo(call.firstTokenNanos());
        // The span itself keeps every one of these names: none of them holds text that was asked or answered.
        List<String> kept = Otlp.events(batch, SpanRecorded.class).get(0).attributes();
        for (KeyValue attribute : call.attributes()) {
            assertThat(kept).contains(attribute.getKey());
        }
        if (call.page().contains("all counts")) {
            assertThat(kept).containsSequence("gen_ai.response.finish_reasons", "stop,length");
        }
    }

    private static Stream<Arguments> operationsThatAreNoRequest() {
        return Stream.of(
                        "create_agent",
                        "invoke_agent",
                        "invoke_workflow",
                        "plan",
                        "execute_tool",
                        "embeddings",
                        "retrieval",
                        "fetch_response",
                        "realtime_inference",
                        "create_memory",
                        "search_memory",
                        "update_memory",
                        "delete_memory",
                        "create_memory_store",
                        "a_name_of_next_year")
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("operationsThatAreNoRequest")
    void anOperationThatIsNoCallToAModelIsASpanAndNoRequest(String operation) throws Exception {
        OtlpBatch batch = read(Otlp.traces(
                "app",
                "scope",
                Otlp.span(operation, SPAN)
                        .setKind(Span.SpanKind.SPAN_KIND_CLIENT)
                        .addAttributes(Otlp.text("gen_ai.operation.name", operation))
                        .addAttributes(Otlp.text("gen_ai.response.id", "resp_1"))
                        .addAttributes(Otlp.text("gen_ai.agent.name", "Math Tutor"))
                        .addAttributes(Otlp.text("gen_ai.tool.name", "Flights"))
                        .addAttributes(Otlp.text("gen_ai.agent.description", SECRET))
                        .addAttributes(Otlp.text("gen_ai.memory.query.text", SECRET))
                        .addAttributes(structure("gen_ai.memory.records"))
                        .addAttributes(Otlp.text("gen_ai.retrieval.query.text", SECRET))
                        .addAttributes(structure("gen_ai.retrieval.documents"))));
        assertThat(batch.events().toString()).doesNotContain(SECRET);
        assertThat(Otlp.events(batch, RequestReceived.class)).isEmpty();
        assertThat(Otlp.events(batch, RequestCompleted.class)).isEmpty();
        assertThat(Otlp.events(batch, SpanRecorded.class).get(0).attributes())
                .contains("Math Tutor", "Flights", operation);
    }

    private static Stream<Arguments> namesOfContent() {
        return Stream.of(
                        "gen_ai.input.messages",
                        "gen_ai.output.messages",
                        "gen_ai.system_instructions",
                        "gen_ai.system_prompt",
                        "gen_ai.system.message",
                        "gen_ai.tool.definitions",
                        "gen_ai.tool.description",
                        "gen_ai.tool.call.arguments",
                        "gen_ai.tool.call.result",
                        "gen_ai.evaluation.explanation",
                        "gen_ai.agent.description",
                        "gen_ai.prompt",
                        "gen_ai.prompt.0.content",
                        "gen_ai.completion",
                        "gen_ai.completion.0.content",
                        "gen_ai.request.stop_sequences",
                        "gen_ai.request.messages",
                        "gen_ai.request.a_name_of_next_year",
                        "gen_ai.response.reasoning",
                        "gen_ai.response.a_name_of_next_year",
                        "gen_ai.response.candidate.decoded_tokens",
                        "llm.prompts",
                        "llm.completions",
                        "llm.input_messages.0.message.content",
                        "llm.output_messages.0.message.content",
                        "llm.prompt_template.template",
                        "llm.invocation_parameters",
                        "llm.tools.0.tool.json_schema",
                        "llm.system_prompt",
                        "llm.request.functions.0.description",
                        "llm.response.choices",
                        "traceloop.entity.input",
                        "traceloop.entity.output",
                        "input.value",
                        "output.value",
                        "exception.message",
                        "exception.stacktrace",
                        "vllm.prompt",
                        "sglang.input_text",
                        "triton.request.inputs",
                        "dynamo.request_body",
                        "http.request.header.x-api-key",
                        "http.request.header.authorization",
                        "message")
                .map(Arguments::of);
    }

    /** As a string, an array of strings and a structure; in a span, in an event of a span, and in a log record. */
    @ParameterizedTest
    @MethodSource("namesOfContent")
    void whatWasAskedOrAnsweredIsNeverKept(String name) throws Exception {
        List<KeyValue> forms = List.of(Otlp.text(name, SECRET), texts(name, SECRET, SECRET), structure(name));
        for (KeyValue form : forms) {
            OtlpBatch spans = read(Otlp.traces(
                    "vllm",
                    "scope",
                    Otlp.vllm("cmpl-a-0", SPAN)
                            .addAttributes(form)
                            .addEvents(Span.Event.newBuilder()
                                    .setName("gen_ai.content.prompt")
                                    .addAttributes(form))));
            OtlpBatch logs = read(Otlp.logs("vllm", event("gen_ai.choice").addAttributes(form)));
            assertThat(Otlp.events(spans, SpanRecorded.class)).hasSize(1);
            assertThat(Otlp.events(logs, SpanRecorded.class)).hasSize(1);
            assertThat(spans.events().toString() + logs.events()).doesNotContain(SECRET);
        }
    }

    private static LogRecord.Builder event(String name) {
        return LogRecord.newBuilder()
                .setEventName(name)
                .setTraceId(Otlp.id(Otlp.TRACE))
                .setSpanId(Otlp.id(SPAN))
                .setTimeUnixNano(Otlp.START)
                .setBody(AnyValue.newBuilder()
                        .setKvlistValue(KeyValueList.newBuilder().addValues(Otlp.text("content", SECRET))));
    }

    private static Stream<Arguments> events() {
        return Stream.of(
                Arguments.of(
                        event("gen_ai.client.inference.operation.details")
                                .addAttributes(Otlp.text("gen_ai.operation.name", "chat"))
                                .addAttributes(Otlp.text("gen_ai.response.id", "chatcmpl-shop-7"))
                                .addAttributes(Otlp.whole("gen_ai.usage.input_tokens", 9))
                                .addAttributes(texts("gen_ai.response.finish_reasons", "stop"))
                                .addAttributes(structure("gen_ai.input.messages"))
                                .addAttributes(structure("gen_ai.output.messages")),
                        List.of("chat", "chatcmpl-shop-7", "9", "stop")),
                Arguments.of(
                        event("gen_ai.evaluation.result")
                                .addAttributes(Otlp.text("gen_ai.evaluation.name", "Relevance"))
                                .addAttributes(Otlp.number("gen_ai.evaluation.score.value", 4.0))
                                .addAttributes(Otlp.text("gen_ai.evaluation.score.label", "relevant"))
                                .addAttributes(Otlp.text("gen_ai.evaluation.explanation", SECRET)),
                        List.of("Relevance", "4.0", "relevant")),
                Arguments.of(
                        event("gen_ai.client.operation.exception")
                                .addAttributes(Otlp.text("exception.type", "java.net.SocketTimeoutException"))
                                .addAttributes(Otlp.text("exception.message", SECRET))
                                .addAttributes(Otlp.text("exception.stacktrace", SECRET)),
                        List.of("java.net.SocketTimeoutException")),
                Arguments.of(
                        event("gen_ai.choice")
                                .addAttributes(Otlp.text("gen_ai.system", "vllm"))
                                .addAttributes(Otlp.text("finish_reason", "length"))
                                .addAttributes(Otlp.text("message", SECRET)),
                        List.of("vllm", "length")),
                Arguments.of(
                        LogRecord.newBuilder(event("").build())
                                .addAttributes(Otlp.text("event.name", "gen_ai.user.message"))
                                .addAttributes(Otlp.text("gen_ai.system", "openai")),
                        List.of("openai")));
    }

    @ParameterizedTest
    @MethodSource("events")
    void anEventIsASpanOfNoLengthWithoutItsBody(LogRecord.Builder log, List<String> kept) throws Exception {
        OtlpBatch batch = read(Otlp.logs("app", log));
        SpanRecorded event = Otlp.events(batch, SpanRecorded.class).get(0);
        assertThat(event.spanKind()).isEqualTo(LogReader.KIND);
        assertThat(event.attributes()).containsAll(kept);
        assertThat(batch.events().toString()).doesNotContain(SECRET);
        // It tells of the call that the span tells of, and must not make a second request of it.
        assertThat(Otlp.events(batch, RequestReceived.class)).isEmpty();
    }

    private static Stream<Arguments> metrics() {
        return Stream.of(
                        "gen_ai.client.inference.duration",
                        "gen_ai.client.inference.time_to_first_chunk",
                        "gen_ai.client.inference.time_per_output_chunk",
                        "gen_ai.client.operation.duration",
                        "gen_ai.client.operation.time_to_first_chunk",
                        "gen_ai.client.operation.time_per_output_chunk",
                        "gen_ai.client.token.usage",
                        "gen_ai.server.request.duration",
                        "gen_ai.server.time_per_output_token",
                        "gen_ai.server.time_to_first_token",
                        "gen_ai.client.inference.usage.input_tokens",
                        "gen_ai.client.inference.usage.cache_write.input_tokens")
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("metrics")
    void aMetricIsItsSamplesUnderItsName(String name) throws Exception {
        List<KeyValue> labels = List.of(
                Otlp.text("gen_ai.provider.name", "openai"),
                Otlp.text("gen_ai.token.modality", "text"),
                Otlp.text("gen_ai.tool.name", "Flights"),
                Otlp.text("gen_ai.tool.description", SECRET),
                structure("gen_ai.input.messages"));
        Metric.Builder metric = Metric.newBuilder().setName(name);
        if (name.contains(".usage.")) {
            metric.setSum(Sum.newBuilder()
                    .setAggregationTemporalityValue(2)
                    .setIsMonotonic(true)
                    .addDataPoints(NumberDataPoint.newBuilder()
                            .setTimeUnixNano(Otlp.START)
                            .setAsInt(5)
                            .addAllAttributes(labels)));
        } else {
            metric.setHistogram(Histogram.newBuilder()
                    .setAggregationTemporalityValue(2)
                    .addDataPoints(HistogramDataPoint.newBuilder()
                            .setTimeUnixNano(Otlp.START)
                            .addExplicitBounds(0.5)
                            .addBucketCounts(1)
                            .addBucketCounts(2)
                            .setCount(3)
                            .setSum(4)
                            .addAllAttributes(labels)));
        }
        List<String> told = new ArrayList<>();
        for (MetricSampled sample : Otlp.events(read(Otlp.metrics("app", metric)), MetricSampled.class)) {
            told.add(sample.name());
            assertThat(sample.labels())
                    .contains("gen_ai.provider.name=\"openai\"", "gen_ai.tool.name=\"Flights\"")
                    .doesNotContain(SECRET, "messages", "description");
        }
        assertThat(told)
                .isEqualTo(
                        metric.hasSum()
                                ? List.of(name)
                                : List.of(name + "_bucket", name + "_bucket", name + "_sum", name + "_count"));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void theSpanOfAServerOrOfAFrameworkIsNoRequestOfAClient(Call call) throws Exception {
        for (Span.SpanKind kind : List.of(Span.SpanKind.SPAN_KIND_SERVER, Span.SpanKind.SPAN_KIND_INTERNAL)) {
            List<Event> events = new ArrayList<>();
            read(Otlp.traces(
                            "app",
                            "scope",
                            Otlp.span("call", SPAN)
                                    .setKind(kind)
                                    .addAttributes(Otlp.text("gen_ai.response.id", "chatcmpl-shop-7"))
                                    .addAllAttributes(call.attributes())))
                    .events()
                    .forEach(timed -> events.add(timed.event()));
            assertThat(events).noneMatch(event -> event instanceof RequestReceived);
        }
    }
}
