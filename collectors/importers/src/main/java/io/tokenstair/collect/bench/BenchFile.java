package io.tokenstair.collect.bench;

import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.Finish;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one file of a benchmark becomes. */
final class BenchFile {
    /** Longest time that is taken for one, in seconds: ten years. */
    private static final double LONGEST_SECONDS = 315_576_000.0;

    private static final String OBSERVER = "client";
    private static final long MAX_RECORD_NANOS = 100_000_000L;
    private static final int LONGEST_SOURCE = 160;

    private final BenchImport.Tool tool;
    private final String source;
    private final RecordReader reader;
    private final CollectorSpool events;
    private final EngineRequests engineRequests;
    private long ordinal;
    private int runs;
    private boolean anyKnown;
    private @Nullable String firstUnknown;

    // What the user is told at the end.
    private long requests;
    private long failed;
    private long withoutTimes;
    private long notPlaced;
    private boolean roleSeen;
    private boolean endSeen;
    private boolean withoutStarts;
    private long aggregates;

    BenchFile(BenchImport.Tool tool, String source, String engineId, RecordReader reader, CollectorSpool events) {
        this.tool = tool;
        this.source = source.length() > LONGEST_SOURCE ? source.substring(0, LONGEST_SOURCE) : source;
        this.reader = reader;
        this.events = events;
        this.engineRequests = new EngineRequests(engineId, events);
    }

    /** True when something of the format was there, taken or not. */
    boolean anyKnown() {
        return anyKnown;
    }

    /** Why the first object was not of the format; null when every object was. */
    @Nullable
    String firstUnknown() {
        return firstUnknown;
    }

    /** Takes an object: counts each of its requests, or it as one. */
    void accept(BenchObject object, long line) throws IOException, RejectedRecordException {
        if (object.hasLists()) {
            anyKnown = true;
            run(object, line);
        } else if (object.defect() != null) {
            anyKnown |= BenchRun.isAggregate(object);
            throw new RejectedRecordException(object.defect());
        } else if (EngineRequests.isRecord(object)) {
            anyKnown = true;
            Long wallMillis = engineRequests.accept(object);
            reader.accepted(wallMillis);
        } else if (BenchRun.isAggregate(object)) {
            anyKnown = true;
            runs++;
            aggregates++;
            sample(object);
            reader.accepted(null);
        } else {
            String unknown = "neither a run of the benchmark nor a request with the engine's stamps";
            firstUnknown = firstUnknown == null ? unknown : firstUnknown;
            throw new RejectedRecordException(unknown);
        }
    }

    private void sample(BenchObject object) throws IOException {
        String run = runs > 1 || tool == BenchImport.Tool.SGLANG ? source + ":" + runs : source;
        for (MetricSampled sample : BenchRun.samples(object, source, run)) {
            events.add(source, ordinal++, null, null, sample);
        }
    }

    private void run(BenchObject object, long line) throws IOException, RejectedRecordException {
        runs++;
        BenchObject.Column ttfts = object.column("ttfts");
        BenchObject.Column outputs = object.column("output_lens");
        Integer gapLists = object.gapLists();
        String defect = object.defect();
        if (ttfts == null || outputs == null || gapLists == null) {
            if (defect != null) {
                throw new RejectedRecordException(defect);
            }
            throw new RejectedRecordException("a run with lists must have ttfts, itls and output_lens");
        }
        int count = Math.min(Math.min(ttfts.size(), outputs.size()), gapLists);
        if (defect == null) {
            sameLength("output_lens", outputs, ttfts.size());
            if (gapLists != ttfts.size()) {
                throw new RejectedRecordException("itls has " + gapLists + " entries, ttfts " + ttfts.size());
            }
            sameLength("input_lens", object.column("input_lens"), ttfts.size());
            sameLength("start_times", object.column("start_times"), ttfts.size());
            sameLength("cached_tokens", object.column("cached_tokens"), ttfts.size());
            sameLength("errors", object.failures(), ttfts.size());
        }
        Run run = new Run(
                object,
                runs,
                tool == BenchImport.Tool.VLLM ? EmptyChunks.of(object, outputs, count) : EmptyChunks.NONE);
        for (int i = 0; i < count; i++) {
            try {
                request(run, i);
                reader.accepted(null);
            } catch (RejectedRecordException e) {
                reader.rejected(source, line, "request " + i + ": " + e.reason(), null);
            }
        }
        if (defect != null) {
            throw new RejectedRecordException(defect);
        }
        sample(object);
    }

    private static void sameLength(String name, BenchObject.@Nullable Column column, int length)
            throws RejectedRecordException {
        if (column != null && column.size() != length) {
            throw new RejectedRecordException(name + " has " + column.size() + " entries, ttfts " + length);
        }
    }

