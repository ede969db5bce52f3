package io.tokenstair.job.staircase;

/**
 * A lasting, sharp rise of the level of the time over the expected time.
 *
 * @param onsetIndex index of the first token, or step, of the new level; exact to a few of them
 * @param levelChangeRatio height of the rise as a share of the level before: 0.12 for 12 % slower
 * @param kvCount tokens or steps around the onset at which the engine reported KV pressure
 */
public record Rise(int onsetIndex, double levelChangeRatio, int kvCount) {}
