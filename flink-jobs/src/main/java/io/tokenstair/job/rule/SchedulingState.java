package io.tokenstair.job.rule;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What {@link RuleScheduling} remembers. Bounded by {@link RuleScheduling#MAX_RULES} rules in force, as many retired ones, and {@link
 * RuleScheduling#MAX_RECENT} recent revisions.
 */
public class SchedulingState {
    /** What is known of each rule id. */
    public Map<String, KnownRule> rules = new HashMap<>();

    /** Version and hash of the text of each rule the job was started with last. */
    public Map<String, String> startRules = new HashMap<>();

    /** Place of the next revision. */
    public long nextIndex;

    /** How many rules of a start were refused. */
    public long refusedStarts;

    /** The last watermark, in ms; {@link Long#MIN_VALUE} before the first. */
    public long watermarkMillis = Long.MIN_VALUE;

    /** Event times from which recent revisions are in force, in ms, in the order they came. */
    public List<Long> recentMillis = new ArrayList<>();

    /** Sizes of their texts, in characters. */
    public List<Integer> recentLengths = new ArrayList<>();

    /** For Flink's serializer. */
    public SchedulingState() {}
}
