package io.tokenstair.collect.vllm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The small numbers that step rows use for the engine's ids, and the output tokens each has had. An id is forgotten some time after
 * its end: with two steps in flight, a step that was under way may still name it.
 */
final class RequestHandles {
    /** Most open requests announced again; beyond that the newest are. */
    static final int MAX_ANNOUNCED = 16_384;

    private static final int MAX_ENDED = 4_096;

    private final Map<String, Sequence> open = new LinkedHashMap<>();
    private final Map<String, Sequence> ended = new LinkedHashMap<>(16, 0.75f) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Sequence> eldest) {
            return size() > MAX_ENDED;
        }
    };
    private int next;

    /** One sequence of the engine. */
    static final class Sequence {
        private final int handle;
        private final String id;
        private @Nullable Integer outputTokens;

        private Sequence(int handle, String id, @Nullable Integer outputTokens) {
            this.handle = handle;
            this.id = id;
            this.outputTokens = outputTokens;
        }

        int handle() {
            return handle;
        }

        String id() {
            return id;
        }

        /** Output tokens so far; null when the capture began after its first token. */
        @Nullable
        Integer outputTokens() {
            return outputTokens;
        }

        /**
         * Places new tokens after those that came before: by the total that the engine states, else by those counted so far, else by
         * the output index of the row. Returns the index of the first; null when nothing tells.
         */
        @Nullable
        Integer place(StepLine.Row row) {
            if (row.tokenCount() == 0) {
                return null;
            }
            Integer first =
                    row.totalTokens() != null ? Integer.valueOf(row.totalTokens() - row.tokenCount()) : outputTokens;
            if (first == null) {
                first = row.outputIndex();
            }
            return first;
        }

        void made(int total) {
            outputTokens = total;
        }
    }

    /** The sequence of an id, open or lately ended; null when it is not known. */
    @Nullable
    Sequence find(String id) {
        Sequence sequence = open.get(id);
        return sequence == null ? ended.get(id) : sequence;
    }

    /** Opens a sequence; one that is open already stays as it is. */
    Sequence open(String id, @Nullable Integer outputTokens) {
        Sequence known = open.get(id);
        if (known != null) {
            return known;
        }
        ended.remove(id);
        Sequence sequence = new Sequence(next++, id, outputTokens);
        open.put(id, sequence);
        return sequence;
    }

    void end(String id) {
        Sequence sequence = open.remove(id);
        if (sequence != null) {
            ended.put(id, sequence);
        }
    }

    /** The open sequences in the order they came, at most {@value #MAX_ANNOUNCED}. */
    List<Sequence> open() {
        List<Sequence> sequences = new ArrayList<>(open.values());
        return sequences.size() <= MAX_ANNOUNCED
                ? sequences
                : sequences.subList(sequences.size() - MAX_ANNOUNCED, sequences.size());
    }
}
