package io.tokenstair.job.cases;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes what a report says happened as the JSON lines that people write by hand (docs/import-events.md), with no more fields than a case
 * needs. Ids carry the name of the case, so that all cases can share one file.
 */
final class EventText {
    static final long MS = 1_000_000L;
    static final long SECOND = 1_000 * MS;

    final String name;
    final StringBuilder lines;
    final List<Consumer<CaseResults>> answers = new ArrayList<>();
    String engineId;
    int dpRank;
    String clockId;
    String collectorId;
    long nowNanos = 1_000 * SECOND;
    /** Wall time at which the clock is zero; null for events that are not dated. */
    @Nullable
    Long epochMillisAtZero = 1_785_000_000_000L;

    /** Fields that every step carries from now on. */
    final Map<String, Object> ofSteps = new HashMap<>();
    /** True: steps say where they begin. */
    boolean starts = true;

    /** The start of the engine's collector; null leaves it to the import. */
    @Nullable
    Integer collectorEpoch;

    long stepId;
    private final Map<String, int[]> context = new HashMap<>();
    private final Map<String, Integer> chunks = new HashMap<>();

    EventText(String name) {
        this(name, new StringBuilder());
    }

    private EventText(String name, StringBuilder lines) {
        this.name = name;
        this.lines = lines;
        this.engineId = name;
        this.clockId = name + "/mono";
        this.collectorId = name + "/engine";
    }

    /** Another engine, or another rank, of the same case on the same clock. */
    EventText beside(String otherEngineId, int otherRank, String otherCollectorId) {
        EventText beside = new EventText(name, lines);
        beside.engineId = otherEngineId;
        beside.dpRank = otherRank;
        beside.collectorId = otherCollectorId;
        beside.clockId = clockId;
        beside.nowNanos = nowNanos;
        beside.epochMillisAtZero = epochMillisAtZero;
        return beside;
    }

    String id(String request) {
        return name + "-" + request;
    }

