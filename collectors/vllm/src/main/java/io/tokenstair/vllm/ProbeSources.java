package io.tokenstair.vllm;

import io.tokenstair.collect.live.EngineName;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.collect.live.KvEvictionReasons;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.foreign.ForeignFormatException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Everything that probes send: messages of any number of processes become events. A number of a record that never comes is lost, and
 * said so as a {@link CollectorGap}; a record that cannot be used becomes a {@link Rejected}. Holds at most {@value #MAX_SOURCES}
 * sources; beyond, the one that has been quiet longest is forgotten.
 */
final class ProbeSources {
    /** Name of the metric that says how many records of a source the engine's process could not send. */
    static final String LOST_METRIC = "tokenstair_probe_lost_records_total";

    private static final int MAX_SOURCES = 1_024;
    private static final long CLOCK_SAMPLE_EVERY_NANOS = 1_000_000_000L;

    private final String collectorName;
    private final String engineName;
    private final EventOut out;
    private final IntFunction<@Nullable KvEvictionReasons> evictions;
    private final Consumer<ObservedProcess> processes;
    private final Map<String, Source> sources = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Source> eldest) {
            return size() > MAX_SOURCES;
        }
    };
    private long recordCount;
    private long lostCount;
    private long rejectedCount;

    /**
     * A process of an engine.
     *
     * @param engineId the engine it serves; absent when it may serve several
     * @param machine its boot id
     * @param role engine, api or worker
     * @param facts what it says of itself
     */
    record ObservedProcess(@Nullable String engineId, String machine, String role, Map<String, Object> facts) {}

    /**
     * Sources that send to one collector.
     *
     * @param collectorName what the ids of what they log begin with
     * @param engineName name of an engine that has not been given one; ranks above 0 get their number behind it
     * @param out takes the events
     * @param evictions for a rank, what joins its evicted blocks with its KV events; absent where those are not collected
     * @param processes is told of the processes there are
     */
    ProbeSources(
            String collectorName,
            String engineName,
            EventOut out,
            IntFunction<@Nullable KvEvictionReasons> evictions,
            Consumer<ObservedProcess> processes) {
        this.collectorName = collectorName;
        this.engineName = engineName;
        this.out = out;
        this.evictions = evictions;
        this.processes = processes;
    }

    private final class Source {
        final String collectorId;
        final String clockId;
        final String wallClockId;
        final @Nullable String engineId;
        final int rank;
        final EngineSteps steps;
        long nextSequence = -1;
        long lostCount;
        long sampledNanos = Long.MIN_VALUE;

        Source(ProbeEnvelope envelope) {
            this.collectorId = collectorName + "-probe/" + envelope.source();
            this.clockId = "monotonic@" + envelope.machine();
            this.wallClockId = "wall@" + envelope.machine();
            this.rank = envelope.rank() == null ? 0 : envelope.rank();
            String name = envelope.engineId() == null ? engineName : envelope.engineId();
            // A process that serves all ranks belongs to the only engine there is, as long as there is no other.
            this.engineId = EngineName.ofRank(name, rank);
            this.steps = new EngineSteps(EngineName.ofRank(name, rank), rank, this::emit, evictions.apply(rank));
        }

        void emit(long clockNanos, Event event) {
            out.accept(collectorId, clockId, clockNanos, event);
        }
    }

    /** Takes a message; one that cannot be read becomes a Rejected event. */
    void message(byte[] first, byte[] second) {
        ProbeMessage message;
        try {
            message = ProbeMessage.parse(first, second);
        } catch (ForeignFormatException unreadable) {
            reject(collectorName + "-probe", "monotonic", null, "probe", unreadable.reason());
            return;
        }
        ProbeEnvelope envelope = message.envelope();
        Source source = sources.get(envelope.source());
        if (source == null) {
            source = new Source(envelope);
            sources.put(envelope.source(), source);
        }
        arrived(source, envelope);
        for (ProbeRecord record : message.records()) {
            recordCount++;
            try {
                take(source, envelope, record);
            } catch (ForeignFormatException contradictory) {
                reject(
                        source.collectorId,
                        source.clockId,
                        envelope.beforeNanos(),
                        envelope.source(),
                        contradictory.reason());
            } catch (ArithmeticException | IllegalArgumentException impossible) {
                reject(
                        source.collectorId,
                        source.clockId,
                        envelope.beforeNanos(),
                        envelope.source(),
                        "a record with an impossible value");
            }
        }
    }

    private void reject(String collectorId, String clockId, @Nullable Long clockNanos, String source, String reason) {
        rejectedCount++;
        out.accept(collectorId, clockId, clockNanos, new Rejected(source, null, null, reason, null));
    }

    /** Says what was lost before this message, and reads the clocks. */
    private void arrived(Source source, ProbeEnvelope envelope) {
        long expected = source.nextSequence;
        if (expected < 0) {
            // What came before may have gone to another collector; what could not be sent did not.
            expected = envelope.lostCount() == envelope.firstSequence() ? 0 : envelope.firstSequence();
        }
        if (envelope.firstSequence() > expected) {
            lostCount += envelope.firstSequence() - expected;
            source.emit(
                    envelope.beforeNanos(),
                    new CollectorGap(envelope.source(), expected, envelope.firstSequence() - 1));
            source.steps.gap();
        }
        source.nextSequence = Math.max(source.nextSequence, envelope.firstSequence() + envelope.recordCount());
        if (envelope.lostCount() != source.lostCount) {
            source.lostCount = envelope.lostCount();
            source.emit(
                    envelope.beforeNanos(),
                    new MetricSampled(
                            envelope.source(), LOST_METRIC, "role=\"" + envelope.role() + "\"", envelope.lostCount()));
        }
        if (source.sampledNanos == Long.MIN_VALUE
                || envelope.beforeNanos() - source.sampledNanos >= CLOCK_SAMPLE_EVERY_NANOS) {
            source.sampledNanos = envelope.beforeNanos();
            source.emit(
                    envelope.beforeNanos(),
                    new ClockSampled(
                            source.clockId,
                            source.wallClockId,
                            envelope.beforeNanos(),
                            envelope.wallNanos(),
                            envelope.afterNanos(),
                            null,
                            source.engineId));
        }
    }

    private void take(Source source, ProbeEnvelope envelope, ProbeRecord record) throws ForeignFormatException {
        if (record instanceof ProbeRecord.Step step) {
            source.steps.step(step);
        } else if (record instanceof ProbeRecord.SameStep step) {
            source.steps.sameStep(step);
        } else if (record instanceof ProbeRecord.Queued queued) {
            source.steps.queued(queued);
        } else if (record instanceof ProbeRecord.Ended ended) {
            source.steps.ended(ended);
        } else if (record instanceof ProbeRecord.Preempted preempted) {
            source.steps.preempted(preempted);
        } else if (record instanceof ProbeRecord.Evicted evicted) {
            source.steps.evicted(evicted);
        } else if (record instanceof ProbeRecord.KvEvents batch) {
            source.steps.kvEvents(batch);
        } else if (record instanceof ProbeRecord.Open open) {
            source.steps.open(open);
        } else if (record instanceof ProbeRecord.Engine engine) {
            source.steps.engine(engine);
        } else if (record instanceof ProbeRecord.Paused paused) {
            source.emit(
                    paused.endNanos(),
                    new HostPaused(
                            source.engineId,
                            envelope.machine(),
                            envelope.role(),
                            paused.cause(),
                            paused.startNanos(),
                            paused.endNanos()));
        } else if (record instanceof ProbeRecord.Process process) {
            processes.accept(
                    new ObservedProcess(source.engineId, envelope.machine(), envelope.role(), process.facts()));
        } else if (record instanceof ProbeRecord.Shard shard) {
            source.emit(
                    shard.endNanos(),
                    new ShardLoaded(
                            source.engineId == null ? engineName : source.engineId,
                            source.rank,
                            shard.deviceId(),
                            shard.name(),
                            shard.sizeBytes(),
                            shard.startNanos(),
                            shard.endNanos(),
                            shard.bindingPath()));
        } else if (record instanceof ProbeRecord.Lookup lookup) {
            source.emit(
                    lookup.clockNanos(),
                    new KvLookup(
                            EngineName.ofRank(
                                    envelope.engineId() == null ? engineName : envelope.engineId(), lookup.rank()),
                            lookup.rank(),
                            lookup.queriedTokens(),
                            lookup.hitTokens(),
                            lookup.preemptedQueriedTokens(),
                            lookup.preemptedHitTokens()));
        } else if (record instanceof ProbeRecord.Total total) {
            String labels = "role=\"" + envelope.role() + "\"";
            String name = "tokenstair_probe_" + total.name();
            source.emit(
                    total.clockNanos(),
                    new MetricSampled(envelope.source(), name + "_nanoseconds_total", labels, total.nanos()));
            source.emit(
                    total.clockNanos(),
                    new MetricSampled(envelope.source(), name + "_calls_total", labels, total.calls()));
        } else if (record instanceof ProbeRecord.Unread unread) {
            throw new ForeignFormatException(unread.reason());
        }
    }

    /**
     * How reading goes.
     *
     * @param recordCount records read
     * @param lostCount records that never came
     * @param rejectedCount messages and records that could not be used
     */
    record Counts(long recordCount, long lostCount, long rejectedCount) {}

    /** How reading goes so far. */
    Counts counts() {
        return new Counts(recordCount, lostCount, rejectedCount);
    }
}
