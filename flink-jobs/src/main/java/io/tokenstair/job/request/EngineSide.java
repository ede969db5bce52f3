package io.tokenstair.job.request;

import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Part;
import io.tokenstair.job.staircase.Rise;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseShape;
import io.tokenstair.job.step.RowReader;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.SequenceName;
import io.tokenstair.job.step.SharedColumns;
import io.tokenstair.job.step.SlowToken;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.job.step.TokenRow;
import io.tokenstair.milestone.MilestoneKind;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What engines say of a request: facts of its sequences, and their tokens. */
final class EngineSide {
    private static final int MAX_ENGINES = 31;
    private static final int MAX_ALIASES = 64;

    /** A longer gap would not fit the sums of growth, and is none of it. */
    private static final long LONGEST_GROWTH_NANOS = SharedColumns.LONGEST_SUMMED_NANOS;

    private final RequestMilestones milestones;
    private final Delivery delivery;
    private final TokenRows rows;
    private final ClockPaths clocks;
    private final Plain plain = new Plain();
    private final RowReader reader = new RowReader();
    private @Nullable TokenBatch current;

    EngineSide(RequestMilestones milestones, Delivery delivery, TokenRows rows, ClockPaths clocks) {
        this.clocks = clocks;
        this.rows = rows;
        this.milestones = milestones;
        this.delivery = delivery;
    }

    /** Takes a fact of a sequence. */
    void fact(LifetimeState lifetime, SequenceFact fact) {
        SequenceLife sequence = Lifetimes.sequence(lifetime, fact.name.promptIndex, fact.name.choice);
        if (sequence == null) {
            return;
        }
        int engine = fromEngine(sequence, fact.name);
        if (sequence.makingEngine < 0) {
            sequence.engineClockId = fact.clockId;
        }
        if (sequence.fromEpochNanos == null) {
            sequence.fromEpochNanos = fact.epochNanos;
            sequence.boundNanos = fact.boundNanos;
            sequence.sigmaNanos = fact.sigmaNanos;
        }
        sequence.lastFactNanos = fact.clockNanos;
        switch (fact.kind) {
            case QUEUED -> {
                sequence.queuedNanos = fact.clockNanos;
                sequence.queuedSpace = Lifetimes.space(fact);
                sequence.promptTokens = fact.promptTokens;
                sequence.priority = fact.priority;
            }
            case SCHEDULED -> {
                // What a decode engine gets from its prefill engine is no hit of a cache.
                if (engine == 0) {
                    sequence.cachedTokens = fact.tokens;
                }
            }
            case PREEMPTED -> {
                preempted(sequence, fact);
                if (fact.tokens == null) {
                    sequence.discardedKnown = false;
                } else {
                    sequence.discardedTokens += fact.tokens;
                }
                milestones.fact(MilestoneKind.PREEMPTED, lifetime, sequence, fact);
                milestones.fact(MilestoneKind.KV_PRESSURE, lifetime, sequence, fact);
                if (RequestFindings.isLoop(sequence)) {
                    milestones.detected(Cause.PREEMPTION_LOOP, lifetime, sequence, fact, sequence.kvHolder);
                }
            }
            case RESUMED -> {
                long found = fact.tokens == null ? 0 : fact.tokens;
                sequence.resumedCachedTokens += found;
                sequence.resumedSincePreemptedTokens += found;
            }
            case PASSED_OVER -> milestones.fact(MilestoneKind.OVERTAKEN, lifetime, sequence, fact);
            case OVERTAKEN -> {
                sequence.overtakenCount++;
                if (sequence.overtakenBy == null) {
                    sequence.overtakenBy = fact.otherRequestId;
                    sequence.overtakenDiscardedTokens = fact.tokens;
                }
                SlowGroups.addEvidence(sequence.overtakenEvidence, fact.otherEventId);
                SlowGroups.addEvidence(sequence.overtakenEvidence, fact.eventId);
                milestones.fact(MilestoneKind.OVERTAKEN, lifetime, sequence, fact);
            }
            case PREFIX_RECOMPUTED -> {
                sequence.prefixRecomputedTokens += fact.tokens == null ? 0 : fact.tokens;
                if (sequence.prefixEvictedFor == null) {
                    sequence.prefixEvictedFor = fact.otherRequestId;
                }
                sequence.blockSizeTokens = fact.blockSizeTokens;
                if (fact.kvUsedBlocksCount != null
                        && fact.kvTotalBlocksCount != null
                        && fact.kvTotalBlocksCount > 0
                        && fact.kvUsedBlocksCount <= fact.kvTotalBlocksCount) {
                    sequence.prefixPoolPercent = (int) (100 * fact.kvUsedBlocksCount / fact.kvTotalBlocksCount);
                }
                SlowGroups.addEvidence(sequence.prefixEvidence, fact.otherEventId);
                SlowGroups.addEvidence(sequence.prefixEvidence, fact.eventId);
                milestones.fact(MilestoneKind.PREFIX_RECOMPUTED, lifetime, sequence, fact);
                if (TokenRows.isPrefixLost(sequence)) {
                    milestones.detected(Cause.PREFIX_HIT_COLLAPSE, lifetime, sequence, fact, sequence.prefixEvictedFor);
                }
            }
            case FINISHED -> {
                sequence.finishedEngines |= 1 << engine;
                if (sequence.makingEngine < 0 || sequence.makingEngine == engine) {
                    sequence.finishedEventId = fact.eventId;
                    String reason = fact.endReason == null ? "unknown" : fact.endReason;
                    if (sequence.endReason == null || !reason.equals("unknown")) {
                        sequence.endReason = reason.equals("aborted") ? "aborted-by-client" : reason;
                    }
                }
                if (fact.epochNanos != null) {
                    sequence.toEpochNanos = fact.epochNanos;
                }
                if ("aborted-by-client".equals(sequence.endReason)) {
                    milestones.detected(Cause.CLIENT_ABORT, lifetime, sequence, fact, LifetimeState.CLIENT);
                }
                if (lifetime.hasMilestone) {
                    milestones.fact(MilestoneKind.FINISHED, lifetime, sequence, fact);
                }
            }
        }
    }

