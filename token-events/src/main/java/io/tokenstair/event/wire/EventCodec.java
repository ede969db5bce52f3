package io.tokenstair.event.wire;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.Finish;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.proto.LogRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Events to bytes and back. The bytes are canonical: the same event always gives the same bytes, and decoding then encoding gives
 * the same bytes again. Kinds are mapped by the permanent field numbers of their record components; steps and chunks, whose rows
 * travel in columns, by hand.
 */
public final class EventCodec {
    /**
     * Longest id that is taken, in bytes of UTF-8: of a request, an engine, a collector or a clock. Decoding refuses a longer one;
     * collectors refuse it where it arrives.
     */
    public static final int MAX_ID_BYTES = 256;

    /** Stands for an unknown stamp in a column of stamps. */
    private static final long UNKNOWN_STAMP = Long.MIN_VALUE;

    private static final int FIRST_KIND = 10;
    private static final int LAST_KIND = 49;
    private static final Map<EventKind, RecordMapping> MAPPINGS = mappings();

    private EventCodec() {}

    private static Map<EventKind, RecordMapping> mappings() {
        Map<EventKind, RecordMapping> mappings = new EnumMap<>(EventKind.class);
        for (Class<?> type : Event.class.getPermittedSubclasses()) {
            if (type == StepCompleted.class || type == ChunkDelivered.class) {
                continue;
            }
            EventKind kind = kindOf(type);
            FieldDescriptor field = LogRecord.getDescriptor().findFieldByNumber(kind.tag());
            mappings.put(kind, RecordMapping.of(type, field.getMessageType()));
        }
        return mappings;
    }

    static EventKind kindOf(Class<?> type) {
        for (EventKind kind : EventKind.values()) {
            if (kind.catalogName().equals(type.getSimpleName())) {
                return kind;
            }
        }
        throw new IllegalStateException("Cannot find the kind of " + type);
    }

    /** The bytes of an event. */
    public static byte[] encode(LoggedEvent logged) {
        EventHeader header = logged.header();
        LogRecord.Builder record = LogRecord.newBuilder()
                .setCollectorId(header.collectorId())
                .setCollectorEpoch(header.collectorEpoch())
                .setSequence(header.sequence())
                .setClockId(header.clockId());
        if (header.clockNanos() != null) {
            record.setClockNanos(header.clockNanos());
        }
        if (header.coarseEpochMillis() != null) {
            record.setCoarseEpochMillis(header.coarseEpochMillis());
        }
        Event event = logged.event();
        if (event instanceof StepCompleted step) {
            record.setStepCompleted(StepWire.encode(step));
        } else if (event instanceof ChunkDelivered chunks) {
            record.setChunkDelivered(encodeChunks(chunks));
        } else {
            RecordMapping mapping = mapping(event.kind());
            FieldDescriptor field =
                    LogRecord.getDescriptor().findFieldByNumber(event.kind().tag());
            Message.Builder message = record.newBuilderForField(field);
            mapping.write(event, message);
            record.setField(field, message.build());
        }
        return record.build().toByteArray();
    }

    /**
     * The event of these bytes.
     *
     * @throws WireException when they are no event this version understands
     */
    public static LoggedEvent decode(byte[] bytes) throws WireException {
        LoggedEvent step = StepReader.read(bytes);
        return step != null ? step : decode(parse(bytes));
    }

    /**
     * The wire message of these bytes, for readers that only want its header or columns.
     *
     * @throws WireException when they are no log record
     */
    public static LogRecord parse(byte[] bytes) throws WireException {
        if (bytes.length == 0) {
            throw new WireException("no bytes: the log is damaged here, or an empty record was sent", null);
        }
        try {
            return LogRecord.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new WireException("not a log record: " + e.getMessage(), e);
        }
    }

    /** The header of a wire message. */
    public static EventHeader header(LogRecord record) {
        return new EventHeader(
                record.getCollectorId(),
                record.getCollectorEpoch(),
                record.getSequence(),
                record.getClockId(),
                record.hasClockNanos() ? record.getClockNanos() : null,
                record.hasCoarseEpochMillis() ? record.getCoarseEpochMillis() : null);
    }

    /** The kind of a wire message; null when this version does not know it. */
    public static @Nullable EventKind kind(LogRecord record) {
        int tag = record.getKindCase().getNumber();
        for (EventKind kind : EventKind.values()) {
            if (kind.tag() == tag) {
                return kind;
            }
        }
        return null;
    }

