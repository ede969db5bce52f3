package io.tokenstair.job.staircase;

/** What the token times of a request look like over its life, after the expected time is taken out. */
public enum StaircaseShape {
    /** Several lasting rises with level treads between them. */
    STAIRCASE,
    /** A rise without treads: it grows all along. */
    RAMP,
    /** Lasting rises, too few to be a staircase. */
    SHIFT,
    /** No lasting rise: level, jitter, bursts, or too few tokens to say. */
    NONE
}
