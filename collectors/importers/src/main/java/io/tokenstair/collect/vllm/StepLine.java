package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.event.Phase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One {@code type: "step"} line of {@code steps.jsonl}, checked as a whole before anything of it is used. Stamps are ns of
 * CLOCK_MONOTONIC, wall readings ms.
 */
record StepLine(
        long stepId,
        long scheduleStartNanos,
        @Nullable Long scheduleEndNanos,
        @Nullable Long updateStartNanos,
        @Nullable Long updateStartWallNanos,
        long updateEndNanos,
        @Nullable Long updateEndWallNanos,
        @Nullable Long wallMillis,
        @Nullable Integer runningCount,
        @Nullable Integer waitingCount,
        @Nullable Long kvUsedBlocksCount,
        @Nullable Long kvTotalBlocksCount,
        @Nullable Long kvBatchSequence,
        @Nullable Long probeNanos,
        List<Queued> queued,
        List<Preempted> preempted,
        List<Aborted> aborted,
        List<Row> rows,
        List<Emitted> finished) {

    record Queued(
            String id,
            long clockNanos,
            @Nullable Long wallMillis,
            @Nullable Long arrivalEpochNanos,
            @Nullable Long promptTokens,
            @Nullable Long maxTokens,
            @Nullable Integer priority) {}

    record Preempted(
            String id,
            long clockNanos,
            @Nullable Long wallMillis,
            @Nullable String reason,
            @Nullable String wantedBy,
            @Nullable Long discardedTokens,
            @Nullable Long outputTokens,
            @Nullable Integer preemptionCount,
            @Nullable Long freeBlocksCount) {}

    record Aborted(
            String id,
            long clockNanos,
            @Nullable Long wallMillis,
            @Nullable String status,
            @Nullable Long outputTokens) {}

    /** A scheduled sequence with what the step gave it. */
    record Row(
            String id,
            Phase phase,
            int contextTokens,
            int scheduledTokens,
            @Nullable Integer outputIndex,
            @Nullable Integer cachedTokens,
            @Nullable Integer preemptionCount,
            int tokenCount,
            @Nullable Integer totalTokens) {}

    /** A sequence that the step ended. */
    record Emitted(
            String id,
            int tokenCount,
            @Nullable Integer totalTokens,
            @Nullable String finish) {}

    /** A step that takes longer is no step of a working engine. */
    private static final long LONGEST_STEP_NANOS = 3_600_000_000_000L;

    static StepLine parse(Fields step, CaptureClock clock) throws RejectedRecordException {
        long stepId = step.ordinal("step");
        long scheduleStart = clock.clockNanos(step, "sched_start_mono_ns");
        Long scheduleEnd = clock.optionalClockNanos(step, "sched_end_mono_ns");
        Long updateStart = clock.optionalClockNanos(step, "update_start_mono_ns");
        long updateEnd = clock.clockNanos(step, "update_end_mono_ns");
        long previous = scheduleStart;
        String previousName = "sched_start_mono_ns";
        if (scheduleEnd != null) {
            refuseBefore(step, "sched_end_mono_ns", scheduleEnd, previousName, previous);
            previous = scheduleEnd;
            previousName = "sched_end_mono_ns";
        }
        if (updateStart != null) {
            refuseBefore(step, "update_start_mono_ns", updateStart, previousName, previous);
            previous = updateStart;
            previousName = "update_start_mono_ns";
        }
        refuseBefore(step, "update_end_mono_ns", updateEnd, previousName, previous);
        if (updateEnd - scheduleStart > LONGEST_STEP_NANOS) {
            throw step.refuse(
                    "update_end_mono_ns",
                    updateEnd + " lies more than an hour after sched_start_mono_ns, " + scheduleStart);
        }
        for (String wall : List.of("sched_start_wall_ns", "sched_end_wall_ns")) {
            step.optionalStamp(wall);
        }
        List<Emitted> emitted = emitted(step);
        List<Emitted> finished = new ArrayList<>();
        Map<String, Emitted> outputs = new HashMap<>();
        for (Emitted output : emitted) {
            if (outputs.put(output.id(), output) != null) {
                throw step.refuse("emitted", "one id twice");
            }
            if (output.finish() != null) {
                finished.add(output);
            }
        }
        List<Row> rows = rows(step, outputs);
        return new StepLine(
                stepId,
                scheduleStart,
                scheduleEnd,
                updateStart,
                step.optionalStamp("update_start_wall_ns"),
                updateEnd,
                step.optionalStamp("update_end_wall_ns"),
                clock.wallMillis(step, "update_end_wall_ns", updateEnd),
                step.optionalCount("running"),
                step.optionalCount("waiting"),
                step.optionalLongCount("kv_used"),
                step.optionalLongCount("kv_total"),
                kvBatchSequence(step),
                step.optionalStamp("probe_ns"),
                queued(step, clock),
                preempted(step, clock),
                aborted(step, clock),
                rows,
                finished);
    }

    private static void refuseBefore(Fields step, String name, long stamp, String earlierName, long earlier)
            throws RejectedRecordException {
        if (stamp < earlier) {
            throw step.refuse(name, stamp + " lies before " + earlierName + ", " + earlier);
        }
    }

    private static @Nullable Long kvBatchSequence(Fields step) throws RejectedRecordException {
        Fields batch = step.optionalObject("kv_batch");
        return batch == null ? null : Long.valueOf(batch.ordinal("seq"));
    }

    private static List<Queued> queued(Fields step, CaptureClock clock) throws RejectedRecordException {
        List<Queued> queued = new ArrayList<>();
        for (Fields entry : step.optionalObjects("queued")) {
            long clockNanos = clock.clockNanos(entry, "queued_mono_ns");
            queued.add(new Queued(
                    entry.id("id"),
                    clockNanos,
                    clock.wallMillis(entry, "queued_wall_ns", clockNanos),
                    entry.optionalStamp("arrival_wall_ns"),
                    entry.optionalLongCount("prompt"),
                    entry.optionalLongCount("max_tokens"),
                    entry.optionalInt("priority")));
        }
        return queued;
    }

    private static List<Preempted> preempted(Fields step, CaptureClock clock) throws RejectedRecordException {
        List<Preempted> preempted = new ArrayList<>();
        for (Fields entry : step.optionalObjects("preempted")) {
            long clockNanos = clock.clockNanos(entry, "mono_ns");
            preempted.add(new Preempted(
                    entry.id("id"),
                    clockNanos,
                    clock.wallMillis(entry, "wall_ns", clockNanos),
                    entry.optionalText("reason"),
                    entry.optionalId("wanted_by"),
                    entry.optionalLongCount("computed"),
                    entry.optionalLongCount("out"),
                    entry.optionalCount("nth"),
                    entry.optionalLongCount("free_blocks")));
        }
        return preempted;
    }

    private static List<Aborted> aborted(Fields step, CaptureClock clock) throws RejectedRecordException {
        List<Aborted> aborted = new ArrayList<>();
        for (Fields entry : step.optionalObjects("aborted")) {
            long clockNanos = clock.clockNanos(entry, "mono_ns");
            aborted.add(new Aborted(
                    entry.id("id"),
                    clockNanos,
                    clock.wallMillis(entry, "wall_ns", clockNanos),
                    entry.optionalText("status"),
                    entry.optionalLongCount("out")));
        }
        return aborted;
    }

    private static List<Emitted> emitted(Fields step) throws RejectedRecordException {
        List<Emitted> emitted = new ArrayList<>();
        for (Fields entry : step.objects("emitted")) {
            int tokens = entry.count("n");
            Integer total = entry.optionalCount("total");
            if (total != null && total < tokens) {
                throw entry.refuse("total", total + " is less than n, " + tokens);
            }
            emitted.add(new Emitted(entry.id("id"), tokens, total, entry.optionalText("finish")));
        }
        return emitted;
    }

    private static List<Row> rows(Fields step, Map<String, Emitted> outputs) throws RejectedRecordException {
        List<Row> rows = new ArrayList<>();
        Set<String> scheduled = new HashSet<>();
        long scheduledTokens = 0;
        for (Fields entry : step.objects("reqs")) {
            String id = entry.id("id");
            if (!scheduled.add(id)) {
                throw entry.refuse("id", "scheduled twice in one step");
            }
            int tokens = entry.count("sched");
            long context = (long) entry.count("computed") + tokens;
            if (context > Integer.MAX_VALUE) {
                throw entry.refuse("computed", "a context of " + context + " tokens");
            }
            scheduledTokens += tokens;
            Emitted output = outputs.get(id);
            Integer preemptions = entry.optionalCount("preemptions");
            rows.add(new Row(
                    id,
                    phase(entry),
                    (int) context,
                    tokens,
                    entry.optionalCount("out"),
                    entry.optionalCount("cached"),
                    preemptions == null || preemptions == 0 ? null : preemptions,
                    output == null ? 0 : output.tokenCount(),
                    output == null ? null : output.totalTokens()));
        }
        for (Emitted output : outputs.values()) {
            if (output.tokenCount() > 0 && !scheduled.contains(output.id())) {
                throw step.refuse("emitted", "tokens for an id that reqs does not schedule");
            }
        }
        Integer stated = step.optionalCount("tokens");
        if (stated != null && stated != scheduledTokens) {
            throw step.refuse("tokens", stated + ", though reqs schedule " + scheduledTokens);
        }
        return rows;
    }

    private static Phase phase(Fields row) throws RejectedRecordException {
        return switch (row.text("phase")) {
            case "prefill" -> Phase.PREFILL;
            case "decode" -> Phase.DECODE;
            case "resumed" -> Phase.RESUMED;
            case "recompute" -> Phase.RECOMPUTE;
            default -> throw row.refuse("phase", "neither prefill, decode, resumed nor recompute");
        };
    }
}
