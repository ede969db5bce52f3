package io.tokenstair.job;

import io.tokenstair.event.AllocatorSampled;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.KvTransferred;
import io.tokenstair.event.MemoryChanged;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import io.tokenstair.job.engine.EngineMetric;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where each kind of event goes: to its engine, to its request, or nowhere but the archive. */
public final class EventRoutes {
    private EventRoutes() {}

    /** The engine that must hear of an event, or null. */
    public static @Nullable String engineOf(Event event) {
        return event.accept(ENGINE).orElse(null);
    }

    /** The request that must hear of an event, or null. */
    public static @Nullable String requestOf(Event event) {
        return event.accept(REQUEST).orElse(null);
    }

    private static final Event.Visitor<Optional<String>> ENGINE = new NowhereVisitor() {
        @Override
        public Optional<String> visit(RequestQueued event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(RequestPreempted event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(MetricSampled event) {
            return Optional.ofNullable(EngineMetric.engineOf(event));
        }

        @Override
        public Optional<String> visit(StepCompleted event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(RequestFinished event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(KvBlocksStored event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(KvBlocksEvicted event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(KvLookup event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(EngineConfigured event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(HostSampled event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(KvTransferred event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(ShapeCompiled event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(AllocatorSampled event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(KernelRan event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(StreamStalled event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(MemoryChanged event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(HostPaused event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(ShardLoaded event) {
            return Optional.ofNullable(event.engineId());
        }

        @Override
        public Optional<String> visit(DeviceSampled event) {
            return Optional.ofNullable(event.engineId());
        }
    };

    private static final Event.Visitor<Optional<String>> REQUEST = new NowhereVisitor() {
        @Override
        public Optional<String> visit(RequestReceived event) {
            return Optional.ofNullable(event.requestId());
        }

        @Override
        public Optional<String> visit(RequestCompleted event) {
            return Optional.ofNullable(event.requestId());
        }

        @Override
        public Optional<String> visit(ChunkDelivered event) {
            return Optional.ofNullable(event.requestId());
        }

        @Override
        public Optional<String> visit(IdAliased event) {
            return Optional.ofNullable(event.requestId());
        }
    };

    /** Sends nothing anywhere; a new kind must be decided on here before it compiles. */
    private abstract static class NowhereVisitor implements Event.Visitor<Optional<String>> {
        @Override
        public Optional<String> visit(RequestReceived event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(RequestCompleted event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(ChunkDelivered event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(RequestQueued event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(RequestPreempted event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(StepCompleted event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(RequestFinished event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(KvBlocksStored event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(KvBlocksEvicted event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(KvLookup event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(EngineConfigured event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(MetricSampled event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(SpanRecorded event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(IdAliased event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(HostSampled event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(ClockSampled event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(ClockFitted event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(KvTransferred event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(ShapeCompiled event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(AllocatorSampled event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(KernelRan event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(StreamStalled event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(MemoryChanged event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(HostPaused event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(ShardLoaded event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(DeviceSampled event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(RuleRevised event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(CollectorGap event) {
            return Optional.empty();
        }

        @Override
        public Optional<String> visit(Rejected event) {
            return Optional.empty();
        }
    }
}
