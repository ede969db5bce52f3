package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;

/**
 * A way of a match that flink-cep found gone to its end.
 *
 * @param taken the milestones each stage took
 * @param broken true where something came after them that must not
 */
public record FoundWay(TakenByStage taken, boolean broken) {
    /** Its first milestone. */
    Milestone first() {
        return taken.milestones().get(0);
    }

    /** Its last milestone. */
    Milestone last() {
        return taken.milestones().get(taken.milestones().size() - 1);
    }

    /** The last stage that took a milestone. */
    int lastStage() {
        int stage = taken.counts().size() - 1;
        while (taken.counts().get(stage) == 0) {
            stage--;
        }
        return stage;
    }

    /** Above 0 where it takes more than another way in the first stage in which they differ, below 0 where less. */
    int compareTaken(FoundWay other) {
        for (int stage = 0; stage < taken.counts().size(); stage++) {
            int more = taken.counts().get(stage) - other.taken.counts().get(stage);
            if (more != 0) {
                return more;
            }
        }
        return 0;
    }
}
