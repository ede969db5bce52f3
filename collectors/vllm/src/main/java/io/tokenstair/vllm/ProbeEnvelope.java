package io.tokenstair.vllm;

import org.jspecify.annotations.Nullable;

/**
 * What the first frame of a probe's message says.
 *
 * @param source who sent it: new at each start of a process, each with sequences of its own
 * @param role engine, api or worker
 * @param rank data-parallel rank; absent where none applies
 * @param engineId the engine, as whoever started it named it; absent when not named
 * @param machine the machine whose clocks the stamps are of: its boot id
 * @param firstSequence number of the first record of the second frame
 * @param recordCount records in it
 * @param lostCount records of this source that could not be sent so far
 * @param beforeNanos monotonic clock, read before the wall clock
 * @param wallNanos wall clock, ns since 1970
 * @param afterNanos monotonic clock, read after it
 */
record ProbeEnvelope(
        String source,
        String role,
        @Nullable Integer rank,
        @Nullable String engineId,
        String machine,
        long firstSequence,
        int recordCount,
        long lostCount,
        long beforeNanos,
        long wallNanos,
        long afterNanos) {}
