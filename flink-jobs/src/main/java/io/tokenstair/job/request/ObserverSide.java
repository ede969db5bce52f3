package io.tokenstair.job.request;

import io.tokenstair.cause.Cause;
import io.tokenstair.clock.AlignedStamp;
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
import io.tokenstair.job.step.EngineTimeline;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What observers, a client or a gateway, say of a request. */
final class ObserverSide {
    private static final int MAX_ALIASES = 64;

    private final String requestId;
    private final RequestState state;
    private final Lifetimes lifetimes;
    private final Delivery delivery;
    private final Arrivals arrivals;
    private final ClockPaths clocks;
    private final RequestMilestones milestones;

    ObserverSide(
            String requestId,
            RequestState state,
            Lifetimes lifetimes,
            Delivery delivery,
            Arrivals arrivals,
            ClockPaths clocks,
            RequestMilestones milestones) {
        this.milestones = milestones;
        this.clocks = clocks;
        this.requestId = requestId;
        this.state = state;
        this.lifetimes = lifetimes;
        this.delivery = delivery;
        this.arrivals = arrivals;
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
            LifetimeState lifetime = lifetimes.received(received.observer());
            RequestLife.touch(lifetime, coarseMillis);
            received(lifetime, header, received);
        } else if (event instanceof ChunkDelivered delivered) {
            LifetimeState lifetime = observing(delivered.observer(), header);
            RequestLife.touch(lifetime, coarseMillis);
            chunks(lifetime, stream(lifetime, delivered.observer(), header), delivered, header);
        } else if (event instanceof RequestCompleted completed) {
            LifetimeState lifetime = observing(completed.observer(), header);
            RequestLife.touch(lifetime, coarseMillis);
            completed(lifetime, stream(lifetime, completed.observer(), header), header, completed);
        } else if (event instanceof IdAliased aliased
                && !aliased.alias().equals(requestId)
                && !state.aliases.contains(aliased.alias())
                && state.aliases.size() < MAX_ALIASES) {
            state.aliases.add(aliased.alias());
        }
    }

    private void received(LifetimeState lifetime, EventHeader header, RequestReceived received) {
        ObserverStream stream = stream(lifetime, received.observer(), header);
        lifetime.warmup |= received.warmup();
        lifetime.model = received.model() == null ? lifetime.model : received.model();
        if (received.choicesCount() != null) {
            lifetime.choicesCount = received.choicesCount();
        }
        if (received.promptTokens() != null) {
            lifetime.promptTokens = received.promptTokens();
        }
        if (received.priority() != null) {
            lifetime.priority = received.priority();
        }
        if (header.clockNanos() != null) {
            stream.sentNanos = header.clockNanos();
            stream.sentKnown = true;
            if (header.coarseEpochMillis() != null) {
                stream.coarseOffsetNanos = header.coarseEpochMillis() * 1_000_000 - header.clockNanos();
            }
            AlignedStamp sent = clocks.toEpoch(header.clockId(), header.clockNanos());
            if (sent != null) {
                stream.alignedOffsetNanos = sent.epochNanos() - header.clockNanos();
                stream.alignedBoundNanos = sent.boundNanos();
                stream.alignedSigmaNanos = sent.sigmaNanos();
            }
        }
        if (lifetime.observersOverlap) {
            for (LifetimeState open : state.open) {
                if (open.observersOverlap) {
                    delivery.abandon(open);
                }
            }
        }
    }

    private LifetimeState observing(String observer, EventHeader header) {
        LifetimeState lifetime = lifetimes.observing(observer, header.collectorId(), header.collectorEpoch());
        if (lifetime == null) {
            // Its beginning was not recorded.
            lifetime = state.open.isEmpty() ? lifetimes.newLifetime() : state.open.get(0);
        }
        return lifetime;
    }

    private static ObserverStream stream(LifetimeState lifetime, String observer, EventHeader header) {
        ObserverStream stream = lifetime.stream(observer);
        if (stream == null) {
            stream = new ObserverStream();
            stream.observer = observer;
            stream.collectorId = header.collectorId();
            stream.collectorEpoch = header.collectorEpoch();
            stream.clockId = header.clockId();
            if (observer.equals(LifetimeState.CLIENT)) {
                lifetime.client = stream;
            } else {
                lifetime.gateway = stream;
            }
        }
        return stream;
    }

    private void completed(
            LifetimeState lifetime, ObserverStream stream, EventHeader header, RequestCompleted completed) {
        stream.completed = true;
        stream.outcome = completed.outcome();
        stream.errorType = completed.errorType();
        stream.completedEventId = header.eventId();
        stream.endedNanos = header.clockNanos();
        AlignedStamp ended = header.clockNanos() == null ? null : clocks.toEpoch(header.clockId(), header.clockNanos());
        stream.endedOffsetNanos = ended == null || header.clockNanos() == null
                ? null
                : Long.valueOf(ended.epochNanos() - header.clockNanos());
        stream.usageTokens = completed.outputTokens();
        stream.usagePromptTokens = completed.promptTokens();
        stream.usageCachedTokens = completed.cachedTokens();
        stream.statedFirstNanos = completed.firstTokenNanos();
        stream.statedMeanGapNanos = completed.meanGapNanos();
        for (SequenceLife sequence : lifetime.sequences) {
            delivery.match(lifetime, sequence);
            if ("client-closed".equals(completed.outcome())) {
                milestones.concluded(
                        Cause.CLIENT_ABORT, lifetime, sequence, LifetimeState.CLIENT, List.of(header.eventId()));
            }
        }
    }

    private void chunks(LifetimeState lifetime, ObserverStream stream, ChunkDelivered delivered, EventHeader header) {
        int choices = lifetime.choicesCount == null ? 0 : Lifetimes.choices(lifetime.choicesCount);
        for (Chunk chunk : delivered.chunks()) {
            int prompt = choices == 0 ? 0 : chunk.sequenceIndex() / choices;
            int choice = choices == 0 ? chunk.sequenceIndex() : chunk.sequenceIndex() % choices;
            SequenceLife sequence = Lifetimes.sequence(lifetime, prompt, choice);
            if (sequence == null) {
                Lifetimes.counting(lifetime).droppedChunks++;
                continue;
            }
            if (lifetime.observersOverlap) {
                sequence.droppedChunks++;
                continue;
            }
            if (chunk.finish() != Finish.NONE && (sequence.endReason == null || sequence.endReason.equals("unknown"))) {
                sequence.endReason = endReason(chunk.finish());
            }
            if (chunk.tokenCount() == 0 || chunk.firstTokenIndex() == null) {
                lifetime.roleChunk |= chunk.chunkIndex() == 0;
                continue;
            }
            if (chunk.tokenCount() > EngineTimeline.ABSURD_TOKENS
                    || chunk.firstTokenIndex() > EngineTimeline.ABSURD_TOKEN_INDEX) {
                // Its number of tokens cannot be: every one of them would become a row.
                sequence.droppedChunks++;
                continue;
            }
            if (!stream.clockId.equals(header.clockId())) {
                // Stamps of another clock: nothing before compares with what follows.
                stream.clockId = header.clockId();
                stream.sentKnown = false;
                stream.coarseOffsetNanos = null;
                stream.alignedOffsetNanos = null;
            }
            stream.chunksSeen = true;
            boolean client = stream == lifetime.client;
            Long written = writeStartNanos(stream, chunk);
            if (!sequence.chunks(stream.observer)
                    .offer(
                            chunk.firstTokenIndex(),
                            chunk.tokenCount(),
                            chunk.arrivedNanos(),
                            orAbsent(written),
                            orAbsent(chunk.writeEndNanos()),
                            header.sequence())) {
                sequence.droppedChunks++;
                continue;
            }
            arrivals.arrived(header, lifetime, stream, sequence, chunk);
            sequence.multiToken |= chunk.tokenCount() > 1;
            if (client && sequence.clientFirstNanos == null) {
                sequence.clientFirstNanos = chunk.arrivedNanos();
            } else if (!client && sequence.gatewayFirstNanos == null) {
                sequence.gatewayFirstNanos = chunk.arrivedNanos();
            }
            if (!client && written != null) {
                sequence.gatewayWrites.accept(chunk.arrivedNanos(), written);
            }
            delivery.match(lifetime, sequence);
        }
    }

    /** When the gateway was ready to write a chunk: what it waited for the client's full socket is the client's. */
    private static @Nullable Long writeStartNanos(ObserverStream stream, Chunk chunk) {
        Long start = chunk.writeStartNanos();
        Long end = chunk.writeEndNanos();
        return start == null || end == null
                ? start
                : Long.valueOf(stream.ownWriteStartNanos(chunk.arrivedNanos(), start, end));
    }

    private static long orAbsent(@Nullable Long nanos) {
        return nanos == null ? ChunkQueue.ABSENT : nanos;
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