    private static void preempted(SequenceLife sequence, SequenceFact fact) {
        long outputs = fact.outputTokens == null ? sequence.nextTokenIndex : fact.outputTokens;
        if (sequence.preemptions == 0) {
            sequence.firstPreemptedOutputTokens = outputs;
        } else if (fact.tokens == null || sequence.lastDiscardedTokens == null) {
            sequence.recomputedBetweenKnown = false;
        } else {
            // It may have lost its blocks again before all was computed again.
            sequence.recomputedBetweenTokens += Math.max(
                    0, Math.min(fact.tokens, sequence.lastDiscardedTokens) - sequence.resumedSincePreemptedTokens);
        }
        sequence.preemptions++;
        sequence.lastPreemptedOutputTokens = outputs;
        sequence.lastDiscardedTokens = fact.tokens;
        sequence.resumedSincePreemptedTokens = 0;
        if (fact.holderRequestId != null) {
            sequence.kvHolder = fact.holderRequestId;
        }
        SlowGroups.addEvidence(sequence.preemptionEvidence, fact.eventId);
    }

    /** Notes the engine; its place among the engines of the sequence. */
    private static int fromEngine(SequenceLife sequence, SequenceName name) {
        sequence.fromEngine = true;
        int engine = sequence.engines.indexOf(name.engineId);
        if (engine < 0) {
            engine = Math.min(sequence.engines.size(), MAX_ENGINES - 1);
            if (sequence.engines.size() < MAX_ENGINES) {
                sequence.engines.add(name.engineId);
            }
        }
        if (!sequence.aliases.contains(name.engineRequestId) && sequence.aliases.size() < MAX_ALIASES) {
            sequence.aliases.add(name.engineRequestId);
        }
        return engine;
    }

