package io.tokenstair.collect.workload;

import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestReceived;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Imports the request traces of the Mooncake project: arrival in ms from the start of the trace, lengths of input and output, and the
 * hashes of the prompt's blocks of {@value #BLOCK_TOKENS} tokens. It is a workload: nobody measured a latency, so none is made up. Requests
 * are undated.
 */
public final class MooncakeImport extends FileImport {
    static final int BLOCK_TOKENS = 512;
    private static final int LONGEST_SOURCE = 160;
    private static final long NANOS_PER_MILLI = 1_000_000L;
    private static final String FORMAT = "mooncake";

    /** An import within these limits. */
    public MooncakeImport(LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String name = String.valueOf(file.getFileName());
        String source = name.length() > LONGEST_SOURCE ? name.substring(0, LONGEST_SOURCE) : name;
        CollectorSpool events = spools.collector(FORMAT, FileDigest.of(file), source + "/arrival");
        Trace trace = new Trace(source, events);
        reader.readLines(file, trace::accept);
        if (trace.known == 0 && reader.result(false).read() > 0) {
            throw new ImportException(file + ": no line of a Mooncake trace"
                    + "; name a Mooncake trace: JSON lines with timestamp, input_length, output_length and hash_ids");
        }
        trace.finish();
        for (String sentence : trace.notes()) {
            note(source + ": " + sentence);
        }
    }

    /** One trace. */
    private static final class Trace {
        private final String source;
        private final CollectorSpool events;
        private final ArrivalTicks ticks = new ArrivalTicks();
        private final SharedPrefixes prefixes = new SharedPrefixes();
        private long requests;
        private long outputTokens;
        private long inputTokens;
        private long latestNanos;
        /** Lines of the format, taken or not. */
        private long known;

        Trace(String source, CollectorSpool events) {
            this.source = source;
            this.events = events;
        }

        @Nullable
        Long accept(Fields line) throws RejectedRecordException, IOException {
            if (!line.has("input_length") || !line.has("timestamp")) {
                throw new RejectedRecordException("no line of a Mooncake trace: timestamp or input_length is missing");
            }
            known++;
            long nanos = Quantities.offsetNanos(line, "timestamp", NANOS_PER_MILLI);
            int input = line.count("input_length");
            int output = line.count("output_length");
            long[] blocks = line.optionalTotals("hash_ids");
            long needed = (input + (long) BLOCK_TOKENS - 1) / BLOCK_TOKENS;
            if (blocks != null && blocks.length != needed) {
                throw line.refuse(
                        "hash_ids",
                        blocks.length + " blocks of " + BLOCK_TOKENS + " tokens cannot hold " + input + " tokens");
            }
            events.add(
                    nanos,
                    nanos,
                    null,
                    new RequestReceived(
                            "gateway",
                            source + '#' + requests,
                            null,
                            null,
                            null,
                            null,
                            null,
                            (long) input,
                            (long) output,
                            null,
                            false));
            requests++;
            inputTokens += input;
            outputTokens += output;
            latestNanos = Math.max(latestNanos, nanos);
            ticks.accept(nanos / NANOS_PER_MILLI);
            if (blocks != null) {
                prefixes.accept(blocks);
            }
            return null;
        }

        void finish() throws IOException {
            if (requests == 0) {
                return;
            }
            sample("requests", requests);
            sample("input_tokens", inputTokens);
            sample("output_tokens", outputTokens);
            if (ticks.tickMillis() != null) {
                sample("arrival_tick_millis", ticks.tickMillis());
            }
            if (prefixes.isWhole() && prefixes.blocks() > 0) {
                sample("prompt_blocks", prefixes.blocks());
                sample("prompt_blocks_seen_before", prefixes.seenBefore());
                sample("distinct_prompt_blocks", prefixes.distinct());
                sample("requests_half_seen_before", prefixes.halfSeenBefore());
            }
        }

        private void sample(String name, long value) throws IOException {
            events.add(
                    latestNanos,
                    latestNanos,
                    null,
                    new MetricSampled(source, "workload:" + name, LabelText.of("trace", source), value));
        }

        java.util.List<String> notes() {
            java.util.List<String> notes = new java.util.ArrayList<>();
            if (requests > 0) {
                notes.add("a workload: " + requests + " requests and what they ask for, no latency of any");
            }
            if (ticks.tickMillis() != null) {
                notes.add("arrivals come on ticks of about " + ticks.tickMillis() + " ms, "
                        + ticks.sharing() + " of " + (requests - 1)
                        + " requests on the tick of the one before: bursts within a tick are not in the data");
            }
            if (prefixes.isWhole() && prefixes.blocks() > 0) {
                notes.add(prefixes.sentence());
            }
            return notes;
        }
    }
}
