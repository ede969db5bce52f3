package io.tokenstair.look.archive;

/**
 * A token that another step's token shares its step with.
 *
 * @param key its sequence
 * @param tokenIndex the token
 * @param state its state
 */
public record SharedStep(SequenceKey key, int tokenIndex, String state) {}
