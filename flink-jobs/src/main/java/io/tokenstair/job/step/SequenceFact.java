package io.tokenstair.job.step;

import org.jspecify.annotations.Nullable;

/** Something that happened to a sequence at its engine, other than a token. */
public class SequenceFact {
    /** What happened. */
    public enum Kind {
        /** The scheduler took it in. */
        QUEUED,
        /** Its first chunk was scheduled; {@code tokens} were found cached. */
        SCHEDULED,
        /** It lost its blocks; {@code tokens} were discarded. */
        PREEMPTED,
        /** It was scheduled again; {@code tokens} were found cached. */
        RESUMED,
        /** It computed {@code tokens} prompt tokens whose blocks had been cached before and evicted since. */
        PREFIX_RECOMPUTED,
        /** It ended; {@code tokens} were made. */
        FINISHED,
        /** While it waited after a preemption, {@code otherRequestId} ran first: no more urgent, and started later or not at all. */
        OVERTAKEN,
        /** While it waited for its first schedule, {@code otherRequestId}, less urgent, got its own. */
        PASSED_OVER
    }

    public Kind kind = Kind.QUEUED;
    public SequenceName name = new SequenceName();
    public String clockId = "";
    public long coarseEpochMillis;
    public @Nullable Long epochNanos;
    public @Nullable Long boundNanos;
    public @Nullable Long sigmaNanos;
    public long clockNanos;
    public String eventId = "";
    public @Nullable Long tokens;
    public @Nullable Long promptTokens;
    public @Nullable Integer priority;
    public @Nullable Long stepId;
    public @Nullable String endReason;
    public @Nullable String otherRequestId;
    public @Nullable String otherEventId;
    /** Priority of {@code otherRequestId}. */
    public @Nullable Integer otherPriority;
    /** Of a preemption: the largest other holder of KV space. */
    public @Nullable String holderRequestId;
    /** Of a preemption: output tokens so far. */
    public @Nullable Long outputTokens;

    public @Nullable Long kvUsedBlocksCount;
    public @Nullable Long kvTotalBlocksCount;
    public int blockSizeTokens;

    /** {@link #name} and {@link #clockId} as they travel; null until they have. Not part of the content. */
    transient byte @Nullable [] packedName;

    /** How much of it they are. */
    transient int packedNameLength;

    /** Says that it belongs to a request of another id. */
    public void rename(String requestId) {
        name = name.renamed(requestId);
        packedName = null;
    }

    /** For Flink's serializer. */
    public SequenceFact() {}
}
