package io.tokenstair.collect.table;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a column of a table can say of an engine. */
enum CsvField {
    /** When the reading was taken, or the step ended, since any origin. */
    TIME(Kind.TIME, null),
    STEP_NANOS(Kind.TIME, null),
    START_NANOS(Kind.TIME, null),
    END_NANOS(Kind.TIME, null),
    STEP_ID(Kind.COUNT, null),
    BATCH(Kind.COUNT, null),
    PADDED_BATCH(Kind.COUNT, null),
    PREFILL(Kind.COUNT, null),
    RECOMPUTE(Kind.COUNT, null),
    RUNNING(Kind.COUNT, "engine:requests_running"),
    WAITING(Kind.COUNT, "engine:requests_waiting"),
    KV_USED_BLOCKS(Kind.COUNT, null),
    KV_TOTAL_BLOCKS(Kind.COUNT, null),
    GRAPH_MODE(Kind.TEXT, null),
    KV_USED(Kind.SHARE, "engine:kv_cache_used_ratio"),
    PROMPT_RATE(Kind.REAL, "engine:prompt_tokens_per_second"),
    GENERATION_RATE(Kind.REAL, "engine:generation_tokens_per_second"),
    PAUSED(Kind.COUNT, "engine:requests_paused"),
    PREEMPTED(Kind.COUNT, "engine:preemptions_total"),
    CACHE_HIT_RATE(Kind.SHARE, "engine:prefix_cache_hit_ratio");

    /** What values a field takes. */
    enum Kind {
        TIME,
        COUNT,
        SHARE,
        REAL,
        TEXT
    }

    private final Kind kind;
    private final @Nullable String metric;

    CsvField(Kind kind, @Nullable String metric) {
        this.kind = kind;
        this.metric = metric;
    }

    Kind kind() {
        return kind;
    }

    /** The name of its samples; null for what is no reading. */
    @Nullable
    String metric() {
        return metric;
    }

    /** The name in {@code --map}: {@code paddedBatch}. */
    String fieldName() {
        StringBuilder written = new StringBuilder();
        for (String word : name().split("_", -1)) {
            String lower = word.toLowerCase(Locale.ROOT);
            written.append(
                    written.isEmpty() ? lower : lower.substring(0, 1).toUpperCase(Locale.ROOT) + lower.substring(1));
        }
        return written.toString();
    }
}
