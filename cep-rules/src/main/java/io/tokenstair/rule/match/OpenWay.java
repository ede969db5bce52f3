package io.tokenstair.rule.match;

import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.List;

/**
 * One way a match that has begun can go on: what it took, and what it may take next. Saved with a job, so fields are added, never
 * renamed.
 */
public final class OpenWay {
    /** Place of its last milestone among all the rule saw of the key, from 0. */
    public long toPlace;

    /** Index of the stage that took its last milestone. */
    public int stage;

    /** How many milestones each stage took, by its index; as long as the rule has stages. */
    public int[] counts = {};

    /** What it took, in order; at most {@link io.tokenstair.rule.bound.RuleBinder#MAX_TAKEN} milestones. */
    public List<Milestone> taken = new ArrayList<>();

    /** Places of what it took, in the same order. */
    public long[] places = {};

    /** The stages that may take the next milestone, one bit each; the bit after the last stage where only the end is waited for. */
    public int next;

    /** Begins nowhere yet. */
    public OpenWay() {}

    /** Place of the last milestone a stage took; -1 where it took none. */
    long lastPlace(int ofStage) {
        int to = 0;
        for (int stageUpTo = 0; stageUpTo <= ofStage; stageUpTo++) {
            to += counts[stageUpTo];
        }
        return counts[ofStage] == 0 ? -1 : places[to - 1];
    }

    /** What each stage took. */
    public List<List<Milestone>> byStage() {
        List<List<Milestone>> byStage = new ArrayList<>();
        for (int ofStage = 0; ofStage < counts.length; ofStage++) {
            byStage.add(List.copyOf(of(ofStage)));
        }
        return List.copyOf(byStage);
    }

    /** What a stage took. */
    List<Milestone> of(int ofStage) {
        int from = 0;
        for (int before = 0; before < ofStage; before++) {
            from += counts[before];
        }
        return taken.subList(from, from + counts[ofStage]);
    }
}
