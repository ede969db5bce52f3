package io.tokenstair.simulate;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The steps of an engine, or the tokens of a request, in order: where lasting level rises begin in it. */
final class StaircaseSeries {
    /** A level that is not this long on either side is none. */
    private static final int LEAST_LEVEL = 32;

    private final String level;
    private final String key;
    private final List<Long> ordinals = new ArrayList<>();
    private final List<Long> startNanos = new ArrayList<>();

    StaircaseSeries(String level, String key) {
        this.level = level;
        this.key = key;
    }

    void add(long ordinal, long nanos) {
        ordinals.add(ordinal);
        startNanos.add(nanos);
    }

    /** What the injected stairs make of it; null when none begins in it. */
    @Nullable
    StaircaseTruth truth(List<Fault> faults) {
        List<Long> onsets = new ArrayList<>();
        int levelStart = 0;
        for (Fault fault : faults) {
            if (fault.kind() != FaultKind.TIER_STAIR) {
                continue;
            }
            int at = 0;
            while (at < startNanos.size() && startNanos.get(at) < fault.fromNanos()) {
                at++;
            }
            if (at - levelStart >= LEAST_LEVEL && startNanos.size() - at >= LEAST_LEVEL) {
                onsets.add(ordinals.get(at));
                levelStart = at;
            }
        }
        if (onsets.isEmpty()) {
            return null;
        }
        boolean stairs = onsets.size() > 1;
        return new StaircaseTruth(level, key, stairs ? "staircase" : "level-shift", stairs, onsets);
    }
}
