package io.tokenstair.job.request;

import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One sequence of a request while it is open. */
public class SequenceLife {
    public int promptIndex;
    public int choice;
    public boolean fromEngine;
    public String engineClockId = "";
    public List<String> engines = new ArrayList<>(1);
    public List<String> aliases = new ArrayList<>(1);
    public @Nullable Long promptTokens;
    public @Nullable Integer priority;
    public @Nullable Long cachedTokens;
    public int preemptions;
    public long discardedTokens;
    public boolean discardedKnown = true;
    public long resumedCachedTokens;
    public @Nullable String endReason;
    /** Which of {@link #engines} said that it has finished: a bit each. */
    public int finishedEngines;
    /** Which of {@link #engines} makes its tokens; -1 before the first. */
    public int makingEngine = -1;
    /** When the engine that took it up last did so, on that engine's clock. */
    public @Nullable Long queuedNanos;
    /** Who said so: {@link Lifetimes#space}; 0 in state of an earlier build. */
    public int queuedSpace;

    public long tokenCount;
    public int nextTokenIndex;
    public int nextSentIndex;
    public boolean hole;
    public long lastEndNanos;
    public @Nullable Long fromEpochNanos;
    public @Nullable Long toEpochNanos;
    public @Nullable Long boundNanos;
    /** Statistical width; absent where it is not known. */
    public @Nullable Long sigmaNanos;

    public boolean hostCovered;
    public boolean kvReported;
    public boolean gpuReported;
    public boolean multiToken;
    /** Some of its tokens are known from chunks alone. */
    public boolean streamOnly;

    /** Tokens that wait for their delivery, in index order. */
    public List<PendingToken> undelivered = new ArrayList<>();
    /** The first token, held until it is known whether its prefix had been cached before. */
    public @Nullable PendingToken first;

    /** Chunks that wait for their tokens, by observer. */
    public ChunkQueue clientChunks = new ChunkQueue();

    public ChunkQueue gatewayChunks = new ChunkQueue();
    public @Nullable Long clientFirstNanos;
    public @Nullable Long gatewayFirstNanos;

    /** Tokens that have been delivered and wait for the next chunk, which says whether theirs was held back. */
    public List<PendingToken> arriving = new ArrayList<>();
    /** How many of them belong to chunks that are complete. */
    public int arrivedTokens;
    /** Tokens that came late in a first group or two: whether that is a habit is not known yet. */
    public List<PendingToken> undecided = new ArrayList<>();

    /** Last arrival of a token that no engine record made. */
    public @Nullable Long lastArrivedNanos;
    /** Arrival of the last chunk that was counted, whichever observer and clock it was of. */
    public @Nullable Long chunkArrivedNanos;

    public String chunkObserver = "";
    public String chunkClockId = "";
    /** Epoch less clock of the stamps of this sequence's tokens. */
    public @Nullable Long epochOffsetNanos;

    /** Whose arrivals the four below are about: an observer and its clock. */
    public String deliveredBy = "";

    /** What joined the engine's clock with that one last, the bound of it, and the stamp it was for; absent before. */
    public @Nullable Long pathOffsetNanos;

    public long pathBoundNanos;
    public long pathNanos;

    public UsualDelivery usualDelivery = new UsualDelivery();
    /** Step ends against arrivals. */
    public BurstMeter delivery = new BurstMeter();
    /** Arrivals at the gateway against its writes. */
    public BurstMeter gatewayWrites = new BurstMeter();
    /** What each delivery part usually takes, fading; empty before the first chunk that has parts. */
    public long[] usualPartNanos = new long[0];

    public List<LateGroup> late = new ArrayList<>();

    /** Chunks that came twice, too late, or that no use of the id could be told for. */
    public int droppedChunks;
    /** Tokens that no use of the id could be told for. */
    public int droppedTokens;
    /** Differences of stamps that cannot be: negative beyond what the clocks' bound allows. */
    public int invalidStamps;

    /** Some of its chunks came on a clock that nothing joins with the engine's. */
    public boolean unjoined;

    /** What was said once: a bit each, see {@link RequestMilestones}. */
    public int detected;

    public List<SlowGroup> groups = new ArrayList<>();
    public StaircaseState staircase = StaircaseDetector.COMPACT.start();
    /** Events by which rises of its token time were seen: at most as many as {@link SlowGroups} keeps. */
    public List<String> riseEvidence = new ArrayList<>(0);

    // Sums over tokens that are not anomalous, x = context tokens, y = gap in us: growth with context.
    public long growthCount;
    /** Sequences of their steps: where they all grow, each step reads more by as many tokens. */
    public long growthBatch;

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
    /** Engine's clock at the last fact of it. */
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

    /** Whether every engine that had it says that it has finished. */
    boolean finished() {
        return fromEngine && finishedEngines == (1 << engines.size()) - 1;
    }

    boolean finishedOn(int engine) {
        return (finishedEngines & 1 << engine) != 0;
    }

    /** One of {@link #engines} by its place; the first one where the place is -1, null where there is none. */
    @Nullable
    String engineId(int engine) {
        return engines.isEmpty() ? null : engines.get(Math.max(0, engine));
    }

    /** Forgets an engine whose part this is not. */
    void remove(int engine) {
        engines.remove(engine);
        int below = (1 << engine) - 1;
        finishedEngines = (finishedEngines & below) | (finishedEngines >>> 1 & ~below);
        makingEngine = makingEngine > engine ? makingEngine - 1 : makingEngine;
        for (SlowGroup group : groups) {
            group.worstEngine = group.worstEngine > engine ? group.worstEngine - 1 : group.worstEngine;
        }
    }

    ChunkQueue chunks(String observer) {
        return observer.equals(LifetimeState.CLIENT) ? clientChunks : gatewayChunks;
    }
}
