package io.tokenstair.collect.dynamo;

import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.LabelText;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.SequenceLedger;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.collect.stream.HostClock;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Forward-pass metrics, {@code dynamo-fpm}: a record an engine iteration, from Dynamo's trace file, from its receiver, or bare. A step has
 * counts and no rows: which requests ran is not in it. A record without work and time is a heartbeat, and no step. Its wall time is the
 * engine's own, which a simulator makes up; the end is when the record was seen.
 */
public final class ForwardPassImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "dynamo-fpm";

    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final int MAX_WORKERS = 4_096;

    private final Map<String, SequenceLedger> counters = new TreeMap<>();
    private String firstSource = "";

    /** An import of such records. */
    public ForwardPassImport(LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String name = String.valueOf(file.getFileName());
        firstSource = firstSource.isEmpty() ? reader.sourceName(file) : firstSource;
        Records records = new Records(name.length() > 160 ? name.substring(0, 160) : name, spools, index);
        reader.readLines(file, line -> {
            Long wallMillis = records.accept(line, reader);
            dated(wallMillis);
            return wallMillis;
        });
        if (!records.recognized && reader.result(false).read() > 0) {
            throw new ImportException(file + ": no line of it is a forward-pass record; name the file that"
                    + " DYN_FPM_OUTPUT_PATH or recv_forward_pass_metrics made");
        }
        if (records.heartbeats > 0) {
            note(name + ": " + records.heartbeats + " of " + records.known + " records are heartbeats without work");
        }
        if (records.sampled) {
            note(name + ": a sampled trace: most steps are not in it");
        }
    }

    @Override
    protected void ended(RecordReader reader) throws IOException {
        for (Map.Entry<String, SequenceLedger> counter : counters.entrySet()) {
            for (SequenceLedger.Missing run : counter.getValue().missing()) {
                reader.lost(
                        firstSource + " worker " + counter.getKey(),
                        run.first(),
                        run.last(),
                        run.clockNanos(),
                        run.wallMillis());
            }
        }
    }

    /** One file. */
    private final class Records {
        private final String source;
        private final EventSpools spools;
        private final int index;
        private @Nullable CollectorSpool events;
        private long known;
        private long heartbeats;
        private boolean sampled;
        private boolean recognized;

        Records(String source, EventSpools spools, int index) {
            this.source = source;
            this.spools = spools;
            this.index = index;
        }

        @Nullable
        Long accept(Fields line, RecordReader reader) throws RejectedRecordException, IOException {
            Fields event = line.optionalObject("event");
            Fields pass;
            Long seen;
            if (event != null) {
                pass = event.optionalObject("fpm");
                seen = Quantities.optionalEpochNanos(event, "observed_at_unix_ms", 1_000_000L);
                sampled |= "sampled".equals(event.optionalText("capture_mode"));
            } else if (line.has("metrics")) {
                pass = line.optionalObject("metrics");
                seen = Quantities.optionalEpochNanos(line, "received_at_ns", 1L);
            } else {
                pass = line.has("scheduled_requests") ? line : null;
                seen = Quantities.optionalEpochNanos(line, "received_at_ns", 1L);
            }
            if (pass == null) {
                throw line.refuse("fpm", "missing, and so is metrics: no forward-pass record");
            }
            recognized = true;
            if (seen == null) {
                throw line.refuse("observed_at_unix_ms", "missing, and so is received_at_ns: when it was is not known");
            }
            return pass(pass, seen, reader);
        }

        private Long pass(Fields pass, long seenNanos, RecordReader reader)
                throws RejectedRecordException, IOException {
            String worker = Quantities.optionalName(pass, "worker_id");
            Integer rank = pass.optionalCount("dp_rank");
            long counter = pass.ordinal("counter_id");
            Long wall = Quantities.optionalNanos(pass, "wall_time", NANOS_PER_SECOND);
            Fields scheduled = pass.optionalObject("scheduled_requests");
            Fields queued = pass.optionalObject("queued_requests");
            if (worker == null) {
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
            boolean idle = prefills + decodes == 0;
            if (!idle && wall != null && wall == 0) {
                throw pass.refuse("wall_time", "0 with work in the step: no measurement");
            }
            if (decodes == 0 && decodeTokens > 0) {
                throw pass.refuse("scheduled_requests.sum_decode_kv_tokens", "tokens without a request");
            }
            int dpRank = rank == null ? 0 : rank;
            String key = worker + (dpRank == 0 ? "" : " rank " + dpRank);
            SequenceLedger ledger = counters.get(key);
            if (ledger == null) {
                if (counters.size() >= MAX_WORKERS) {
                    throw pass.refuse("worker_id", "more than " + MAX_WORKERS + " workers");
                }
                ledger = SequenceLedger.fromFirstSeen();
                counters.put(key, ledger);
            }
            known++;
            if (ledger.seen(counter)) {
                // The trace file and the receiver's hold the same passes.
                reader.passOver();
                return seenNanos / 1_000_000L;
            }
            long wallMillis = seenNanos / 1_000_000L;
            if (!sampled) {
                ledger.note(counter, seenNanos, wallMillis);
            }
            CollectorSpool spool = spool(seenNanos);
            String engineId = WorkerName.of(worker);
            String labels = LabelText.of(Map.of("engine", engineId, "dp_rank", String.valueOf(dpRank)));
            if (idle) {
                heartbeats++;
            } else {
                long end = seenNanos;
                String mode = decodes == 0 ? "prefill" : prefills == 0 ? "decode" : "mixed";
                spool.add(
                        counter,
                        end,
                        wallMillis,
                        new StepCompleted(
                                engineId,
                                dpRank,
                                counter,
                                wall == null ? null : Long.valueOf(end - wall),
                                null,
                                null,
                                end,
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
                sample(spool, counter, end, "dynamo:fpm_wall_seconds", labels, wall == null ? null : wall / 1e9);
                sample(spool, counter, end, "dynamo:fpm_decode_kv_tokens", labels, (double) decodeTokens);
            }
            sample(spool, counter, seenNanos, "dynamo:num_requests_running", labels, (double) (prefills + decodes));
            sample(spool, counter, seenNanos, "dynamo:num_requests_waiting", labels, (double) waiting);
            sample(spool, counter, seenNanos, "dynamo:num_paused_requests", labels, (double) preempted);
            sample(spool, counter, seenNanos, "dynamo:fpm_queued_decodes", labels, (double) preempted);
            if (preempted > 0) {
                sample(spool, counter, seenNanos, "dynamo:fpm_paused_kv_tokens", labels, (double) preemptedTokens);
            }
            return wallMillis;
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

        private CollectorSpool spool(long nanos) {
            if (events == null) {
                events = spools.collector("dynamo-fpm", nanos / NANOS_PER_SECOND + index, HostClock.WALL);
            }
            return events;
        }

        private void sample(
                CollectorSpool spool, long order, long nanos, String name, String labels, @Nullable Double value)
                throws IOException {
            if (value != null) {
                spool.add(order, nanos, nanos / 1_000_000L, new MetricSampled(source, name, labels, value));
            }
        }
    }
}
