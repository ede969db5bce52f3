package io.tokenstair.collect.engine.dynamo;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.EventsOut;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One forward-pass record, as Dynamo and SGLang have them: an engine iteration with counts and no rows. Which requests ran is not in it. Its
 * wall time is the engine's own, which a simulator makes up; no stamp is in it, so its end is when it was seen.
 *
 * @param worker who ran it
 * @param dpRank data-parallel rank, 0 where it is not said
 * @param counter running number of the worker's records, heartbeats among them
 * @param wallNanos how long it took, in ns; absent when not said
 * @param prefills requests that computed prompt tokens
 * @param prefillTokens those tokens
 * @param decodes requests that made a token
 * @param decodeKvTokens the contexts they read, in tokens
 * @param waiting requests that wait for their first pass
 * @param preempted requests that wait to come back
 * @param preemptedKvTokens their contexts, in tokens
 */
public record ForwardPass(
        String worker,
        int dpRank,
        long counter,
        @Nullable Long wallNanos,
        long prefills,
        long prefillTokens,
        long decodes,
        long decodeKvTokens,
        long waiting,
        long preempted,
        long preemptedKvTokens) {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    /** Reads a record. */
    public static ForwardPass read(Fields pass) throws RejectedRecordException {
        return read(pass, null);
    }

    /**
     * Reads a record.
     *
     * @param worker who ran it where the record names nobody; absent to refuse such
     */
    public static ForwardPass read(Fields pass, @Nullable String worker) throws RejectedRecordException {
        String named = Quantities.optionalName(pass, "worker_id");
        Integer rank = pass.optionalCount("dp_rank");
        long counter = pass.ordinal("counter_id");
        Long wall = Quantities.optionalNanos(pass, "wall_time", NANOS_PER_SECOND);
        Fields scheduled = pass.optionalObject("scheduled_requests");
        Fields queued = pass.optionalObject("queued_requests");
        String who = named == null ? worker : named;
        if (who == null) {
            throw pass.refuse("worker_id", "missing");
        }
        if (scheduled == null) {
            throw pass.refuse("scheduled_requests", "missing");
        }
        long prefills = count(scheduled, "num_prefill_requests");
        long prefillTokens = count(scheduled, "sum_prefill_tokens");
        long decodes = count(scheduled, "num_decode_requests");
        long decodeTokens = count(scheduled, "sum_decode_kv_tokens");
        long waiting = queued == null ? 0 : count(queued, "num_prefill_requests");
        long preempted = queued == null ? 0 : count(queued, "num_decode_requests");
        long preemptedTokens = queued == null ? 0 : count(queued, "sum_decode_kv_tokens");
        if (prefills + decodes > Integer.MAX_VALUE || waiting + preempted > Integer.MAX_VALUE) {
            throw pass.refuse("scheduled_requests", "more requests than there can be");
        }
        if (prefills + decodes > 0 && wall != null && wall == 0) {
            throw pass.refuse("wall_time", "0 with work in the step: no measurement");
        }
        if (decodes == 0 && decodeTokens > 0) {
            throw pass.refuse("scheduled_requests.sum_decode_kv_tokens", "tokens without a request");
        }
        return new ForwardPass(
                who,
                rank == null ? 0 : rank,
                counter,
                wall,
                prefills,
                prefillTokens,
                decodes,
                decodeTokens,
                waiting,
                preempted,
                preemptedTokens);
    }

    private static long count(Fields counts, String name) throws RejectedRecordException {
        Long count = counts.optionalLong(name);
        if (count != null && count < 0) {
            throw counts.refuse(name, "negative, " + count);
        }
        if (count != null && count > 1L << 40) {
            throw counts.refuse(name, "more than there can be, " + count);
        }
        return count == null ? 0 : count;
    }

    /** The same pass of a worker that is called otherwise. */
    public ForwardPass of(String otherWorker) {
        return new ForwardPass(
                otherWorker,
                dpRank,
                counter,
                wallNanos,
                prefills,
                prefillTokens,
                decodes,
                decodeKvTokens,
                waiting,
                preempted,
                preemptedKvTokens);
    }

    /** Whose running numbers these are. */
    public String key() {
        return worker + (dpRank == 0 ? "" : " rank " + dpRank);
    }

    /** A heartbeat: no work was done. */
    public boolean isIdle() {
        return prefills + decodes == 0;
    }

    /**
     * Tells it: a step where there was work, and what ran and waited.
     *
     * @param source what its samples are said to be of
     * @param clockId the clock it was seen by
     * @param seenNanos when it was seen
     * @param wallMillis the same by the wall clock; absent when not known
     */
    public void tell(String source, String clockId, long seenNanos, @Nullable Long wallMillis, EventsOut out)
            throws IOException {
        String engineId = WorkerName.of(worker);
        String labels = LabelText.of(Map.of("engine", engineId, "dp_rank", String.valueOf(dpRank)));
        if (!isIdle()) {
            String mode = decodes == 0 ? "prefill" : prefills == 0 ? "decode" : "mixed";
            out.add(
                    clockId,
                    counter,
                    seenNanos,
                    wallMillis,
                    new StepCompleted(
                            engineId,
                            dpRank,
                            counter,
                            wallNanos == null ? null : Long.valueOf(seenNanos - wallNanos),
                            null,
                            null,
                            seenNanos,
                            mode,
                            null,
                            null,
                            decodes,
                            prefillTokens,
                            null,
                            (int) (prefills + decodes),
                            (int) (waiting + preempted),
                            null,
                            null,
                            null,
                            null,
                            List.of(),
                            SequenceRows.of(List.of())));
        }
        Samples samples = (name, value) ->
                out.add(clockId, counter, seenNanos, wallMillis, new MetricSampled(source, name, labels, value));
        if (!isIdle()) {
            if (wallNanos != null) {
                samples.add("dynamo:fpm_wall_seconds", wallNanos / 1e9);
            }
            samples.add("dynamo:fpm_decode_kv_tokens", decodeKvTokens);
        }
        samples.add("dynamo:num_requests_running", prefills + decodes);
        samples.add("dynamo:num_requests_waiting", waiting);
        samples.add("dynamo:num_paused_requests", preempted);
        samples.add("dynamo:fpm_queued_decodes", preempted);
        if (preempted > 0) {
            samples.add("dynamo:fpm_paused_kv_tokens", preemptedKvTokens);
        }
    }

    private interface Samples {
        void add(String name, double value) throws IOException;
    }
}
