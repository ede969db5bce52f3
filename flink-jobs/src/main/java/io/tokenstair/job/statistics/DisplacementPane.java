package io.tokenstair.job.statistics;

import io.tokenstair.archive.result.PriorityDisplacement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What was booked in the open pane of an engine. State: at most {@value #PAIRS} pairs of classes, {@value #LOSERS} requests in all;
 * beyond, times are still booked to a pair that is there, and no further request is counted.
 */
public class DisplacementPane {
    /** Most pairs of classes in a pane; further ones are left out. */
    public static final int PAIRS = 256;

    /** Most requests that are told apart in a pane. */
    public static final int LOSERS = 8_192;

    /** A winner, a loser, and what the loser's requests lost. */
    public static class Pair {
        public int winnerPriority;
        public int loserPriority;
        public long nanos;
        public Map<String, Long> nanosByRequest = new HashMap<>();

        /** For Flink's serializer. */
        public Pair() {}
    }

    public long startMillis = Long.MIN_VALUE;
    public List<Pair> pairs = new ArrayList<>();
    public int losers;

    /** For Flink's serializer: nothing booked. */
    public DisplacementPane() {}

    /** Begins another pane when this event time is in one; tells the one before. */
    public void at(String engineId, long epochMillis, Consumer<PriorityDisplacement> output) {
        long start = Panes.startMillis(epochMillis, Panes.MILLIS);
        if (start != startMillis) {
            tell(engineId, output);
            startMillis = start;
        }
    }

    /** Tells the open pane when it ends at or before this event time. */
    public void tellBefore(String engineId, long completeToMillis, Consumer<PriorityDisplacement> output) {
        if (!pairs.isEmpty() && Panes.endMillis(startMillis, Panes.MILLIS) <= completeToMillis) {
            tell(engineId, output);
        }
    }

    /** Books what a request lost to a class. */
    public void lost(int winnerPriority, int loserPriority, String loserRequestId, long nanos) {
        Pair pair = null;
        for (Pair candidate : pairs) {
            if (candidate.winnerPriority == winnerPriority && candidate.loserPriority == loserPriority) {
                pair = candidate;
                break;
            }
        }
        if (pair == null) {
            if (pairs.size() == PAIRS) {
                return;
            }
            pair = new Pair();
            pair.winnerPriority = winnerPriority;
            pair.loserPriority = loserPriority;
            pairs.add(pair);
        }
        pair.nanos += nanos;
        Long before = pair.nanosByRequest.get(loserRequestId);
        if (before != null || losers < LOSERS) {
            losers += before == null ? 1 : 0;
            pair.nanosByRequest.put(loserRequestId, (before == null ? 0 : before) + nanos);
        }
    }

    private void tell(String engineId, Consumer<PriorityDisplacement> output) {
        for (Pair pair : pairs) {
            String worst = "";
            long most = -1;
            for (Map.Entry<String, Long> entry : pair.nanosByRequest.entrySet()) {
                if (entry.getValue() > most
                        || entry.getValue() == most && entry.getKey().compareTo(worst) < 0) {
                    worst = entry.getKey();
                    most = entry.getValue();
                }
            }
            output.accept(new PriorityDisplacement(
                    engineId,
                    millis(startMillis),
                    millis(Panes.endMillis(startMillis, Panes.MILLIS)),
                    pair.winnerPriority,
                    pair.loserPriority,
                    pair.nanos,
                    pair.nanosByRequest.size(),
                    worst,
                    Math.max(0, most)));
        }
        pairs = new ArrayList<>();
        losers = 0;
    }

    private static @Nullable Long millis(long epochMillis) {
        return epochMillis == Panes.UNDATED ? null : Long.valueOf(epochMillis);
    }
}