    /** Takes tokens of a sequence, in index order. */
    void tokens(LifetimeState lifetime, TokenBatch batch) {
        SequenceLife sequence = Lifetimes.sequence(lifetime, batch.name.promptIndex, batch.name.choice);
        if (sequence == null) {
            Lifetimes.counting(lifetime).droppedTokens += batch.count;
            return;
        }
        int engine = fromEngine(sequence, batch.name);
        if (!makes(lifetime, sequence, engine, batch)) {
            sequence.droppedTokens += batch.count;
            return;
        }
        sequence.engineClockId = batch.clockId;
        sequence.residentNanosPerToken = batch.residentNanosPerToken;
        current = batch;
        boolean stepped = clocks.mayHaveStepped(batch.clockId);
        boolean unseen = !lifetime.warmup && !Delivery.pairs(lifetime) && !stepped;
        reader.begin(batch);
        TokenRow row = reader.row();
        int runFrom = -1;
        for (int i = 0; i < batch.count; i++) {
            SharedColumns columns = unseen && runFrom >= 0 ? reader.run() : null;
            if (columns != null && isPlain(sequence, columns)) {
                i += reader.runLeft() - 1;
                plain(lifetime, sequence, batch, columns);
                continue;
            }
            reader.read();
            if (unseen && isPlain(sequence, row)) {
                if (runFrom < 0) {
                    runFrom = i;
                    plain.begin();
                }
                if (row.tokenIndex >= TokenRows.FIRST_HELD_UNTIL) {
                    rows.release(lifetime, sequence);
                }
                plain(lifetime, sequence, batch, row);
                continue;
            }
            if (runFrom >= 0) {
                plain.end(sequence);
                rows.run(lifetime, sequence, batch, runFrom, i);
                runFrom = -1;
            }
            PendingToken token = pending(batch, row, batch.slowAt(i));
            if (stepped && clocks.isWhereAClockStepped(batch.clockId, token.endNanos, row.coarseEpochMillis)) {
                // Where its step was judged nobody knew yet that a clock had stepped there.
                token.producedEpochNanos = null;
                token.boundNanos = null;
                token.sigmaNanos = null;
            }
            produced(lifetime, sequence, token, row.coarseEpochMillis);
        }
        if (runFrom >= 0) {
            plain.end(sequence);
            rows.run(lifetime, sequence, batch, runFrom, batch.count);
        }
    }

    /** A token of a batch on its way out. */
    static PendingToken pending(TokenBatch batch, TokenRow row, @Nullable SlowToken slow) {
        PendingToken token = new PendingToken();
        token.tokenIndex = row.tokenIndex;
        token.engineId = batch.name.engineId;
        token.stepId = row.stepId;
        token.endNanos = row.endNanos;
        token.producedEpochNanos = orNull(row.epochNanos);
        token.boundNanos = orNull(row.boundNanos);
        token.sigmaNanos = orNull(row.sigmaNanos);
        token.gapBasis = "produced";
        token.gapNanos = orNull(row.gapNanos);
        token.expectedNanos = orNull(row.expectedNanos);
        token.referenceNanos = orNull(row.referenceNanos);
        token.contextTokens = row.contextTokens;
        token.batchSequences = row.batchSequences;
        token.flags = row.flags;
        token.partMask = row.partMask;
        token.partNanos = Arrays.copyOf(row.partNanos, row.partCount);
        token.slow = slow;
        return token;
    }

    // ---- tokens of which there is nothing to say but their numbers

    /** What tokens of a run leave behind at its end: sums and last values, so that nothing is boxed per token. */
    private static final class Plain {
        private long lastEndNanos;
        private long firstEpochNanos;
        private long lastEpochNanos;
        private long lastBoundNanos;
        private long lastSigmaNanos;
        private long offsetNanos;
        private int flags;
        private long gapSumNanos;
        private int count;

        void begin() {
            firstEpochNanos = TokenBatch.ABSENT;
            lastEpochNanos = TokenBatch.ABSENT;
            flags = 0;
            gapSumNanos = 0;
            count = 0;
        }

        void add(TokenRow row) {
            lastEndNanos = row.endNanos;
            if (row.epochNanos != TokenBatch.ABSENT) {
                offsetNanos = row.epochNanos - row.endNanos;
                lastBoundNanos = row.boundNanos;
                lastSigmaNanos = row.sigmaNanos;
                lastEpochNanos = row.epochNanos;
                firstEpochNanos = firstEpochNanos == TokenBatch.ABSENT ? row.epochNanos : firstEpochNanos;
            }
            flags |= row.flags;
            gapSumNanos += row.gapNanos;
            count++;
        }

        /** Adds a run of tokens. */
        void add(SharedColumns columns, int place, int steps) {
            int last = place + steps - 1;
            lastEndNanos = columns.endNanos(last);
            long epochNanos = columns.epochNanos(last);
            if (epochNanos != TokenBatch.ABSENT) {
                offsetNanos = epochNanos - lastEndNanos;
                lastBoundNanos = columns.boundNanos(last);
                lastSigmaNanos = columns.sigmaNanos(last);
                lastEpochNanos = epochNanos;
                firstEpochNanos = firstEpochNanos == TokenBatch.ABSENT ? columns.epochNanos(place) : firstEpochNanos;
            }
            flags |= columns.flags(place, steps);
            gapSumNanos += columns.gapNanos(place, steps);
            count += steps;
        }

