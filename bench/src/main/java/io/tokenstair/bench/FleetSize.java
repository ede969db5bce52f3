package io.tokenstair.bench;

/**
 * How large a synthetic fleet is.
 *
 * @param tokens output tokens in all; rounded up so that every engine makes the same whole number of steps
 * @param sequencesPerStep sequences that every engine decodes at once
 * @param requests requests open at once over all engines; rounded up to whole engines
 * @param partitions logs that the engines are spread over
 * @param hostSamples whether the engines' threads are sampled too, so that steps wait for their core records
 */
public record FleetSize(long tokens, int sequencesPerStep, int requests, int partitions, boolean hostSamples) {

    /** Refuses fleets without engines, tokens or logs. */
    public FleetSize {
        if (tokens < 1 || sequencesPerStep < 1 || requests < 1 || partitions < 1) {
            throw new IllegalArgumentException("Cannot make a fleet of " + tokens + " tokens, " + sequencesPerStep
                    + " sequences per step, " + requests + " requests in " + partitions + " partitions");
        }
    }

    /** Engines of the fleet. */
    public int engines() {
        return (requests + sequencesPerStep - 1) / sequencesPerStep;
    }

    /** Steps that each engine makes. */
    public long stepsPerEngine() {
        long tokensPerRound = (long) engines() * sequencesPerStep;
        return (tokens + tokensPerRound - 1) / tokensPerRound;
    }

    /** Tokens that the fleet makes after rounding. */
    public long exactTokens() {
        return stepsPerEngine() * engines() * sequencesPerStep;
    }
}