    static String json(Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(EventText::json).collect(java.util.stream.Collectors.joining(",", "[", "]"));
        }
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> json(String.valueOf(entry.getKey())) + ":" + json(entry.getValue()))
                    .sorted()
                    .collect(java.util.stream.Collectors.joining(",", "{", "}"));
        }
        if (value instanceof String text) {
            StringBuilder quoted = new StringBuilder("\"");
            for (char c : text.toCharArray()) {
                quoted.append(
                        c < 0x20 || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
            }
            return quoted.append('"').toString();
        }
        return String.valueOf(value);
    }

    /** A line, with what its kind needs of the header. */
    EventText put(String kind, String collector, Object... pairs) {
        Map<String, Object> fields = new HashMap<>();
        fields.put("kind", kind);
        fields.put("collectorId", collector);
        fields.put("clockId", clockId);
        for (int i = 0; i < pairs.length; i += 2) {
            fields.put((String) pairs[i], pairs[i + 1]);
        }
        if (epochMillisAtZero != null && fields.get("clockNanos") instanceof Long clock) {
            fields.putIfAbsent("coarseEpochMillis", epochMillisAtZero + Math.floorDiv(clock, MS));
        }
        lines.append(json(fields)).append('\n');
        return this;
    }

    /** A line of the engine, now. */
    EventText engine(String kind, Object... pairs) {
        List<Object> all = new ArrayList<>(List.of("engineId", engineId, "clockNanos", nowNanos));
        if (dpRank != 0) {
            all.addAll(List.of("dpRank", dpRank));
        }
        if (collectorEpoch != null) {
            all.addAll(List.of("collectorEpoch", collectorEpoch));
        }
        all.addAll(List.of(pairs));
        return put(kind, collectorId, all.toArray());
    }

    /** The events of all stories as lines of JSON. */
    static String lines(List<EventText> stories) {
        StringBuilder lines = new StringBuilder();
        stories.forEach(story -> lines.append(story.lines));
        return lines.toString();
    }

    /** Blocks that follow each other. */
    static List<Long> hashes(long from, int count) {
        List<Long> hashes = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            hashes.add(from + i);
        }
        return hashes;
    }

    /** Blocks of 16 tokens that a batch of KV events stores. */
    EventText stored(long batch, List<Long> hashes) {
        return engine(
                "KvBlocksStored",
                "batchSequence",
                batch,
                "eventIndex",
                0,
                "blockHashes",
                hashes,
                "blockSizeTokens",
                16);
    }

    /** Blocks that a batch of KV events evicts. */
    EventText evicted(long batch, List<Long> hashes) {
        return engine("KvBlocksEvicted", "batchSequence", batch, "eventIndex", 0, "blockHashes", hashes);
    }

    EventText queued(String request, int promptTokens, Object... pairs) {
        context.put(request, new int[2]);
        List<Object> all = new ArrayList<>(List.of("engineRequestId", id(request), "promptTokens", promptTokens));
        all.addAll(List.of(pairs));
        return engine("RequestQueued", all.toArray());
    }

    EventText finished(String request, String reason) {
        return engine("RequestFinished", "engineRequestId", id(request), "endReason", reason);
    }

    EventText preempted(String victim, @Nullable String wantedBy, Object... pairs) {
        List<Object> all = new ArrayList<>(List.of("engineRequestId", id(victim), "stepId", stepId));
        if (wantedBy != null) {
            all.addAll(List.of("wantedByEngineRequestId", id(wantedBy)));
        }
        all.addAll(List.of(pairs));
        int[] lost = context.get(victim);
        if (lost != null) {
            lost[0] = 0;
        }
        return engine("RequestPreempted", all.toArray());
    }

    EventText idle(long nanos) {
        nowNanos += nanos;
        return this;
    }

    // ---- rows

    Map<String, Object> row(String request, String phase, int computed, int tokens, Object... pairs) {
        int[] of = context.computeIfAbsent(request, unused -> new int[2]);
        of[0] += computed;
        Map<String, Object> row = new HashMap<>();
        row.put("engineRequestId", id(request));
        row.put("contextTokens", of[0]);
        if (!phase.equals("decode")) {
            row.put("phase", phase);
            row.put("scheduledTokens", computed);
            row.put("tokenCount", tokens);
        } else if (tokens != 1) {
            row.put("scheduledTokens", computed);
            row.put("tokenCount", tokens);
        }
        if (tokens > 0) {
            row.put("firstTokenIndex", of[1]);
        }
        of[1] += tokens;
        for (int i = 0; i < pairs.length; i += 2) {
            row.put((String) pairs[i], pairs[i + 1]);
            if (pairs[i].equals("cachedTokens")) {
                of[0] += (Integer) pairs[i + 1];
                row.put("contextTokens", of[0]);
            }
        }
        return row;
    }

    Map<String, Object> decode(String request) {
        return row(request, "decode", 1, 1);
    }

    /** The whole prompt, or its last piece. */
    Map<String, Object> prompt(String request, int tokens) {
        return row(request, "prefill", tokens, 1, "cachedTokens", 0);
    }

    Map<String, Object> chunk(String request, int tokens) {
        return row(request, "prefill", tokens, 0);
    }

    Map<String, Object> firstChunk(String request, int tokens) {
        return row(request, "prefill", tokens, 0, "cachedTokens", 0);
    }

    /** The first piece of what a preemption took, computed again. */
    Map<String, Object> resumed(String request, int tokens, boolean last) {
        return row(request, "resumed", tokens, last ? 1 : 0, "cachedTokens", 0);
    }

    // ---- steps

    EventText step(long nanos, List<Map<String, Object>> rows, Object... pairs) {
        long start = nowNanos;
        nowNanos += nanos;
        List<Object> all = new ArrayList<>(List.of("stepId", stepId++, "updateEndNanos", nowNanos, "rows", rows));
        if (starts) {
            all.addAll(List.of("scheduleStartNanos", start));
        }
        ofSteps.forEach((field, value) -> all.addAll(List.of(field, value)));
        all.addAll(List.of(pairs));
        return engine("StepCompleted", all.toArray());
    }

    List<Map<String, Object>> decodes(String... requests) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (String request : requests) {
            rows.add(decode(request));
        }
        return rows;
    }

    List<Map<String, Object>> with(List<Map<String, Object>> rows, Map<String, Object> more) {
        List<Map<String, Object>> all = new ArrayList<>(rows);
        all.add(more);
        return all;
    }

    /** A length that varies by a per cent or two, as real ones do. */
    static long about(long nanos, long seed) {
        long mixed = (seed + 1) * 0x9E3779B97F4A7C15L;
        return nanos + nanos / 100 * ((mixed >>> 60) % 5 - 2) / 2;
    }

    EventText decode(int steps, long nanos, String... requests) {
        for (int i = 0; i < steps; i++) {
            step(about(nanos, stepId), decodes(requests));
        }
        return this;
    }

    // ---- observers

    EventText received(String observer, String request, Object... pairs) {
        List<Object> all = new ArrayList<>(
                List.of("observer", observer, "requestId", id(request), "warmup", false, "clockNanos", nowNanos));
        all.addAll(List.of(pairs));
        return put("RequestReceived", name + "/" + observer, all.toArray());
    }

    /** The next chunk of the request is the first of another stream. */
    EventText arrivesAnew(String observer, String request) {
        chunks.remove(observer + request);
        return this;
    }

    EventText arrived(String observer, String request, int firstToken, int tokens, long atNanos, Object... pairs) {
        Map<String, Object> chunk = new HashMap<>();
        chunk.put("chunkIndex", chunks.merge(observer + request, 1, Integer::sum) - 1);
        chunk.put("tokenCount", tokens);
        chunk.put("arrivedNanos", atNanos);
        if (tokens > 0) {
            chunk.put("firstTokenIndex", firstToken);
        }
        for (int i = 0; i < pairs.length; i += 2) {
            chunk.put((String) pairs[i], pairs[i + 1]);
        }
        return put(
                "ChunkDelivered",
                name + "/" + observer,
                "observer",
                observer,
                "requestId",
                id(request),
                "clockNanos",
                atNanos,
                "chunks",
                List.of(chunk));
    }

    EventText completed(String observer, String request, String outcome, long atNanos, Object... pairs) {
        List<Object> all = new ArrayList<>(
                List.of("observer", observer, "requestId", id(request), "outcome", outcome, "clockNanos", atNanos));
        all.addAll(List.of(pairs));
        return put("RequestCompleted", name + "/" + observer, all.toArray());
    }

    /** A scraped sample of this engine. */
    EventText metric(String metric, double value) {
        return put(
                "MetricSampled",
                name + "/metrics",
                "source",
                "http://" + name,
                "name",
                metric,
                "labels",
                "engine=\"" + name + "\"",
                "sampledValue",
                value,
                "clockNanos",
                nowNanos);
    }

    /** What must hold of what was said. */
    EventText then(Consumer<CaseResults> answer) {
        answers.add(answer);
        return this;
    }
}
