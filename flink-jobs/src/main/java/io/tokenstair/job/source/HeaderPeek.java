package io.tokenstair.job.source;

import com.google.protobuf.CodedInputStream;
import io.tokenstair.event.wire.EventCodec;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the header and the kind of a log record from its bytes and steps over everything else, so that a record can be dated, routed and
 * counted before anyone pays for decoding it.
 *
 * <p>It never fails: bytes that are no log record, a collector id longer than {@link EventCodec#MAX_ID_BYTES} and a record without a
 * kind all get kind tag 0, and the decoder says later what was wrong. A date outside {@link #EARLIEST_EPOCH_MILLIS} to
 * {@link #LATEST_EPOCH_MILLIS} is no date.
 */
public final class HeaderPeek {
    /** First event time that is taken: 1970-01-01T00:00:00Z. */
    public static final long EARLIEST_EPOCH_MILLIS = 0;

    /** Last event time that is taken: 9999-12-31T23:59:59.999Z. */
    public static final long LATEST_EPOCH_MILLIS = 253_402_300_799_999L;

    private static final int LENGTH_DELIMITED = 2;
    private static final int COLLECTOR_ID = 1 << 3 | LENGTH_DELIMITED;
    private static final int COLLECTOR_EPOCH = 2 << 3;
    private static final int SEQUENCE = 3 << 3;
    private static final int COARSE_EPOCH_MILLIS = 6 << 3 | 1;
    private static final int ENGINE_ID = 1 << 3 | LENGTH_DELIMITED;
    private static final int FIRST_KIND = 10;
    private static final int LAST_KIND = 49;

    private HeaderPeek() {}

    /**
     * The engine that a step names, without decoding the step. Null when the bytes do not show it at first sight: then they must be
     * decoded.
     */
    public static @Nullable String engineId(RawRecord step) {
        int wanted = step.kindTag << 3 | LENGTH_DELIMITED;
        String seen = seenEngineId(step.bytes, wanted);
        return seen != null ? seen : parsedEngineId(step, wanted);
    }

    /** The engine of a step that is in one piece; null where that is not seen. */
    private static @Nullable String seenEngineId(byte[] bytes, int wanted) {
        WireScan scan = new WireScan(bytes, 0, bytes.length);
        String engineId = null;
        while (scan.next()) {
            if (scan.tag() == wanted) {
                WireScan step = scan.message();
                if (engineId != null || !step.next() || step.tag() != ENGINE_ID) {
                    return null;
                }
                engineId = step.text(EventCodec.MAX_ID_BYTES);
                if (engineId == null) {
                    return null;
                }
            }
        }
        return scan.isStrange() ? null : engineId;
    }

    /** The same, without looking whether the step is a usual one. */
    static @Nullable String parsedEngineId(RawRecord step, int wanted) {
        CodedInputStream in = CodedInputStream.newInstance(step.bytes);
        try {
            String engineId = null;
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                if (tag != wanted) {
                    in.skipField(tag);
                    continue;
                }
                int outer = in.pushLimit(in.readRawVarint32());
                // A step that was put together again from tables comes in parts; one of them names the engine.
                if (in.readTag() == ENGINE_ID) {
                    if (engineId != null) {
                        return null;
                    }
                    engineId = boundedString(in);
                    in.skipRawBytes(in.getBytesUntilLimit());
                } else {
                    in.skipRawBytes(in.getBytesUntilLimit());
                }
                in.popLimit(outer);
            }
            return engineId;
        } catch (IOException e) {
            return null;
        }
    }

    /** Fills the header fields of a record from its bytes. */
    static void into(RawRecord record) {
        clear(record);
        if (!isSeen(record)) {
            parse(record);
        }
    }

    /** The same, without looking whether the record is a usual one. */
    static void parse(RawRecord record) {
        clear(record);
        try {
            read(CodedInputStream.newInstance(record.bytes), record);
        } catch (IOException e) {
            clear(record);
        }
    }

    /** Fills the header fields of a usual record; false where they are not seen. */
    private static boolean isSeen(RawRecord record) {
        WireScan scan = new WireScan(record.bytes, 0, record.bytes.length);
        while (scan.next()) {
            switch (scan.tag()) {
                case COLLECTOR_ID -> {
                    String collectorId = scan.text(EventCodec.MAX_ID_BYTES);
                    if (collectorId == null) {
                        return false;
                    }
                    record.collectorId = collectorId;
                }
                case COLLECTOR_EPOCH -> record.collectorEpoch = scan.number();
                case SEQUENCE -> record.sequence = scan.number();
                case COARSE_EPOCH_MILLIS -> record.coarseEpochMillis = dated(scan.number());
                default -> record.kindTag = isKind(scan.tag()) ? scan.tag() >>> 3 : record.kindTag;
            }
        }
        return !scan.isStrange() && record.kindTag != 0;
    }

    private static long dated(long millis) {
        return millis >= EARLIEST_EPOCH_MILLIS && millis <= LATEST_EPOCH_MILLIS ? millis : RawRecord.UNDATED;
    }

    private static boolean isKind(int tag) {
        int field = tag >>> 3;
        return field >= FIRST_KIND && field <= LAST_KIND && (tag & 7) == LENGTH_DELIMITED;
    }

    private static void clear(RawRecord record) {
        record.kindTag = 0;
        record.coarseEpochMillis = RawRecord.UNDATED;
        record.collectorId = "";
        record.collectorEpoch = 0;
        record.sequence = 0;
    }

    private static void read(CodedInputStream in, RawRecord record) throws IOException {
        // The whole top level is walked: stepping over a kind is one addition, and fields may come in any order.
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            switch (tag) {
                case COLLECTOR_ID -> record.collectorId = boundedString(in);
                case COLLECTOR_EPOCH -> record.collectorEpoch = in.readInt64();
                case SEQUENCE -> record.sequence = in.readInt64();
                case COARSE_EPOCH_MILLIS -> record.coarseEpochMillis = dated(in.readSFixed64());
                default -> {
                    record.kindTag = isKind(tag) ? tag >>> 3 : record.kindTag;
                    in.skipField(tag);
                }
            }
        }
        if (record.kindTag == 0) {
            clear(record);
        }
    }

    private static String boundedString(CodedInputStream in) throws IOException {
        int before = in.getTotalBytesRead();
        String text = in.readStringRequireUtf8();
        if (in.getTotalBytesRead() - before > EventCodec.MAX_ID_BYTES + 2) {
            throw new IOException("Cannot take a collector id of more than " + EventCodec.MAX_ID_BYTES + " bytes");
        }
        return text;
    }
}
