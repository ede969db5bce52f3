package io.tokenstair.rule.bound;

/** How a stage follows the one before. */
public enum Contiguity {
    /** The first later milestone of the key that fits. */
    RELAXED,
    /** The very next milestone of the key, of whatever kind, or no match. */
    STRICT
}
