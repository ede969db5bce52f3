package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.KvTransferred;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.event.StepCompleted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What the engine's own collectors write down: steps, requests, KV blocks, start-up. */
final class EngineRecords {
    private static final String KV_COLLECTOR = "sim-kv";
    private static final String LOAD_COLLECTOR = "sim-load";
    private static final int ANNOUNCE_EVERY_STEPS = 256;
    private static final long KV_LATE_NANOS = 120_000;
    private static final long LOOKUP_EVERY_NANOS = 1_000_000_000L;
    private static final int SHARDS = 4;
    private static final long SHARD_BYTES = 4_020_000_000L;
    private static final long SHARD_NANOS = 1_900_000_000L;

    private final Settings settings;
    private final EngineName name;
    private final Hosts hosts;
    private final EventLog log;
    private final RandomStream stream;
    private final Map<Integer, String> open = new TreeMap<>();
    private List<HandleAnnounced> announced = new ArrayList<>();
    private long kvBatches;
    private long stepCount;
    private final long[] lookups = new long[4];
    private long lastLookupNanos;

    EngineRecords(EngineName name, Settings settings, Hosts hosts, EventLog log, RandomStream stream) {
        this.settings = settings;
        this.name = name;
        this.hosts = hosts;
        this.log = log;
        this.stream = stream;
    }

    void configured(long atNanos) {
        log.add(
                name.collector(Hosts.STEPS_COLLECTOR),
                hosts.engine,
                atNanos,
                new EngineConfigured(
                        name.engineId(),
                        name.rank(),
                        "engine-simulator",
                        "1",
                        (long) settings.tokenBudgetTokens,
                        settings.maxSequences,
                        (long) settings.kvBlocks,
                        KvCache.BLOCK_TOKENS,
                        settings.priorityPolicy ? "priority" : "fcfs",
                        settings.asyncScheduling,
                        settings.priorityPolicy ? Boolean.TRUE : null,
                        "llama-3-8b",
                        settings.tensorParallelCount,
                        settings.maxGraphBatch));
    }

    /** Two starts, an hour apart; the second one, the run's, reads its shards slower by the fault's factor. */
    void loaded(double slower) {
        load(EventLog.COLLECTOR_EPOCH - 3_600, -3_600_000_000_000L, 1);
        load(EventLog.COLLECTOR_EPOCH, -120_000_000_000L, slower);
    }

    private void load(long collectorEpoch, long beginNanos, double slower) {
        long now = beginNanos;
        for (int shard = 0; shard < SHARDS; shard++) {
            double factor = shard == 2 ? slower : 1;
            double noise =
                    1 + 0.05 * stream.named("load").numbered(collectorEpoch).gaussian(shard);
            long end = now + StrictMath.round(SHARD_NANOS * factor * noise);
            log.add(
                    name.collector(LOAD_COLLECTOR),
                    collectorEpoch,
                    hosts.engine,
                    end,
                    new ShardLoaded(
                            name.engineId(),
                            name.rank(),
                            name.deviceId(),
                            "model-0000" + (shard + 1) + "-of-0000" + SHARDS + ".safetensors",
                            SHARD_BYTES,
                            hosts.engineNanos(now),
                            hosts.engineNanos(end),
                            factor > 1.5 ? "nfs" : "nvme"));
            now = end;
        }
    }

    void queued(Sequence sequence, long arrivedNanos) {
        RequestPlan plan = sequence.plan;
        open.put(sequence.handle, sequence.engineRequestId());
        announced.add(new HandleAnnounced(sequence.handle, sequence.engineRequestId()));
        log.add(
                name.collector(Hosts.STEPS_COLLECTOR),
                hosts.engine,
                sequence.queuedNanos,
                new RequestQueued(
                        name.engineId(),
                        name.rank(),
                        sequence.handle,
                        sequence.engineRequestId(),
                        hosts.epochNanos(arrivedNanos),
                        (long) plan.promptTokens(),
                        (long) plan.outputTokens(),
                        settings.priorityPolicy || settings.priorities > 1 ? plan.priority() : null));
    }

    void preempted(Sequence sequence, long stepId, long atNanos, int hadTokens, Sequence wantedBy, int freeBlocks) {
        log.add(
                name.collector(Hosts.STEPS_COLLECTOR),
                hosts.engine,
                atNanos,
                new RequestPreempted(
                        name.engineId(),
                        name.rank(),
                        sequence.engineRequestId(),
                        stepId,
                        "kv-capacity",
                        wantedBy.engineRequestId(),
                        (long) hadTokens,
                        (long) sequence.madeTokens,
                        sequence.preemptionCount,
                        (long) freeBlocks));
    }

