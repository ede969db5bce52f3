package io.tokenstair.rule.bound;

/**
 * A divisor of a condition that may be 0 where all else allows the condition to hold.
 *
 * @param valueOffset index into the condition as written where the division stands
 * @param divisor the divisor in words: a field's name where it is one
 */
public record PossibleZero(int valueOffset, String divisor) {}
