package io.tokenstair.collector.reach;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Servers that are known by what they answer and by the names of their metrics. */
public enum Engine {
    /** vLLM, and what behaves like it. */
    VLLM(
            "vLLM",
            "vllm:",
            List.of(
                    "vllm:num_requests_running",
                    "vllm:num_requests_waiting",
                    "vllm:kv_cache_usage_perc|vllm:gpu_cache_usage_perc",
                    "vllm:num_preemptions_total",
                    "vllm:time_to_first_token_seconds_bucket",
                    "vllm:inter_token_latency_seconds_bucket|vllm:time_per_output_token_seconds_bucket",
                    "vllm:request_queue_time_seconds_bucket",
                    "vllm:prefix_cache_queries_total|vllm:gpu_prefix_cache_queries_total")),
    /** SGLang. */
    SGLANG(
            "SGLang",
            "sglang:",
            List.of(
                    "sglang:num_running_reqs",
                    "sglang:num_queue_reqs",
                    "sglang:token_usage",
                    "sglang:num_retracted_reqs|sglang:num_retracted_requests_total",
                    "sglang:time_to_first_token_seconds_bucket",
                    "sglang:inter_token_latency_seconds_bucket|sglang:time_per_output_token_seconds_bucket",
                    "sglang:queue_time_seconds_bucket")),
    /** llama.cpp's server. */
    LLAMA_CPP(
            "llama.cpp",
            "llamacpp:",
            List.of(
                    "llamacpp:requests_processing",
                    "llamacpp:requests_deferred",
                    "llamacpp:prompt_tokens_total",
                    "llamacpp:tokens_predicted_total",
                    "llamacpp:n_decode_total")),
    /** Triton Inference Server. */
    TRITON(
            "Triton",
            "nv_",
            List.of(
                    "nv_inference_request_success",
                    "nv_inference_queue_duration_us|nv_inference_queue_summary_us_count",
                    "nv_trt_llm_request_metrics",
                    "nv_trt_llm_kv_cache_block_metrics")),
    /** TensorRT-LLM's own server. */
    TRTLLM(
            "TensorRT-LLM",
            "trtllm_",
            List.of(
                    "trtllm_time_to_first_token_seconds_bucket",
                    "trtllm_time_per_output_token_seconds_bucket",
                    "trtllm_request_queue_time_seconds_bucket")),
    /** Dynamo's frontend or one of its workers. */
    DYNAMO(
            "Dynamo",
            "dynamo_",
            List.of(
                    "dynamo_frontend_inflight_requests|dynamo_component_inflight_requests",
                    "dynamo_frontend_queued_requests|dynamo_request_queue",
                    "dynamo_frontend_time_to_first_token_seconds_bucket|dynamo_component_request_duration_seconds_bucket",
                    "dynamo_frontend_inter_token_latency_seconds_bucket|dynamo_component_requests_total")),
    /** Text Generation Inference. */
    TGI("TGI", "tgi_", List.of("tgi_queue_size", "tgi_batch_current_size")),
    /** Ollama. */
    OLLAMA("Ollama", "ollama_", List.of()),
    /** A broker of Kafka. */
    KAFKA("a broker of Kafka", "kafka_", List.of()),
    /** A collector of Tokenstair. */
    TOKENSTAIR("a Tokenstair collector", "tokenstair_", List.of()),
    /** One that says it is of none of these. */
    OTHER("a server that is not known", "", List.of());

    private final String title;
    private final String metricsPrefix;
    private final List<String> wantedMetrics;

    Engine(String title, String metricsPrefix, List<String> wantedMetrics) {
        this.title = title;
        this.metricsPrefix = metricsPrefix;
        this.wantedMetrics = wantedMetrics;
    }

    /** How it is called in sentences. */
    public String title() {
        return title;
    }

    /** What the names of its metrics begin with; empty where that is not known. */
    String metricsPrefix() {
        return metricsPrefix;
    }

    /** Names that tell of waiting, of load and of tokens; of names with a bar between them one is enough. */
    List<String> wantedMetrics() {
        return wantedMetrics;
    }

    /** The engine that the owner of a model in {@code /v1/models} stands for; null where it stands for none. */
    static @Nullable Engine ofModelOwner(String owner) {
        return switch (owner) {
            case "vllm" -> VLLM;
            case "sglang" -> SGLANG;
            case "llamacpp" -> LLAMA_CPP;
            case "tensorrt_llm" -> TRTLLM;
            case "nvidia" -> DYNAMO;
            case "library" -> OLLAMA;
            default -> null;
        };
    }
}
