package io.tokenstair.collect.telemetry;

import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.UnzippedFile;
import io.tokenstair.collect.otlp.EngineRequests;
import io.tokenstair.collect.otlp.OtlpBatch;
import io.tokenstair.collect.otlp.OtlpDecoder;
import io.tokenstair.collect.otlp.OtlpException;
import io.tokenstair.collect.otlp.OtlpLimits;
import io.tokenstair.collect.otlp.OtlpRequest;
import io.tokenstair.collect.otlp.SglangSteps;
import io.tokenstair.collect.otlp.TimedEvent;
import io.tokenstair.collect.otlp.TritonSpans;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Imports OTLP export requests: JSON lines or protobuf as the file exporter of the OpenTelemetry Collector writes them, single requests in
 * either form, and streams of requests with their length before each. A record is an item of a request: a span, a data point, a log record; a
 * request that cannot be read at all is one refused record. Nobody stamped their arrival: each is dated by its own last stamp.
 */
public final class OtlpImport extends FileImport {
    private static final String FORMAT = "otlp";
    private static final OtlpLimits LIMITS = OtlpLimits.DEFAULT;
    private static final int PEEK_BYTES = 256;

    private final boolean asRequests;
    private final OtlpDecoder decoder;
    private final EngineRequests requests = new EngineRequests();
    private final SglangSteps steps = new SglangSteps();
    private final TritonSpans triton;
    private long passedOver;
    /** Of all files: what they tell together is theirs, in whatever order they were named. */
    private long digests;

    /**
     * An import within these limits.
     *
     * @param asRequests true where nothing else records the requests: the spans that engines write of them then stand for them
     * @param limits of gzipped files
     * @param listener hears how it goes
     */
    public OtlpImport(boolean asRequests, LineSource.Limits limits, ImportListener listener) {
        super(FORMAT, new LineSource.Limits(LIMITS.requestBytes(), limits.unzippedBytes()), listener);
        this.asRequests = asRequests;
        this.decoder = new OtlpDecoder(asRequests);
        this.triton = new TritonSpans(asRequests);
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        long digest = FileDigest.of(file, String.valueOf(asRequests));
        digests += digest;
        CollectorSpool events = spools.collector(FORMAT, digest, "none");
        byte[] start = new byte[PEEK_BYTES];
        int length;
        try (UnzippedFile in = UnzippedFile.byContent(file, limits().unzippedBytes())) {
            length = in.readNBytes(start, 0, PEEK_BYTES);
        }
        if (length > 4 && start[0] == 0x28 && (start[1] & 0xff) == 0xb5 && start[2] == 0x2f) {
            throw new ImportException(file + ": compressed with zstd; unzip it first: zstd -d " + file.getFileName());
        }
        int at = 0;
        while (at < length && isBlank(start[at])) {
            at++;
        }
        // A protobuf request starts with a line feed and a length; JSON may too, with a brace behind it.
        if (at < length && start[at] == '{' && !(start[0] == '\n' && at == 1 && start[2] == '\n')) {
            if (overSeveralLines(start, at, length)) {
                whole(file, reader, events);
            } else {
                lines(file, reader, events);
            }
        } else {
            frames(file, reader, events);
        }
    }

    private static boolean isBlank(byte character) {
        return character == ' ' || character == '\t' || character == '\r' || character == '\n';
    }

    private static boolean overSeveralLines(byte[] start, int brace, int length) {
        int at = brace + 1;
        while (at < length && (start[at] == ' ' || start[at] == '\t' || start[at] == '\r')) {
            at++;
        }
        return at < length && start[at] == '\n';
    }

    /** A request a line. */
    private void lines(Path file, RecordReader reader, CollectorSpool events) throws IOException {
        try (LineSource lines = reader.open(file)) {
            while (lines.next()) {
                if (lines.tooLong()) {
                    reader.rejected(
                            reader.sourceName(file),
                            lines.lineNumber(),
                            "a line longer than " + limits().lineBytes() + " bytes",
                            null);
                    continue;
                }
                try {
                    OtlpRequest request = OtlpRequest.json(lines.bytes(), lines.length(), LIMITS);
                    take(request, reader, file, lines.lineNumber(), null, events);
                } catch (OtlpException e) {
                    reader.rejected(reader.sourceName(file), lines.lineNumber(), e.reason(), null);
                }
            }
            reader.rejectDefect(lines);
        }
    }

