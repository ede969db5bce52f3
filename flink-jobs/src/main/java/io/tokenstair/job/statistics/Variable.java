package io.tokenstair.job.statistics;

/** What is observed of a block of steps, as whole numbers. */
public enum Variable {
    /** ln(time / expected time), in 2^-20: the level residual. */
    LEVEL("tpot_level", 1 << 22),
    /** Mean own context of the sequences that decode, in tokens. */
    OWN_CONTEXT("own_context", 1 << 23),
    /** Mean over the steps of the context of all sequences that decode, in tokens. */
    RESIDENT_CONTEXT("resident_context", 1 << 23),
    /** KV hit rate, in 1/10,000. */
    KV_HIT_RATE("kv_hit_rate", 10_000),
    /** Padded batch, summed over the steps. */
    PADDED_BATCH("padded_batch", 1 << 16),
    /** New and recomputed prompt tokens, summed over the steps. */
    PROMPT_TOKENS("prompt_tokens", 1 << 22);

    /** How many there are. */
    static final int COUNT = values().length;

    private final String variableName;
    private final long limit;

    Variable(String variableName, long limit) {
        this.variableName = variableName;
        this.limit = limit;
    }

    /** Its name in the archive. */
    public String variableName() {
        return variableName;
    }

    /** The value, cut where it could make a sum of products overflow: see {@link MomentSums}. */
    long clip(long value) {
        return Math.max(-limit, Math.min(limit, value));
    }
}
