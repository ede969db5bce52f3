package io.tokenstair.job.rule;

import java.util.Map;
import java.util.TreeMap;

/** What is remembered of a rule id. Bounded by {@link RuleScheduling#MAX_VERSIONS} hashes. */
public class KnownRule {
    /** SHA-256 of the text of each version, the newest {@link RuleScheduling#MAX_VERSIONS} of them. */
    public Map<Integer, String> textHashes = new TreeMap<>();

    /** The version last put in force or scheduled. */
    public int version;

    /** True where the rule was retired last. */
    public boolean retired;

    /** True where the last word came from the rules a job starts with. */
    public boolean fromStart;

    /** Place of the last word among all revisions. */
    public long scheduleIndex;

    /** Event time from which the last word holds, in ms. */
    public long effectiveMillis;

    /** For Flink's serializer. */
    public KnownRule() {}
}
