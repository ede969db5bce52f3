package io.tokenstair.rule.bound;

/**
 * What one rule may use. A rule can lower the caps, never raise them. They count per key and per milestone, so what they cut does not
 * depend on parallelism or machine.
 *
 * @param openMatches most matches of one key that are open at once
 * @param evaluations most conditions asked for one milestone, over all open matches of its key
 */
public record RuleCaps(int openMatches, int evaluations) {
    /** Most matches of one key that are open at once. */
    public static final int MAX_OPEN_MATCHES = 256;

    /** Most conditions asked for one milestone. */
    public static final int MAX_EVALUATIONS = 1024;

    /** The caps of a rule that names none. */
    public static final RuleCaps BUILT_IN = new RuleCaps(MAX_OPEN_MATCHES, MAX_EVALUATIONS);
}
