package io.tokenstair.job.statistics;

import org.jspecify.annotations.Nullable;

/**
 * The series of one engine from which covariances are taken: its steps in blocks of {@value #STEPS}, in which a sequence that decodes
 * all the time makes as many tokens. A step that cannot be judged ends the series; the next one starts anew, so that no lag spans
 * what is not known. State: {@link MomentSums#LAGS} blocks, the open block, the open pane: 12 KB.
 */
public class BlockSeries {
    /** Steps in a block. */
    public static final int STEPS = 8;

    /** A step counts at most this many times its expected time: a stall is one stall, not the whole block. */
    private static final int STALL_LIMIT = 8;

    /** Of what the prefix cache was asked this part is forgotten per report: 2^-3. */
    private static final int FORGET_BITS = 3;

    private static final int V = Variable.COUNT;
    private static final double LEVEL_UNIT = 1 << 20;

    public long[] ring = new long[MomentSums.LAGS * V];
    public int newest;
    public int known;

    public int steps;
    public long stepNanos;
    public long expectedNanos;
    public long decodes;
    public long residentTokens;
    public long paddedCount;
    public long promptTokens;

    /** Tokens looked up and found lately; lookups before the first report are not known. */
    public long queriedTokens;

    public long hitTokens;
    /** True when the engine reports lookups itself: rows are not counted then. */
    public boolean lookupsReported;

    public @Nullable MomentPane pane;

    /** For Flink's serializer: nothing observed yet. */
    public BlockSeries() {}

    /** The engine reported what its prefix cache was asked and found. */
    public void lookup(@Nullable Long queried, @Nullable Long hits) {
        if (queried == null || hits == null || queried <= 0 || hits < 0 || hits > queried) {
            return;
        }
        if (!lookupsReported) {
            lookupsReported = true;
            queriedTokens = 0;
            hitTokens = 0;
        }
        asked(queried, hits);
    }

    /** A sequence was scheduled for the first time: so many of its prompt tokens were found cached. */
    public void scheduled(long askedTokens, long cachedTokens) {
        if (!lookupsReported && askedTokens > 0 && cachedTokens >= 0 && cachedTokens <= askedTokens) {
            asked(askedTokens, cachedTokens);
        }
    }

    private void asked(long queried, long hits) {
        // In 1/256 of a token, so that forgetting does not round small numbers away.
        queriedTokens += (Math.min(queried, 1L << 32) << 8) - (queriedTokens >> FORGET_BITS);
        hitTokens += (Math.min(hits, 1L << 32) << 8) - (hitTokens >> FORGET_BITS);
    }

    private boolean hitRateKnown() {
        return queriedTokens > 0;
    }

    private long hitRate() {
        return hitRateKnown() ? Math.max(0, Math.min(10_000, hitTokens * 10_000 / queriedTokens)) : 0;
    }

    /** A step that cannot be judged: the series ends. */
    public void interrupt() {
        steps = 0;
        known = 0;
        stepNanos = 0;
        expectedNanos = 0;
        decodes = 0;
        residentTokens = 0;
        paddedCount = 0;
        promptTokens = 0;
    }

    /**
     * Takes a judged step with at least one decoding sequence. Returns the pane before when this step's block begins another one, to
     * be sent; null usually.
     */
    public @Nullable MomentPane step(
            long epochMillis,
            long stepTimeNanos,
            long expectedTimeNanos,
            int decodeSequences,
            long residentContextTokens,
            int paddedBatchCount,
            long promptTokensComputed) {
        // Two weeks: whatever a clock says, eight of them and their eightfold fit.
        long expected = Math.max(1, Math.min(1L << 50, expectedTimeNanos));
        steps++;
        stepNanos += Math.max(expected / STALL_LIMIT, Math.min(expected * STALL_LIMIT, stepTimeNanos));
        expectedNanos += expected;
        decodes += decodeSequences;
        residentTokens += residentContextTokens;
        paddedCount += paddedBatchCount;
        promptTokens += promptTokensComputed;
        return steps < STEPS ? null : block(epochMillis);
    }

    private @Nullable MomentPane block(long epochMillis) {
        long[] block = new long[V];
        set(
                block,
                Variable.LEVEL,
                StrictMath.round(StrictMath.log((double) Math.max(1, stepNanos) / expectedNanos) * LEVEL_UNIT));
        set(block, Variable.OWN_CONTEXT, residentTokens / Math.max(1, decodes));
        set(block, Variable.RESIDENT_CONTEXT, residentTokens / STEPS);
        set(block, Variable.KV_HIT_RATE, hitRate());
        set(block, Variable.PADDED_BATCH, paddedCount);
        set(block, Variable.PROMPT_TOKENS, promptTokens);
        int before = known;
        interrupt();
        long start = Panes.startMillis(epochMillis, Panes.MOMENT_MILLIS);
        MomentPane open = pane;
        MomentPane done = null;
        if (open == null || open.paneStartMillis != start) {
            done = open;
            open = new MomentPane();
            open.paneStartMillis = start;
            pane = open;
        }
        if (open.moments.blocks() < MomentSums.BLOCKS_PER_PANE) {
            open.moments.add(block, ring, newest, before);
            open.moments.hitRateKnown &= hitRateKnown();
        }
        newest = (newest + 1) % MomentSums.LAGS;
        System.arraycopy(block, 0, ring, newest * V, V);
        known = Math.min(MomentSums.LAGS, before + 1);
        return done;
    }

    private static void set(long[] block, Variable variable, long value) {
        block[variable.ordinal()] = variable.clip(value);
    }

    /** Takes out the open pane, to be sent: nothing that ends before {@code completeToMillis} will be added to it. */
    public @Nullable MomentPane takeBefore(long completeToMillis) {
        MomentPane open = pane;
        if (open == null || Panes.endMillis(open.paneStartMillis, Panes.MOMENT_MILLIS) > completeToMillis) {
            return null;
        }
        pane = null;
        return open;
    }
}
