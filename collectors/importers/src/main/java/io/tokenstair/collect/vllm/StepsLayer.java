package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.SequenceLedger;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The engine's own record, {@code steps.jsonl}: one line per step, written when the step's output was taken in. With two steps in
 * flight the lines are in output order. A line's events keep this order: what was queued, preempted and aborted before the step,
 * the step, what ended with it.
 */
final class StepsLayer {
    static final String FILE = "steps.jsonl";
    static final String NAME = "steps";
    static final String COLLECTOR = "vllm-steps";

    private static final int NEWEST_VERSION = 1;
    private static final int ANNOUNCE_EVERY_STEPS = 256;
    private static final long CLOCK_SAMPLE_EVERY_NANOS = 1_000_000_000L;
    private static final long CLOCK_BOUND_NANOS = 1_000L;
    private static final int DP_RANK = 0;

    private final CaptureIdentity identity;
    private final CaptureMeta meta;
    private final CaptureClock clock;
    private final CollectorSpool events;
    private final RequestHandles handles = new RequestHandles();
    private final SequenceLedger steps = SequenceLedger.fromFirstSeen();
    private long stepCount;
    private @Nullable Long lastClockSampleNanos;

    StepsLayer(CaptureIdentity identity, CaptureMeta meta, CaptureClock clock, CollectorSpool events) {
        this.identity = identity;
        this.meta = meta;
        this.clock = clock;
        this.events = events;
    }

    /** Reads the file; false when it is missing. */
    boolean read(LayerReader reader) throws IOException {
        Path file = reader.capture().find(FILE);
        if (file == null) {
            return false;
        }
        reader.readLines(file, this::accept);
        for (SequenceLedger.Missing run : steps.missing()) {
            reader.lost(reader.capture().sourceName(file), run.first(), run.last(), run.clockNanos(), run.wallMillis());
        }
        return true;
    }

    private @Nullable Long accept(Fields line) throws RejectedRecordException, IOException {
        String type = line.text("type");
        return switch (type) {
            case "header" -> header(line);
            case "step" -> step(line);
            default -> throw line.refuse("type", "neither header nor step");
        };
    }

    private @Nullable Long header(Fields header) throws RejectedRecordException, IOException {
        long version = header.ordinal("v");
        if (version > NEWEST_VERSION) {
            throw header.refuse("v", "version " + version + " is newer than " + NEWEST_VERSION + ", the newest known");
        }
        long clockNanos = clock.clockNanos(header, "mono_ns");
        Long wallMillis = clock.wallMillis(header, "wall_ns", clockNanos);
        String policy = header.optionalText("policy");
        Integer tokenBudget = header.optionalCount("max_num_batched_tokens");
        EngineConfigured configured = new EngineConfigured(
                identity.engineId(),
                DP_RANK,
                "vllm",
                meta.engineVersion(),
                tokenBudget == null ? null : Long.valueOf(tokenBudget),
                header.optionalCount("max_num_seqs"),
                header.optionalLongCount("kv_total_blocks"),
                header.optionalCount("block_size"),
                policy,
                header.optionalBoolean("async"),
                "priority".equals(policy) ? Boolean.TRUE : null,
                meta.model());
        Long wallNanos = header.optionalStamp("wall_ns");
        add(clockNanos, wallMillis, configured);
        if (wallNanos != null) {
            sampleClock(clockNanos, wallNanos, wallMillis);
        }
        return wallMillis;
    }

    private @Nullable Long step(Fields fields) throws RejectedRecordException, IOException {
        StepLine step = StepLine.parse(fields, clock);
        if (steps.seen(step.stepId())) {
            throw fields.refuse(
                    "step", "step " + step.stepId() + " was read before; one capture holds one engine start");
        }
        steps.note(step.stepId(), step.updateEndNanos(), step.wallMillis());
        Map<Integer, String> announced = new LinkedHashMap<>();
        for (StepLine.Queued queued : step.queued()) {
            queued(queued, announced);
        }
        for (StepLine.Preempted preempted : step.preempted()) {
            preempted(step, preempted);
        }
        for (StepLine.Aborted aborted : step.aborted()) {
            add(
                    aborted.clockNanos(),
                    aborted.wallMillis(),
                    new RequestFinished(
                            identity.engineId(),
                            DP_RANK,
                            aborted.id(),
                            endReason(aborted.status()),
                            aborted.outputTokens(),
                            null));
            handles.end(aborted.id());
        }
        SequenceRows rows = rows(step, announced);
        if (stepCount++ % ANNOUNCE_EVERY_STEPS == 0) {
            for (RequestHandles.Sequence open : handles.open()) {
                announced.put(open.handle(), open.id());
            }
        }
        add(step.updateEndNanos(), step.wallMillis(), completed(step, announced, rows));
        for (StepLine.Emitted ended : step.finished()) {
            finished(step, ended);
        }
        sampleClock(step);
        return step.wallMillis();
    }

    private void queued(StepLine.Queued queued, Map<Integer, String> announced) throws IOException {
        RequestHandles.Sequence sequence = handles.open(queued.id(), 0);
        announced.put(sequence.handle(), sequence.id());
        add(
                queued.clockNanos(),
                queued.wallMillis(),
                new RequestQueued(
                        identity.engineId(),
                        DP_RANK,
                        sequence.handle(),
                        queued.id(),
                        queued.arrivalEpochNanos(),
                        queued.promptTokens(),
                        queued.maxTokens(),
                        queued.priority()));
    }