    /**
     * One run: what holds for all of its requests. Its cached tokens are 0 throughout where the server told none, which only SGLang's own
     * form of answers always does.
     */
    private final class Run {
        private final BenchObject object;
        private final String prefix;
        private final EmptyChunks empty;
        private final boolean shares;
        private final @Nullable String model;
        private final BenchObject.@Nullable Column cached;

        Run(BenchObject object, int number, EmptyChunks empty) {
            this.object = object;
            this.prefix = number == 1 ? source : source + ":" + number;
            this.empty = empty;
            String backend = object.text("backend");
            this.shares = tool == BenchImport.Tool.SGLANG
                    && backend != null
                    && (backend.equals("sglang") || backend.equals("sglang-native"));
            String named = object.text("model_id");
            this.model = named == null ? object.text("model") : named;
            BenchObject.Column counts = object.column("cached_tokens");
            this.cached = shares || (counts != null && counts.anyAboveZero()) ? counts : null;
        }
    }

    private void request(Run run, int index) throws IOException, RejectedRecordException {
        BenchObject object = run.object;
        Integer prompt = count(object.column("input_lens"), index, "input_lens");
        Integer output = count(object.column("output_lens"), index, "output_lens");
        Integer cached = count(run.cached, index, "cached_tokens");
        double ttft = at(object.column("ttfts"), index);
        double[] gaps = object.gaps(index);
        BenchObject.Column failures = object.failures();
        boolean withoutOutput = output == null || output == 0;
        boolean hasFailed = (failures != null && index < failures.size() && failures.at(index) != 0)
                || (ttft == 0 && withoutOutput && gaps.length == 0);
        BenchObject.Column starts = object.column("start_times");
        boolean started = starts != null && index < starts.size();
        long startNanos = started && starts != null ? nanos(starts.at(index), "start_times", Long.MAX_VALUE / 4) : 0;
        List<Chunk> chunks = List.of();
        boolean placed = true;
        Long firstTokenNanos = null;
        Long meanGapNanos = null;
        Long endNanos = null;
        if (!hasFailed) {
            if (Double.isNaN(ttft) || Double.isInfinite(ttft) || ttft < 0) {
                throw new RejectedRecordException("ttfts: not a time, " + ttft);
            }
            if (output == null) {
                throw new RejectedRecordException("output_lens: missing");
            }
            if (ttft > 0 && output > 0) {
                ChunkPlan plan = run.shares
                        ? ChunkPlan.ofShares(gaps, output)
                        : ChunkPlan.ofChunks(gaps.length, output, run.empty);
                // Checked whether they can be placed or not: what is refused does not depend on it.
                long[] arrivals = arrivals(startNanos, ttft, gaps);
                double took = (arrivals[arrivals.length - 1] - startNanos) / 1e9;
                Double runTook = object.number("duration");
                if (runTook != null && runTook > 0 && took > 1.1 * runTook + 1) {
                    throw new RejectedRecordException("ttfts, itls: " + (long) took + " s in a run of "
                            + Math.round(runTook) + " s: another unit than seconds");
                }
                placed = plan != null;
                chunks = plan == null ? List.of() : chunks(plan, arrivals);
                if (plan == null) {
                    // When the first token came and when the last chunk did is known all the same.
                    long first = arrivals[run.empty.first() ? Math.min(1, arrivals.length - 1) : 0];
                    endNanos = arrivals[arrivals.length - 1];
                    firstTokenNanos = first;
                    meanGapNanos =
                            output > 1 && endNanos > first ? Long.valueOf((endNanos - first) / (output - 1)) : null;
                }
            }
        }
        requests++;
        failed += hasFailed ? 1 : 0;
        withoutTimes += !hasFailed && ttft == 0 ? 1 : 0;
        notPlaced += placed ? 0 : 1;
        roleSeen |= run.empty.first();
        endSeen |= run.empty.last();
        withoutStarts |= !started;
        String requestId = run.prefix + '#' + index;
        String clockId = run.prefix + (started ? "/client" : '#' + String.valueOf(index) + "/client");
        // Requests without a start have no order between them; each keeps its own.
        long order = started ? startNanos : ordinal++;
        events.add(
                clockId,
                order,
                startNanos,
                null,
                new RequestReceived(
                        OBSERVER,
                        requestId,
                        null,
                        null,
                        run.model,
                        null,
                        null,
                        prompt == null ? null : Long.valueOf(prompt),
                        null,
                        null,
                        false));
        Long delivered = deliver(clockId, requestId, chunks, started ? null : Long.valueOf(order));
        Long lastNanos = delivered == null ? endNanos : delivered;
        Event completed = new RequestCompleted(
                OBSERVER,
                requestId,
                hasFailed ? "failed" : "complete",
                null,
                null,
                hasFailed ? null : Long.valueOf(gaps.length + 1L),
                hasFailed || output == null ? null : Long.valueOf(output),
                null,
                null,
                null,
                // Prompts are counted by the client, and may be more for the server.
                hasFailed || cached == null || (prompt != null && cached > prompt) ? null : Long.valueOf(cached),
                firstTokenNanos,
                meanGapNanos);
        events.add(clockId, !started ? order : lastNanos == null ? startNanos : lastNanos, lastNanos, null, completed);
    }