        void end(SequenceLife sequence) {
            sequence.tokenCount += count;
            sequence.lastEndNanos = lastEndNanos;
            if (lastEpochNanos != TokenBatch.ABSENT) {
                sequence.epochOffsetNanos = offsetNanos;
                sequence.boundNanos = orNull(lastBoundNanos);
                sequence.sigmaNanos = orNull(lastSigmaNanos);
                if (sequence.fromEpochNanos == null) {
                    sequence.fromEpochNanos = firstEpochNanos;
                }
                sequence.toEpochNanos = lastEpochNanos;
            }
            sequence.hostCovered |= (flags & TokenBatch.HOST_COVERED) != 0;
            sequence.kvReported |= (flags & TokenBatch.KV_REPORTED) != 0;
            sequence.gpuReported |= (flags & TokenBatch.GPU_REPORTED) != 0;
            sequence.gapSumNanos += gapSumNanos;
            sequence.gapCount += count;
        }
    }

    private static boolean isPlain(SequenceLife sequence, TokenRow row) {
        return row.tokenIndex == sequence.nextTokenIndex
                && row.tokenIndex > 0
                && row.gapNanos != TokenBatch.ABSENT
                && (row.flags & (TokenBatch.SLOW | TokenBatch.SEVERAL | TokenBatch.RECOMPUTED)) == 0;
    }

    /** The same as {@link #produced} and {@link #watch}, for a token that is plain. */
    private void plain(LifetimeState lifetime, SequenceLife sequence, TokenBatch batch, TokenRow row) {
        plain.add(row);
        made(sequence, row.tokenIndex);
        if (row.contextTokens / 2 >= sequence.contextMark) {
            sequence.contextMark = Integer.highestOneBit(row.contextTokens);
            milestones.token(
                    MilestoneKind.CONTEXT_EXPANDED,
                    lifetime,
                    sequence,
                    pending(batch, row, null),
                    row.coarseEpochMillis,
                    List.of());
        }
        if (row.expectedNanos != TokenBatch.ABSENT) {
            Rise rise = StaircaseDetector.COMPACT.accept(
                    sequence.staircase,
                    row.tokenIndex,
                    row.gapNanos,
                    row.expectedNanos,
                    (row.flags & TokenBatch.KV_EVENT) != 0 ? 1 : 0);
            if (rise != null) {
                rose(lifetime, sequence, pending(batch, row, null), row.coarseEpochMillis);
            }
        }
        if (row.gapNanos < LONGEST_GROWTH_NANOS) {
            grow(sequence, row.contextTokens, row.gapNanos, row.batchSequences);
        }
    }

    /** Whether {@link #isPlain} holds for all rows of the run at hand, and no context doubles in it. */
    private boolean isPlain(SequenceLife sequence, SharedColumns columns) {
        TokenRow before = reader.row();
        return before.tokenIndex + 1 == sequence.nextTokenIndex
                && sequence.first == null
                && (before.contextTokens + reader.runLeft()) / 2 < sequence.contextMark
                && columns.arePlain(reader.runPlace(), reader.runLeft());
    }

    /** The same as {@link #plain} of one row after the other, for a run of them. */
    private void plain(LifetimeState lifetime, SequenceLife sequence, TokenBatch batch, SharedColumns columns) {
        TokenRow row = reader.row();
        while (reader.runLeft() > 0) {
            int place = reader.runPlace();
            int left = reader.runLeft();
            int tokenIndex = row.tokenIndex + 1;
            int seen = 0;
            Rise rise = null;
            while (seen < left && rise == null) {
                boolean tick = columns.isTick(sequence.staircase, place + seen, left - seen);
                rise = tick
                        ? columns.acceptTick(sequence.staircase, place + seen, tokenIndex + seen)
                        : columns.accept(sequence.staircase, place + seen, tokenIndex + seen);
                seen += tick ? StaircaseDetector.TICK_VALUES : 1;
            }
            // The token of a rise is taken by itself: what is said of it names its row.
            int before = rise == null ? seen : seen - 1;
            if (before > 0) {
                plain.add(columns, place, before);
                made(sequence, row.tokenIndex + before);
                grow(sequence, row.contextTokens + 1, columns, place, before);
                reader.skip(columns, before);
            }
            if (rise != null) {
                reader.read();
                plain.add(row);
                made(sequence, row.tokenIndex);
                rose(lifetime, sequence, pending(batch, row, null), row.coarseEpochMillis);
                grow(sequence, row.contextTokens, row.gapNanos, row.batchSequences);
            }
        }
    }

