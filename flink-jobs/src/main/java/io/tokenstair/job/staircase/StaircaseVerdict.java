package io.tokenstair.job.staircase;

import java.util.List;

/**
 * What the detector concludes about a request so far.
 *
 * @param shape the shape of its token times
 * @param kvDriven true when KV pressure was reported at the rises clearly more often than elsewhere. False means that the cause is
 *     unproven, not that KV pressure is ruled out
 * @param riseCount lasting rises, those beyond {@value StaircaseState#MAX_RISES} included
 * @param rises the first {@value StaircaseState#MAX_RISES} rises, by onset
 */
public record StaircaseVerdict(StaircaseShape shape, boolean kvDriven, int riseCount, List<Rise> rises) {

    /** Copies the rises. */
    public StaircaseVerdict {
        rises = List.copyOf(rises);
    }
}
