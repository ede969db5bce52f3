package io.tokenstair.vllm;

import io.tokenstair.collect.live.KvEvictionReasons;
import io.tokenstair.collect.live.KvMessages;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.foreign.ForeignFormatException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The steps of one scheduler, from its start to its end: records of the probe become events in the order they were made in. Stamps are
 * passed on as the engine read them.
 */
final class EngineSteps {
    private static final int ANNOUNCE_EVERY_STEPS = 256;
    private static final int MAX_ANNOUNCED = 16_384;
    /** More steps than are in flight at once in an engine. */
    private static final int MAX_BASES = 64;

    private static final int PROBE_ANNOUNCES_AT_MOST = 4_096;

    /** Name of the metric that counts steps that left sequences waiting, by what the one at which the scheduler stopped lacked. */
    static final String WAITS_METRIC = "tokenstair_probe_waiting_steps_total";

    private static final List<String> WAIT_REASONS =
            List.of("unknown", "seats", "kv-blocks", "token-budget", "grammar", "remote-kv", "input");

    private final String engineId;
    private final int dpRank;
    private final Emit emit;
    private final @Nullable KvEvictionReasons evictions;
    // What is known of evictions whose KV events the probe itself carries.
    private final KvEvictionReasons carriedEvictions = new KvEvictionReasons();
    private final OpenSequences sequences = new OpenSequences();
    private final Map<Integer, String> announced = new LinkedHashMap<>();
    // Whole steps that later ones may be like, the latest few of them.
    private final Map<Long, ProbeRecord.Step> bases = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, ProbeRecord.Step> eldest) {
            return size() > MAX_BASES;
        }
    };
    private @Nullable EngineConfigured configured;
    private @Nullable Long kvTotalBlocksCount;
    private boolean eager;
    private final long[] waits = new long[WAIT_REASONS.size()];
    private long waitsTold;
    private long stepCount;
    private int directEvictionIndex;

    /** Takes an event under a stamp of the engine's clock. */
    interface Emit {
        /** Takes it. */
        void event(long clockNanos, Event event);
    }

    /**
     * The steps of an engine.
     *
     * @param engineId the engine
     * @param dpRank its data-parallel rank
     * @param emit takes the events
     * @param evictions takes what is known of evicted blocks, where the engine's KV events are collected too; absent when they are not:
     *     then the evictions become events here
     */
    EngineSteps(String engineId, int dpRank, Emit emit, @Nullable KvEvictionReasons evictions) {
        this.engineId = engineId;
        this.dpRank = dpRank;
        this.emit = emit;
        this.evictions = evictions;
    }

    /** Records were lost before the next one. */
    void gap() {
        sequences.forgetCounts();
        stepCount = 0;
    }

    void queued(ProbeRecord.Queued queued) {
        OpenSequences.Sequence sequence = sequences.open(queued.id());
        sequence.promptTokens = queued.promptTokens();
        announced.put(sequence.handle, sequence.id);
        emit.event(
                queued.clockNanos(),
                new RequestQueued(
                        engineId,
                        dpRank,
                        sequence.handle,
                        queued.id(),
                        epochNanos(queued.arrivalSeconds()),
                        queued.promptTokens(),
                        queued.maxTokens(),
                        queued.priority()));
    }

    private static @Nullable Long epochNanos(@Nullable Double seconds) {
        if (seconds == null || !(seconds > 0 && seconds < 9.0e9)) {
            return null;
        }
        long whole = seconds.longValue();
        return whole * 1_000_000_000L + Math.round((seconds - whole) * 1e9);
    }

    void ended(ProbeRecord.Ended ended) {
        ended.outputTokens().forEach((id, outputs) -> {
            if (sequences.end(id)) {
                emit.event(
                        ended.clockNanos(),
                        new RequestFinished(engineId, dpRank, id, endReason(ended.status()), outputs, null));
            }
        });
    }

    void preempted(ProbeRecord.Preempted preempted) {
        OpenSequences.Sequence sequence = sequences.open(preempted.id());
        if (preempted.preemptionCount() != null) {
            sequence.preemptionCount = preempted.preemptionCount();
        }
        emit.event(
                preempted.clockNanos(),
                new RequestPreempted(
                        engineId,
                        dpRank,
                        preempted.id(),
                        preempted.stepId(),
                        switch (preempted.reason()) {
                            case 1 -> "kv_blocks_exhausted";
                            case 2 -> "outside_schedule";
                            default -> null;
                        },
                        preempted.wantedBy(),
                        preempted.computedTokens(),
                        preempted.outputTokens(),
                        preempted.preemptionCount(),
                        preempted.freeBlocksCount()));
    }

    void evicted(ProbeRecord.Evicted evicted) {
        String reason = evictionReason(evicted.reason());
        KvEvictionReasons joined = evicted.carried() ? carriedEvictions : evictions;
        if (joined != null) {
            joined.evicted(evicted.hashes(), evicted.reuseCounts(), evicted.idleNanos(), evicted.wantedBy(), reason);
            return;
        }
        emit.event(
                evicted.clockNanos(),
                new KvBlocksEvicted(
                        engineId,
                        dpRank,
                        null,
                        null,
                        directEvictionIndex++,
                        null,
                        evicted.hashes(),
                        false,
                        reason,
                        evicted.wantedBy(),
                        evicted.reuseCounts(),
                        evicted.idleNanos()));
    }

    /** A batch of KV events that the probe carried: what was evicted for what was told before it. */
    void kvEvents(ProbeRecord.KvEvents batch) {
        KvMessages.events(engineId, batch.batchSequence(), batch.payload(), carriedEvictions)
                .forEach(event -> emit.event(batch.clockNanos(), event));
    }

    static @Nullable String evictionReason(int code) {
        return switch (code) {
            case 1 -> "context-jump";
            case 2 -> "admission";
            case 3 -> "capacity";
            default -> null;
        };
    }

    void open(ProbeRecord.Open open) {
        Set<String> ids = new HashSet<>();
        for (ProbeRecord.OpenSequence told : open.sequences()) {
            ids.add(told.id());
            boolean known = sequences.find(told.id()) != null;
            OpenSequences.Sequence sequence = sequences.open(told.id());
            if (!known) {
                announced.put(sequence.handle, sequence.id);
            }
            sequence.promptTokens = told.promptTokens();
            if (told.preemptionCount() != null) {
                sequence.preemptionCount = told.preemptionCount();
            }
        }
        if (open.sequences().size() < PROBE_ANNOUNCES_AT_MOST) {
            sequences.keepOnly(ids);
        }
    }

    void engine(ProbeRecord.Engine engine) {
        Map<String, Object> limits = engine.limits();
        kvTotalBlocksCount = count(limits, "kvTotalBlocks");
        eager = Boolean.TRUE.equals(limits.get("eager"));
        String policy = text(limits, "policy");
        EngineConfigured now = new EngineConfigured(
                engineId,
                dpRank,
                "vllm",
                text(limits, "engineVersion"),
                count(limits, "tokenBudgetTokens"),
                smallCount(limits, "maxSequences"),
                kvTotalBlocksCount,
                smallCount(limits, "blockSizeTokens"),
                policy,
                limits.get("async") instanceof Boolean async ? async : null,
                "priority".equals(policy) ? Boolean.TRUE : null,
                text(limits, "model"),
                smallCount(limits, "tensorParallel"),
                smallCount(limits, "maxGraphBatch"),
                smallCount(limits, "pipelineParallel"),
                smallCount(limits, "dataParallel"));
        if (!now.equals(configured)) {
            configured = now;
            emit.event(engine.clockNanos(), now);
        }
        if (Arrays.stream(waits).sum() != waitsTold) {
            waitsTold = Arrays.stream(waits).sum();
            for (int i = 0; i < waits.length; i++) {
                emit.event(
                        engine.clockNanos(),
                        new MetricSampled(
                                engineId, WAITS_METRIC, "reason=\"" + WAIT_REASONS.get(i) + "\"", (double) waits[i]));
            }
        }
    }

    private static @Nullable String text(Map<String, Object> facts, String name) {
        return facts.get(name) instanceof String text ? text : null;
    }

    static @Nullable Long count(Map<String, Object> facts, String name) {
        return facts.get(name) instanceof Long count && count >= 0 ? count : null;
    }

    private static @Nullable Integer smallCount(Map<String, Object> facts, String name) {
        Long count = count(facts, name);
        return count == null || count > Integer.MAX_VALUE ? null : Integer.valueOf(count.intValue());
    }

    /** A step becomes one event, or is refused as a whole where its columns contradict each other. */
    void step(ProbeRecord.Step step) throws ForeignFormatException {
        take(step);
        if (mayBeBase(step)) {
            bases.put(step.stepId(), step);
        }
    }

    private void take(ProbeRecord.Step step) throws ForeignFormatException {
        Columns columns = Columns.of(step);
        if (step.waitingCount() != null && step.waitingCount() > 0) {
            waits[step.waitReason() < waits.length ? step.waitReason() : 0]++;
        }
        List<SequenceRow> rows = new ArrayList<>(step.ids().size());
        long[] tokensOf = new long[3];
        boolean decodes = false;
        boolean computesPrompt = false;
        for (int i = 0; i < step.ids().size(); i++) {
            String id = step.ids().get(i);
            OpenSequences.Sequence sequence = sequences.find(id);
            if (sequence == null) {
                sequence = sequences.open(id);
                announced.put(sequence.handle, id);
            }
            ProbeRecord.Fresh fresh = columns.fresh.get(id);
            if (fresh != null) {
                sequence.preemptionCount = Math.max(sequence.preemptionCount, fresh.preemptionCount());
            }
            Phase phase = phase(columns, i, id, sequence, fresh);
            int scheduled = step.scheduledTokens()[i];
            if (phase == Phase.DECODE) {
                tokensOf[0] += scheduled;
                decodes = true;
            } else {
                tokensOf[phase == Phase.PREFILL ? 1 : 2] += scheduled;
                computesPrompt = true;
            }
            int made = columns.made(i, id);
            Integer first = null;
            if (made > 0) {
                first = sequence.outputTokens == null ? Integer.valueOf(columns.outputs[i]) : sequence.outputTokens;
                sequence.outputTokens = first + made;
            }
            rows.add(new SequenceRow(
                    sequence.handle,
                    first,
                    made,
                    Math.addExact(columns.computed[i], scheduled),
                    scheduled,
                    phase,
                    fresh != null || phase == Phase.RESUMED ? Integer.valueOf(columns.computed[i]) : null,
                    sequence.preemptionCount == 0 ? null : Integer.valueOf(sequence.preemptionCount),
                    null));
        }
        if (stepCount++ % ANNOUNCE_EVERY_STEPS == 0) {
            for (OpenSequences.Sequence open : sequences.open(MAX_ANNOUNCED)) {
                announced.put(open.handle, open.id);
            }
        }
        List<HandleAnnounced> announcements = new ArrayList<>(announced.size());
        announced.forEach((handle, id) -> announcements.add(new HandleAnnounced(handle, id)));
        announced.clear();
        Long used = kvTotalBlocksCount == null || step.kvFreeBlocksCount() == null
                ? null
                : Long.valueOf(Math.max(0, kvTotalBlocksCount - step.kvFreeBlocksCount()));
        emit.event(
                step.updateEndNanos(),
                new StepCompleted(
                        engineId,
                        dpRank,
                        step.stepId(),
                        step.scheduleStartNanos(),
                        step.scheduleEndNanos(),
                        step.updateStartNanos(),
                        step.updateEndNanos(),
                        decodes ? (computesPrompt ? "mixed" : "decode") : (computesPrompt ? "prefill" : "idle"),
                        step.graphMode() != null ? step.graphMode() : eager ? "eager" : null,
                        step.paddedBatchCount(),
                        tokensOf[0],
                        tokensOf[1],
                        tokensOf[2],
                        step.runningCount(),
                        step.waitingCount(),
                        used,
                        kvTotalBlocksCount,
                        step.kvBatchSequence(),
                        step.probeNanos(),
                        announcements,
                        SequenceRows.of(rows)));
        for (ProbeRecord.Finish finish : step.finishes()) {
            finished(step, columns.emitting.get(finish.position()), finish.reason());
        }
        if (evictions != null && step.kvBatchSequence() != null) {
            evictions.published(step.kvBatchSequence());
        }
    }

    /**
     * A step that was like an earlier one.
     *
     * @throws ForeignFormatException when the earlier one is not known: it was lost, or is not one that others may be like
     */
    void sameStep(ProbeRecord.SameStep same) throws ForeignFormatException {
        ProbeRecord.Step base = bases.get(same.baseStepId());
        if (base == null) {
            throw new ForeignFormatException(
                    "step " + same.stepId() + " is like step " + same.baseStepId() + ", which is not known");
        }
        int further = (int) (same.stepId() - same.baseStepId());
        take(new ProbeRecord.Step(
                same.stepId(),
                same.scheduleStartNanos(),
                same.scheduleEndNanos(),
                same.updateStartNanos(),
                same.updateEndNanos(),
                same.runningCount(),
                same.waitingCount(),
                same.kvFreeBlocksCount(),
                same.waitReason(),
                base.ids(),
                base.scheduledTokens(),
                base.cachedIds(),
                further(base.computedTokens(), further),
                further(base.outputTokens(), further),
                List.of(),
                List.of(),
                null,
                null,
                List.of(),
                same.kvBatchSequence(),
                base.graphMode(),
                base.paddedBatchCount(),
                same.probeNanos()));
    }

    private static int[] further(int[] counts, int by) {
        int[] further = new int[counts.length];
        for (int i = 0; i < counts.length; i++) {
            further[i] = Math.addExact(counts[i], by);
        }
        return further;
    }

    /** Whether each of its sequences was scheduled one token and made one, and none ended. */
    private static boolean mayBeBase(ProbeRecord.Step step) {
        if (!step.fresh().isEmpty()
                || step.emittingIds() != null
                || step.tokenCounts() != null
                || !step.finishes().isEmpty()) {
            return false;
        }
        for (int tokens : step.scheduledTokens()) {
            if (tokens != 1) {
                return false;
            }
        }
        return true;
    }

    private static Phase phase(
            Columns columns, int i, String id, OpenSequences.Sequence sequence, ProbeRecord.@Nullable Fresh fresh) {
        if (fresh != null) {
            return fresh.preemptionCount() > 0 ? Phase.RESUMED : Phase.PREFILL;
        }
        if (columns.resumed.contains(id)) {
            return Phase.RESUMED;
        }
        int outputs = columns.outputs[i];
        Long prompt = sequence.promptTokens;
        boolean caughtUp = prompt == null ? columns.made(i, id) > 0 : columns.computed[i] >= prompt + outputs - 1;
        if (outputs > 0 && caughtUp) {
            return Phase.DECODE;
        }
        return sequence.preemptionCount > 0 ? Phase.RECOMPUTE : Phase.PREFILL;
    }

    private void finished(ProbeRecord.Step step, String id, String reason) {
        OpenSequences.Sequence sequence = sequences.find(id);
        Integer outputs = sequence == null ? null : sequence.outputTokens;
        if (sequences.end(id)) {
            emit.event(
                    step.updateEndNanos(),
                    new RequestFinished(
                            engineId,
                            dpRank,
                            id,
                            endReason(reason),
                            outputs == null ? null : Long.valueOf(outputs),
                            step.stepId()));
        }
    }

    /** The reason in our words, of vLLM's FinishReason ("length") or RequestStatus name ("FINISHED_ABORTED"). */
    static String endReason(String finish) {
        String reason = finish.toUpperCase(Locale.ROOT);
        reason = reason.substring(reason.lastIndexOf('.') + 1);
        return switch (reason.startsWith("FINISHED_") ? reason.substring("FINISHED_".length()) : reason) {
            case "LENGTH", "LENGTH_CAPPED" -> "length";
            case "STOP", "STOPPED", "REPETITION" -> "stop";
            case "ABORT", "ABORTED" -> "aborted";
            case "ERROR" -> "error";
            default -> "unknown";
        };
    }

    /** The columns of a step by row. */
    private static final class Columns {
        final int[] computed;
        final int[] outputs;
        final Map<String, ProbeRecord.Fresh> fresh = new HashMap<>();
        final Set<String> resumed;
        final List<String> emitting;
        private final @Nullable Map<String, Integer> madeById;
        private final int @Nullable [] made;

        private Columns(ProbeRecord.Step step, int[] computed, int[] outputs, List<String> emitting) {
            this.computed = computed;
            this.outputs = outputs;
            this.emitting = emitting;
            this.resumed = new HashSet<>(step.resumedIds());
            this.made = step.tokenCounts();
            if (step.emittingIds() == null) {
                this.madeById = null;
            } else {
                this.madeById = new HashMap<>();
                for (int i = 0; i < emitting.size(); i++) {
                    madeById.merge(emitting.get(i), made == null ? 1 : made[i], Integer::sum);
                }
            }
        }

        static Columns of(ProbeRecord.Step step) throws ForeignFormatException {
            int count = step.ids().size();
            List<String> emitting = step.emittingIds() == null ? step.ids() : step.emittingIds();
            if (step.tokenCounts() != null && step.tokenCounts().length != emitting.size()) {
                throw refuse(
                        step, "token counts for " + step.tokenCounts().length + " of " + emitting.size() + " outputs");
            }
            for (ProbeRecord.Finish finish : step.finishes()) {
                if (finish.position() >= emitting.size()) {
                    throw refuse(step, "an output ends that is not there");
                }
            }
            Columns columns = new Columns(step, new int[count], new int[count], emitting);
            for (ProbeRecord.Fresh fresh : step.fresh()) {
                columns.fresh.put(fresh.id(), fresh);
            }
            List<String> cachedIds = step.cachedIds() == null ? step.ids() : step.cachedIds();
            if (step.computedTokens().length != cachedIds.size() || step.outputTokens().length != cachedIds.size()) {
                throw refuse(step, "columns of different lengths");
            }
            Map<String, Integer> places = new HashMap<>();
            for (int i = 0; i < cachedIds.size(); i++) {
                places.put(cachedIds.get(i), i);
            }
            for (int i = 0; i < count; i++) {
                String id = step.ids().get(i);
                ProbeRecord.Fresh fresh = columns.fresh.get(id);
                if (fresh != null) {
                    columns.computed[i] = fresh.computedTokens();
                    columns.outputs[i] = fresh.outputTokens();
                    continue;
                }
                Integer place = places.get(id);
                if (place == null) {
                    throw refuse(step, "a scheduled sequence without its columns");
                }
                columns.computed[i] = step.computedTokens()[place];
                columns.outputs[i] = step.outputTokens()[place];
            }
            return columns;
        }

        private static ForeignFormatException refuse(ProbeRecord.Step step, String why) {
            return new ForeignFormatException("step " + step.stepId() + ": " + why);
        }

        /** Tokens that the step made for row i. */
        int made(int i, String id) {
            if (madeById != null) {
                return madeById.getOrDefault(id, 0);
            }
            return made == null ? 1 : made[i];
        }
    }
}