    private static void made(SequenceLife sequence, int tokenIndex) {
        sequence.nextTokenIndex = tokenIndex + 1;
        sequence.nextSentIndex = Math.max(sequence.nextSentIndex, tokenIndex + 1);
    }

    /** The same as {@link #grow} of one token after the other, the context of the first one given. */
    private static void grow(SequenceLife sequence, int contextTokens, SharedColumns columns, int place, int count) {
        long x = contextTokens;
        long n = count;
        long y = columns.gapMicros(place, count);
        sequence.growthCount += n;
        sequence.growthBatch += columns.batchSequences(place, count);
        sequence.growthX += n * x + n * (n - 1) / 2;
        sequence.growthY += y;
        sequence.growthXx += n * x * x + n * (n - 1) * x + (n - 1) * n * (2 * n - 1) / 6;
        sequence.growthXy += x * y + columns.gapMicrosByToken(place, count);
        sequence.growthYy += columns.gapMicrosSquared(place, count);
        sequence.growthLeastContext = Math.min(sequence.growthLeastContext, contextTokens);
        sequence.growthMostContext = Math.max(sequence.growthMostContext, contextTokens + count - 1);
    }

    private static void grow(SequenceLife sequence, int contextTokens, long gapNanos, int batchSequences) {
        long x = contextTokens;
        long y = gapNanos / 1_000;
        sequence.growthCount++;
        sequence.growthBatch += batchSequences;
        sequence.growthX += x;
        sequence.growthY += y;
        sequence.growthXx += x * x;
        sequence.growthXy += x * y;
        sequence.growthYy += y * y;
        sequence.growthLeastContext = Math.min(sequence.growthLeastContext, contextTokens);
        sequence.growthMostContext = Math.max(sequence.growthMostContext, contextTokens);
    }

    // ---- whose tokens they are

    /**
     * Whether tokens of this engine are the sequence's. A second engine takes over after the first token at most, and says that one
     * again if it made it itself.
     */
    private static boolean makes(LifetimeState lifetime, SequenceLife sequence, int engine, TokenBatch batch) {
        if (lifetime.enginesOverlap) {
            return false;
        }
        if (sequence.makingEngine >= 0 && sequence.makingEngine != engine) {
            if (sequence.nextTokenIndex > 1) {
                // The first token of the engine that handed over, late.
                return false;
            }
            if (batch.count > 0 && batch.firstTokenIndex() == 0) {
                takeBack(sequence);
            }
        }
        sequence.makingEngine = engine;
        return true;
    }

    /** Takes the first token back, unless it has been delivered: the engine that goes on made it anew. */
    private static void takeBack(SequenceLife sequence) {
        boolean waits = sequence.undelivered.removeIf(token -> token.tokenIndex == 0);
        if (waits || (sequence.first != null && !sequence.first.delivered)) {
            sequence.first = null;
            sequence.tokenCount--;
            sequence.nextTokenIndex = 0;
            sequence.nextSentIndex = 0;
        }
    }

    private static @Nullable Long orNull(long value) {
        return value == TokenBatch.ABSENT ? null : Long.valueOf(value);
    }

