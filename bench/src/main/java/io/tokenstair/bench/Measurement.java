package io.tokenstair.bench;

import java.util.Map;

/**
 * What one run took, from its first record to its end.
 *
 * @param tokens tokens that came out
 * @param slowTokens how many of them were slow; 0 where nothing was analysed
 * @param wallNanos time that passed
 * @param cpuNanos processor time of the whole process, all threads
 * @param compilerNanos of it, what the JVM spent on compiling
 * @param collectorNanos of it, what the JVM spent on collecting garbage
 * @param archiveBytes bytes of the files written
 * @param revisions rules revised while it ran
 * @param longestPauseMillis longest time in which event time did not go on behind the rules: {@link LongestPause}; 0 where there are none
 * @param subtaskGapMillis longest time in which a subtask took nothing, by operator and subtask: {@link SubtaskGaps}
 * @param state what it held
 */
public record Measurement(
        long tokens,
        long slowTokens,
        long wallNanos,
        long cpuNanos,
        long compilerNanos,
        long collectorNanos,
        long archiveBytes,
        long revisions,
        long longestPauseMillis,
        Map<String, Long> subtaskGapMillis,
        StateSize state) {

    /**
     * What a run held.
     *
     * @param checkpoints completed ones that were seen
     * @param checkpointBytes bytes of the largest of them; 0 without
     * @param heapBytes most that was in use after a collection, less what was before the run; 0 where none was measured
     */
    public record StateSize(int checkpoints, long checkpointBytes, long heapBytes) {}

    /** Million tokens a second. */
    public double millionTokensPerSecond() {
        return tokens * 1e3 / wallNanos;
    }

    /** Processor time per token. */
    public double cpuNanosPerToken() {
        return (double) cpuNanos / tokens;
    }

    /** Of it, compiling. */
    public double compilerNanosPerToken() {
        return (double) compilerNanos / tokens;
    }

    /** Of it, collecting garbage. */
    public double collectorNanosPerToken() {
        return (double) collectorNanos / tokens;
    }
}
