package io.tokenstair.job.request;

import org.jspecify.annotations.Nullable;

/** What one observer, the client or the gateway, said of one use of a request id, apart from its chunks. */
public class ObserverStream {
    /** A write that takes longer waited for the client: a socket with space takes one in microseconds. */
    private static final long BLOCKED_WRITE_NANOS = 1_000_000;

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

    /** When the last write began that the client's socket did not take at once, and when it ended, on its clock; both 0 before one. */
    public long blockedFromNanos;

    public long blockedUntilNanos;

    /** For Flink's serializer. */
    public ObserverStream() {}

    /**
     * When a chunk would have been written but for writes before it that the client's full socket held up: what it waited for them is the
     * client's, not the gateway's. Chunks come in the order of their writes. State: the last write that was held up.
     *
     * @param arrivedNanos when it came in, on this observer's clock
     * @param writeStartNanos when its write began
     * @param writeEndNanos when the socket had taken it
     */
    long ownWriteStartNanos(long arrivedNanos, long writeStartNanos, long writeEndNanos) {
        long heldUp = Math.min(writeStartNanos, blockedUntilNanos) - Math.max(arrivedNanos, blockedFromNanos);
        if (writeEndNanos - writeStartNanos >= BLOCKED_WRITE_NANOS) {
            boolean goesOn = blockedUntilNanos > 0 && writeStartNanos - blockedUntilNanos < BLOCKED_WRITE_NANOS;
            blockedFromNanos = goesOn ? blockedFromNanos : writeStartNanos;
            blockedUntilNanos = Math.max(blockedUntilNanos, writeEndNanos);
        }
        return writeStartNanos - Math.max(0, heldUp);
    }

    /** The id of one of its records. */
    String eventId(long recordSequence) {
        return collectorId + "/" + collectorEpoch + "/" + recordSequence;
    }
}
