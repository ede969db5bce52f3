package io.tokenstair.rule.bound;

/** What a match uses up. */
public enum AfterMatch {
    /** Nothing: each milestone that fits the first stage may begin a match. */
    NO_SKIP,
    /** All up to its last milestone: of overlapping matches the one that begins first counts. */
    SKIP_PAST_LAST
}
