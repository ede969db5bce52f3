package io.tokenstair.collect.dynamo;

import io.tokenstair.collect.engine.dynamo.ForwardPass;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.SequenceLedger;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.collect.stream.HostClock;
import java.io.IOException;
import java.nio.file.Path;
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
        Records records =
                new Records(name.length() > 160 ? name.substring(0, 160) : name, spools, FileDigest.ofFirstLine(file));
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
        private final long epoch;
        private @Nullable CollectorSpool events;
        private long known;
        private long heartbeats;
        private boolean sampled;
        private boolean recognized;

        Records(String source, EventSpools spools, long epoch) {
            this.source = source;
            this.spools = spools;
            this.epoch = epoch;
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

        private Long pass(Fields fields, long seenNanos, RecordReader reader)
                throws RejectedRecordException, IOException {
            ForwardPass pass = ForwardPass.read(fields);
            SequenceLedger ledger = counters.get(pass.key());
            if (ledger == null) {
                if (counters.size() >= MAX_WORKERS) {
                    throw fields.refuse("worker_id", "more than " + MAX_WORKERS + " workers");
                }
                ledger = SequenceLedger.fromFirstSeen();
                counters.put(pass.key(), ledger);
            }
            known++;
            long wallMillis = seenNanos / 1_000_000L;
            if (ledger.seen(pass.counter())) {
                // The trace file and the receiver's hold the same passes.
                reader.passOver();
                return wallMillis;
            }
            if (!sampled) {
                ledger.note(pass.counter(), seenNanos, wallMillis);
            }
            heartbeats += pass.isIdle() ? 1 : 0;
            pass.tell(source, HostClock.WALL, seenNanos, wallMillis, spool()::add);
            return wallMillis;
        }

        private CollectorSpool spool() throws IOException {
            if (events == null) {
                events = spools.collector("dynamo-fpm", epoch, HostClock.WALL);
            }
            return events;
        }
    }
}