    /**
     * The event of a wire message.
     *
     * @throws WireException when its kind is unknown here or a value is impossible
     */
    public static LoggedEvent decode(LogRecord record) throws WireException {
        EventKind kind = kind(record);
        if (kind == null) {
            throw new WireException(unknownKind(record), null);
        }
        try {
            EventHeader header = header(record);
            checkId("collectorId", header.collectorId());
            checkId("clockId", header.clockId());
            if (kind == EventKind.STEP_COMPLETED) {
                return new LoggedEvent(header, StepWire.decode(record.getStepCompleted()));
            }
            if (kind == EventKind.CHUNK_DELIVERED) {
                return new LoggedEvent(header, decodeChunks(record.getChunkDelivered()));
            }
            FieldDescriptor field = LogRecord.getDescriptor().findFieldByNumber(kind.tag());
            return new LoggedEvent(header, (Event) mapping(kind).read((Message) record.getField(field)));
        } catch (IllegalArgumentException e) {
            throw new WireException(kind.catalogName() + ": " + e.getMessage(), e);
        }
    }

    static void checkId(String field, String id) {
        if (id.length() > MAX_ID_BYTES
                || (id.length() > MAX_ID_BYTES / 3 && id.getBytes(StandardCharsets.UTF_8).length > MAX_ID_BYTES)) {
            throw new IllegalArgumentException("Cannot take a longer " + field + " than " + MAX_ID_BYTES + " bytes");
        }
    }

    private static String unknownKind(LogRecord record) {
        for (int number : record.getUnknownFields().asMap().keySet()) {
            if (number >= FIRST_KIND && number <= LAST_KIND) {
                return "a kind this version does not know, field number " + number;
            }
        }
        return "a log record without a kind";
    }

    private static RecordMapping mapping(EventKind kind) {
        RecordMapping mapping = MAPPINGS.get(kind);
        if (mapping == null) {
            throw new IllegalStateException("Cannot map " + kind);
        }
        return mapping;
    }

    private static io.tokenstair.event.wire.proto.ChunkDelivered encodeChunks(ChunkDelivered event) {
        var message = io.tokenstair.event.wire.proto.ChunkDelivered.newBuilder()
                .setObserver(event.observer())
                .setRequestId(event.requestId());
        boolean written = false;
        for (Chunk chunk : event.chunks()) {
            written |= chunk.writeStartNanos() != null || chunk.writeEndNanos() != null;
        }
        for (Chunk chunk : event.chunks()) {
            if (written) {
                message.addWriteStartNanos(orUnknown(chunk.writeStartNanos()))
                        .addWriteEndNanos(orUnknown(chunk.writeEndNanos()));
            }
            message.addSequenceIndex(chunk.sequenceIndex())
                    .addChunkIndex(chunk.chunkIndex())
                    .addFirstTokenIndex(chunk.firstTokenIndex() == null ? 0 : chunk.firstTokenIndex())
                    .addTokenCount(chunk.tokenCount())
                    .addSizeBytes(chunk.sizeBytes())
                    .addArrivedNanos(chunk.arrivedNanos())
                    .addFinishCode(chunk.finish().code());
        }
        return message.build();
    }

    private static long orUnknown(@Nullable Long stamp) {
        return stamp == null ? UNKNOWN_STAMP : stamp;
    }

    private static @Nullable Long stampOf(int count, int i, IntToLongFunction column) {
        long stamp = count == 0 ? UNKNOWN_STAMP : column.applyAsLong(i);
        return stamp == UNKNOWN_STAMP ? null : Long.valueOf(stamp);
    }

    private static ChunkDelivered decodeChunks(io.tokenstair.event.wire.proto.ChunkDelivered message) {
        int n = message.getChunkIndexCount();
        if (message.getSequenceIndexCount() != n
                || message.getFirstTokenIndexCount() != n
                || message.getTokenCountCount() != n
                || message.getSizeBytesCount() != n
                || message.getArrivedNanosCount() != n
                || message.getFinishCodeCount() != n
                || message.getWriteStartNanosCount() != message.getWriteEndNanosCount()
                || (message.getWriteStartNanosCount() != 0 && message.getWriteStartNanosCount() != n)) {
            throw new IllegalArgumentException("Cannot join chunk columns of different lengths");
        }
        List<Chunk> chunks = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            int tokens = message.getTokenCount(i);
            chunks.add(new Chunk(
                    message.getSequenceIndex(i),
                    message.getChunkIndex(i),
                    tokens == 0 ? null : Integer.valueOf(message.getFirstTokenIndex(i)),
                    tokens,
                    message.getSizeBytes(i),
                    message.getArrivedNanos(i),
                    Finish.ofCode(message.getFinishCode(i)),
                    stampOf(message.getWriteStartNanosCount(), i, message::getWriteStartNanos),
                    stampOf(message.getWriteEndNanosCount(), i, message::getWriteEndNanos)));
        }
        checkId("requestId", message.getRequestId());
        return new ChunkDelivered(message.getObserver(), message.getRequestId(), chunks);
    }
}
