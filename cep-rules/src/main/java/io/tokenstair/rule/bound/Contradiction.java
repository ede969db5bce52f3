package io.tokenstair.rule.bound;

/**
 * Why a condition can never hold.
 *
 * @param valueOffset index into the condition as written of the part that cannot hold beside those before it
 * @param why what is wrong, for people
 */
public record Contradiction(int valueOffset, String why) {}
