package io.tokenstair.bench;

import java.util.Locale;

/** What is run over the fleet. */
public enum Variant {
    /** Decodes steps and ships one keyed record per token, which is dropped: what everything else is measured against. */
    NOOP("noop"),
    /** The whole analysis, rules included; results are dropped. */
    JOB("job"),
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
        throw new IllegalArgumentException(
                "Cannot run the variant '" + name + "': give noop, job, job+raw or job+raw+tokens");
    }
}
