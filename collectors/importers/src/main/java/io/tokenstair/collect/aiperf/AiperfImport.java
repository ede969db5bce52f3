package io.tokenstair.collect.aiperf;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.JsonObjects;
import io.tokenstair.collect.input.JsonTrees;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.collect.stream.Answer;
import io.tokenstair.collect.stream.AnswerId;
import io.tokenstair.collect.stream.HostClock;
import io.tokenstair.collect.stream.StreamChunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LabelText;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Exports of AIPerf: {@code profile_export.jsonl} (a record a request), {@code profile_export_raw.jsonl} (its packets),
 * {@code server_metrics_export.jsonl} (scrapes) and {@code profile_export_aiperf.json} (aggregates). A request is sent when its connection
 * stands: what it took to connect is kept as a sample, and is no time to a first token. Token counts are the engine's, from the answer's
 * usage, never those of the client's tokenizer.
 */
public final class AiperfImport extends FileImport {
    /** The format's name. */
    public static final String FORMAT = "aiperf";

    private static final String OBSERVER = "client";
    private static final long NANOS_PER_MILLI = 1_000_000L;
    private static final long DAY_NANOS = 86_400_000_000_000L;
    private static final int MAX_GAPS = Answer.MOST_CHUNKS - 1;
    private static final int CANCELLED = 499;
    private static final int MAX_REQUESTS = 1 << 20;
    private static final String WANTED =
            "name profile_export.jsonl, profile_export_raw.jsonl, server_metrics_export.jsonl or profile_export_aiperf.json";

    /** Requests that a file before this one told of. */
    private final Set<String> told = new HashSet<>();

