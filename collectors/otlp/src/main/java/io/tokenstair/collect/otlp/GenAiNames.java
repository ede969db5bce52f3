package io.tokenstair.collect.otlp;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Attribute names of the GenAI conventions, the current one first and earlier ones behind it, and those of engines that have names of
 * their own: OpenTelemetry semantic conventions 1.28 to 1.41, the GenAI conventions that left them at 1.42 (main of 2026-08), vLLM, SGLang,
 * TensorRT-LLM, Dynamo, Triton, OpenLLMetry and OpenInference. docs/engines/otlp.md says which pages were read.
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
            "llm.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
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

    /** Begins of names whose text may be kept: facts about engines, hosts and programs, never what was asked or answered. */
    private static final List<String> TEXT_KEPT = List.of(
            "gen_ai.usage.",
            "gen_ai.latency.",
            "gen_ai.server.",
            "gen_ai.token.",
            "gen_ai.iteration.",
            "tokenstair.",
            "vllm.",
            "sglang.",
            "triton.",
            "dynamo.",
            "llm.usage.",
            "llm.token_count.",
            "http.response.status_code",
            "url.scheme",
            "server.",
            "net.",
            "network.",
            "rpc.system",
            "rpc.service",
            "service.",
            "host.",
            "k8s.",
            "thread.",
            "otel.");

    private static final Pattern BETWEEN_PARTS = Pattern.compile("[._]");

    /** Parts of names, between dots and underscores, that say that text under such a begin is content after all. */
    private static final Set<String> CONTENT_PARTS = Set.of(
            "prompt",
            "prompts",
            "completion",
            "completions",
            "message",
            "messages",
            "content",
            "contents",
            "text",
            "input",
            "inputs",
            "output",
            "outputs",
            "instructions",
            "arguments",
            "query",
            "body");

    /** Names whose text is kept. Under {@code gen_ai.request} and {@code .response} only these: others there hold what was asked and answered. */
    private static final Set<String> KEPT = Set.of(
            "gen_ai.request.id",
            "gen_ai.request.model",
            "gen_ai.request.encoding_formats",
            "gen_ai.request.previous_response.id",
            "gen_ai.request.reasoning.level",
            "gen_ai.response.id",
            "gen_ai.response.model",
            "gen_ai.response.finish_reason",
            "gen_ai.response.finish_reasons",
            TokenTimes.GENERATED,
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.system",
            "gen_ai.output.type",
            "gen_ai.conversation.id",
            "gen_ai.realtime_session.id",
            "gen_ai.agent.id",
            "gen_ai.agent.name",
            "gen_ai.agent.version",
            "gen_ai.workflow.name",
            "gen_ai.tool.name",
            "gen_ai.tool.type",
            "gen_ai.tool.call.id",
            "gen_ai.evaluation.name",
            "gen_ai.evaluation.score.label",
            "gen_ai.openai.request.service_tier",
            "gen_ai.openai.response.service_tier",
            "gen_ai.openai.response.system_fingerprint",
            "openai.api.type",
            "openai.request.service_tier",
            "openai.response.service_tier",
            "openai.response.system_fingerprint",
            "aws.bedrock.guardrail.id",
            "aws.bedrock.knowledge_base.id",
            "azure.resource_provider.namespace",
            "az.namespace",
            "llm.request.model",
            "llm.request.type",
            "llm.response.model",
            "llm.response.finish_reason",
            "llm.model_name",
            "llm.vendor",
            "llm.system",
            "llm.provider",
            "openinference.span.kind",
            "traceloop.span.kind",
            "http.request.method",
            "http.method",
            "http.route",
            "http.status_code",
            "url.path",
            "client.address",
            "rpc.method",
            "rpc.grpc.status_code",
            "rpc.response.status_code",
            "http.request.header.x-request-id",
            "http.request.header.x_request_id",
            "rpc.grpc.request.metadata.x-request-id",
            "rpc.request.metadata.x-request-id",
            "guid:x-request-id",
            "error.type",
            "exception.type",
            "process.pid",
            "process.executable.name",
            "container.id",
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
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result",
            "gen_ai.tool.definitions",
            "gen_ai.tool.description",
            "gen_ai.tool.message",
            "gen_ai.agent.description",
            "gen_ai.retrieval.documents",
            "gen_ai.retrieval.query",
            "gen_ai.memory.query",
            "gen_ai.memory.records",
            "gen_ai.evaluation.explanation",
            "gen_ai.request.prompt",
            "gen_ai.request.messages",
            "gen_ai.request.stop_sequences",
            "gen_ai.response.text",
            "gen_ai.response.candidate",
            "gen_ai.response.content",
            "llm.prompts",
            "llm.completions",
            "llm.input_messages",
            "llm.output_messages",
            "llm.prompt_template",
            "llm.invocation_parameters",
            "llm.tools",
            "llm.headers",
            "llm.chat.stop_sequences",
            "llm.request.functions",
            "llm.request.prompt",
            "llm.response.text",
            "traceloop.entity.input",
            "traceloop.entity.output",
            "embedding.text",
            "embedding.embeddings",
            "retrieval.documents",
            "tool.parameters",
            "input.value",
            "output.value",
            "exception.message",
            "exception.stacktrace",
            "http.request.body",
            "http.response.body");

    private GenAiNames() {}

    /** Whether the value of a name is known not to hold what was asked or answered, even where it is text. */
    static boolean textIsKept(String key) {
        String name = key.toLowerCase(Locale.ROOT);
        return KEPT.contains(name)
                || (TEXT_KEPT.stream().anyMatch(name::startsWith)
                        && BETWEEN_PARTS.splitAsStream(name).noneMatch(CONTENT_PARTS::contains));
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
