package io.tokenstair.job.staircase;

/**
 * A lasting, sharp rise of the level of a request's token time over its expected time.
 *
 * @param onsetTokenIndex first token of the new level, exact to the four tokens that are judged together
 * @param levelChangeRatio height of the rise as a share of the level before: 0.12 for 12 % slower
 * @param kvEventTokens tokens around the onset at which the engine reported KV pressure
 */
public record Rise(int onsetTokenIndex, double levelChangeRatio, int kvEventTokens) {}
