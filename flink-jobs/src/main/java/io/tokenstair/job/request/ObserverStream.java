package io.tokenstair.job.request;

import org.jspecify.annotations.Nullable;

/** What one observer, the client or the gateway, said of one use of a request id, apart from its chunks. */
public class ObserverStream {
    public String observer = "";
    public String collectorId = "";
    public long collectorEpoch;
    public String clockId = "";
    public boolean sentKnown;
    /** When it sent or received the request, on its clock. */
    public long sentNanos;
    /** Epoch less its clock, good to {@link RequestLife#COARSE_BOUND_NANOS}: from the coarse wall reading of the same header. */
    public @Nullable Long coarseOffsetNanos;
    /** Epoch less its clock as clock samples bound it; absent where its clock has no path to the epoch. */
    public @Nullable Long alignedOffsetNanos;
    /** Hard bound of {@link #alignedOffsetNanos}. */
    public long alignedBoundNanos;

    public long alignedSigmaNanos;
    /** Epoch less its clock at the end, in place of the offset at the beginning; absent where it was not aligned. */
    public @Nullable Long endedOffsetNanos;

    public boolean chunksSeen;
    public boolean completed;
    public @Nullable Long endedNanos;
    public @Nullable String outcome;
    public @Nullable String errorType;
    public String completedEventId = "";
    /** Output tokens of all sequences as its usage record says; absent where it has none. */
    public @Nullable Long usageTokens;
    /** Prompt tokens as its usage record says; absent where it has none. */
    public @Nullable Long usagePromptTokens;
    /** Of those, found in the prefix cache. */
    public @Nullable Long usageCachedTokens;
    /** When its first token came by its clock, of an observer that stamps no chunks. */
    public @Nullable Long statedFirstNanos;
    /** Mean time between its tokens, of an observer that stamps no chunks. */
    public @Nullable Long statedMeanGapNanos;

    /** For Flink's serializer. */
    public ObserverStream() {}

    /** The id of one of its records. */
    String eventId(long recordSequence) {
        return collectorId + "/" + collectorEpoch + "/" + recordSequence;
    }
}
