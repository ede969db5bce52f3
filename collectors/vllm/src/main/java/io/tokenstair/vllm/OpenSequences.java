package io.tokenstair.vllm;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The engine's open sequences by the engine's own id: the small number that step rows use for each, and what is known of it. Holds at
 * most {@value #MAX_OPEN} open and {@value #MAX_ENDED} ended ones; beyond, the oldest are forgotten and get another number when they
 * are seen again. An ended one is kept for a while: with two steps in flight, a step that was under way still names it.
 */
final class OpenSequences {
    private static final int MAX_OPEN = 65_536;
    private static final int MAX_ENDED = 4_096;

    private final Map<String, Sequence> open = bounded(MAX_OPEN);
    private final Map<String, Sequence> ended = bounded(MAX_ENDED);
    private int next;

    /** One sequence. */
    static final class Sequence {
        final int handle;
        final String id;

        @Nullable
        Long promptTokens;

        /** Output tokens so far; absent when not all of them were seen. */
        @Nullable
        Integer outputTokens;

        int preemptionCount;

        private Sequence(int handle, String id) {
            this.handle = handle;
            this.id = id;
        }
    }

    private static Map<String, Sequence> bounded(int most) {
        return new LinkedHashMap<>(16, 0.75f) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Sequence> eldest) {
                return size() > most;
            }
        };
    }

    /** The sequence of an id, open or lately ended; absent when not known. */
    @Nullable
    Sequence find(String id) {
        Sequence sequence = open.get(id);
        return sequence == null ? ended.get(id) : sequence;
    }

    /** The open sequence of an id, new where none is open. */
    Sequence open(String id) {
        Sequence known = open.get(id);
        if (known == null) {
            ended.remove(id);
            known = new Sequence(next++, id);
            open.put(id, known);
        }
        return known;
    }

    /** Ends a sequence and says whether it was open. */
    boolean end(String id) {
        Sequence sequence = open.remove(id);
        if (sequence != null) {
            ended.put(id, sequence);
        }
        return sequence != null;
    }

    /** Forgets the open sequences that are not among these. */
    void keepOnly(Set<String> ids) {
        open.keySet().retainAll(ids);
    }

    /** Records were lost: nothing is known any more of how many tokens the sequences have. */
    void forgetCounts() {
        for (Map<String, Sequence> sequences : List.of(open, ended)) {
            for (Sequence sequence : sequences.values()) {
                sequence.outputTokens = null;
            }
        }
    }

    /** The open sequences, at most {@code most}, the newest where there are more. */
    Collection<Sequence> open(int most) {
        List<Sequence> all = new ArrayList<>(open.values());
        return all.size() <= most ? all : all.subList(all.size() - most, all.size());
    }
}
