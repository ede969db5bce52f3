package io.tokenstair.rule.match;

import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.List;

/** A match that has begun. Saved with a job, so fields are added, never renamed. */
public final class OpenMatch {
    /** Place of its first milestone among all the rule saw of the key, from 0. */
    public long fromPlace;

    /** Place of its last milestone so far. */
    public long toPlace;

    /** Event time of its first milestone. */
    public long fromMillis;

    /** What it took, in order; at most one milestone per stage. */
    public List<Milestone> taken = new ArrayList<>();

    /** Begins nowhere yet. */
    public OpenMatch() {}
}
