package io.tokenstair.collect.engine.trtllm;

import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What Triton stamped of a request, or of one model that it went through, and what that says: the same in its trace files and in its spans. A
 * wait is from {@code QUEUE_START} to {@code COMPUTE_START}; that of a request is the time in which any of its models' waits ran. A time is known where
 * both its stamps are there, the later one after the earlier. Of stamps with the same name the first begins a time and the last ends one.
 */
public final class TritonStamps {
    private static final String QUEUE_START = "QUEUE_START";
    private static final String REQUEST_START = "REQUEST_START";
    private static final String REQUEST_END = "REQUEST_END";
    private static final String COMPUTE_START = "COMPUTE_START";
    private static final String COMPUTE_INPUT_END = "COMPUTE_INPUT_END";
    private static final String COMPUTE_OUTPUT_START = "COMPUTE_OUTPUT_START";
    private static final String COMPUTE_END = "COMPUTE_END";
    private static final String RESPONSE = "INFER_RESPONSE_COMPLETE";
    private static final String HTTP_RECV_START = "HTTP_RECV_START";
    private static final String HTTP_RECV_END = "HTTP_RECV_END";
    private static final String HTTP_SEND_START = "HTTP_SEND_START";
    private static final String HTTP_SEND_END = "HTTP_SEND_END";
    private static final String GRPC_SEND_START = "GRPC_SEND_START";
    private static final String GRPC_SEND_END = "GRPC_SEND_END";

    /** Of a model, in the order in which they must come. */
    private static final List<String> OF_A_MODEL = List.of(
            REQUEST_START,
            QUEUE_START,
            COMPUTE_START,
            COMPUTE_INPUT_END,
            COMPUTE_OUTPUT_START,
            COMPUTE_END,
            REQUEST_END);

    private static final Set<String> OF_THE_SERVER = Set.of(
            HTTP_RECV_START,
            HTTP_RECV_END,
            "GRPC_WAITREAD_END",
            RESPONSE,
            HTTP_SEND_START,
            HTTP_SEND_END,
            GRPC_SEND_START,
            GRPC_SEND_END);

    private final Map<String, Long> first = new HashMap<>();
    private final Map<String, Long> last = new HashMap<>();
    private int answers;

    /** Whether a stamp of this name says anything here. */
    public static boolean isUsed(String name) {
        return OF_A_MODEL.contains(name) || OF_THE_SERVER.contains(name);
    }

    /** Takes a stamp, ns; one whose name is not used changes nothing. */
    public void add(String name, long nanos) {
        if (isUsed(name)) {
            first.merge(name, nanos, Math::min);
            last.merge(name, nanos, Math::max);
            answers += name.equals(RESPONSE) ? 1 : 0;
        }
    }

    /** Takes the stamps of another part of the same model. */
    public void addAll(TritonStamps part) {
        part.first.forEach((name, nanos) -> first.merge(name, nanos, Math::min));
        part.last.forEach((name, nanos) -> last.merge(name, nanos, Math::max));
        answers += part.answers;
    }

    /** When the model was asked, ns: when it was queued, else when its request began; null where neither is known. */
    public @Nullable Long askedNanos() {
        Long queued = first.get(QUEUE_START);
        return queued == null ? first.get(REQUEST_START) : queued;
    }

    /** When the model was done with the request, ns; null where that is not known. */
    public @Nullable Long endNanos() {
        return last.get(REQUEST_END);
    }

    /** The latest stamp, ns; null where there is none. */
    public @Nullable Long latestNanos() {
        return last.values().stream().max(Comparator.naturalOrder()).orElse(null);
    }

    /** Whether the stamps of a model come in another order than they can. */
    public boolean isContradictory() {
        long before = Long.MIN_VALUE;
        for (String name : OF_A_MODEL) {
            Long nanos = first.get(name);
            if (nanos != null && nanos < before) {
                return true;
            }
            before = nanos == null ? before : nanos;
        }
        return false;
    }