    /** One request, as JSON over several lines. */
    private void whole(Path file, RecordReader reader, CollectorSpool events) throws IOException {
        try (UnzippedFile in = UnzippedFile.byContent(file, limits().unzippedBytes())) {
            byte[] json = in.readNBytes(LIMITS.requestBytes() + 1);
            try {
                take(OtlpRequest.json(json, json.length, LIMITS), reader, file, null, 0L, events);
            } catch (OtlpException e) {
                reader.rejectedAt(reader.sourceName(file), 0, in.defect() == null ? e.reason() : in.defect(), null);
            }
        }
    }

    /** Protobuf: one request, or many with their length before each, in four bytes or as a varint. */
    private void frames(Path file, RecordReader reader, CollectorSpool events) throws IOException {
        try (RequestFrames frames = new RequestFrames(file, limits().unzippedBytes(), LIMITS.requestBytes())) {
            for (byte[] frame = frames.next(); frame != null; frame = frames.next()) {
                try {
                    take(OtlpRequest.protobuf(frame, LIMITS), reader, file, null, frames.offset(), events);
                } catch (OtlpException e) {
                    reader.rejectedAt(reader.sourceName(file), frames.offset(), e.reason(), null);
                }
            }
            String defect = frames.defect();
            if (defect != null) {
                reader.rejectedAt(reader.sourceName(file), frames.offset(), defect, null);
            }
        }
    }

    private void take(
            OtlpRequest request,
            RecordReader reader,
            Path file,
            @Nullable Long lineNumber,
            @Nullable Long byteOffset,
            CollectorSpool events)
            throws IOException {
        OtlpBatch batch = decoder.decode(request);
        passedOver += batch.passedOver();
        for (TimedEvent event : batch.events()) {
            add(event, events);
        }
        List<TimedEvent> waits = new ArrayList<>();
        triton.accept(batch.events(), waits::add);
        for (TimedEvent event : waits) {
            add(event, events);
        }
        if (asRequests) {
            requests.accept(batch.events());
            steps.accept(batch.events());
        }
        Long wallMillis =
                batch.events().isEmpty() ? null : millis(batch.events().get(0));
        for (long i = 0; i < batch.accepted(); i++) {
            reader.accepted(wallMillis);
        }
        for (Map.Entry<String, Long> reason : batch.reasons().entrySet()) {
            for (long i = 0; i < reason.getValue(); i++) {
                if (lineNumber != null) {
                    reader.rejected(reader.sourceName(file), lineNumber, reason.getKey(), null);
                } else {
                    reader.rejectedAt(
                            reader.sourceName(file), byteOffset == null ? 0 : byteOffset, reason.getKey(), null);
                }
            }
        }
    }

    private void add(TimedEvent timed, CollectorSpool events) throws IOException {
        Long last = timed.lastEpochNanos();
        Long wallMillis = millis(timed);
        dated(wallMillis);
        Long own = timed.epochNanos();
        events.add(own == null ? "none" : "wall@otlp", last == null ? 0 : last, own, wallMillis, timed.event());
    }

    private static @Nullable Long millis(TimedEvent timed) {
        Long last = timed.lastEpochNanos();
        return last == null ? null : Long.valueOf(last / 1_000_000L);
    }

    @Override
    protected void finish(EventSpools spools) throws IOException {
        if (asRequests) {
            CollectorSpool events = spools.collector(FORMAT + "-requests", digests, "none");
            List<TimedEvent> told = new ArrayList<>();
            requests.finish(told::add);
            steps.finish(told::add);
            for (TimedEvent event : told) {
                add(event, events);
            }
            String traced = steps.line();
            if (traced != null) {
                note(traced);
            }
            if (requests.leftOut() > 0) {
                note(requests.leftOut() + " spans of requests stand for none: more than are held at once");
            }
        }
        if (passedOver > 0) {
            note(passedOver + " items say nothing of requests or engines: counted, not kept");
        }
    }
}
