package io.tokenstair.rule.match;

import java.util.ArrayList;
import java.util.List;

/** A match that has begun. Saved with a job, so fields are added, never renamed. */
public final class OpenMatch {
    /** Place of its first milestone among all the rule saw of the key, from 0. */
    public long fromPlace;

    /** Event time of its first milestone. */
    public long fromMillis;

    /** The stages that took a milestone on any way, one bit each. */
    public int reachedStages;

    /** True where it is complete and waits for a match that began earlier; it then has one way. */
    public boolean complete;

    /** The ways it can go on; at least one, and one only where nothing is optional or repeated. */
    public List<OpenWay> ways = new ArrayList<>();

    /** Begins nowhere yet. */
    public OpenMatch() {}

    /** The way that got furthest: to the latest stage, then with the most milestones. */
    public OpenWay furthest() {
        OpenWay furthest = ways.get(0);
        for (OpenWay way : ways) {
            boolean further =
                    way.stage != furthest.stage ? way.stage > furthest.stage : way.taken.size() > furthest.taken.size();
            furthest = further ? way : furthest;
        }
        return furthest;
    }
}