    private static @Nullable Integer count(BenchObject.@Nullable Column column, int index, String name)
            throws RejectedRecordException {
        if (column == null || index >= column.size()) {
            return null;
        }
        double value = column.at(index);
        if (!(value >= 0) || value > Integer.MAX_VALUE || value != StrictMath.rint(value)) {
            throw new RejectedRecordException(name + ": not a count, " + value);
        }
        return (int) value;
    }

    private static double at(BenchObject.@Nullable Column column, int index) {
        return column == null ? Double.NaN : column.at(index);
    }

    private static long nanos(double seconds, String name, long mostNanos) throws RejectedRecordException {
        double nanos = StrictMath.rint(seconds * 1e9);
        if (!(nanos >= 0) || nanos > mostNanos) {
            throw new RejectedRecordException(name + ": not a time, " + seconds);
        }
        return (long) nanos;
    }

    /** When the first chunk came, and what ends each gap of the list. */
    private static long[] arrivals(long startNanos, double ttft, double[] gaps) throws RejectedRecordException {
        long longest = (long) (LONGEST_SECONDS * 1e9);
        long[] arrivals = new long[gaps.length + 1];
        arrivals[0] = startNanos + nanos(ttft, "ttfts", longest);
        for (int i = 0; i < gaps.length; i++) {
            arrivals[i + 1] = arrivals[i] + nanos(gaps[i], "itls", longest);
            if (arrivals[i + 1] - startNanos > longest) {
                throw new RejectedRecordException("itls: more than ten years together");
            }
        }
        return arrivals;
    }

    private static List<Chunk> chunks(ChunkPlan plan, long[] arrivals) {
        List<Chunk> chunks = new ArrayList<>(plan.tokenCounts().length);
        int token = 0;
        int arrival = 0;
        for (int i = 0; i < plan.tokenCounts().length; i++) {
            int tokens = plan.tokenCounts()[i];
            arrival += plan.gapsTaken()[i];
            chunks.add(new Chunk(0, i, tokens == 0 ? null : token, tokens, 0, arrivals[arrival], Finish.NONE));
            token += tokens;
        }
        return chunks;
    }

    /** Consecutive chunks in one record, 16 or 100 ms of them. Returns the last arrival; null without one. */
    private @Nullable Long deliver(String clockId, String requestId, List<Chunk> chunks, @Nullable Long order)
            throws IOException {
        int from = 0;
        while (from < chunks.size()) {
            long first = chunks.get(from).arrivedNanos();
            int to = from + 1;
            while (to < chunks.size()
                    && to - from < ChunkDelivered.MAX_CHUNKS
                    && chunks.get(to).arrivedNanos() - first <= MAX_RECORD_NANOS) {
                to++;
            }
            events.add(
                    clockId,
                    order == null ? first : order,
                    first,
                    null,
                    new ChunkDelivered(OBSERVER, requestId, chunks.subList(from, to)));
            from = to;
        }
        return chunks.isEmpty()
                ? null
                : Long.valueOf(chunks.get(chunks.size() - 1).arrivedNanos());
    }

    /** Sentences for the user about what the numbers are and are not. */
    List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (requests > 0 && failed == requests) {
            notes.add("no data: every request failed (" + failed + "); latencies of 0 are no measurements");
        } else if (failed > 0) {
            notes.add(failed + " of " + requests + " requests failed and have no latencies");
        }
        if (withoutTimes > 0) {
            notes.add("no data for " + withoutTimes + " of " + requests
                    + " requests: a time to first token of 0 is no measurement");
        }
        if (roleSeen) {
            notes.add(
                    "the first chunk of an answer is its role and holds no token: the first token came with the second");
        }
        if (endSeen) {
            notes.add(
                    "the last chunk of an answer says why it ended and holds no token: the last gap of its list is none");
        }
        if (notPlaced > 0) {
            notes.add(notPlaced + " of " + requests
                    + " requests have other numbers of chunks than of tokens: which chunk held how many is not in the file,"
                    + " so they have a first token and a mean time of the others, and no time of one");
        }
        if (withoutStarts) {
            notes.add(
                    "no start times in the file: every request is on a clock of its own, none is placed beside another");
        }
        if (aggregates > 0) {
            notes.add(aggregates + " runs of which only aggregates were saved: no request and no token of them is known"
                    + " (vllm bench serve --save-detailed, sglang.bench_serving --output-details)");
        }
        notes.addAll(engineRequests.notes());
        List<String> named = new ArrayList<>();
        notes.forEach(note -> named.add(source + ": " + note));
        return named;
    }
}
