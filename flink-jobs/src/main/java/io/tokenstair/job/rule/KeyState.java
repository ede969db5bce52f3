package io.tokenstair.job.rule;

import io.tokenstair.job.timer.EarliestTimer;
import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What {@link RunRules} remembers of a key: milestones that event time has not completed, bounded by the hold times their rate, and for
 * each rule its open matches, bounded by the rule's caps and at most 1,000 rules.
 */
public class KeyState {
    /** Stands for no time. */
    public static final long NONE = Long.MIN_VALUE;

    /** Milestones that event time has not completed yet. */
    public List<Milestone> waiting = new ArrayList<>();

    /** The timer that is set, or {@link EarliestTimer#NONE}. */
    public long timerMillis = EarliestTimer.NONE;

    /** Event time of the first milestone, which says the revisions of a request, in ms; {@link #NONE} where it has none. */
    public long beganMillis = NONE;

    /** Event time of the last milestone, in ms; {@link #NONE} where it has none. */
    public long lastMillis = NONE;

    /** True where the last milestone ended a sequence. */
    public boolean finished;

    /** Open matches by the id of their rule. */
    public Map<String, RuleRun> runs = new HashMap<>();

    /** For Flink's serializer. */
    public KeyState() {}
}
