package io.tokenstair.look.slo;

import io.tokenstair.archive.result.Finding;

/**
 * A first token or a gap beyond its limit, as a finding.
 *
 * @param finding what a finding has; its cause is empty where the token is not slow by the definition of causes
 * @param slo ttft or gap
 * @param limitNanos the limit
 * @param measuredNanos what it took
 * @param basis delivered where arrivals were measured, produced where the ends of engine steps were
 */
public record SloBreach(Finding finding, String slo, long limitNanos, long measuredNanos, String basis) {}
