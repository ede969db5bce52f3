package io.tokenstair.job.request;

import io.tokenstair.job.staircase.StaircaseState;
import io.tokenstair.job.window.SortedWindow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One sequence of a request while it is open. Under 2 KB without the tokens that wait for their delivery. */
public class SequenceLife {
    public int promptIndex;
    public int choice;
    public boolean fromEngine;
    public String engineClockId = "";
    public List<String> engines = new ArrayList<>();
    public List<String> aliases = new ArrayList<>();
    public @Nullable Long promptTokens;
    public @Nullable Integer priority;
    public @Nullable Long cachedTokens;
    public int preemptions;
    public long discardedTokens;
    public boolean discardedKnown = true;
    public long resumedCachedTokens;
    public @Nullable String endReason;
    public boolean finished;

    public long tokenCount;
    public int nextTokenIndex;
    public int nextSentIndex;
    public boolean hole;
    public long lastEndNanos;
    public @Nullable Long fromEpochNanos;
    public @Nullable Long toEpochNanos;
    public @Nullable Long boundNanos;
    public boolean hostCovered;
    public boolean kvReported;
    public boolean multiToken;

    /** Tokens that wait for their delivery, in index order. */
    public List<PendingToken> undelivered = new ArrayList<>();
    /** The first token, held until it is known whether its prefix had been cached before. */
    public @Nullable PendingToken first;

    /** Chunks that wait for their tokens: first index, count, arrival, three numbers each. */
    public List<Long> unmatched = new ArrayList<>();

    public @Nullable Long firstArrivedNanos;
    public @Nullable Long lastArrivedNanos;
    /** Epoch less clock of the stamps of this sequence's tokens. */
    public @Nullable Long epochOffsetNanos;

    public SortedWindow deliveryWindow = new SortedWindow(128);

    public List<SlowGroup> groups = new ArrayList<>();
    public StaircaseState staircase = new StaircaseState();

    // Sums over tokens that are not anomalous, x = context tokens, y = gap in us: growth with context.
    public long growthCount;
    public long growthX;
    public long growthY;
    public long growthXx;
    public long growthXy;
    public long growthYy;
    public int growthLeastContext = Integer.MAX_VALUE;
    public int growthMostContext;
    public double residentNanosPerToken;
    public int contextMark = 1024;

    // Between the first preemption and the last one: tokens computed again, and output tokens gained.
    public long recomputedBetweenTokens;
    public boolean recomputedBetweenKnown = true;
    public long firstPreemptedOutputTokens;
    public long lastPreemptedOutputTokens;
    public @Nullable Long lastDiscardedTokens;
    public long resumedSincePreemptedTokens;
    public @Nullable String kvHolder;
    public List<String> preemptionEvidence = new ArrayList<>();

    public @Nullable String overtakenBy;
    public int overtakenCount;
    public @Nullable Long overtakenDiscardedTokens;
    public List<String> overtakenEvidence = new ArrayList<>();

    public String finishedEventId = "";
    /** Engine's clock at its queued stamp and at the last fact of it. */
    public @Nullable Long queuedNanos;

    public @Nullable Long lastFactNanos;
    public int blockSizeTokens;
    /** Share of the KV pool in use when its lost prefix was computed again. */
    public @Nullable Integer prefixPoolPercent;

    public long prefixRecomputedTokens;
    public @Nullable String prefixEvictedFor;
    public List<String> prefixEvidence = new ArrayList<>();

    public long firstLostNanos;
    public long gapSumNanos;
    public long gapCount;

    /** For Flink's serializer. */
    public SequenceLife() {}
}
