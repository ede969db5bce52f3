package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What a scenario is made of. The values here are those of a healthy run; a scenario changes some. */
final class Settings {
    /** Which decodes and prompts come first in a step's token budget. */
    enum Order {
        /** Sequences in the order of their admission: decodes come before the prompt that was admitted last. */
        ADMISSION,
        /** While any prompt is to be computed, a step computes prompts only. */
        PROMPTS_ONLY_FIRST,
        /** The older half of the decodes, then prompts, then the other decodes. */
        PROMPTS_BEFORE_NEWER_DECODES
    }

    // ---- the engine
    int tokenBudgetTokens = 2048;
    int maxSequences = 256;
    int kvBlocks = 13_750; // 220k tokens
    int slowTierBlocks;
    int maxGraphBatch = StepLaw.MOST_GRAPH_BATCH;
    boolean priorityPolicy;
    boolean prefixCaching = true;
    boolean asyncScheduling;
    Order order = Order.ADMISSION;
    /** A prompt enters only when all of it fits, not only its first part. */
    boolean reserveWholePrompt = true;
    /** A preempted request goes behind those that wait. */
    boolean preemptedGoLast;
    /** Most prompt tokens of one sequence in a step. */
    int promptChunkTokens = Integer.MAX_VALUE;

    int tensorParallelCount = 1;
    /** Share of steps in which the engine moves a few cached blocks to the slower tier for no reason of its requests. */
    double demotionProbability;

    // ---- what disturbs it without being a fault
    double noiseDeviation = 0.015;
    double noiseMemory = 0.3;
    double jitterProbability = 0.003;

    // ---- the load
    int requests = 200;
    double requestsPerSecond = 10;
    double meanTurns = 2;
    int leastPromptTokens = 64;
    int mostPromptTokens = 512;
    int leastOutputTokens = 80;
    int mostOutputTokens = 320;
    int sharedPrefixTokens = 192;
    int prefixGroups = 4;
    int priorities = 1;
    /** Engines that the requests are spread over, each a data-parallel rank with a scheduler and a device of its own. */
    int engines = 1;
    /** Share of the requests that ask for two to four sequences. */
    double severalShare;

    boolean remotePrompts;
    /** Times between which more or fewer requests come: from, to (ns), by which factor. */
    final List<double[]> rateChanges = new ArrayList<>();
    /** Requests beside the stream: when (ns), prompt tokens, output tokens, priority. */
    final List<long[]> extraRequests = new ArrayList<>();

    // ---- the ways between
    long networkNanos = 60_000;
    long clientNetworkNanos = 180_000;
    double clockDriftPartsPerMillion = 10;

    // ---- start-up
    boolean loadsShards;

    // ---- what goes wrong
    final List<Fault> faults = new ArrayList<>();

    /** About how long the load takes to come, in ns. */
    long spanNanos() {
        return (long) (requests / requestsPerSecond * 1e9);
    }

    /** An instant of the load: 0 its begin, 1 its end. */
    long at(double share) {
        return (long) (share * spanNanos());
    }

    /** Takes the faults of these causes out. */
    void without(Set<Cause> off) {
        faults.removeIf(fault ->
                fault.kind().cause() != null && off.contains(fault.kind().cause()));
        if (off.contains(Cause.UNRESOLVED_STALL)) {
            jitterProbability = 0;
        }
        if (off.contains(Cause.KERNEL_FALLBACK)) {
            maxGraphBatch = StepLaw.MOST_GRAPH_BATCH;
        }
    }
}
