package io.tokenstair.collect.otlp;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Attribute names of the GenAI conventions, the current one first and earlier ones behind it, and those of engines that have names of
 * their own: OpenTelemetry semantic conventions 1.28 to 1.44, vLLM, SGLang, TensorRT-LLM, Dynamo, Triton, OpenLLMetry and OpenInference.
 */
final class GenAiNames {
    /** The engine's id of a request. */
    static final List<String> REQUEST_ID = List.of("gen_ai.request.id", "triton.request_id", "rid", "request_id");
    /** The id in the answer's stream, which holds the engine's. */
    static final List<String> RESPONSE_ID = List.of("gen_ai.response.id");
    /** The id that a client or a gateway gave. */
    static final List<String> CLIENT_REQUEST_ID = List.of(
            "x_request_id",
            "http.request.header.x-request-id",
            "http.request.header.x_request_id",
            "rpc.grpc.request.metadata.x-request-id",
            "rpc.request.metadata.x-request-id",
            "guid:x-request-id");

    static final List<String> MODEL = List.of(
            "gen_ai.response.model",
            "gen_ai.request.model",
            "llm.response.model",
            "llm.request.model",
            "llm.model_name",
            "triton.model_name",
            "model");
    static final List<String> PROMPT_TOKENS = List.of(
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.usage.prompt_tokens",
            "llm.token_count.prompt",
            "input_tokens");
    static final List<String> OUTPUT_TOKENS = List.of(
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.usage.completion_tokens",
            "llm.token_count.completion",
            "output_tokens");
    static final List<String> CACHED_TOKENS = List.of(
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.cached_tokens",
            "cached_tokens");
    static final List<String> MAX_TOKENS = List.of("gen_ai.request.max_tokens", "llm.request.max_tokens");
    static final List<String> CHOICES = List.of("gen_ai.request.choice.count", "gen_ai.request.n", "llm.request.n");
    static final List<String> FINISH_REASONS =
            List.of("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason", "llm.response.finish_reason");
    static final List<String> OPERATION =
            List.of("gen_ai.operation.name", "llm.request.type", "traceloop.span.kind", "openinference.span.kind");
    static final List<String> HTTP_STATUS = List.of("http.response.status_code", "http.status_code");
    static final List<String> ERROR_TYPE = List.of("error.type", "exception.type");
    static final List<String> ROUTE = List.of("http.route", "url.path", "http.target", "rpc.method");

    /** Seconds from the request to its first token, as the server states them. */
    static final List<String> FIRST_TOKEN_SECONDS = List.of(
            "gen_ai.latency.time_to_first_token",
            "gen_ai.server.time_to_first_token",
            "gen_ai.response.time_to_first_chunk",
            "gen_ai.response.time_to_first_token");

    static final List<String> QUEUE_SECONDS = List.of("gen_ai.latency.time_in_queue");
    static final List<String> PREFILL_SECONDS = List.of("gen_ai.latency.time_in_model_prefill");
    static final List<String> DECODE_SECONDS = List.of("gen_ai.latency.time_in_model_decode");

    /** Begins of names whose text may be kept: facts about requests, hosts and programs, never what was asked or answered. */
    private static final List<String> TEXT_KEPT = List.of(
            "gen_ai.request.",
            "gen_ai.response.",
            "gen_ai.usage.",
            "gen_ai.latency.",
            "gen_ai.server.",
            "gen_ai.operation.",
            "gen_ai.provider.",
            "gen_ai.system",
            "gen_ai.token.type",
            "gen_ai.iteration.",
            "gen_ai.output.type",
            "tokenstair.",
            "vllm.",
            "sglang.",
            "triton.",
            "dynamo.",
            "llm.request.",
            "llm.response.",
            "llm.usage.",
            "llm.token_count.",
            "llm.model_name",
            "llm.vendor",
            "llm.system",
            "openinference.span.kind",
            "traceloop.span.kind",
            "http.request.method",
            "http.method",
            "http.route",
            "http.request.header.x",
            "http.response.status_code",
            "http.status_code",
            "url.path",
            "url.scheme",
            "server.",
            "client.address",
            "net.",
            "network.",
            "rpc.system",
            "rpc.service",
            "rpc.method",
            "rpc.grpc.status_code",
            "rpc.grpc.request.metadata.x-request-id",
            "rpc.request.metadata.x-request-id",
            "rpc.response.status_code",
            "guid:x-request-id",
            "error.type",
            "exception.type",
            "service.",
            "host.",
            "process.pid",
            "process.executable.name",
            "k8s.",
            "container.id",
            "thread.",
            "otel.");

    /** Names that are kept as they are. */
    private static final Set<String> KEPT = Set.of(
            "rid",
            "module",
            "bootstrap_room",
            "bid",
            "forward_mode",
            "host_id",
            "thread_label",
            "request_id",
            "x_request_id",
            "model",
            "worker_id",
            "component",
            "endpoint",
            "namespace",
            "finish_reason");

    /** Begins of the names under which instrumentations record content, whatever its type. */
    private static final List<String> CONTENT = List.of(
            "gen_ai.prompt",
            "gen_ai.completion",
            "gen_ai.input.messages",
            "gen_ai.output.messages",
            "gen_ai.system_instructions",
            "gen_ai.content",
            "gen_ai.event.content",
            "gen_ai.tool",
            "gen_ai.request.prompt",
            "gen_ai.request.stop_sequences",
            "gen_ai.response.text",
            "gen_ai.response.candidate",
            "gen_ai.response.content",
            "llm.prompts",
            "llm.completions",
            "llm.input_messages",
            "llm.output_messages",
            "llm.request.prompt",
            "llm.response.text",
            "input.value",
            "output.value",
            "http.request.body",
            "http.response.body");

    private GenAiNames() {}

    /** Whether the value of a name is known not to hold what was asked or answered, even where it is text. */
    static boolean textIsKept(String key) {
        String name = key.toLowerCase(Locale.ROOT);
        return KEPT.contains(name) || TEXT_KEPT.stream().anyMatch(name::startsWith);
    }

    /** Whether a name is one under which content is recorded. */
    static boolean isContent(String key) {
        String name = key.toLowerCase(Locale.ROOT);
        return CONTENT.stream().anyMatch(begin -> name.equals(begin) || name.startsWith(begin + "."));
    }

    /** Whether a name says that its span is about a request to a model. */
    static boolean tellsOfRequests(String key) {
        return key.startsWith("gen_ai.")
                || key.startsWith("llm.")
                || key.startsWith("vllm.")
                || key.startsWith("sglang.")
                || key.startsWith("triton.")
                || key.startsWith("tokenstair.")
                || CLIENT_REQUEST_ID.contains(key);
    }
}