    void transferred(Sequence sequence, Cause cause, long fromNanos, long toNanos, int tokens) {
        boolean remote = cause == Cause.REMOTE_KV_ADMISSION;
        log.add(
                name.collector(Hosts.STEPS_COLLECTOR),
                hosts.engine,
                toNanos,
                new KvTransferred(
                        name.engineId(),
                        name.rank(),
                        sequence.engineRequestId(),
                        remote ? "remote" : "offload",
                        "load",
                        hosts.engineNanos(fromNanos),
                        hosts.engineNanos(toNanos),
                        tokens * Scheduler.KV_BYTES_PER_TOKEN,
                        (long) tokens,
                        remote ? "prefill-0" : null));
    }

    void lookedUp(boolean recovering, long atNanos, int queriedTokens, int hitTokens) {
        int first = recovering ? 2 : 0;
        lookups[first] += queriedTokens;
        lookups[first + 1] += hitTokens;
        if (atNanos - lastLookupNanos >= LOOKUP_EVERY_NANOS) {
            lastLookupNanos = atNanos;
            log.add(
                    name.collector(KV_COLLECTOR),
                    hosts.engine,
                    atNanos,
                    new KvLookup(name.engineId(), name.rank(), lookups[0], lookups[1], lookups[2], lookups[3]));
            Arrays.fill(lookups, 0);
        }
    }

    void stepped(StepRun step) {
        if (stepCount++ % ANNOUNCE_EVERY_STEPS == 0) {
            for (Map.Entry<Integer, String> known : open.entrySet()) {
                HandleAnnounced again = new HandleAnnounced(known.getKey(), known.getValue());
                if (!announced.contains(again)) {
                    announced.add(again);
                }
            }
        }
        boolean publishes = !step.evictedHashes.isEmpty() || !step.stored.isEmpty();
        Long batch = publishes ? kvBatches++ : null;
        boolean prompts = step.work.promptRows() > 0;
        log.add(
                name.collector(Hosts.STEPS_COLLECTOR),
                hosts.engine,
                step.updateEndNanos,
                new StepCompleted(
                        name.engineId(),
                        name.rank(),
                        step.stepId,
                        hosts.engineNanos(step.scheduleStartNanos),
                        hosts.engineNanos(step.scheduleEndNanos),
                        hosts.engineNanos(step.updateStartNanos),
                        hosts.engineNanos(step.updateEndNanos),
                        !prompts ? "decode" : step.decodes() ? "mixed" : "prefill",
                        graphMode(step),
                        step.graphMode == StepCost.GraphMode.EAGER ? null : StepLaw.padded(step.work.rows()),
                        step.tokens(true, false),
                        step.tokens(false, false),
                        step.tokens(false, true),
                        step.runningCount,
                        step.waitingCount,
                        (long) step.kvUsedBlocks,
                        (long) settings.kvBlocks,
                        batch,
                        null,
                        announced,
                        SequenceRows.of(step.rows)));
        announced = new ArrayList<>();
        if (batch != null) {
            publish(step, batch);
        }
    }

    private static String graphMode(StepRun step) {
        return switch (step.graphMode) {
            case FULL -> "full";
            case PIECEWISE -> "piecewise";
            case EAGER -> "eager";
        };
    }

    private void publish(StepRun step, long batch) {
        long at = step.updateEndNanos + KV_LATE_NANOS;
        long published = hosts.epochNanos(step.updateEndNanos);
        int index = 0;
        if (!step.evictedHashes.isEmpty()) {
            log.add(
                    name.collector(KV_COLLECTOR),
                    hosts.engine,
                    at,
                    new KvBlocksEvicted(
                            name.engineId(),
                            name.rank(),
                            batch,
                            published,
                            index++,
                            "GPU",
                            step.evictedHashes,
                            false,
                            null));
        }
        for (StepRun.Stored stored : step.stored) {
            log.add(
                    name.collector(KV_COLLECTOR),
                    hosts.engine,
                    at,
                    new KvBlocksStored(
                            name.engineId(),
                            name.rank(),
                            batch,
                            published,
                            index++,
                            "GPU",
                            stored.hashes(),
                            stored.parentHash(),
                            KvCache.BLOCK_TOKENS,
                            (long) stored.hashes().size() * KvCache.BLOCK_TOKENS));
        }
    }

    void finished(Sequence sequence, StepRun step) {
        ended(sequence, step.updateEndNanos, "length", step.stepId);
    }

    void aborted(Sequence sequence, long atNanos) {
        ended(sequence, atNanos, "aborted", null);
    }

    private void ended(Sequence sequence, long atNanos, String reason, @Nullable Long stepId) {
        open.remove(sequence.handle);
        log.add(
                name.collector(Hosts.STEPS_COLLECTOR),
                hosts.engine,
                atNanos,
                new RequestFinished(
                        name.engineId(),
                        name.rank(),
                        sequence.engineRequestId(),
                        reason,
                        (long) sequence.madeTokens,
                        stepId));
    }
}
