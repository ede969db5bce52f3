package io.tokenstair.collect.vllm;

import com.google.protobuf.InvalidProtocolBufferException;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.Event;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.SpanRecorded;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The engine's OpenTelemetry spans, {@code otlp_spans/}: one export request a file, raw protobuf ({@code .pb}), and beside it the
 * same as OTLP JSON with the receiver's stamps ({@code .json}). The protobuf is read where it is there; the JSON beside it then gives
 * the stamps only. A request without stamps is dated by the end of its last span.
 */
final class SpansLayer {
    static final String FOLDER = "otlp_spans";
    static final String NAME = "spans";
    static final String COLLECTOR = "vllm-spans";

    static final int MAX_REQUEST_BYTES = 64 << 20;

    /** The external id of a completion: the client's id, with the number of the prompt in the request. */
    private static final Pattern COMPLETION_ID = Pattern.compile("cmpl-(.+)-\\d+", Pattern.DOTALL);

    private static final Pattern CHAT_ID = Pattern.compile("chatcmpl-(.+)", Pattern.DOTALL);

    private final CaptureClock clock;
    private final CollectorSpool events;

    SpansLayer(CaptureClock clock, CollectorSpool events) {
        this.clock = clock;
        this.events = events;
    }

    /** Reads the folder; false when it holds no request. */
    boolean read(LayerReader reader) throws IOException {
        Map<String, Path> protobuf = byStem(reader.capture(), ".pb");
        Map<String, Path> json = byStem(reader.capture(), ".json");
        TreeMap<String, Path> requests = new TreeMap<>(json);
        requests.putAll(protobuf);
        for (Map.Entry<String, Path> request : requests.entrySet()) {
            Path file = request.getValue();
            try {
                Fields sidecar = null;
                Path beside = json.get(request.getKey());
                if (beside != null) {
                    sidecar = sidecar(beside, beside.equals(file));
                }
                ExportTraceServiceRequest spans = protobuf.containsKey(request.getKey())
                        ? parse(CaptureFolder.readWhole(file, MAX_REQUEST_BYTES))
                        : OtlpJson.request(sidecar);
                reader.accepted(accept(spans, sidecar));
            } catch (RejectedRecordException e) {
                reader.rejected(reader.capture().sourceName(file), null, e.reason(), null);
            }
        }
        return !requests.isEmpty();
    }

    private static Map<String, Path> byStem(CaptureFolder capture, String extension) throws IOException {
        Map<String, Path> files = new TreeMap<>();
        for (Path file : capture.list(FOLDER, name -> name.endsWith(extension))) {
            String name = CaptureFolder.plainName(file);
            files.put(name.substring(0, name.length() - extension.length()), file);
        }
        return files;
    }

    /** The JSON of a request; null when it cannot be read and only its stamps were wanted. */
    private static @Nullable Fields sidecar(Path file, boolean needed) throws IOException, RejectedRecordException {
        try {
            byte[] json = CaptureFolder.readWhole(file, MAX_REQUEST_BYTES);
            return Fields.parse(json, json.length);
        } catch (RejectedRecordException e) {
            if (needed) {
                throw e;
            }
            return null;
        }
    }

    private static ExportTraceServiceRequest parse(byte[] bytes) throws RejectedRecordException {
        try {
            return ExportTraceServiceRequest.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new RejectedRecordException("not an ExportTraceServiceRequest: wrong or cut protobuf");
        }
    }

    private @Nullable Long accept(ExportTraceServiceRequest request, @Nullable Fields sidecar)
            throws RejectedRecordException, IOException {
        List<SpanRecorded> spans = SpanReader.spans(request);
        if (spans.isEmpty()) {
            throw new RejectedRecordException("not an ExportTraceServiceRequest: no span in it");
        }
        Long clockNanos = sidecar == null ? null : clock.optionalClockNanos(sidecar, "recv_mono_ns");
        Long wallMillis = clockNanos == null || sidecar == null
                ? lastEndMillis(spans)
                : clock.wallMillis(sidecar, "recv_wall_ns", clockNanos);
        List<Event> all = new ArrayList<>();
        for (SpanRecorded span : spans) {
            all.add(span);
            Event alias = alias(span);
            if (alias != null) {
                all.add(alias);
            }
        }
        long order = wallMillis == null ? 0 : wallMillis;
        for (Event event : all) {
            events.add(order, clockNanos, wallMillis, event);
        }
        return wallMillis;
    }

    private static @Nullable Long lastEndMillis(List<SpanRecorded> spans) {
        Long last = null;
        for (SpanRecorded span : spans) {
            Long end = span.endEpochNanos();
            if (end != null && (last == null || end > last)) {
                last = end;
            }
        }
        return last == null ? null : Long.valueOf(last / 1_000_000L);
    }

    private static @Nullable Event alias(SpanRecorded span) throws RejectedRecordException {
        String id = SpanReader.attribute(span, SpanReader.REQUEST_ID);
        if (id == null) {
            return null;
        }
        String requestId = requestId(id);
        return requestId == null ? null : new IdAliased(requestId, id, "otlp-span");
    }

    /** The client's id in an id of vLLM's API server; null when the server made the id up by itself. */
    static @Nullable String requestId(String externalId) {
        for (Pattern form : List.of(COMPLETION_ID, CHAT_ID)) {
            Matcher matcher = form.matcher(externalId);
            if (matcher.matches()) {
                return matcher.group(1);
            }
        }
        return null;
    }
}
