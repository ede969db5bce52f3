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

    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};

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
    private final int[][] columns = new int[COLUMNS - 1][];
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
                case 20 << 3 | LENGTH_DELIMITED -> announcedHandles = ints(announcedHandles, end);
                case 21 << 3 | LENGTH_DELIMITED -> announcedIds.add(text(end));
                case 30 << 3 | LENGTH_DELIMITED -> column(0, end);
                case 31 << 3 | LENGTH_DELIMITED -> column(1, end);
                case 32 << 3 | LENGTH_DELIMITED -> column(2, end);
                case 33 << 3 | LENGTH_DELIMITED -> column(3, end);
                case 34 << 3 | LENGTH_DELIMITED -> column(4, end);
                case 35 << 3 | LENGTH_DELIMITED -> column(5, end);
                case 36 << 3 | LENGTH_DELIMITED -> column(6, end);
                case 37 << 3 | LENGTH_DELIMITED -> column(7, end);
                case FIRST_COLUMN + WAIT << 3 | LENGTH_DELIMITED -> waitNanos = longs(waitNanos, end);
                default -> strange = true;
            }
        }
    }

    private void column(int number, int end) {
        columns[number] = ints(columns[number], end);
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
        if (waitNanos.length != n) {
            return null;
        }
        for (int[] column : columns) {
            if (column.length != n) {
                return null;
            }
        }
        int[] firstToken = columns[1];
        int[] tokens = columns[2];
        int[] context = columns[3];
        int[] scheduled = columns[4];
        int[] phaseCodes = columns[5];
        int[] cached = columns[6];
        int[] preemptions = columns[7];
        byte[] phase = new byte[n];
        // Its sign is set when any value is below zero or no phase.
        long signs = 0;
        for (int i = 0; i < n; i++) {
            signs |= firstToken[i] | tokens[i] | context[i] | scheduled[i] | cached[i] | preemptions[i];
            signs |= waitNanos[i];
            signs |= phaseCodes[i] - Phase.PREFILL.code() | Phase.RECOMPUTE.code() - phaseCodes[i];
            firstToken[i]--;
            cached[i]--;
            preemptions[i]--;
            waitNanos[i]--;
            phase[i] = (byte) phaseCodes[i];
        }
        return signs < 0
                ? null
                : new SequenceRows(
                        columns[0], firstToken, tokens, context, scheduled, phase, cached, preemptions, waitNanos);
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
        for (int i = from; i < to; i++) {
            ends += ~bytes[i] >>> 31;
        }
        return ends;
    }

    private int[] ints(int[] before, int end) {
        int length = length(end);
        int from = at;
        int to = from + length;
        int count = ends(from, to);
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
                }
            }
        }
        return values;
    }

    private long[] longs(long[] before, int end) {
        int length = length(end);
        int to = at + length;
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
