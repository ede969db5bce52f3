package io.tokenstair.collect.vllm;

import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.otlp.OtlpDecoder;
import io.tokenstair.collect.otlp.OtlpException;
import io.tokenstair.collect.otlp.OtlpLimits;
import io.tokenstair.collect.otlp.OtlpRequest;
import io.tokenstair.collect.otlp.OtlpSignal;
import io.tokenstair.collect.otlp.RequestIds;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.Event;
import io.tokenstair.event.SpanRecorded;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

    private static final OtlpLimits LIMITS = new OtlpLimits(MAX_REQUEST_BYTES, OtlpLimits.DEFAULT.messages());

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
                byte[] bytes = CaptureFolder.readWhole(file, MAX_REQUEST_BYTES);
                reader.accepted(accept(spans(bytes, protobuf.containsKey(request.getKey())), sidecar));
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

    private static List<SpanRecorded> spans(byte[] bytes, boolean protobuf) throws RejectedRecordException {
        try {
            OtlpRequest request = protobuf
                    ? OtlpRequest.protobuf(OtlpSignal.TRACES, bytes, LIMITS)
                    : OtlpRequest.json(bytes, bytes.length, LIMITS);
            List<SpanRecorded> spans = OtlpDecoder.spans(request);
            if (spans.isEmpty()) {
                throw new RejectedRecordException("not an ExportTraceServiceRequest: no span in it");
            }
            return spans;
        } catch (OtlpException e) {
            throw new RejectedRecordException(e.reason());
        }
    }

    private @Nullable Long accept(List<SpanRecorded> spans, @Nullable Fields sidecar)
            throws RejectedRecordException, IOException {
        Long clockNanos = sidecar == null ? null : clock.optionalClockNanos(sidecar, "recv_mono_ns");
        Long wallMillis = clockNanos == null || sidecar == null
                ? lastEndMillis(spans)
                : clock.wallMillis(sidecar, "recv_wall_ns", clockNanos);
        List<Event> all = new ArrayList<>();
        for (SpanRecorded span : spans) {
            all.add(span);
            Event alias = RequestIds.wrapped(span);
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
}
