package io.tokenstair.job.request;

import io.tokenstair.clock.ClockGraph;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.StatisticsOutput;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.TokenBatch;
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

    /** Most uses of one id that are open at once; beyond that the one that began first is closed as it is. */
    static final int MAX_OPEN = 256;

    private final RequestState state;
    private final ClockPaths clocks;
    private final Lifetimes lifetimes;
    private final ObserverSide observers;
    private final EngineSide engines;
    private final RequestClosing closing;
    private final RequestMilestones milestones;

    /** The last tokens, for the name of the next ones. */
    private @Nullable TokenBatch lastBatch;

    /** A life over its state, whose observers' stamps cannot be aligned with anything. */
    public RequestLife(String requestId, RequestState state, RequestOutput output) {
        this(requestId, state, output, new ClockGraph());
    }

    /** A life over its state, and the clocks that stamps are aligned with. */
    public RequestLife(String requestId, RequestState state, RequestOutput output, ClockGraph clocks) {
        this(requestId, state, output, new PaneCounter(StatisticsOutput.NOWHERE::durations), clocks);
    }

    /** A life over its state that also counts arrivals. */
    public RequestLife(String requestId, RequestState state, RequestOutput output, PaneCounter counter) {
        this(requestId, state, output, counter, new ClockGraph());
    }

    /** A life over its state that also counts arrivals, and the clocks that stamps are aligned with. */
    public RequestLife(
            String requestId, RequestState state, RequestOutput output, PaneCounter counter, ClockGraph clocks) {
        this.clocks = new ClockPaths(clocks);
        this.state = state;
        this.milestones = new RequestMilestones(requestId, output);
        TokenRows rows = new TokenRows(requestId, output, milestones);
        Delivery delivery = new Delivery(
                rows, new DeliveryJudge(rows, this.clocks, milestones), new StreamGaps(rows, this.clocks), this.clocks);
        this.lifetimes = new Lifetimes(state);
        this.observers = new ObserverSide(
                requestId, state, lifetimes, delivery, new Arrivals(requestId, counter), this.clocks, milestones);
        this.engines = new EngineSide(milestones, delivery, rows, this.clocks);
        this.closing = new RequestClosing(requestId, state, output, delivery, rows, milestones);
    }

    /** Takes the next input. */
    public void accept(RequestInput input) {
        closeBefore(input.coarseEpochMillis);
        clocks.at(input.coarseEpochMillis);
        milestones.at(input.coarseEpochMillis);
        TokenBatch batch = input.tokens(lastBatch);
        SequenceFact fact = input.fact();
        if (input.event != null) {
            observers.observed(input.coarseEpochMillis, input.event);
        } else if (batch != null) {
            lastBatch = batch;
            LifetimeState lifetime = lifetimes.of(batch);
            touch(lifetime, input.coarseEpochMillis);
            engines.tokens(lifetime, batch);
        } else if (fact != null) {
            LifetimeState lifetime = lifetimes.of(fact);
            touch(lifetime, input.coarseEpochMillis);
            engines.fact(lifetime, fact);
        }
        while (state.open.size() > MAX_OPEN) {
            LifetimeState oldest = state.open.remove(0);
            close(oldest);
            state.lastCloseMillis = Math.max(state.lastCloseMillis, oldest.lastEventMillis);
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

    static void touch(LifetimeState lifetime, long millis) {
        lifetime.lastEventMillis = Math.max(lifetime.lastEventMillis, millis);
    }

    private static long closeMillis(LifetimeState lifetime) {
        boolean done = !lifetime.observed() || lifetime.completed();
        for (SequenceLife sequence : lifetime.sequences) {
            done &= sequence.finished() || !sequence.fromEngine;
        }
        done &= lifetime.completed() || !lifetime.sequences.isEmpty();
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

    private void close(LifetimeState lifetime) {
        clocks.at(lifetime.lastEventMillis);
        milestones.at(closeMillis(lifetime));
        closing.close(lifetime);
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
}
