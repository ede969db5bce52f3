package io.tokenstair.job.request;

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

/** What observers, a client or a gateway, say of a request. */
final class ObserverSide {
    private static final int MAX_UNMATCHED = 3_000_000;

    private final String requestId;
    private final RequestState state;
    private final Lifetimes lifetimes;
    private final Delivery delivery;

    ObserverSide(String requestId, RequestState state, Lifetimes lifetimes, Delivery delivery) {
        this.requestId = requestId;
        this.state = state;
        this.lifetimes = lifetimes;
        this.delivery = delivery;
    }

    /** Takes an observer's event. */
    void observed(long coarseMillis, byte[] bytes) {
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
            RequestLife.touch(lifetime, coarseMillis);
        } else if (event instanceof ChunkDelivered delivered) {
            LifetimeState lifetime = observing(delivered.observer(), header);
            RequestLife.touch(lifetime, coarseMillis);
            if (lifetime.observer.equals(delivered.observer())) {
                chunks(lifetime, delivered);
            }
        } else if (event instanceof RequestCompleted completed) {
            LifetimeState lifetime = observing(completed.observer(), header);
            RequestLife.touch(lifetime, coarseMillis);
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
            lifetime = lifetimes.newLifetime();
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
        LifetimeState lifetime = state.open.isEmpty() ? lifetimes.newLifetime() : state.open.get(0);
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
            SequenceLife sequence = Lifetimes.sequence(lifetime, prompt, choice);
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
            delivery.match(lifetime, sequence);
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
}
