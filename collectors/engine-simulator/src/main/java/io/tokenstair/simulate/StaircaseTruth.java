package io.tokenstair.simulate;

import java.util.List;

/**
 * A series of an engine or a request whose normalised step time has lasting level rises, or looks as if.
 *
 * @param level request or engine
 * @param key the engine's or the request's id
 * @param shape staircase, level-shift, or none
 * @param kvDriven whether the rises come from KV blocks lost to a slower tier
 * @param onsets step ids, or token indices of the request, at which a new level begins
 */
public record StaircaseTruth(String level, String key, String shape, boolean kvDriven, List<Long> onsets) {
    /** Copies the onsets. */
    public StaircaseTruth {
        onsets = List.copyOf(onsets);
    }
}
