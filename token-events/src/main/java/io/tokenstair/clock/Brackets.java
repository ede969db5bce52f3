package io.tokenstair.clock;

/**
 * What samples allow an offset to be, sorted by their instant.
 *
 * @param x instants, none above 0, in ns
 * @param lower least offset at each, in ns
 * @param upper greatest offset at each, in ns
 */
record Brackets(long[] x, long[] lower, long[] upper) {}
