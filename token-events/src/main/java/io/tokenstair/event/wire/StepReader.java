package io.tokenstair.event.wire;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Reads a step from its bytes straight into columns, without the lists of the generated classes: steps are nearly all there is to
 * decode. It takes what our own writer makes, also in several parts one after the other, and says null to everything else: unknown
 * fields, columns that are not packed, text beyond ASCII, wrong lengths, impossible values. The generated classes then decide, so
 * that both agree wherever this one answers.
 */
final class StepReader {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH_DELIMITED = 2;

    private static final int STEP = 16 << 3 | LENGTH_DELIMITED;
    private static final int FIRST_COLUMN = 30;
    private static final int COLUMNS = 9;
    private static final int WAIT = 8;

    private static final int PHASE = 5;

    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};
    private static final byte[] NO_BYTES = {};

    /**
     * Columns whose values are all alike, which most are: they are read once and shared by all steps of as many rows, so that half of
     * a step's columns need neither memory nor a loop. By value and number of rows; each made when it is first wanted.
     */
    private static final int SHARED_ROWS = 512;

    private static final int LEAST_SHARED = SequenceRows.ABSENT;
    private static final int MOST_SHARED = 1;
    private static final AtomicReferenceArray<int[]> SHARED =
            new AtomicReferenceArray<>((MOST_SHARED - LEAST_SHARED + 1) * (SHARED_ROWS + 1));
    private static final AtomicReferenceArray<long[]> SHARED_WAITS = new AtomicReferenceArray<>(2 * (SHARED_ROWS + 1));

    private static final AtomicReferenceArray<byte[]> SHARED_DECODES = new AtomicReferenceArray<>(SHARED_ROWS + 1);

    /** A byte times this is that byte eight times. */
    private static final long EIGHT_TIMES = 0x0101010101010101L;

    private static final long TOP_BITS = 0x8080808080808080L;

    /** The top bits of four numbers of two bytes each, and where their bits are. */
    private static final long TOP_BITS_OF_PAIRS = 0x0080008000800080L;

    private static final long LOW_OF_PAIRS = 0x007F007F007F007FL;
    private static final long HIGH_OF_PAIRS = 0x7F007F007F007F00L;

    private final byte[] bytes;
    private int at;
    private boolean strange;

    // The header.
    private String collectorId = "";
    private long collectorEpoch;
    private long sequence;
    private String clockId = "";
    private @Nullable Long clockNanos;
    private @Nullable Long coarseEpochMillis;

    // The step.
    private String engineId = "";
    private int dpRank;
    private long stepId;
    private @Nullable Long scheduleStartNanos;
    private @Nullable Long scheduleEndNanos;
    private @Nullable Long updateStartNanos;
    private long updateEndNanos;
    private @Nullable String forwardMode;
    private @Nullable String graphMode;
    private @Nullable Integer paddedBatchCount;
    private @Nullable Long decodeTokens;
    private @Nullable Long prefillTokens;
    private @Nullable Long recomputeTokens;
    private @Nullable Integer runningCount;
    private @Nullable Integer waitingCount;
    private @Nullable Long kvUsedBlocksCount;
    private @Nullable Long kvTotalBlocksCount;
    private @Nullable Long kvBatchSequence;
    private @Nullable Long probeNanos;
    private int[] announcedHandles = NO_INTS;
    private final List<String> announcedIds = new ArrayList<>(0);
    /** Columns of ints by their number; the one of phases stays empty, because its values are bytes. */
    private final int[][] columns = new int[COLUMNS - 1][];

    /** Whether a value of a column of ints takes more than two bytes: only such a one can be below zero. */
    private boolean wide;

    private byte[] phase = NO_BYTES;
    private long[] waitNanos = NO_LONGS;

    private StepReader(byte[] bytes) {
        this.bytes = bytes;
        Arrays.fill(columns, NO_INTS);
    }

    /** The step of these bytes; null when they are no step, or one that the generated classes must judge. */
    static @Nullable LoggedEvent read(byte[] bytes) {
        StepReader reader = new StepReader(bytes);
        return reader.record() ? reader.event() : null;
    }

    private boolean record() {
        boolean seen = false;
        while (at < bytes.length && !strange) {
            switch (tag()) {
                case 1 << 3 | LENGTH_DELIMITED -> collectorId = text(bytes.length);
                case 2 << 3 | VARINT -> collectorEpoch = varint(bytes.length);
                case 3 << 3 | VARINT -> sequence = varint(bytes.length);
                case 4 << 3 | LENGTH_DELIMITED -> clockId = text(bytes.length);
                case 5 << 3 | FIXED64 -> clockNanos = fixed(bytes.length);
                case 6 << 3 | FIXED64 -> coarseEpochMillis = fixed(bytes.length);
                case STEP -> {
                    int length = length(bytes.length);
                    if (!strange) {
                        step(at + length);
                        seen = true;
                    }
                }
                default -> strange = true;
            }
        }
        return seen && !strange;
    }

    private void step(int end) {
        while (at < end && !strange) {
            switch (tag()) {
                case 1 << 3 | LENGTH_DELIMITED -> engineId = text(end);
                case 2 << 3 | VARINT -> dpRank = (int) varint(end);
                case 3 << 3 | VARINT -> stepId = varint(end);
                case 4 << 3 | FIXED64 -> scheduleStartNanos = fixed(end);
                case 5 << 3 | FIXED64 -> scheduleEndNanos = fixed(end);
                case 6 << 3 | FIXED64 -> updateStartNanos = fixed(end);
                case 7 << 3 | FIXED64 -> updateEndNanos = fixed(end);
                case 8 << 3 | LENGTH_DELIMITED -> forwardMode = text(end);
                case 9 << 3 | LENGTH_DELIMITED -> graphMode = text(end);
                case 10 << 3 | VARINT -> paddedBatchCount = (int) varint(end);
                case 11 << 3 | VARINT -> decodeTokens = varint(end);
                case 12 << 3 | VARINT -> prefillTokens = varint(end);
                case 13 << 3 | VARINT -> recomputeTokens = varint(end);
                case 14 << 3 | VARINT -> runningCount = (int) varint(end);
                case 15 << 3 | VARINT -> waitingCount = (int) varint(end);
                case 16 << 3 | VARINT -> kvUsedBlocksCount = varint(end);
                case 17 << 3 | VARINT -> kvTotalBlocksCount = varint(end);
                case 18 << 3 | VARINT -> kvBatchSequence = varint(end);
                case 19 << 3 | VARINT -> probeNanos = varint(end);
                case 20 << 3 | LENGTH_DELIMITED -> announcedHandles = ints(announcedHandles, end, 0);
                case 21 << 3 | LENGTH_DELIMITED -> announcedIds.add(text(end));
                case 30 << 3 | LENGTH_DELIMITED -> column(0, end);
                case 31 << 3 | LENGTH_DELIMITED -> column(1, end);
                case 32 << 3 | LENGTH_DELIMITED -> column(2, end);
                case 33 << 3 | LENGTH_DELIMITED -> column(3, end);
                case 34 << 3 | LENGTH_DELIMITED -> column(4, end);
                case FIRST_COLUMN + PHASE << 3 | LENGTH_DELIMITED -> phase = codes(phase, end);
                case 36 << 3 | LENGTH_DELIMITED -> column(6, end);
                case 37 << 3 | LENGTH_DELIMITED -> column(7, end);
                case FIRST_COLUMN + WAIT << 3 | LENGTH_DELIMITED -> waitNanos = longs(waitNanos, end);
                default -> strange = true;
            }
        }
    }

    private void column(int number, int end) {
        // All columns are as long as the first one; where one is not, the generated classes decide.
        columns[number] = ints(columns[number], end, number == 0 ? 0 : columns[0].length);
    }

    // ---- the event

    private @Nullable LoggedEvent event() {
        SequenceRows rows = rows();
        if (rows == null || announcedHandles.length != announcedIds.size()) {
            return null;
        }
        List<HandleAnnounced> announcements = List.of();
        if (announcedHandles.length > 0) {
            announcements = new ArrayList<>(announcedHandles.length);
            for (int i = 0; i < announcedHandles.length; i++) {
                announcements.add(new HandleAnnounced(announcedHandles[i], announcedIds.get(i)));
            }
        }
        for (HandleAnnounced announced : announcements) {
            if (isTooLong(announced.engineRequestId())) {
                return null;
            }
        }
        if (isTooLong(collectorId) || isTooLong(clockId) || isTooLong(engineId)) {
            return null;
        }
        return new LoggedEvent(
                new EventHeader(collectorId, collectorEpoch, sequence, clockId, clockNanos, coarseEpochMillis),
                new StepCompleted(
                        engineId,
                        dpRank,
                        stepId,
                        scheduleStartNanos,
                        scheduleEndNanos,
                        updateStartNanos,
                        updateEndNanos,
                        forwardMode,
                        graphMode,
                        paddedBatchCount,
                        decodeTokens,
                        prefillTokens,
                        recomputeTokens,
                        runningCount,
                        waitingCount,
                        kvUsedBlocksCount,
                        kvTotalBlocksCount,
                        kvBatchSequence,
                        probeNanos,
                        announcements,
                        rows));
    }

    /** Texts are ASCII here: a letter is a byte. */
    private static boolean isTooLong(String id) {
        return id.length() > EventCodec.MAX_ID_BYTES;
    }

    private @Nullable SequenceRows rows() {
        int n = columns[0].length;
        if (waitNanos.length != n || phase.length != n) {
            return null;
        }
        // Its sign is set when any value is below zero or no phase.
        long signs = 0;
        for (int number = 1; number < columns.length; number++) {
            if (number != PHASE && columns[number].length != n) {
                return null;
            }
            if (wide) {
                for (int value : columns[number]) {
                    signs |= value;
                }
            }
        }
        if (phase != sharedDecode(n)) {
            for (byte code : phase) {
                signs |= code - Phase.PREFILL.code() | Phase.RECOMPUTE.code() - code;
            }
        }
        if (n == 0 || n > SHARED_ROWS || waitNanos != sharedWaits(0, n)) {
            for (long nanos : waitNanos) {
                signs |= nanos;
            }
        }
        if (signs < 0) {
            return null;
        }
        // What all rows have alike is told by the identity of the shared columns.
        boolean onlyDecodes = n > 0
                && n <= SHARED_ROWS
                && phase == sharedDecode(n)
                && columns[2] == shared(1, n)
                && columns[4] == shared(1, n)
                && columns[6] == shared(0, n);
        return new SequenceRows(
                columns[0],
                lessOne(columns[1]),
                columns[2],
                columns[3],
                columns[4],
                phase,
                lessOne(columns[6]),
                lessOne(columns[7]),
                lessOne(waitNanos),
                onlyDecodes);
    }

    /** The values of a column whose numbers are one more than what they mean, so that 0 can say absent. */
    private static int[] lessOne(int[] column) {
        int n = column.length;
        if (n > 0 && n <= SHARED_ROWS && column[0] >= 0 && column[0] <= MOST_SHARED && column == shared(column[0], n)) {
            return shared(column[0] - 1, n);
        }
        for (int i = 0; i < n; i++) {
            column[i]--;
        }
        return column;
    }

    private static long[] lessOne(long[] column) {
        int n = column.length;
        if (n > 0 && n <= SHARED_ROWS && column == sharedWaits(0, n)) {
            return sharedWaits(SequenceRows.ABSENT, n);
        }
        for (int i = 0; i < n; i++) {
            column[i]--;
        }
        return column;
    }

    private static int[] shared(int value, int rows) {
        int place = (value - LEAST_SHARED) * (SHARED_ROWS + 1) + rows;
        int[] known = SHARED.get(place);
        if (known == null) {
            known = new int[rows];
            Arrays.fill(known, value);
            // Whoever else makes it at once keeps the first: a column is told by its identity.
            return SHARED.compareAndSet(place, null, known) ? known : SHARED.get(place);
        }
        return known;
    }

    /** The column of so many decodes; none that is ever read where there are too many. */
    private static byte[] sharedDecode(int rows) {
        if (rows > SHARED_ROWS) {
            return NO_BYTES;
        }
        byte[] known = SHARED_DECODES.get(rows);
        if (known == null) {
            known = new byte[rows];
            Arrays.fill(known, (byte) Phase.DECODE.code());
            return SHARED_DECODES.compareAndSet(rows, null, known) ? known : SHARED_DECODES.get(rows);
        }
        return known;
    }

    /** The same for waits: all absent, or all 0. */
    private static long[] sharedWaits(int value, int rows) {
        int place = (value - LEAST_SHARED) * (SHARED_ROWS + 1) + rows;
        long[] known = SHARED_WAITS.get(place);
        if (known == null) {
            known = new long[rows];
            Arrays.fill(known, value);
            return SHARED_WAITS.compareAndSet(place, null, known) ? known : SHARED_WAITS.get(place);
        }
        return known;
    }

    // ---- bytes

    private int tag() {
        int first = bytes[at++];
        if (first >= 0) {
            return first;
        }
        if (at == bytes.length || bytes[at] <= 0) {
            strange = true;
            return 0;
        }
        return first & 0x7F | bytes[at++] << 7;
    }

    private long varint(int end) {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE && at < end; shift += 7) {
            byte next = bytes[at++];
            value |= (long) (next & 0x7F) << shift;
            if (next >= 0) {
                // The last bit of 64 stands alone in a tenth byte.
                strange |= shift == Long.SIZE - 1 && next != 1;
                return value;
            }
        }
        strange = true;
        return 0;
    }

    private long fixed(int end) {
        if (end - at < Long.BYTES) {
            strange = true;
            return 0;
        }
        long value = (long) LONG.get(bytes, at);
        at += Long.BYTES;
        return value;
    }

    private int length(int end) {
        long length = varint(end);
        if (length < 0 || length > end - at) {
            strange = true;
            return 0;
        }
        return (int) length;
    }

    private String text(int end) {
        int length = length(end);
        int from = at;
        at += length;
        for (int i = from; i < at; i++) {
            strange |= bytes[i] < 0;
        }
        return strange ? "" : new String(bytes, from, length, StandardCharsets.ISO_8859_1);
    }

    /** The numbers in a packed column: as many as it has bytes that end one. */
    private int ends(int from, int to) {
        int ends = 0;
        int i = from;
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            ends += Long.bitCount(~(long) LONG.get(bytes, i) & TOP_BITS);
        }
        for (; i < to; i++) {
            ends += ~bytes[i] >>> 31;
        }
        return ends;
    }

    /** Whether all bytes between two positions are this one. */
    private boolean areAll(byte value, int from, int to) {
        long eight = value * EIGHT_TIMES;
        int i = from;
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            if ((long) LONG.get(bytes, i) != eight) {
                return false;
            }
        }
        for (; i < to; i++) {
            if (bytes[i] != value) {
                return false;
            }
        }
        return true;
    }

    /** A column of small codes: of one byte each, or they are none. */
    private byte[] codes(byte[] before, int end) {
        int length = length(end);
        if (before.length == 0
                && length > 0
                && length <= SHARED_ROWS
                && areAll((byte) Phase.DECODE.code(), at, at + length)) {
            at += length;
            return sharedDecode(length);
        }
        byte[] values = Arrays.copyOf(before, before.length + length);
        System.arraycopy(bytes, at, values, before.length, length);
        at += length;
        return values;
    }

    /** A column of ints behind what is known of it, of so many where nothing is; 0 for any number. */
    private int[] ints(int[] before, int end, int expected) {
        int length = length(end);
        int from = at;
        int to = from + length;
        boolean mayBeShared = before.length == 0 && length > 0 && length <= SHARED_ROWS;
        if (mayBeShared && bytes[from] >= 0 && bytes[from] <= MOST_SHARED && areAll(bytes[from], from, to)) {
            at = to;
            return shared(bytes[from], length);
        }
        int count = before.length == 0 && expected > 0 && expected < length ? expected : ends(from, to);
        int[] values = before.length == 0 ? new int[count] : Arrays.copyOf(before, before.length + count);
        int filled = before.length;
        if (count == length) {
            for (int i = from; i < to; i++) {
                values[filled++] = bytes[i];
            }
            at = to;
            return values;
        }
        while (at < to && !strange) {
            int left = values.length - filled;
            if (left >= 4 && to - at >= Long.BYTES) {
                long eight = (long) LONG.get(bytes, at);
                if ((eight & TOP_BITS) == TOP_BITS_OF_PAIRS) {
                    // Four numbers of two bytes each, as nearly all are.
                    long four = eight & LOW_OF_PAIRS | (eight & HIGH_OF_PAIRS) >>> 1;
                    values[filled] = (int) four & 0xFFFF;
                    values[filled + 1] = (int) (four >>> 16) & 0xFFFF;
                    values[filled + 2] = (int) (four >>> 32) & 0xFFFF;
                    values[filled + 3] = (int) (four >>> 48);
                    filled += 4;
                    at += Long.BYTES;
                    continue;
                }
            }
            if (left == 0) {
                strange = true;
                break;
            }
            int first = bytes[at];
            if (first >= 0) {
                at++;
                values[filled++] = first;
            } else if (at + 1 < to && bytes[at + 1] >= 0) {
                values[filled++] = first & 0x7F | bytes[at + 1] << 7;
                at += 2;
            } else {
                long value = varint(to);
                if (!strange) {
                    values[filled++] = (int) value;
                    wide = true;
                }
            }
        }
        strange |= filled != values.length;
        return values;
    }

    private long[] longs(long[] before, int end) {
        int length = length(end);
        int to = at + length;
        if (before.length == 0 && length > 0 && length <= SHARED_ROWS && areAll((byte) 0, at, to)) {
            at = to;
            return sharedWaits(0, length);
        }
        int count = ends(at, to);
        long[] values = before.length == 0 ? new long[count] : Arrays.copyOf(before, before.length + count);
        int filled = before.length;
        while (at < to && !strange) {
            long value = varint(to);
            if (!strange) {
                values[filled++] = value;
            }
        }
        return values;
    }
}
