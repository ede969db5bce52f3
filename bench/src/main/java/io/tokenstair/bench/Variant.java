package io.tokenstair.bench;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What is run over the fleet. */
public enum Variant {
    /** Decodes steps and ships one keyed record per token, which is dropped: what everything else is measured against. */
    NOOP("noop"),
    /**
     * Reads tokens one by one, stamps each with its time and ships it by its request to a process function that counts it: the no-op by which the goal
     * of half its speed was set.
     */
    NOOP_TOKENS("noop-tokens"),
    /** The whole analysis, rules included; results are dropped. */
    JOB("job"),
    /** The same without rules. */
    JOB_NO_RULES("job-rules"),
    /** The same with the built-in rules and 30 of {@link GeneratedRules}. */
    JOB_MANY_RULES("job+30rules"),
    /** The same and a rule that begins a match at every milestone, branches at every one, and never ends. */
    JOB_EXPLOSIVE_RULE("job+30rules+explosive"),
    /** As with 30 rules more, one of which is revised again and again while the job runs: {@link AddRevisions}. */
    JOB_RELOADED_RULES("job+30rules+reload"),
    /** A context staircase in stock flink-cep over records of single tokens, and nothing else: {@link RawStaircase}. */
    CEP_RAW("cep-raw"),
    /** The same, and the raw archive is written. */
    JOB_RAW("job+raw"),
    /** The same, and all result tables are written too. */
    JOB_RAW_TOKENS("job+raw+tokens");

    private final String variantName;

    Variant(String variantName) {
        this.variantName = variantName;
    }

    /** Its name on the command line. */
    public String variantName() {
        return variantName;
    }

    /** The variant of a name. */
    public static Variant of(String name) {
        for (Variant variant : values()) {
            if (variant.variantName.equals(name.toLowerCase(Locale.ROOT))) {
                return variant;
            }
        }
        throw new IllegalArgumentException("Cannot run the variant '" + name + "': give one of "
                + Arrays.stream(values()).map(Variant::variantName).collect(Collectors.joining(", ")));
    }
}