    /** What the stamps of a model say, by the names of samples, in s; nothing where they contradict each other. */
    public Map<String, Double> ofModel() {
        Map<String, Double> samples = new LinkedHashMap<>();
        if (!isContradictory()) {
            long @Nullable [] wait = waited();
            put(samples, "model_queue_seconds", wait == null ? null : Long.valueOf(wait[1] - wait[0]));
            put(samples, "model_input_seconds", between(COMPUTE_START, COMPUTE_INPUT_END));
            put(samples, "model_infer_seconds", between(COMPUTE_INPUT_END, COMPUTE_OUTPUT_START));
            put(samples, "model_output_seconds", between(COMPUTE_OUTPUT_START, COMPUTE_END));
            put(samples, "model_seconds", between(REQUEST_START, REQUEST_END));
        }
        return samples;
    }

    /**
     * What the server's stamps and those of the models say of a request, by the names of samples, in s, and how often it was answered.
     *
     * @param outer the model that was asked for; null where it is not known
     * @param models all that the request went through
     * @param isWhole false where stamps of the server were left out: how long and how often it answered is not known then
     */
    public Map<String, Double> ofRequest(
            @Nullable TritonStamps outer, Collection<TritonStamps> models, boolean isWhole) {
        Map<String, Double> samples = new LinkedHashMap<>();
        put(samples, "request_queue_seconds", waits(models));
        put(samples, "request_receive_seconds", between(HTTP_RECV_START, HTTP_RECV_END));
        put(samples, "request_seconds", outer == null ? null : outer.between(REQUEST_START, REQUEST_END));
        if (isWhole) {
            Long http = between(HTTP_SEND_START, HTTP_SEND_END);
            put(samples, "request_send_seconds", http == null ? between(GRPC_SEND_START, GRPC_SEND_END) : http);
            if (answers > 0) {
                samples.put("request_responses", (double) answers);
            }
        }
        return samples;
    }

    /**
     * One of those as a sample.
     *
     * @param source what it is a sample of
     * @param model null where it is of the whole request
     * @param version of the model; null where it is not known
     */
    public static MetricSampled sample(
            String source,
            String engine,
            String requestId,
            @Nullable String model,
            @Nullable String version,
            String name,
            double value) {
        Map<String, @Nullable String> labels = new HashMap<>();
        labels.put("engine", engine);
        labels.put("model", model);
        labels.put("request_id", requestId);
        labels.put("version", version);
        return new MetricSampled(source, "triton:" + name, LabelText.of(labels), value);
    }

    private static void put(Map<String, Double> samples, String name, @Nullable Long nanos) {
        if (nanos != null) {
            samples.put(name, nanos / 1e9);
        }
    }

    private @Nullable Long between(String from, String to) {
        Long begin = first.get(from);
        Long end = last.get(to);
        return begin == null || end == null || end < begin ? null : Long.valueOf(end - begin);
    }

    private long @Nullable [] waited() {
        Long from = first.get(QUEUE_START);
        Long to = first.get(COMPUTE_START);
        return from == null || to == null || to < from ? null : new long[] {from, to};
    }

    /** Time in which any of the models' waits ran, ns; null where none is known. */
    private static @Nullable Long waits(Collection<TritonStamps> models) {
        List<long[]> waits = new ArrayList<>();
        for (TritonStamps model : models) {
            long @Nullable [] wait = model.isContradictory() ? null : model.waited();
            if (wait != null) {
                waits.add(wait);
            }
        }
        if (waits.isEmpty()) {
            return null;
        }
        waits.sort(Comparator.comparingLong(wait -> wait[0]));
        long sum = 0;
        long until = Long.MIN_VALUE;
        for (long[] wait : waits) {
            sum += Math.max(0, wait[1] - Math.max(until, wait[0]));
            until = Math.max(until, wait[1]);
        }
        return sum;
    }
}
