package io.tokenstair.job.staircase;

/** What a series of step or token times looks like, after the expected time is taken out. */
public enum StaircaseShape {
    /** Several lasting rises with level treads between them. */
    STAIRCASE,
    /** A rise without treads: it grows all along. */
    RAMP,
    /** Lasting rises, too few to be a staircase. */
    SHIFT,
    /** Rises of the time, or of the expected time, that soon fell again; none that lasted. */
    TRANSIENT,
    /** The expected time itself has lasting edges, such as another padded batch, and nothing lasts beyond it. */
    LOAD,
    /** No lasting rise: level, jitter, or too few values to say. */
    NONE
}