    private void preempted(StepLine step, StepLine.Preempted preempted) throws IOException {
        add(
                preempted.clockNanos(),
                preempted.wallMillis(),
                new RequestPreempted(
                        identity.engineId(),
                        DP_RANK,
                        preempted.id(),
                        step.stepId(),
                        preempted.reason(),
                        preempted.wantedBy(),
                        preempted.discardedTokens(),
                        preempted.outputTokens(),
                        preempted.preemptionCount(),
                        preempted.freeBlocksCount()));
    }

    private SequenceRows rows(StepLine step, Map<Integer, String> announced) {
        List<SequenceRow> rows = new ArrayList<>(step.rows().size());
        for (StepLine.Row row : step.rows()) {
            RequestHandles.Sequence sequence = handles.find(row.id());
            if (sequence == null) {
                sequence = handles.open(row.id(), null);
                announced.put(sequence.handle(), sequence.id());
            }
            Integer first = sequence.place(row);
            if (first != null) {
                sequence.made(first + row.tokenCount());
            }
            rows.add(new SequenceRow(
                    sequence.handle(),
                    first,
                    row.tokenCount(),
                    row.contextTokens(),
                    row.scheduledTokens(),
                    row.phase(),
                    row.cachedTokens(),
                    row.preemptionCount(),
                    null));
        }
        return SequenceRows.of(rows);
    }

    private StepCompleted completed(StepLine step, Map<Integer, String> announced, SequenceRows rows) {
        long decode = 0;
        long prefill = 0;
        long recompute = 0;
        boolean decodes = false;
        boolean computesPrompt = false;
        for (StepLine.Row row : step.rows()) {
            if (row.phase() == Phase.DECODE) {
                decode += row.scheduledTokens();
                decodes = true;
            } else if (row.phase() == Phase.PREFILL) {
                prefill += row.scheduledTokens();
                computesPrompt = true;
            } else {
                recompute += row.scheduledTokens();
                computesPrompt = true;
            }
        }
        String forwardMode = decodes ? (computesPrompt ? "mixed" : "decode") : (computesPrompt ? "prefill" : "idle");
        List<HandleAnnounced> announcements = new ArrayList<>(announced.size());
        announced.forEach((handle, id) -> announcements.add(new HandleAnnounced(handle, id)));
        return new StepCompleted(
                identity.engineId(),
                DP_RANK,
                step.stepId(),
                step.scheduleStartNanos(),
                step.scheduleEndNanos(),
                step.updateStartNanos(),
                step.updateEndNanos(),
                forwardMode,
                meta.eager() ? "eager" : null,
                null,
                decode,
                prefill,
                recompute,
                step.runningCount(),
                step.waitingCount(),
                step.kvUsedBlocksCount(),
                step.kvTotalBlocksCount(),
                step.kvBatchSequence(),
                step.probeNanos(),
                announcements,
                rows);
    }

    private void finished(StepLine step, StepLine.Emitted ended) throws IOException {
        RequestHandles.Sequence sequence = handles.find(ended.id());
        Integer counted = sequence == null ? null : sequence.outputTokens();
        add(
                step.updateEndNanos(),
                step.wallMillis(),
                new RequestFinished(
                        identity.engineId(),
                        DP_RANK,
                        ended.id(),
                        endReason(ended.finish()),
                        counted == null ? null : Long.valueOf(counted),
                        step.stepId()));
        handles.end(ended.id());
    }

    /** The reason in our words, of vLLM's FinishReason ("length") or RequestStatus name ("FINISHED_LENGTH_CAPPED"). */
    static String endReason(@Nullable String finish) {
        if (finish == null) {
            return "unknown";
        }
        String reason = finish.toUpperCase(Locale.ROOT);
        reason = reason.substring(reason.lastIndexOf('.') + 1);
        return switch (reason.startsWith("FINISHED_") ? reason.substring("FINISHED_".length()) : reason) {
            case "LENGTH", "LENGTH_CAPPED" -> "length";
            case "STOP", "STOPPED" -> "stop";
            case "ABORT", "ABORTED" -> "aborted";
            case "ERROR" -> "error";
            default -> "unknown";
        };
    }

    private void sampleClock(StepLine step) throws IOException {
        Long wallNanos = step.updateEndWallNanos();
        if (wallNanos == null
                || (lastClockSampleNanos != null
                        && step.updateEndNanos() - lastClockSampleNanos < CLOCK_SAMPLE_EVERY_NANOS)) {
            return;
        }
        // At the start of the update the wall clock is read first, at its end second: two offsets that agree hold the
        // true one
        // between them. Where they differ, the recorder lost its core between two readings, and the bound would not
        // hold.
        if (step.updateStartNanos() != null && step.updateStartWallNanos() != null) {
            long before = step.updateStartWallNanos() - step.updateStartNanos();
            long after = wallNanos - step.updateEndNanos();
            if (Math.abs(after - before) > CLOCK_BOUND_NANOS) {
                return;
            }
        }
        sampleClock(step.updateEndNanos(), wallNanos, step.wallMillis());
    }

    private void sampleClock(long clockNanos, long wallNanos, @Nullable Long wallMillis) throws IOException {
        lastClockSampleNanos = clockNanos;
        add(
                clockNanos,
                wallMillis,
                new ClockSampled(
                        identity.clockId(),
                        identity.wallClockId(),
                        clockNanos,
                        wallNanos,
                        clockNanos,
                        CLOCK_BOUND_NANOS,
                        identity.engineId()));
    }

    private void add(long clockNanos, @Nullable Long wallMillis, Event event) throws IOException {
        // The order of the lines is the order of occurrence.
        events.add(0, clockNanos, wallMillis, event);
    }
}
