package io.tokenstair.job.engine;

import io.tokenstair.event.MetricSampled;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a scraped metric says of an engine, and of which one. Engines name the same thing differently: vLLM, SGLang, TensorRT-LLM, TGI and
 * llama.cpp are known. Anything else says nothing here.
 */
public enum EngineMetric {
    /** Sequences that run. */
    RUNNING,
    /** Requests that wait. */
    WAITING,
    /** Share of the KV pool in use, 0 to 1. */
    KV_USAGE,
    /** Requests that were paused. */
    PAUSED,
    /** Running total of preemptions. */
    PREEMPTIONS,
    /** Most sequences that may run. */
    SEATS,
    /** Prompt tokens a second. */
    PROMPT_RATE,
    /** Generated tokens a second. */
    GENERATION_RATE;

    private static final int LONGEST_NAME = 128;

    private static final Map<String, EngineMetric> BY_NAME = Map.ofEntries(
            Map.entry("numrequestsrunning", RUNNING),
            Map.entry("numrunningreqs", RUNNING),
            Map.entry("numactiverequests", RUNNING),
            Map.entry("batchcurrentsize", RUNNING),
            Map.entry("requestsprocessing", RUNNING),
            Map.entry("requestsrunning", RUNNING),
            Map.entry("running", RUNNING),
            Map.entry("numrequestswaiting", WAITING),
            Map.entry("numqueuereqs", WAITING),
            Map.entry("numqueuedrequests", WAITING),
            Map.entry("queuesize", WAITING),
            Map.entry("requestsdeferred", WAITING),
            Map.entry("requestswaiting", WAITING),
            Map.entry("waiting", WAITING),
            Map.entry("kvcacheusageperc", KV_USAGE),
            Map.entry("gpucacheusageperc", KV_USAGE),
            Map.entry("kvcacheutilization", KV_USAGE),
            Map.entry("kvcacheusageratio", KV_USAGE),
            Map.entry("kvcacheusedratio", KV_USAGE),
            Map.entry("kvcachepct", KV_USAGE),
            Map.entry("tokenusage", KV_USAGE),
            Map.entry("requestspaused", PAUSED),
            Map.entry("numpausedrequests", PAUSED),
            Map.entry("numpausedreqs", PAUSED),
            Map.entry("numretractedreqs", PAUSED),
            Map.entry("preemptions", PREEMPTIONS),
            Map.entry("numpreemptions", PREEMPTIONS),
            Map.entry("maxnumactiverequests", SEATS),
            Map.entry("maxrunningrequests", SEATS),
            Map.entry("maxnumseqs", SEATS),
            Map.entry("prompttokenspersecond", PROMPT_RATE),
            Map.entry("avgpromptthroughputtokspers", PROMPT_RATE),
            Map.entry("generationtokenspersecond", GENERATION_RATE),
            Map.entry("avggenerationthroughputtokspers", GENERATION_RATE),
            Map.entry("genthroughput", GENERATION_RATE));

    /** What a metric says; null for one that says nothing of an engine's load. */
    public static @Nullable EngineMetric of(String name) {
        if (name.length() > LONGEST_NAME) {
            return null;
        }
        String plain = name.substring(name.indexOf(':') + 1).toLowerCase(Locale.ROOT);
        for (String prefix : new String[] {"trtllm_", "tensorrt_llm_", "nv_trt_llm_", "tgi_"}) {
            if (plain.startsWith(prefix)) {
                plain = plain.substring(prefix.length());
            }
        }
        if (plain.endsWith("_total")) {
            plain = plain.substring(0, plain.length() - "_total".length());
        }
        return BY_NAME.get(plain.replace("_", ""));
    }

    /**
     * The engine that a sample speaks of: its label {@code engine} where that is a name; where it is a number, or there is none, the
     * number and the model behind the source of the sample. For samples of benchmark runs and workloads what they belong to. Null for
     * a sample that says nothing of any.
     */
    public static @Nullable String engineOf(MetricSampled sample) {
        String subject = SampleWatch.subjectOf(sample);
        if (subject != null) {
            return subject;
        }
        if (of(sample.name()) == null) {
            return null;
        }
        String engine = label(sample.labels(), "engine");
        if (!engine.isEmpty() && !engine.chars().allMatch(Character::isDigit)) {
            return engine;
        }
        String model = label(sample.labels(), "model_name");
        return sample.source() + (model.isEmpty() ? "" : '#' + model) + (engine.isEmpty() ? "" : '#' + engine);
    }

    /** The value of a label, unescaped; empty without it. */
    static String label(String labels, String name) {
        int at = labels.startsWith(name + "=\"") ? 0 : labels.indexOf("," + name + "=\"");
        if (at < 0) {
            return "";
        }
        StringBuilder value = new StringBuilder();
        for (int i = labels.indexOf('"', at) + 1; i < labels.length() && labels.charAt(i) != '"'; i++) {
            boolean escape = labels.charAt(i) == '\\' && i + 1 < labels.length();
            value.append(escape ? labels.charAt(++i) : labels.charAt(i));
        }
        return value.toString();
    }
}