    /** An import of such exports. */
    public AiperfImport(LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, limits, listener);
    }

    /** Records first: they know what it took to connect, raw ones do not. */
    @Override
    protected List<Path> inOrder(List<Path> files) {
        List<Path> ordered = new ArrayList<>();
        files.stream().filter(file -> !isRaw(file)).forEach(ordered::add);
        files.stream().filter(AiperfImport::isRaw).forEach(ordered::add);
        return ordered;
    }

    private static boolean isRaw(Path file) {
        return CaptureFolder.plainName(file).endsWith("_raw.jsonl");
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String name = String.valueOf(file.getFileName());
        String source = name.length() > 160 ? name.substring(0, 160) : name;
        String plain = CaptureFolder.plainName(file).toLowerCase(Locale.ROOT);
        if (plain.endsWith(".csv") || plain.endsWith(".parquet")) {
            throw new ImportException(file + ": a table of aggregates or samples; " + WANTED);
        }
        Export export = new Export(source, spools, FileDigest.of(file));
        if (plain.endsWith(".json")) {
            document(file, reader, export);
        } else {
            reader.readLines(file, line -> {
                Long wallMillis = export.line(line);
                dated(wallMillis);
                return wallMillis;
            });
        }
        if (export.known == 0 && reader.result(false).read() > 0) {
            throw new ImportException(file + ": nothing of it is an export of AIPerf that is read; " + WANTED);
        }
        export.notes(name).forEach(this::note);
    }

    private void document(Path file, RecordReader reader, Export export) throws IOException, ImportException {
        try (JsonObjects objects = new JsonObjects(file, limits())) {
            while (objects.next()) {
                export.aggregates(Fields.of(JsonTrees.read(objects.parser())));
                reader.accepted(null);
            }
            String defect = objects.defect();
            if (defect != null) {
                reader.rejected(reader.sourceName(file), null, defect, null);
            }
        } catch (RejectedRecordException e) {
            throw new ImportException(file + ": " + e.reason() + "; " + WANTED);
        }
    }

    /** One file. */
    private final class Export {
        private final String source;
        private final EventSpools spools;
        private final long epoch;
        private @Nullable CollectorSpool events;
        private @Nullable CollectorSpool undated;
        private long known;
        private long perChunk;
        private long cancelled;
        private long otherTokenizer;
        private long longestConnectNanos;
        private long aggregates;

        Export(String source, EventSpools spools, long epoch) {
            this.source = source;
            this.spools = spools;
            this.epoch = epoch;
        }

        private void add(long nanos, Event event) throws IOException {
            if (events == null) {
                events = spools.collector("aiperf-client", epoch, HostClock.WALL);
            }
            events.add(nanos, nanos, nanos / NANOS_PER_MILLI, event);
        }

        List<String> notes(String name) {
            List<String> notes = new ArrayList<>();
            if (longestConnectNanos > 0) {
                notes.add(name + ": connections took up to " + longestConnectNanos / NANOS_PER_MILLI
                        + " ms; AIPerf counts that into its time to first token, here it is left out");
            }
            if (otherTokenizer > 0) {
                notes.add(
                        name + ": " + otherTokenizer + " answers have another length by the client's tokenizer than by"
                                + " the engine; the engine's counts");
            }
            if (perChunk > 0) {
                notes.add(name + ": " + perChunk + " answers have other numbers of tokens than of chunks, or say none:"
                        + " their gaps are between chunks, not between tokens");
            }
            if (cancelled > 0) {
                notes.add(name + ": " + cancelled + " requests were cancelled and keep no latencies");
            }
            if (aggregates > 0) {
                notes.add(name + ": aggregates of the run; inter_token_latency is one mean a request, its p99 and its"
                        + " max hide stalls");
            }
            return notes;
        }

        @Nullable
        Long line(Fields line) throws RejectedRecordException, IOException {
            if (line.has("endpoint_url") && line.has("timestamp_ns")) {
                known++;
                return scrape(line);
            }
            Fields metadata = line.optionalObject("metadata");
            if (metadata == null) {
                throw line.refuse("metadata", "missing");
            }
            if (line.has("responses")) {
                known++;
                return raw(line, metadata);
            }
            Fields metrics = line.optionalObject("metrics");
            if (metrics == null) {
                throw line.refuse("metrics", "missing");
            }
            known++;
            return record(line, metadata, metrics);
        }

        /** The client's own id of a request. */
        private String requestId(Fields metadata) throws RejectedRecordException {
            String id = metadata.optionalId("x_request_id");
            if (id != null) {
                return id;
            }
            Integer session = metadata.optionalCount("session_num");
            if (session == null) {
                throw metadata.refuse("x_request_id", "missing, and so is session_num");
            }
            return source + "#" + session + laterTurn(metadata);
        }

        /** What tells apart the requests of one session of several turns; nothing of the first turn. */
        private static String laterTurn(Fields metadata) throws RejectedRecordException {
            Integer turn = metadata.optionalCount("turn_index");
            return turn == null || turn == 0 ? "" : "." + turn;
        }

        private boolean isFirst(String id) throws RejectedRecordException {
            if (told.size() >= MAX_REQUESTS) {
                throw new RejectedRecordException("more than " + MAX_REQUESTS + " requests in one import");
            }
            return told.add(id);
        }

        // ---- profile_export.jsonl

        private Long record(Fields line, Fields metadata, Fields metrics) throws RejectedRecordException, IOException {
            String id = requestId(metadata);
            long start = Quantities.epochNanos(metadata, "request_start_ns", 1L);
            Fields error = line.optionalObject("error");
            Long ended = error == null
                    ? Quantities.optionalEpochNanos(metadata, "request_end_ns", 1L)
                    : endOfFailed(metadata, start);
            // The first releases called it by its short name.
            Long ttft = duration(metrics, metrics.has("time_to_first_token") ? "time_to_first_token" : "ttft");
            Long latency = duration(metrics, "request_latency");
            Long connect = duration(metrics, "http_req_connecting");
            Integer prompt = count(metrics, "usage_prompt_tokens");
            Integer cached = count(metrics, "usage_prompt_cache_read_tokens");
            Integer output = count(metrics, "usage_completion_tokens");
            Integer byClient = count(metrics, "output_sequence_length");
            long[] gaps = gaps(metrics);
            boolean wasCancelled = Boolean.TRUE.equals(metadata.optionalBoolean("was_cancelled"));
            Integer code = error == null ? null : error.optionalCount("code");
            boolean left = wasCancelled || (code != null && code == CANCELLED);
            long connected = connect == null ? 0 : connect;
            if (ended != null && ended < start) {
                throw metadata.refuse("request_end_ns", "before request_start_ns");
            }
            if (ttft != null && ttft < connected) {
                throw metrics.refuse("time_to_first_token", "shorter than the connection took that it holds");
            }
            if (ttft != null && ttft == 0 && allZero(gaps)) {
                throw metrics.refuse("time_to_first_token", "0, and so is every gap: no measurement");
            }
            if (ttft != null && latency != null && gaps != null) {
                long sum = ttft;
                for (long gap : gaps) {
                    sum += gap;
                }
                if (Math.abs(sum - latency) > 1_000 * NANOS_PER_MILLI + latency / 2) {
                    throw metrics.refuse(
                            "inter_chunk_latency", "does not add up to request_latency: mixed units or clocks");
                }
            }
            if (!isFirst(id)) {
                throw metadata.refuse("x_request_id", "this request was read before");
            }
            longestConnectNanos = Math.max(longestConnectNanos, connected);
            otherTokenizer += output != null && byClient != null && !output.equals(byClient) ? 1 : 0;
            long sent = start + connected;
            add(
                    sent,
                    new RequestReceived(
                            OBSERVER,
                            id,
                            null,
                            null,
                            null,
                            null,
                            null,
                            prompt == null ? null : Long.valueOf(prompt),
                            null,
                            null,
                            "warmup".equals(metadata.optionalText("benchmark_phase"))));
            aliases(id, metadata, sent);
            Long last = null;
            boolean answered = ttft != null && !left && error == null;
            // Without the gaps the file has the first token and the end: no row of a token is made up.
            boolean stated = answered && gaps == null && output != null && output > 1;
            if (ttft != null && answered && !stated) {
                last = chunks(id, start + ttft, gaps, output);
            }
            long end = ended != null ? ended : last != null ? last : sent;
            add(
                    end,
                    new RequestCompleted(
                            OBSERVER,
                            id,
                            left ? "client-closed" : error != null ? "failed" : "complete",
                            code == null || code == CANCELLED || code < 100 || code > 599 ? null : code,
                            error == null || left ? null : error.optionalText("type"),
                            gaps == null || left ? null : Long.valueOf(gaps.length + 1L),
                            output == null ? null : Long.valueOf(output),
                            null,
                            left && ended != null ? ended : null,
                            prompt == null ? null : Long.valueOf(prompt),
                            cached == null || (prompt != null && cached > prompt) ? null : Long.valueOf(cached),
                            stated && ttft != null ? Long.valueOf(start + ttft) : null,
                            stated && ttft != null && output != null && latency != null && latency > ttft
                                    ? Long.valueOf((latency - ttft) / (output - 1))
                                    : null));
            cancelled += left ? 1 : 0;
            sample(id, "aiperf:http_req_connecting_seconds", connect, end);
            sample(id, "aiperf:time_to_first_token_seconds", ttft, end);
            return start / NANOS_PER_MILLI;
        }

        /** When a failed request ended; null for a stamp of another clock, which early releases wrote of those that were cancelled. */
        private static @Nullable Long endOfFailed(Fields metadata, long start) throws RejectedRecordException {
            Long ended = metadata.optionalLong("request_end_ns");
            return ended == null || ended < start - DAY_NANOS
                    ? null
                    : Quantities.optionalEpochNanos(metadata, "request_end_ns", 1L);
        }

        private void aliases(String id, Fields metadata, long nanos) throws RejectedRecordException, IOException {
            Integer session = metadata.optionalCount("session_num");
            if (session != null) {
                add(nanos, new IdAliased(id, "session-" + session + laterTurn(metadata), "aiperf-session"));
            }
            String correlation = metadata.optionalId("x_correlation_id");
            if (correlation != null && !correlation.equals(id)) {
                add(nanos, new IdAliased(id, correlation, "x-correlation-id"));
            }
        }

        private static boolean allZero(long @Nullable [] gaps) {
            if (gaps == null) {
                return true;
            }
            for (long gap : gaps) {
                if (gap != 0) {
                    return false;
                }
            }
            return true;
        }

        /** Chunks at the first one's arrival and behind each gap; a token each, which the engine's count says or not. */
        private Long chunks(String id, long first, long @Nullable [] gaps, @Nullable Integer output)
                throws IOException {
            int count = 1 + (gaps == null ? 0 : gaps.length);
            perChunk += output != null && output == count ? 0 : 1;
            Answer answer = new Answer();
            StreamChunk.Part token = new StreamChunk.Part(0, StreamChunk.Tokens.COUNTED, 1, Finish.NONE);
            StreamChunk chunk = new StreamChunk(null, List.of(token), StreamChunk.Usage.NONE, null);
            long at = first;
            answer.accept(chunk, 0, at);
            for (int i = 1; i < count && gaps != null; i++) {
                at += gaps[i - 1];
                answer.accept(chunk, 0, at);
            }
            for (ChunkDelivered record : answer.records(OBSERVER, id)) {
                add(record.chunks().get(0).arrivedNanos(), record);
            }
            return at;
        }

        private static @Nullable JsonNode value(Fields metrics, String name) throws RejectedRecordException {
            Fields metric = metrics.optionalObject(name);
            return metric == null ? null : metric.raw("value");
        }

        private static long unitNanos(Fields metric) throws RejectedRecordException {
            String unit = metric.optionalText("unit");
            if (unit == null) {
                return NANOS_PER_MILLI;
            }
            return switch (unit) {
                case "ns" -> 1L;
                case "us" -> 1_000L;
                case "ms" -> NANOS_PER_MILLI;
                case "s", "sec", "seconds" -> 1_000_000_000L;
                default -> throw metric.refuse("unit", "no unit of time: " + unit);
            };
        }

        private static @Nullable Long duration(Fields metrics, String name) throws RejectedRecordException {
            Fields metric = metrics.optionalObject(name);
            return metric == null ? null : Quantities.optionalNanos(metric, "value", unitNanos(metric));
        }

        private static @Nullable Integer count(Fields metrics, String name) throws RejectedRecordException {
            JsonNode value = value(metrics, name);
            if (value == null) {
                return null;
            }
            double count = value.isNumber() ? value.doubleValue() : Double.NaN;
            if (!(count >= 0) || count > Integer.MAX_VALUE || count != StrictMath.rint(count)) {
                throw metrics.refuse(name, "not a count");
            }
            return (int) count;
        }

        private static long @Nullable [] gaps(Fields metrics) throws RejectedRecordException {
            Fields metric = metrics.optionalObject("inter_chunk_latency");
            JsonNode list = metric == null ? null : metric.raw("value");
            if (metric == null || list == null) {
                return null;
            }
            if (!list.isArray()) {
                throw metric.refuse("value", "not a list of gaps");
            }
            if (list.size() > MAX_GAPS) {
                throw metric.refuse("value", list.size() + " gaps, at most " + MAX_GAPS);
            }
            double unit = unitNanos(metric);
            long[] gaps = new long[list.size()];
            for (int i = 0; i < gaps.length; i++) {
                JsonNode gap = list.get(i);
                double nanos = gap.isNumber() ? StrictMath.rint(gap.doubleValue() * unit) : Double.NaN;
                if (!(nanos >= 0 && nanos <= 3.2e17)) {
                    throw metric.refuse("value[" + i + "]", "not a duration");
                }
                gaps[i] = (long) nanos;
            }
            return gaps;
        }

        private void sample(String id, String name, @Nullable Long nanos, long at) throws IOException {
            if (nanos != null) {
                add(at, new MetricSampled(source, name, LabelText.of("request_id", id), nanos / 1e9));
            }
        }

        // ---- profile_export_raw.jsonl

        private Long raw(Fields line, Fields metadata) throws RejectedRecordException, IOException {
            String id = requestId(metadata);
            long start = Quantities.epochNanos(metadata, "request_start_ns", 1L);
            Long ended = Quantities.optionalEpochNanos(metadata, "request_end_ns", 1L);
            long startPerf = line.stamp("start_perf_ns");
            Integer status = line.optionalCount("status");
            Answer answer = new Answer();
            for (Fields response : line.objects("responses")) {
                long perf = response.stamp("perf_ns");
                if (Math.abs(perf - startPerf) > 315_576_000L * 1_000_000_000L) {
                    throw response.refuse("perf_ns", "of another clock than start_perf_ns");
                }
                long arrived = start + (perf - startPerf);
                whole(response, answer, arrived);
                for (Fields packet : response.optionalObjects("packets")) {
                    JsonNode value = packet.raw("value");
                    if (!"data".equals(packet.optionalText("name")) || value == null || !value.isTextual()) {
                        continue;
                    }
                    String data = value.textValue().strip();
                    if (data.isEmpty() || data.equals("[DONE]")) {
                        continue;
                    }
                    StreamChunk chunk = StreamChunk.parse(data);
                    if (!answer.accept(chunk, data.getBytes(StandardCharsets.UTF_8).length, arrived)) {
                        throw line.refuse("responses", "too many chunks");
                    }
                }
            }
            boolean first = isFirst(id);
            String answerId = answer.id();
            if (answerId != null) {
                add(start, new IdAliased(id, answerId, "stream-id"));
                String core = AnswerId.core(answerId);
                if (!core.equals(answerId)) {
                    add(start, new IdAliased(id, core, "engine-id"));
                }
            }
            if (!first) {
                // Its record was read, which knows more; this one adds the answer's id.
                return start / NANOS_PER_MILLI;
            }
            perChunk += answer.perChunk() ? 1 : 0;
            boolean left = Boolean.TRUE.equals(metadata.optionalBoolean("was_cancelled"));
            Integer prompt = answer.promptTokens();
            Integer cached = answer.cachedTokens();
            Integer output = answer.closingTokens();
            add(
                    start,
                    new RequestReceived(
                            OBSERVER,
                            id,
                            null,
                            null,
                            null,
                            null,
                            null,
                            null,
                            null,
                            null,
                            "warmup".equals(metadata.optionalText("benchmark_phase"))));
            aliases(id, metadata, start);
            for (ChunkDelivered record : answer.records(OBSERVER, id)) {
                add(record.chunks().get(0).arrivedNanos(), record);
            }
            StreamChunk.Failure failure = answer.failure();
            Fields error = line.optionalObject("error");
            boolean refused = status != null && status >= 400;
            String errorType = failure != null ? failure.type() : error != null ? error.optionalText("type") : null;
            if (ended != null) {
                add(
                        ended,
                        new RequestCompleted(
                                OBSERVER,
                                id,
                                left
                                        ? "client-closed"
                                        : refused
                                                ? "http-error"
                                                : failure != null || error != null ? "failed" : "complete",
                                status,
                                left ? null : errorType,
                                (long) answer.events(),
                                output == null ? null : Long.valueOf(output),
                                null,
                                left ? ended : null,
                                prompt == null ? null : Long.valueOf(prompt),
                                cached == null ? null : Long.valueOf(cached),
                                null,
                                null));
            }
            return start / NANOS_PER_MILLI;
        }

        /**
         * An answer that came in one piece: its id and its counts. No row of a token, as without its packets: when the first one was there is
         * not known.
         */
        private static void whole(Fields response, Answer answer, long arrived) throws RejectedRecordException {
            JsonNode text = response.raw("text");
            if (text == null || !text.isTextual() || !text.textValue().strip().startsWith("{")) {
                return;
            }
            byte[] bytes = text.textValue().getBytes(StandardCharsets.UTF_8);
            Fields body = Fields.parse(bytes, bytes.length);
            StreamChunk whole = body.has("error") ? StreamChunk.of(body) : StreamChunk.whole(body);
            if (whole != null) {
                List<StreamChunk.Part> ends = new ArrayList<>();
                for (StreamChunk.Part part : whole.parts()) {
                    ends.add(new StreamChunk.Part(part.choice(), StreamChunk.Tokens.NONE, 0, part.finish()));
                }
                answer.accept(new StreamChunk(whole.id(), ends, whole.usage(), whole.error()), bytes.length, arrived);
            }
        }

        // ---- server_metrics_export.jsonl

        private Long scrape(Fields line) throws RejectedRecordException, IOException {
            long at = Quantities.epochNanos(line, "timestamp_ns", 1L);
            Fields metrics = line.optionalObject("metrics");
            if (metrics == null) {
                throw line.refuse("metrics", "missing");
            }
            List<MetricSampled> samples = new ArrayList<>();
            for (String name : metrics.names()) {
                Fields.bounded(name, "metrics");
                for (Fields series : metrics.optionalObjects(name)) {
                    series(name, series, samples);
                }
            }
            for (MetricSampled sample : samples) {
                add(at, sample);
            }
            return at / NANOS_PER_MILLI;
        }

        private void series(String name, Fields series, List<MetricSampled> samples) throws RejectedRecordException {
            Map<String, @Nullable String> labels = new java.util.TreeMap<>();
            Fields given = series.optionalObject("labels");
            if (given != null) {
                for (String label : given.names()) {
                    labels.put(Fields.bounded(label, "labels"), given.optionalText(label));
                }
            }
            Fields buckets = series.optionalObject("buckets");
            Double value = Quantities.optionalNumber(series, "value");
            if (value != null) {
                samples.add(new MetricSampled(source, name, LabelText.of(labels), value));
            }
            if (buckets != null) {
                Double sum = Quantities.optionalNumber(series, "sum");
                Double count = Quantities.optionalNumber(series, "count");
                if (sum != null) {
                    samples.add(new MetricSampled(source, name + "_sum", LabelText.of(labels), sum));
                }
                if (count != null) {
                    samples.add(new MetricSampled(source, name + "_count", LabelText.of(labels), count));
                }
                for (String bound : buckets.names()) {
                    labels.put("le", Fields.bounded(bound, "buckets"));
                    Double held = Quantities.optionalNumber(buckets, bound);
                    if (held != null) {
                        samples.add(new MetricSampled(source, name + "_bucket", LabelText.of(labels), held));
                    }
                }
            }
        }

        // ---- profile_export_aiperf.json

        void aggregates(Fields document) throws RejectedRecordException, IOException {
            if (document.has("metrics") && document.has("summary")) {
                throw new RejectedRecordException("a summary of scrapes, not the scrapes");
            }
            if (!document.has("request_latency") || !(document.has("aiperf_version") || document.has("input_config"))) {
                throw new RejectedRecordException("no aggregates of AIPerf");
            }
            known++;
            aggregates++;
            if (undated == null) {
                undated = spools.collector("aiperf", epoch, source);
            }
            String labels = LabelText.of("run", source);
            aggregate(document, "time_to_first_token", "p50", "bench:median_ttft_seconds", labels);
            aggregate(document, "time_to_first_token", "p99", "bench:p99_ttft_seconds", labels);
            aggregate(document, "inter_token_latency", "p50", "bench:median_tpot_seconds", labels);
            aggregate(document, "inter_token_latency", "p99", "bench:p99_tpot_seconds", labels);
            Fields count = document.optionalObject("request_count");
            Double completed = count == null ? null : Quantities.optionalNumber(count, "avg");
            if (completed != null && undated != null) {
                undated.add(0, null, null, new MetricSampled(source, "bench:completed", labels, completed));
            }
        }

        private void aggregate(Fields document, String metric, String statistic, String name, String labels)
                throws RejectedRecordException, IOException {
            Fields values = document.optionalObject(metric);
            Long nanos = values == null ? null : Quantities.optionalNanos(values, statistic, unitNanos(values));
            if (nanos != null && nanos > 0 && undated != null) {
                undated.add(0, null, null, new MetricSampled(source, name, labels, nanos / 1e9));
            }
        }
    }
}
