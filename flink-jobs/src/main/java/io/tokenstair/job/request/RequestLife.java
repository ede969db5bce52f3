package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Part;
import io.tokenstair.cause.Severity;
import io.tokenstair.cause.TokenState;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.staircase.Rise;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseShape;
import io.tokenstair.job.staircase.StaircaseVerdict;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.SequenceName;
import io.tokenstair.job.step.SlowToken;
import io.tokenstair.job.step.SortedWindow;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The life of one request id. Fed in {@link RequestInput#ORDER}, it joins what observers and engines say, sends every token once,
 * and closes each use of the id at an instant computed from its events: {@link #GRACE_MILLIS} after everything has finished, else
 * {@link #GAP_MILLIS} after its last event. What it says depends on its input alone.
 */
public final class RequestLife {
    /** How long a finished request waits for stragglers, in event time. */
    public static final long GRACE_MILLIS = 2_000;

    /** How long a silent request stays open, in event time. */
    public static final long GAP_MILLIS = 600_000;

    /** How long the number of uses of an id is remembered after the last one closed, in event time. */
    public static final long MEMORY_MILLIS = 24 * 3_600_000L;

    /** How well an observer's coarse wall reading places its clock: a millisecond, and one more for a reading held back. */
    public static final long COARSE_BOUND_NANOS = 2_000_000;

    /** Token index at which a held first token is sent. */
    private static final int FIRST_HELD_UNTIL = 32;

    private static final int DELIVERY_WARM = 16;
    private static final int STREAM_WARM = 16;
    private static final int STREAM_GAPS = 4_096;
    private static final int GROWTH_TOKENS = 200;
    private static final double GROWTH_SHARE = 0.15;
    private static final double GROWTH_CORRELATION = 0.4;
    private static final double GROWTH_ERRORS = 20;
    private static final int MAX_UNMATCHED = 3_000_000;

    /** What a token may miss: number 1 the steps, 2 core records, 4 the client, and their sums. */
    private static final List<List<String>> MISSING_LAYERS = missingLayers();

    private final String requestId;
    private final RequestState state;
    private final RequestOutput output;

    /** A life over its state. */
    public RequestLife(String requestId, RequestState state, RequestOutput output) {
        this.requestId = requestId;
        this.state = state;
        this.output = output;
    }

    private static List<List<String>> missingLayers() {
        List<String> layers = List.of("steps", "host-scheduling", "client");
        List<List<String>> sets = new ArrayList<>();
        for (int set = 0; set < 1 << layers.size(); set++) {
            List<String> missing = new ArrayList<>();
            for (int i = 0; i < layers.size(); i++) {
                if ((set & 1 << i) != 0) {
                    missing.add(layers.get(i));
                }
            }
            sets.add(List.copyOf(missing));
        }
        return sets;
    }

    // ---- time

    /** Takes the next input. */
    public void accept(RequestInput input) {
        closeBefore(input.coarseEpochMillis);
        TokenBatch batch = input.tokens();
        if (input.event != null) {
            observed(input.coarseEpochMillis, input.event);
        } else if (batch != null) {
            LifetimeState lifetime = lifetime(batch.name, false);
            touch(lifetime, input.coarseEpochMillis);
            tokens(lifetime, sequence(lifetime, batch.name.promptIndex, batch.name.choice), batch);
        } else if (input.fact != null) {
            LifetimeState lifetime = lifetime(input.fact.name, input.fact.kind == SequenceFact.Kind.QUEUED);
            touch(lifetime, input.coarseEpochMillis);
            fact(lifetime, input.fact);
        }
    }

    /**
     * Closes what ended before this event time; no input at or before it will come. Returns true when nothing need be remembered of
     * the id.
     */
    public boolean advance(long completeToMillis) {
        closeBefore(completeToMillis);
        return state.open.isEmpty() && state.lastCloseMillis == Long.MIN_VALUE;
    }

    /** When something ends for the id if nothing more comes; {@link Long#MAX_VALUE} when nothing will. */
    public long nextEndMillis() {
        long next = state.open.isEmpty() ? forgetMillis() : Long.MAX_VALUE;
        for (LifetimeState lifetime : state.open) {
            next = Math.min(next, closeMillis(lifetime));
        }
        return next;
    }

    private static void touch(LifetimeState lifetime, long millis) {
        lifetime.lastEventMillis = Math.max(lifetime.lastEventMillis, millis);
    }

    private static long closeMillis(LifetimeState lifetime) {
        boolean done = !lifetime.observed || lifetime.completed;
        for (SequenceLife sequence : lifetime.sequences) {
            done &= sequence.finished || !sequence.fromEngine;
        }
        done &= lifetime.completed || !lifetime.sequences.isEmpty();
        return lifetime.lastEventMillis == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : lifetime.lastEventMillis + (done ? GRACE_MILLIS : GAP_MILLIS);
    }

    private void closeBefore(long millis) {
        for (int i = 0; i < state.open.size(); ) {
            LifetimeState lifetime = state.open.get(i);
            long closes = closeMillis(lifetime);
            if (closes < millis) {
                state.open.remove(i);
                close(lifetime);
                state.lastCloseMillis = Math.max(state.lastCloseMillis, closes);
            } else {
                i++;
            }
        }
        if (state.open.isEmpty() && state.lastCloseMillis != Long.MIN_VALUE) {
            state.aliases.clear();
            if (forgetMillis() < millis && millis != Long.MAX_VALUE) {
                state.lifetimesSoFar = 0;
                state.lastCloseMillis = Long.MIN_VALUE;
            }
        }
    }

    /** When the number of uses of the id is forgotten. */
    public long forgetMillis() {
        return state.lastCloseMillis == Long.MIN_VALUE || state.lastCloseMillis > Long.MAX_VALUE - MEMORY_MILLIS
                ? Long.MAX_VALUE
                : state.lastCloseMillis + MEMORY_MILLIS;
    }

    /** Closes everything: the input has ended. */
    public void finish() {
        while (!state.open.isEmpty()) {
            close(state.open.remove(0));
        }
    }

    // ---- identity

    private LifetimeState newLifetime() {
        LifetimeState lifetime = new LifetimeState();
        lifetime.ordinal = state.lifetimesSoFar++;
        state.open.add(lifetime);
        return lifetime;
    }

    /**
     * The use of the id that an engine's name belongs to: the last one that knows its unique part, else the first without that
     * sequence. A sequence that begins where one of its name has finished belongs to another use: not every engine makes ids unique.
     */
    private LifetimeState lifetime(SequenceName name, boolean begins) {
        for (int i = state.open.size() - 1; i >= 0; i--) {
            LifetimeState lifetime = state.open.get(i);
            if (knows(lifetime, name)) {
                if (begins && hasFinished(lifetime, name)) {
                    break;
                }
                return lifetime;
            }
        }
        String unique = name.promptIndex + ":" + name.unique;
        for (LifetimeState lifetime : state.open) {
            boolean taken = false;
            for (SequenceLife sequence : lifetime.sequences) {
                taken |= sequence.fromEngine && sequence.promptIndex == name.promptIndex;
            }
            if (!taken) {
                lifetime.uniques.add(unique);
                return lifetime;
            }
        }
        LifetimeState lifetime = newLifetime();
        lifetime.uniques.add(unique);
        return lifetime;
    }

    private static boolean knows(LifetimeState lifetime, SequenceName name) {
        for (String known : lifetime.uniques) {
            if (isUnique(known, name)) {
                return true;
            }
        }
        return false;
    }

    /** Whether this is the unique part of a name behind its prompt index and a colon; asked per batch, so without making a text. */
    private static boolean isUnique(String known, SequenceName name) {
        int colon = known.length() - name.unique.length() - 1;
        if (colon < 1 || known.charAt(colon) != ':' || !known.endsWith(name.unique)) {
            return false;
        }
        return name.promptIndex < 10
                ? colon == 1 && known.charAt(0) == '0' + name.promptIndex
                : known.substring(0, colon).equals(Integer.toString(name.promptIndex));
    }

    private static boolean hasFinished(LifetimeState lifetime, SequenceName name) {
        for (SequenceLife sequence : lifetime.sequences) {
            if (sequence.promptIndex == name.promptIndex && sequence.choice == name.choice) {
                return sequence.finished;
            }
        }
        return false;
    }

    private static SequenceLife sequence(LifetimeState lifetime, int promptIndex, int choice) {
        for (SequenceLife sequence : lifetime.sequences) {
            if (sequence.promptIndex == promptIndex && sequence.choice == choice) {
                return sequence;
            }
        }
        SequenceLife sequence = new SequenceLife();
        sequence.promptIndex = promptIndex;
        sequence.choice = choice;
        lifetime.sequences.add(sequence);
        return sequence;
    }

    private static int sequenceIndex(LifetimeState lifetime, SequenceLife sequence) {
        int choices = lifetime.choicesCount == null ? 1 : Math.max(1, lifetime.choicesCount);
        if (lifetime.choicesCount == null) {
            for (SequenceLife other : lifetime.sequences) {
                choices = Math.max(choices, other.choice + 1);
            }
        }
        return sequence.promptIndex * choices + sequence.choice;
    }

    // ---- observers

    private void observed(long coarseMillis, byte[] bytes) {
        LoggedEvent logged;
        try {
            logged = EventCodec.decode(bytes);
        } catch (WireException e) {
            throw new IllegalStateException("Cannot read an event that was read before", e);
        }
        EventHeader header = logged.header();
        Event event = logged.event();
        if (event instanceof RequestReceived received) {
            LifetimeState lifetime = received(header, received);
            touch(lifetime, coarseMillis);
        } else if (event instanceof ChunkDelivered delivered) {
            LifetimeState lifetime = observing(delivered.observer(), header);
            touch(lifetime, coarseMillis);
            if (lifetime.observer.equals(delivered.observer())) {
                chunks(lifetime, delivered);
            }
        } else if (event instanceof RequestCompleted completed) {
            LifetimeState lifetime = observing(completed.observer(), header);
            touch(lifetime, coarseMillis);
            if (lifetime.observer.equals(completed.observer())) {
                lifetime.completed = true;
                lifetime.outcome = completed.outcome();
                lifetime.errorType = completed.errorType();
                lifetime.completedEventId = header.eventId();
                lifetime.endedNanos = header.clockNanos();
            }
        } else if (event instanceof IdAliased aliased
                && !aliased.alias().equals(requestId)
                && !state.aliases.contains(aliased.alias())
                && state.aliases.size() < 64) {
            state.aliases.add(aliased.alias());
        }
    }

    private LifetimeState received(EventHeader header, RequestReceived received) {
        LifetimeState lifetime = null;
        for (LifetimeState candidate : state.open) {
            if (!candidate.observed) {
                lifetime = candidate;
                break;
            }
            // The client sees more of a request than a gateway: it takes over.
            if (!candidate.observer.equals(received.observer()) && !candidate.completed) {
                return candidate;
            }
        }
        if (lifetime == null) {
            lifetime = newLifetime();
        }
        lifetime.observed = true;
        lifetime.observer = received.observer();
        lifetime.observerClockId = header.clockId();
        lifetime.warmup = received.warmup();
        lifetime.choicesCount = received.choicesCount();
        lifetime.promptTokens = received.promptTokens();
        lifetime.priority = received.priority();
        if (header.clockNanos() != null) {
            lifetime.sentNanos = header.clockNanos();
            lifetime.sentKnown = true;
            if (header.coarseEpochMillis() != null) {
                lifetime.observerOffsetNanos = header.coarseEpochMillis() * 1_000_000 - header.clockNanos();
            }
        }
        return lifetime;
    }

    private LifetimeState observing(String observer, EventHeader header) {
        for (LifetimeState lifetime : state.open) {
            if (lifetime.observed && !lifetime.completed && lifetime.observer.equals(observer)) {
                return lifetime;
            }
        }
        for (LifetimeState lifetime : state.open) {
            if (lifetime.observed && lifetime.observer.equals(observer)) {
                return lifetime;
            }
        }
        for (LifetimeState lifetime : state.open) {
            if (lifetime.observed) {
                return lifetime;
            }
        }
        LifetimeState lifetime = state.open.isEmpty() ? newLifetime() : state.open.get(0);
        lifetime.observed = true;
        lifetime.observer = observer;
        lifetime.observerClockId = header.clockId();
        return lifetime;
    }

    private void chunks(LifetimeState lifetime, ChunkDelivered delivered) {
        int choices = lifetime.choicesCount == null ? 0 : Math.max(1, lifetime.choicesCount);
        for (Chunk chunk : delivered.chunks()) {
            int prompt = choices == 0 ? 0 : chunk.sequenceIndex() / choices;
            int choice = choices == 0 ? chunk.sequenceIndex() : chunk.sequenceIndex() % choices;
            SequenceLife sequence = sequence(lifetime, prompt, choice);
            if (chunk.finish() != Finish.NONE && sequence.endReason == null) {
                sequence.endReason = endReason(chunk.finish());
            }
            if (chunk.tokenCount() == 0) {
                lifetime.roleChunk |= chunk.chunkIndex() == 0;
                continue;
            }
            if (sequence.firstArrivedNanos == null) {
                sequence.firstArrivedNanos = chunk.arrivedNanos();
            }
            sequence.multiToken |= chunk.tokenCount() > 1;
            if (sequence.unmatched.size() < MAX_UNMATCHED && chunk.firstTokenIndex() != null) {
                sequence.unmatched.add((long) chunk.firstTokenIndex());
                sequence.unmatched.add((long) chunk.tokenCount());
                sequence.unmatched.add(chunk.arrivedNanos());
            }
            match(lifetime, sequence);
        }
    }

    private static String endReason(Finish finish) {
        return switch (finish) {
            case STOP -> "stop";
            case LENGTH -> "length";
            case ABORTED -> "aborted-by-client";
            case ERROR -> "error";
            case NONE, OTHER -> "unknown";
        };
    }

    // ---- facts of a sequence

    private void fact(LifetimeState lifetime, SequenceFact fact) {
        SequenceLife sequence = sequence(lifetime, fact.name.promptIndex, fact.name.choice);
        fromEngine(sequence, fact.name, fact.clockId);
        if (sequence.fromEpochNanos == null) {
            sequence.fromEpochNanos = fact.epochNanos;
            sequence.boundNanos = fact.boundNanos;
        }
        switch (fact.kind) {
            case QUEUED -> {
                sequence.promptTokens = fact.promptTokens;
                sequence.priority = fact.priority;
            }
            case SCHEDULED -> sequence.cachedTokens = fact.tokens;
            case PREEMPTED -> {
                sequence.preemptions++;
                if (fact.tokens == null) {
                    sequence.discardedKnown = false;
                } else {
                    sequence.discardedTokens += fact.tokens;
                }
                milestone(MilestoneKind.PREEMPTED, lifetime, sequence, fact);
                milestone(MilestoneKind.KV_PRESSURE, lifetime, sequence, fact);
            }
            case RESUMED -> sequence.resumedCachedTokens += fact.tokens == null ? 0 : fact.tokens;
            case PREFIX_RECOMPUTED -> {
                sequence.prefixRecomputedTokens += fact.tokens == null ? 0 : fact.tokens;
                if (sequence.prefixEvictedFor == null) {
                    sequence.prefixEvictedFor = fact.otherRequestId;
                }
                addEvidence(sequence.prefixEvidence, fact.otherEventId);
                addEvidence(sequence.prefixEvidence, fact.eventId);
                milestone(MilestoneKind.PREFIX_RECOMPUTED, lifetime, sequence, fact);
            }
            case FINISHED -> {
                sequence.finished = true;
                String reason = fact.endReason == null ? "unknown" : fact.endReason;
                sequence.endReason = reason.equals("aborted") ? "aborted-by-client" : reason;
                if (fact.epochNanos != null) {
                    sequence.toEpochNanos = fact.epochNanos;
                }
                milestone(MilestoneKind.FINISHED, lifetime, sequence, fact);
            }
        }
    }

    private static void addEvidence(List<String> evidence, @Nullable String id) {
        if (id != null && !id.isEmpty() && evidence.size() < SlowGroup.EVIDENCE && !evidence.contains(id)) {
            evidence.add(id);
        }
    }

    private static void fromEngine(SequenceLife sequence, SequenceName name, String clockId) {
        sequence.fromEngine = true;
        sequence.engineClockId = clockId;
        if (!sequence.engines.contains(name.engineId)) {
            sequence.engines.add(name.engineId);
        }
        if (!sequence.aliases.contains(name.engineRequestId) && sequence.aliases.size() < 64) {
            sequence.aliases.add(name.engineRequestId);
        }
    }

    private void milestone(MilestoneKind kind, LifetimeState lifetime, SequenceLife sequence, SequenceFact fact) {
        if (lifetime.warmup) {
            return;
        }
        output.milestone(new Milestone(
                kind,
                fact.coarseEpochMillis,
                fact.epochNanos,
                fact.clockNanos,
                fact.name.engineId,
                requestId,
                lifetime.ordinal,
                sequenceIndex(lifetime, sequence),
                sequence.nextTokenIndex == 0 ? null : Integer.valueOf(sequence.nextTokenIndex - 1),
                fact.stepId,
                null,
                null,
                null,
                kind == MilestoneKind.PREEMPTED || kind == MilestoneKind.KV_PRESSURE ? fact.tokens : null,
                kind == MilestoneKind.PREFIX_RECOMPUTED ? fact.tokens : null,
                fact.kvUsedBlocksCount,
                fact.kvTotalBlocksCount,
                fact.otherEventId == null ? List.of(fact.eventId) : List.of(fact.otherEventId, fact.eventId)));
    }

    // ---- tokens of an engine

    private void tokens(LifetimeState lifetime, SequenceLife sequence, TokenBatch batch) {
        fromEngine(sequence, batch.name, batch.clockId);
        sequence.residentNanosPerToken = batch.residentNanosPerToken;
        int partAt = 0;
        for (int row = 0; row < batch.count; row++) {
            PendingToken token = new PendingToken();
            token.tokenIndex = batch.tokenIndex[row];
            token.engineId = batch.name.engineId;
            token.stepId = batch.stepId[row];
            token.endNanos = batch.endNanos[row];
            token.producedEpochNanos = orNull(batch.epochNanos[row]);
            token.boundNanos = orNull(batch.boundNanos[row]);
            token.gapBasis = "produced";
            token.gapNanos = orNull(batch.gapNanos[row]);
            token.expectedNanos = orNull(batch.expectedNanos[row]);
            token.referenceNanos = orNull(batch.referenceNanos[row]);
            token.contextTokens = batch.contextTokens[row];
            token.batchSequences = batch.batchSequences[row];
            token.flags = batch.flags[row];
            token.partMask = batch.partMask[row];
            int parts = Integer.bitCount(token.partMask);
            token.partNanos = Arrays.copyOfRange(batch.partNanos, partAt, partAt + parts);
            partAt += parts;
            token.slow = batch.slowAt(row);
            produced(lifetime, sequence, token, batch.coarseEpochMillis[row]);
        }
    }

    private static @Nullable Long orNull(long value) {
        return value == TokenBatch.ABSENT ? null : Long.valueOf(value);
    }

    private void produced(LifetimeState lifetime, SequenceLife sequence, PendingToken token, long coarseMillis) {
        if (token.tokenIndex < sequence.nextTokenIndex) {
            return;
        }
        sequence.hole |= token.tokenIndex > sequence.nextTokenIndex;
        sequence.tokenCount++;
        sequence.nextTokenIndex = token.tokenIndex + 1;
        sequence.lastEndNanos = token.endNanos;
        if (token.producedEpochNanos != null) {
            sequence.epochOffsetNanos = token.producedEpochNanos - token.endNanos;
            sequence.boundNanos = token.boundNanos;
            if (sequence.fromEpochNanos == null) {
                sequence.fromEpochNanos = token.producedEpochNanos;
            }
            sequence.toEpochNanos = token.producedEpochNanos;
        }
        sequence.hostCovered |= (token.flags & TokenBatch.HOST_COVERED) != 0;
        sequence.kvReported |= (token.flags & TokenBatch.KV_REPORTED) != 0;
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
        if (lifetime.observed) {
            sequence.undelivered.add(token);
            match(lifetime, sequence);
        } else {
            send(lifetime, sequence, token);
        }
    }

    /** What is gathered of a token whatever its delivery: slow groups, staircase, growth, milestones. */
    private void watch(LifetimeState lifetime, SequenceLife sequence, PendingToken token, long coarseMillis) {
        SlowToken slow = token.slow;
        if (slow != null) {
            group(sequence, token, slow);
        }
        if (token.contextTokens != null && token.contextTokens >= 2 * sequence.contextMark) {
            while (token.contextTokens >= 2 * sequence.contextMark) {
                sequence.contextMark *= 2;
            }
            tokenMilestone(MilestoneKind.CONTEXT_EXPANDED, lifetime, sequence, token, coarseMillis, List.of());
        }
        if (token.gapNanos == null || (token.flags & TokenBatch.SEVERAL) != 0) {
            return;
        }
        if ((token.flags & TokenBatch.RECOMPUTED) != 0) {
            tokenMilestone(
                    MilestoneKind.RECOMPUTED,
                    lifetime,
                    sequence,
                    token,
                    coarseMillis,
                    slow == null ? List.of() : eventIds(slow));
        }
        if (slow != null && slow.cause.equals(Cause.HOST_PAUSE.name())) {
            tokenMilestone(MilestoneKind.HOST_PAUSED, lifetime, sequence, token, coarseMillis, eventIds(slow));
        }
        if (token.tokenIndex > 0 && token.expectedNanos != null) {
            Rise rise = StaircaseDetector.accept(
                    sequence.staircase,
                    token.tokenIndex,
                    token.gapNanos,
                    token.expectedNanos,
                    (token.flags & TokenBatch.KV_EVENT) != 0 ? 1 : 0);
            if (rise != null) {
                tokenMilestone(MilestoneKind.TPOT_STEP_UP, lifetime, sequence, token, coarseMillis, List.of());
            }
        }
        boolean ordinary = slow == null || slow.cause.equals(Cause.CONTEXT_GROWTH.name());
        if (token.tokenIndex > 0 && ordinary && token.contextTokens != null && token.gapNanos < 100_000_000_000L) {
            long x = token.contextTokens;
            long y = token.gapNanos / 1_000;
            sequence.growthCount++;
            sequence.growthX += x;
            sequence.growthY += y;
            sequence.growthXx += x * x;
            sequence.growthXy += x * y;
            sequence.growthYy += y * y;
            sequence.growthLeastContext = Math.min(sequence.growthLeastContext, token.contextTokens);
            sequence.growthMostContext = Math.max(sequence.growthMostContext, token.contextTokens);
        }
    }

    private static List<String> eventIds(SlowToken slow) {
        List<String> ids = new ArrayList<>();
        for (int i = 1; i < slow.evidence.size(); i += 2) {
            addEvidence(ids, slow.evidence.get(i));
        }
        return ids;
    }

    private void tokenMilestone(
            MilestoneKind kind,
            LifetimeState lifetime,
            SequenceLife sequence,
            PendingToken token,
            long coarseMillis,
            List<String> evidence) {
        output.milestone(new Milestone(
                kind,
                coarseMillis,
                token.producedEpochNanos,
                token.endNanos,
                token.engineId,
                requestId,
                lifetime.ordinal,
                sequenceIndex(lifetime, sequence),
                token.tokenIndex,
                token.stepId,
                token.contextTokens,
                token.gapNanos,
                excess(token),
                null,
                kind == MilestoneKind.RECOMPUTED && token.part(Part.RECOMPUTE_OWN.ordinal()) != null
                        ? Long.valueOf(token.contextTokens == null ? 0 : token.contextTokens)
                        : null,
                null,
                null,
                evidence));
    }

    private static @Nullable Long excess(PendingToken token) {
        return token.gapNanos == null || token.referenceNanos == null ? null : token.gapNanos - token.referenceNanos;
    }

    private static void group(SequenceLife sequence, PendingToken token, SlowToken slow) {
        SlowGroup group = null;
        if (!slow.cause.equals(Cause.PREEMPTION.name())) {
            for (SlowGroup candidate : sequence.groups) {
                if (candidate.cause.equals(slow.cause)
                        && java.util.Objects.equals(candidate.culpritRequestId, slow.culpritRequestId)) {
                    group = candidate;
                    break;
                }
            }
        }
        if (group == null) {
            group = new SlowGroup();
            group.cause = slow.cause;
            group.culpritRequestId = slow.culpritRequestId;
            group.firstTokenIndex = token.tokenIndex;
            group.fromEpochNanos = token.producedEpochNanos;
            group.boundNanos = token.boundNanos;
            sequence.groups.add(group);
        }
        group.lastTokenIndex = token.tokenIndex;
        group.toEpochNanos = token.producedEpochNanos;
        group.tokens++;
        group.sumLostNanos += slow.lostNanos;
        if (slow.lostNanos > group.mostLostNanos) {
            group.mostLostNanos = slow.lostNanos;
            group.worstTokenIndex = token.tokenIndex;
            group.worstChain = slow.chain;
            group.confidence = slow.confidence;
            group.confidenceWhy = slow.confidenceWhy;
        }
        for (int ordinal = 0; ordinal < Part.COUNT; ordinal++) {
            Long nanos = token.part(ordinal);
            if (nanos != null) {
                group.partMask |= 1 << ordinal;
                group.partNanos[ordinal] += nanos;
            }
        }
        for (String id : eventIds(slow)) {
            addEvidence(group.evidence, id);
        }
    }

    // ---- delivery

    /** Pairs tokens with the chunks that brought them, both in index order. */
    private void match(LifetimeState lifetime, SequenceLife sequence) {
        int tokenAt = 0;
        int chunkAt = 0;
        List<Long> chunks = sequence.unmatched;
        while (tokenAt < sequence.undelivered.size() && chunkAt < chunks.size()) {
            PendingToken token = sequence.undelivered.get(tokenAt);
            long first = chunks.get(chunkAt);
            long count = chunks.get(chunkAt + 1);
            if (token.tokenIndex >= first + count) {
                chunkAt += 3;
                deliveredOnly(lifetime, sequence, first, count, chunks.get(chunkAt - 1), null);
            } else if (token.tokenIndex < first) {
                tokenAt++;
                send(lifetime, sequence, token);
            } else {
                tokenAt++;
                delivered(lifetime, sequence, token, chunks.get(chunkAt + 2));
                if (token.tokenIndex == first + count - 1) {
                    chunkAt += 3;
                } else if (token.tokenIndex > first) {
                    // The rest of the chunk still waits for its tokens.
                    chunks.set(chunkAt, (long) token.tokenIndex + 1);
                    chunks.set(chunkAt + 1, first + count - token.tokenIndex - 1);
                } else {
                    chunks.set(chunkAt, first + 1);
                    chunks.set(chunkAt + 1, count - 1);
                }
            }
        }
        sequence.undelivered.subList(0, tokenAt).clear();
        chunks.subList(0, chunkAt).clear();
    }

    private void delivered(LifetimeState lifetime, SequenceLife sequence, PendingToken token, long arrivedNanos) {
        if (lifetime.observerClockId.equals(sequence.engineClockId)) {
            long delivery = arrivedNanos - token.endNanos;
            token.deliveryNanos = delivery;
            if (token.producedEpochNanos != null) {
                token.deliveredEpochNanos = token.producedEpochNanos + delivery;
            }
            if (sequence.deliveryWindow.size() >= DELIVERY_WARM) {
                double limit = StrictMath.max(
                        token.referenceNanos == null ? 0 : 0.15 * token.referenceNanos,
                        4 * 1.4826 * sequence.deliveryWindow.medianAbsoluteDeviation());
                token.deliverySlow = delivery - sequence.deliveryWindow.median() > limit;
            }
            sequence.deliveryWindow.add(delivery);
        }
        sequence.lastArrivedNanos = arrivedNanos;
        send(lifetime, sequence, token);
    }

    /** Tokens that no engine record made: their gaps are differences of arrivals. */
    private void deliveredOnly(
            LifetimeState lifetime,
            SequenceLife sequence,
            long first,
            long count,
            long arrivedNanos,
            @Nullable SortedWindow usual) {
        for (long i = 0; i < count; i++) {
            if (first + i < sequence.nextSentIndex) {
                // A chunk that came twice, or behind one that was sent after it: its token has been said.
                continue;
            }
            PendingToken token = new PendingToken();
            token.tokenIndex = (int) (first + i);
            token.gapBasis = "delivered";
            if (i > 0) {
                token.gapNanos = 0L;
            } else if (token.tokenIndex == 0) {
                token.gapNanos = lifetime.sentKnown ? Long.valueOf(arrivedNanos - lifetime.sentNanos) : null;
            } else if (sequence.lastArrivedNanos != null) {
                token.gapNanos = arrivedNanos - sequence.lastArrivedNanos;
            }
            if (token.gapNanos != null) {
                token.partMask = 1 << Part.UNEXPLAINED.ordinal();
                token.partNanos = new long[] {token.gapNanos};
                if (usual != null && token.tokenIndex > 0 && i == 0) {
                    judgeByStream(lifetime, sequence, token, count, usual);
                }
                if (token.tokenIndex > 0) {
                    sequence.gapSumNanos += token.gapNanos;
                    sequence.gapCount++;
                }
            }
            if (sequence.epochOffsetNanos != null && lifetime.observerClockId.equals(sequence.engineClockId)) {
                token.deliveredEpochNanos = arrivedNanos + sequence.epochOffsetNanos;
                token.boundNanos = sequence.boundNanos;
            } else if (lifetime.observerOffsetNanos != null) {
                token.deliveredEpochNanos = arrivedNanos + lifetime.observerOffsetNanos;
                token.boundNanos = COARSE_BOUND_NANOS;
            }
            sequence.tokenCount++;
            send(lifetime, sequence, token);
        }
        sequence.lastArrivedNanos = arrivedNanos;
    }

    /** Gaps per token of a stream that no engine record made, as far as there are enough to call one of them unusual. */
    private static @Nullable SortedWindow usualGaps(List<Long> chunks) {
        int gaps = chunks.size() / 3 - 1;
        if (gaps < STREAM_WARM) {
            return null;
        }
        SortedWindow usual = new SortedWindow(Math.min(gaps, STREAM_GAPS));
        for (int i = 3; i < chunks.size() && usual.size() < STREAM_GAPS; i += 3) {
            usual.add((chunks.get(i + 2) - chunks.get(i - 1)) / Math.max(1, chunks.get(i + 1)));
        }
        return usual;
    }

    /** Without steps a token can be slow against its own stream; nothing can say why. */
    private static void judgeByStream(
            LifetimeState lifetime, SequenceLife sequence, PendingToken token, long count, SortedWindow usual) {
        if (token.gapNanos == null) {
            return;
        }
        long gap = token.gapNanos;
        long reference = usual.median();
        token.referenceNanos = reference;
        token.partMask = 1 << Part.REFERENCE.ordinal() | 1 << Part.UNEXPLAINED.ordinal();
        token.partNanos = new long[] {reference, gap - reference};
        double limit = StrictMath.max(0.15 * reference, 4 * 1.4826 * usual.medianAbsoluteDeviation());
        if (lifetime.warmup || (double) gap / count - reference <= limit) {
            return;
        }
        SlowToken slow = new SlowToken();
        slow.cause = Cause.UNRESOLVED_STALL.name();
        slow.confidence = Confidence.UNRESOLVED.levelName();
        slow.confidenceWhy = "no engine step was reported for this request";
        slow.lostNanos = gap - reference;
        slow.chain.add(String.format(
                Locale.ROOT,
                "Token %d arrived %.1f ms after the one before; usual in this stream are %.1f ms, and no engine step was reported"
                        + " that could say why.",
                token.tokenIndex,
                gap / 1e6,
                reference / 1e6));
        token.slow = slow;
        group(sequence, token, slow);
    }

    private void send(LifetimeState lifetime, SequenceLife sequence, PendingToken token) {
        sequence.nextSentIndex = Math.max(sequence.nextSentIndex, token.tokenIndex + 1);
        if (lifetime.warmup) {
            return;
        }
        if (token.tokenIndex == 0) {
            sequence.first = token;
            return;
        }
        if (sequence.first != null && token.tokenIndex >= FIRST_HELD_UNTIL) {
            PendingToken first = sequence.first;
            sequence.first = null;
            output.token(row(lifetime, sequence, first));
        }
        output.token(row(lifetime, sequence, token));
    }

    private TokenAnalysis row(LifetimeState lifetime, SequenceLife sequence, PendingToken token) {
        SlowToken slow = token.slow;
        boolean miss = token.tokenIndex == 0 && isPrefixLost(sequence);
        TokenState tokenState;
        boolean stepsLost = token.stepId == null || token.gapNanos == null;
        if (stepsLost) {
            tokenState = TokenState.UNKNOWN;
        } else if ((token.flags & TokenBatch.RECOMPUTED) != 0) {
            tokenState = TokenState.RECOMPUTE;
        } else if (miss) {
            tokenState = TokenState.KV_MISS;
        } else if (slow == null
                || slow.cause.equals(Cause.BATCH_GROWTH.name())
                || slow.cause.equals(Cause.CONTEXT_GROWTH.name())) {
            tokenState = TokenState.NORMAL;
        } else {
            tokenState = TokenState.STALLED;
        }
        boolean cores = stepsLost || (token.flags & (TokenBatch.HOST_COVERED | TokenBatch.SEVERAL)) != 0;
        List<String> missing = MISSING_LAYERS.get((stepsLost ? 1 : 0) + (cores ? 0 : 2) + (lifetime.observed ? 0 : 4));
        return new TokenAnalysis(
                requestId,
                lifetime.ordinal,
                sequenceIndex(lifetime, sequence),
                token.tokenIndex,
                token.engineId,
                token.stepId,
                token.producedEpochNanos,
                token.deliveredEpochNanos,
                token.boundNanos,
                token.gapNanos == null ? null : token.gapBasis,
                token.gapNanos,
                token.expectedNanos,
                token.referenceNanos,
                excess(token),
                token.contextTokens,
                token.batchSequences,
                tokenState.stateName(),
                slow == null ? null : slow.cause,
                slow == null ? null : slow.culpritRequestId,
                slow == null ? null : slow.confidence,
                slow == null ? null : slow.confidenceWhy,
                token.part(0),
                token.part(1),
                token.part(2),
                token.part(3),
                token.part(4),
                token.part(5),
                token.part(6),
                token.part(7),
                token.part(8),
                token.part(9),
                token.part(10),
                token.part(11),
                token.part(12),
                token.part(13),
                token.part(14),
                token.part(15),
                token.part(16),
                token.part(17),
                token.part(18),
                token.deliveryNanos,
                null,
                null,
                null,
                null,
                token.deliveryNanos,
                token.deliverySlow ? Cause.UNRESOLVED_STALL.name() : null,
                slow == null ? List.of() : slow.evidence,
                slow == null ? List.of() : slow.chain,
                missing);
    }

    private static boolean isPrefixLost(SequenceLife sequence) {
        long cached = sequence.cachedTokens == null ? 0 : sequence.cachedTokens;
        return sequence.prefixRecomputedTokens > cached
                && sequence.promptTokens != null
                && 4 * sequence.prefixRecomputedTokens >= sequence.promptTokens;
    }

    // ---- the end

    private void close(LifetimeState lifetime) {
        lifetime.sequences.sort(Comparator.comparingInt((SequenceLife sequence) -> sequence.promptIndex)
                .thenComparingInt(sequence -> sequence.choice));
        if (lifetime.sequences.isEmpty()) {
            // Refused, or it never reached an engine.
            lifetime.sequences.add(new SequenceLife());
        }
        for (SequenceLife sequence : lifetime.sequences) {
            close(lifetime, sequence);
        }
    }

    private void close(LifetimeState lifetime, SequenceLife sequence) {
        if (sequence.fromEpochNanos == null && lifetime.observerOffsetNanos != null) {
            sequence.fromEpochNanos = lifetime.sentNanos + lifetime.observerOffsetNanos;
            sequence.boundNanos = COARSE_BOUND_NANOS;
            if (lifetime.endedNanos != null) {
                sequence.toEpochNanos = lifetime.endedNanos + lifetime.observerOffsetNanos;
            }
        }
        for (PendingToken token : sequence.undelivered) {
            send(lifetime, sequence, token);
        }
        sequence.undelivered.clear();
        List<Long> chunks = sequence.unmatched;
        boolean streamOnly = !chunks.isEmpty();
        SortedWindow usual = sequence.fromEngine ? null : usualGaps(chunks);
        for (int i = 0; i < chunks.size(); i += 3) {
            deliveredOnly(lifetime, sequence, chunks.get(i), chunks.get(i + 1), chunks.get(i + 2), usual);
        }
        chunks.clear();
        if (sequence.first != null) {
            PendingToken first = sequence.first;
            sequence.first = null;
            output.token(row(lifetime, sequence, first));
        }
        int index = sequenceIndex(lifetime, sequence);
        boolean abortedByClient =
                "client-closed".equals(lifetime.outcome) || "aborted-by-client".equals(sequence.endReason);
        boolean failed = "http-error".equals(lifetime.outcome) || "failed".equals(lifetime.outcome);
        String endReason = abortedByClient
                ? "aborted-by-client"
                : failed ? "error" : sequence.endReason == null ? "unknown" : sequence.endReason;
        boolean ended = sequence.finished || lifetime.completed;
        String windowState = !ended ? "incomplete" : sequence.hole ? "gap" : "complete";

        List<String> missing = new ArrayList<>();
        if (!lifetime.observed) {
            missing.add("client");
        }
        if (!failed && (!sequence.fromEngine || streamOnly)) {
            missing.add("steps");
        }
        if (sequence.fromEngine && sequence.tokenCount > 0) {
            if (!sequence.hostCovered) {
                missing.add("host-scheduling");
            }
            if (!sequence.kvReported) {
                missing.add("kv-events");
            }
        }
        TreeSet<Cause> requestCauses = new TreeSet<>();
        if (!lifetime.warmup) {
            findings(lifetime, sequence, index, abortedByClient, missing, requestCauses);
        }
        TreeSet<String> aliases = new TreeSet<>(state.aliases);
        aliases.addAll(sequence.aliases);
        Long ttft = lifetime.sentKnown && sequence.firstArrivedNanos != null
                ? Long.valueOf(sequence.firstArrivedNanos - lifetime.sentNanos)
                : null;
        Long tpot = sequence.gapCount > 0 ? Long.valueOf(sequence.gapSumNanos / sequence.gapCount) : null;
        Long recomputed =
                !sequence.discardedKnown ? null : Long.valueOf(sequence.discardedTokens - sequence.resumedCachedTokens);
        output.request(new RequestAnalysis(
                requestId,
                lifetime.ordinal,
                index,
                List.copyOf(aliases),
                List.copyOf(sequence.engines),
                windowState,
                endReason,
                ttft,
                tpot,
                sequence.tokenCount,
                sequence.promptTokens != null ? sequence.promptTokens : lifetime.promptTokens,
                sequence.cachedTokens,
                sequence.fromEngine ? Integer.valueOf(sequence.preemptions) : null,
                sequence.fromEngine ? recomputed : null,
                requestCauses.stream().map(Cause::name).toList(),
                lifetime.warmup,
                sequence.fromEpochNanos,
                sequence.toEpochNanos,
                sequence.priority != null ? sequence.priority : lifetime.priority,
                missing,
                lifetime.errorType));
    }

    private void findings(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            boolean abortedByClient,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        for (SlowGroup group : sequence.groups) {
            output.finding(slowFinding(lifetime, sequence, index, group, missing));
        }
        if (abortedByClient) {
            requestCauses.add(Cause.CLIENT_ABORT);
            output.finding(requestFinding(
                    lifetime,
                    sequence,
                    index,
                    "client-abort",
                    Cause.CLIENT_ABORT,
                    Severity.INFO,
                    Confidence.ESTABLISHED,
                    "the client closed the stream, or the engine recorded an abort",
                    null,
                    evidence(lifetime.completedEventId),
                    missing,
                    "The client ended the stream after " + sequence.tokenCount + " tokens"
                            + cite(lifetime.completedEventId) + "."));
        }
        if (sequence.multiToken) {
            requestCauses.add(Cause.MULTI_TOKEN_CHUNK);
        }
        if (lifetime.roleChunk) {
            requestCauses.add(Cause.ROLE_CHUNK);
        }
        if (sequence.preemptions >= 3
                && sequence.discardedKnown
                && sequence.discardedTokens - sequence.resumedCachedTokens > sequence.tokenCount) {
            requestCauses.add(Cause.PREEMPTION_LOOP);
            output.finding(requestFinding(
                    lifetime,
                    sequence,
                    index,
                    "preemption-loop",
                    Cause.PREEMPTION_LOOP,
                    Severity.WARNING,
                    Confidence.ESTABLISHED,
                    "its preemption records",
                    null,
                    evidence(""),
                    missing,
                    "It was preempted " + sequence.preemptions + " times and computed "
                            + (sequence.discardedTokens - sequence.resumedCachedTokens)
                            + " tokens again while it gained " + sequence.tokenCount + "."));
        }
        if (isPrefixLost(sequence)) {
            requestCauses.add(Cause.PREFIX_HIT_COLLAPSE);
            String by = sequence.prefixEvictedFor == null
                    ? ""
                    : "; they were evicted while " + sequence.prefixEvictedFor + " was computed";
            output.finding(requestFinding(
                    lifetime,
                    sequence,
                    index,
                    "prefix-hit-collapse",
                    Cause.PREFIX_HIT_COLLAPSE,
                    Severity.of(sequence.firstLostNanos, sequence.firstLostNanos, 1, sequence.tokenCount),
                    Confidence.ESTABLISHED,
                    "the same block hashes were stored, evicted and stored again",
                    sequence.prefixEvictedFor,
                    sequence.prefixEvidence,
                    missing,
                    sequence.prefixRecomputedTokens + " of its " + sequence.promptTokens
                            + " prompt tokens had been cached before and were computed again; "
                            + (sequence.cachedTokens == null ? 0 : sequence.cachedTokens) + " were found" + by
                            + cite(sequence.prefixEvidence.isEmpty() ? "" : sequence.prefixEvidence.get(0)) + "."));
        }
        growth(lifetime, sequence, index, missing, requestCauses);
        staircase(lifetime, sequence, index, missing, requestCauses);
    }

    private static List<String> evidence(String id) {
        return id.isEmpty() ? List.of() : List.of(id);
    }

    private static String cite(String id) {
        return id.isEmpty() ? "" : " [" + id + "]";
    }

    private void growth(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        long n = sequence.growthCount;
        if (n < GROWTH_TOKENS) {
            return;
        }
        double meanX = (double) sequence.growthX / n;
        double meanY = (double) sequence.growthY / n;
        double xx = sequence.growthXx - n * meanX * meanX;
        double xy = sequence.growthXy - n * meanX * meanY;
        double yy = sequence.growthYy - n * meanY * meanY;
        if (xx <= 0 || yy <= 0) {
            return;
        }
        double slopeMicros = xy / xx;
        double correlation = xy / StrictMath.sqrt(xx * yy);
        double atStart = meanY + slopeMicros * (sequence.growthLeastContext - meanX);
        double rise = slopeMicros * (sequence.growthMostContext - sequence.growthLeastContext);
        double residuals = (1 - correlation * correlation) * yy;
        double slopeErrors =
                residuals <= 0 ? Double.MAX_VALUE : slopeMicros / StrictMath.sqrt(residuals / (n - 2) / xx);
        double modelShare = slopeMicros <= 0 ? 0 : sequence.residentNanosPerToken / 1e3 / slopeMicros;
        boolean modelAgrees = modelShare >= 0.5 && modelShare <= 2;
        if (atStart <= 0
                || rise < GROWTH_SHARE * atStart
                || slopeErrors < GROWTH_ERRORS
                || correlation < GROWTH_CORRELATION
                || !modelAgrees) {
            return;
        }
        requestCauses.add(Cause.CONTEXT_GROWTH);
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "context-growth",
                Cause.CONTEXT_GROWTH,
                Severity.INFO,
                Confidence.CONSISTENT_WITH,
                "gap rises in a line with the request's own context, and the engine's model has that slope",
                null,
                List.of(),
                missing,
                String.format(
                        Locale.ROOT,
                        "The gap rose from %.1f ms at %d tokens of context to %.1f ms at %d: a slope of %.2f ms per 1000 tokens"
                                + " (r %.2f), no step.",
                        atStart / 1e3,
                        sequence.growthLeastContext,
                        (atStart + rise) / 1e3,
                        sequence.growthMostContext,
                        slopeMicros,
                        correlation)));
    }

    private void staircase(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            List<String> missing,
            TreeSet<Cause> requestCauses) {
        StaircaseVerdict verdict = StaircaseDetector.verdict(sequence.staircase);
        if (verdict.shape() != StaircaseShape.STAIRCASE) {
            return;
        }
        requestCauses.add(Cause.CONTEXT_STAIRCASE);
        StringBuilder rises = new StringBuilder();
        for (Rise rise : verdict.rises()) {
            rises.append(rises.isEmpty() ? "" : ", ")
                    .append(String.format(
                            Locale.ROOT, "token %d (+%.0f %%)", rise.onsetTokenIndex(), 100 * rise.levelChangeRatio()));
        }
        output.finding(requestFinding(
                lifetime,
                sequence,
                index,
                "context-staircase",
                Cause.CONTEXT_STAIRCASE,
                Severity.WARNING,
                verdict.kvDriven() ? Confidence.ESTABLISHED : Confidence.CONSISTENT_WITH,
                verdict.kvDriven() ? "KV events are enriched at the rises" : "cause unproven: the shape alone",
                null,
                List.of(),
                missing,
                "The token time rose in " + verdict.riseCount() + " lasting steps beyond what the model expects: "
                        + rises + (verdict.kvDriven() ? "." : "; cause unproven.")));
    }

    private Finding slowFinding(
            LifetimeState lifetime, SequenceLife sequence, int index, SlowGroup group, List<String> missing) {
        Severity severity = Severity.of(group.mostLostNanos, group.sumLostNanos, group.tokens, sequence.tokenCount);
        List<String> names = new ArrayList<>();
        List<Long> nanos = new ArrayList<>();
        for (int ordinal = 0; ordinal < Part.COUNT; ordinal++) {
            if ((group.partMask & 1 << ordinal) != 0) {
                names.add(Part.ofOrdinal(ordinal).partName());
                nanos.add(group.partNanos[ordinal]);
            }
        }
        String which = group.tokens == 1
                ? "Token " + group.firstTokenIndex
                : group.tokens + " tokens from " + group.firstTokenIndex + " to " + group.lastTokenIndex;
        String headline = String.format(
                Locale.ROOT,
                "%s lost %.1f ms%s.",
                which,
                group.sumLostNanos / 1e6,
                group.tokens == 1
                        ? ""
                        : String.format(
                                Locale.ROOT,
                                ", most at token %d (%.1f ms)",
                                group.worstTokenIndex,
                                group.mostLostNanos / 1e6));
        String narrative = group.worstChain.isEmpty() ? headline : headline + " " + String.join(" ", group.worstChain);
        return Findings.identified(new Finding(
                "",
                "slow-token",
                1,
                group.cause,
                severity.severityName(),
                sequence.engines.isEmpty() ? null : sequence.engines.get(0),
                requestId,
                lifetime.ordinal,
                index,
                group.fromEpochNanos,
                group.toEpochNanos,
                group.boundNanos,
                group.firstTokenIndex,
                group.lastTokenIndex,
                group.culpritRequestId,
                group.confidence,
                group.confidenceWhy,
                group.evidence,
                missing,
                names,
                nanos,
                narrative));
    }

    private Finding requestFinding(
            LifetimeState lifetime,
            SequenceLife sequence,
            int index,
            String rule,
            Cause cause,
            Severity severity,
            Confidence confidence,
            String why,
            @Nullable String culprit,
            List<String> evidence,
            List<String> missing,
            String narrative) {
        return Findings.identified(new Finding(
                "",
                rule,
                1,
                cause.name(),
                severity.severityName(),
                sequence.engines.isEmpty() ? null : sequence.engines.get(0),
                requestId,
                lifetime.ordinal,
                index,
                sequence.fromEpochNanos,
                sequence.toEpochNanos,
                sequence.boundNanos,
                sequence.tokenCount == 0 ? null : Integer.valueOf(0),
                sequence.tokenCount == 0 ? null : Integer.valueOf((int) sequence.tokenCount - 1),
                culprit,
                confidence.levelName(),
                why,
                evidence,
                missing,
                List.of(),
                List.of(),
                narrative));
    }
}