    private void produced(LifetimeState lifetime, SequenceLife sequence, PendingToken token, long coarseMillis) {
        if (token.tokenIndex < sequence.nextTokenIndex) {
            sequence.droppedTokens++;
            return;
        }
        sequence.hole |= token.tokenIndex > sequence.nextTokenIndex;
        sequence.tokenCount++;
        sequence.nextTokenIndex = token.tokenIndex + 1;
        sequence.lastEndNanos = token.endNanos;
        if (token.producedEpochNanos != null) {
            sequence.epochOffsetNanos = token.producedEpochNanos - token.endNanos;
            sequence.boundNanos = token.boundNanos;
            sequence.sigmaNanos = token.sigmaNanos;
            if (sequence.fromEpochNanos == null) {
                sequence.fromEpochNanos = token.producedEpochNanos;
            }
            sequence.toEpochNanos = token.producedEpochNanos;
        }
        sequence.hostCovered |= (token.flags & TokenBatch.HOST_COVERED) != 0;
        sequence.kvReported |= (token.flags & TokenBatch.KV_REPORTED) != 0;
        sequence.gpuReported |= (token.flags & TokenBatch.GPU_REPORTED) != 0;
        sequence.multiToken |= (token.flags & TokenBatch.SEVERAL) != 0;
        if (token.tokenIndex == 0 && token.gapNanos != null && token.referenceNanos != null) {
            // What a lost prefix cost is in the computing of the prompt, not in the wait before it.
            Long prefill = token.part(Part.PREFILL.ordinal());
            sequence.firstLostNanos = Math.min(token.gapNanos - token.referenceNanos, prefill == null ? 0 : prefill);
        }
        if (token.tokenIndex > 0 && token.gapNanos != null) {
            sequence.gapSumNanos += token.gapNanos;
            sequence.gapCount++;
        }
        if (!lifetime.warmup) {
            watch(lifetime, sequence, token, coarseMillis);
        }
        delivery.produced(lifetime, sequence, token);
    }

    /** What is gathered of a token whatever its delivery: slow groups, staircase, growth, milestones. */
    private void watch(LifetimeState lifetime, SequenceLife sequence, PendingToken token, long coarseMillis) {
        SlowToken slow = token.slow;
        if (slow != null) {
            SlowGroup group = SlowGroups.add(sequence, token, slow);
            milestones.slowed(lifetime, sequence, token, slow, group, coarseMillis);
        }
        if (token.contextTokens != null && token.contextTokens / 2 >= sequence.contextMark) {
            sequence.contextMark = Integer.highestOneBit(token.contextTokens);
            milestones.token(MilestoneKind.CONTEXT_EXPANDED, lifetime, sequence, token, coarseMillis, List.of());
        }
        if (token.gapNanos == null || (token.flags & TokenBatch.SEVERAL) != 0) {
            return;
        }
        if ((token.flags & TokenBatch.RECOMPUTED) != 0) {
            milestones.token(
                    MilestoneKind.RECOMPUTED,
                    lifetime,
                    sequence,
                    token,
                    coarseMillis,
                    slow == null ? List.of() : SlowGroups.eventIds(slow));
        }
        if (slow != null && slow.cause.equals(Cause.HOST_PAUSE.name())) {
            milestones.token(
                    MilestoneKind.HOST_PAUSED, lifetime, sequence, token, coarseMillis, SlowGroups.eventIds(slow));
        }
        if (token.tokenIndex > 0 && token.expectedNanos != null) {
            Rise rise = StaircaseDetector.COMPACT.accept(
                    sequence.staircase,
                    token.tokenIndex,
                    token.gapNanos,
                    token.expectedNanos,
                    (token.flags & TokenBatch.KV_EVENT) != 0 ? 1 : 0);
            if (rise != null) {
                rose(lifetime, sequence, token, coarseMillis);
            }
        }
        boolean ordinary = slow == null || slow.cause.equals(Cause.CONTEXT_GROWTH.name());
        if (token.tokenIndex > 0 && ordinary && token.contextTokens != null && token.gapNanos < LONGEST_GROWTH_NANOS) {
            grow(
                    sequence,
                    token.contextTokens,
                    token.gapNanos,
                    token.batchSequences == null ? 1 : token.batchSequences);
        }
    }

    /**
     * Says a rise of the token time. Its evidence is the step by which it was seen: of the batch at hand, a few tokens after the rise at
     * most.
     */
    private void rose(LifetimeState lifetime, SequenceLife sequence, PendingToken token, long coarseMillis) {
        TokenBatch batch = current;
        List<String> evidence = batch == null ? List.of() : List.of(batch.lastStepEventId());
        if (batch != null) {
            SlowGroups.addEvidence(sequence.riseEvidence, batch.lastStepEventId());
        }
        milestones.token(MilestoneKind.TPOT_STEP_UP, lifetime, sequence, token, coarseMillis, evidence);
        if (StaircaseDetector.COMPACT.verdict(sequence.staircase).shape() == StaircaseShape.STAIRCASE) {
            milestones.detected(Cause.CONTEXT_STAIRCASE, lifetime, sequence, token, coarseMillis, evidence);
        }
    }
}
