package io.tokenstair.vllm;

import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.foreign.KvPayload;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * A message of the probe: the envelope and its records. Read without recursion and with nothing allocated that the message's own
 * length does not pay for. Text longer than an id may be is refused.
 *
 * @param envelope who sent it
 * @param records what happened, as many as the envelope says
 */
record ProbeMessage(ProbeEnvelope envelope, List<ProbeRecord> records) {
    private static final String MAGIC = "tokenstair-probe";
    /** 2 since steps may be told as like an earlier one; what 1 has, 2 has. */
    private static final int WIRE_VERSION = 2;

    private static final int OLDEST_WIRE_VERSION = 1;
    private static final int SAME_STEPS = 14;
    private static final int SAME_STEP_BYTES = 12 * Long.BYTES;
    private static final int MAX_RECORDS = 1 << 20;
    private static final int MAX_COLUMN = 1 << 16;
    private static final int MAX_FACTS = 64;

    /** Reads both frames. Whole or not at all. */
    static ProbeMessage parse(byte[] first, byte[] second) throws ForeignFormatException {
        ProbeEnvelope envelope;
        List<ProbeRecord> records = new ArrayList<>();
        try (MessageUnpacker in = MessagePack.newDefaultUnpacker(first)) {
            envelope = envelope(in);
        } catch (MessagePackException | IOException e) {
            throw new ForeignFormatException("the envelope is not valid msgpack");
        }
        try (MessageUnpacker in = MessagePack.newDefaultUnpacker(second)) {
            while (in.hasNext()) {
                if (records.size() == envelope.recordCount()) {
                    throw new ForeignFormatException("more records than the envelope counts");
                }
                record(in, second.length, records, envelope.recordCount());
            }
        } catch (MessagePackException | IOException e) {
            throw new ForeignFormatException("record " + records.size() + " is not valid msgpack");
        }
        if (records.size() != envelope.recordCount()) {
            throw new ForeignFormatException(
                    records.size() + " records, though the envelope counts " + envelope.recordCount());
        }
        return new ProbeMessage(envelope, records);
    }

    private static ProbeEnvelope envelope(MessageUnpacker in) throws IOException, ForeignFormatException {
        int length = array(in, "the envelope");
        if (length < 2 || !MAGIC.equals(text(in, "the magic"))) {
            throw new ForeignFormatException("not a message of the probe");
        }
        long version = whole(in, "the version");
        if (version < OLDEST_WIRE_VERSION || version > WIRE_VERSION) {
            throw new ForeignFormatException("wire version " + version + ", this collector reads " + WIRE_VERSION
                    + ": install the probe and the collector of one release");
        }
        if (length < 13) {
            throw new ForeignFormatException("an envelope of " + length + " elements, it has 13");
        }
        String source = text(in, "source");
        String role = text(in, "role");
        Integer rank = optionalCount(in, "rank");
        String engineId = optionalText(in, "engine");
        long firstSequence = notNegative(in, "firstSequence");
        long count = notNegative(in, "count");
        if (count > MAX_RECORDS) {
            throw new ForeignFormatException(count + " records, at most " + MAX_RECORDS);
        }
        long lost = notNegative(in, "lost");
        long before = whole(in, "beforeNanos");
        long wall = notNegative(in, "wallNanos");
        long after = whole(in, "afterNanos");
        String machine = text(in, "machine");
        if (!List.of("engine", "api", "worker").contains(role)) {
            throw new ForeignFormatException("a role that is neither engine, api nor worker");
        }
        if (before > after || firstSequence > Long.MAX_VALUE - count) {
            throw new ForeignFormatException("an envelope that contradicts itself");
        }
        return new ProbeEnvelope(
                source, role, rank, engineId, machine, firstSequence, (int) count, lost, before, wall, after);
    }

    /** Reads the next record, or the next few where one stands for several, of which there are at most so many in all. */
    private static void record(MessageUnpacker in, int frameBytes, List<ProbeRecord> records, int mostRecords)
            throws IOException, ForeignFormatException {
        int length = array(in, "a record");
        if (length < 1) {
            throw new ForeignFormatException("a record without a kind");
        }
        int kind = (int) Math.min(Integer.MAX_VALUE, notNegative(in, "kind"));
        int known = LENGTHS.length > kind ? LENGTHS[kind] : 1;
        if (length < known) {
            throw new ForeignFormatException("a record of kind " + kind + " with " + length + " elements");
        }
        if (kind == SAME_STEPS) {
            sameSteps(in, frameBytes, records, mostRecords);
            in.skipValue(length - known);
            return;
        }
        boolean saysCarried = kind == EVICTED && length > known;
        ProbeRecord read = switch (kind) {
            case 0 -> new ProbeRecord.Unread("the probe could not encode it");
            case 1 -> step(in);
            case 2 ->
                new ProbeRecord.Queued(
                        whole(in, "stamp"),
                        text(in, "id"),
                        optionalNumber(in, "arrival"),
                        optionalLong(in, "prompt"),
                        optionalLong(in, "max tokens"),
                        optionalInt(in, "priority"));
            case 3 -> ended(in);
            case 4 -> preempted(in);
            case EVICTED -> evicted(in, saysCarried);
            case 6 -> open(in);
            case 7 -> new ProbeRecord.Engine(whole(in, "stamp"), facts(in));
            case 8 -> paused(in);
            case 9 -> new ProbeRecord.Process(whole(in, "stamp"), facts(in));
            case 10 ->
                new ProbeRecord.Shard(
                        whole(in, "start"),
                        whole(in, "end"),
                        text(in, "name"),
                        optionalLong(in, "bytes"),
                        optionalText(in, "device"),
                        optionalText(in, "how"));
            case 11 ->
                new ProbeRecord.Lookup(
                        whole(in, "stamp"),
                        (int) Math.min(Integer.MAX_VALUE, notNegative(in, "rank")),
                        optionalLong(in, "queried"),
                        optionalLong(in, "hits"),
                        optionalLong(in, "preempted queried"),
                        optionalLong(in, "preempted hits"));
            case 12 ->
                new ProbeRecord.Total(
                        whole(in, "stamp"), text(in, "name"), notNegative(in, "nanos"), notNegative(in, "calls"));
            case 13 -> kvEvents(in, frameBytes);
            default -> new ProbeRecord.Unread("a kind of record this collector does not know: " + kind);
        };
        in.skipValue(length - known - (saysCarried ? 1 : 0));
        records.add(read);
    }

    /** Elements of each kind of record; later ones may have more. */
    private static final int[] LENGTHS = {1, 23, 7, 4, 11, 9, 3, 3, 4, 3, 7, 7, 5, 4, 2};

    private static final int EVICTED = 5;

    private static ProbeRecord step(MessageUnpacker in) throws IOException, ForeignFormatException {
        long stepId = notNegative(in, "step");
        long scheduleStart = whole(in, "scheduleStart");
        long scheduleEnd = whole(in, "scheduleEnd");
        long updateStart = whole(in, "updateStart");
        long updateEnd = whole(in, "updateEnd");
        if (scheduleStart > scheduleEnd || scheduleEnd > updateStart || updateStart > updateEnd) {
            throw new ForeignFormatException("step " + stepId + ": its stamps run backwards");
        }
        Integer running = optionalCount(in, "running");
        Integer waiting = optionalCount(in, "waiting");
        Long free = optionalLong(in, "kvFreeBlocks");
        int waitReason = (int) Math.min(Integer.MAX_VALUE, notNegative(in, "waitReason"));
        if (type(in) != ValueType.MAP) {
            throw new ForeignFormatException("step " + stepId + ": scheduled tokens are no map");
        }
        int count = bounded(in.unpackMapHeader(), "scheduled");
        List<String> ids = new ArrayList<>();
        List<Integer> tokens = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(text(in, "id"));
            tokens.add(count(in, "scheduled tokens"));
        }
        return new ProbeRecord.Step(
                stepId,
                scheduleStart,
                scheduleEnd,
                updateStart,
                updateEnd,
                running,
                waiting,
                free,
                waitReason,
                ids,
                ints(tokens),
                optionalTexts(in),
                counts(in),
                counts(in),
                orEmpty(optionalTexts(in)),
                fresh(in),
                optionalTexts(in),
                optionalCounts(in),
                finishes(in),
                optionalLong(in, "kvBatchSequence"),
                optionalText(in, "graphMode"),
                optionalCount(in, "paddedBatch"),
                notNegative(in, "probeNanos"));
    }

    private static List<ProbeRecord.Fresh> fresh(MessageUnpacker in) throws IOException, ForeignFormatException {
        List<ProbeRecord.Fresh> fresh = new ArrayList<>();
        if (in.tryUnpackNil()) {
            return fresh;
        }
        int count = bounded(array(in, "new"), "new");
        for (int i = 0; i < count; i++) {
            int length = array(in, "a new sequence");
            if (length != 4) {
                throw new ForeignFormatException("a new sequence of " + length + " elements");
            }
            fresh.add(new ProbeRecord.Fresh(
                    text(in, "id"), count(in, "computed"), count(in, "outputs"), count(in, "preemptions")));
        }
        return fresh;
    }

    private static List<ProbeRecord.Finish> finishes(MessageUnpacker in) throws IOException, ForeignFormatException {
        List<ProbeRecord.Finish> finishes = new ArrayList<>();
        if (in.tryUnpackNil()) {
            return finishes;
        }
        int count = bounded(array(in, "finishes"), "finishes");
        for (int i = 0; i < count; i++) {
            int length = array(in, "a finish");
            if (length != 2) {
                throw new ForeignFormatException("a finish of " + length + " elements");
            }
            finishes.add(new ProbeRecord.Finish(count(in, "position"), text(in, "reason")));
        }
        return finishes;
    }

    private static ProbeRecord ended(MessageUnpacker in) throws IOException, ForeignFormatException {
        long stamp = whole(in, "stamp");
        int count = bounded(array(in, "ended"), "ended");
        Map<String, Long> outputs = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            int length = array(in, "an ended sequence");
            if (length != 2) {
                throw new ForeignFormatException("an ended sequence of " + length + " elements");
            }
            outputs.put(text(in, "id"), notNegative(in, "outputs"));
        }
        return new ProbeRecord.Ended(stamp, outputs, text(in, "status"));
    }

    private static ProbeRecord preempted(MessageUnpacker in) throws IOException, ForeignFormatException {
        long stamp = whole(in, "stamp");
        long stepId = notNegative(in, "step");
        String id = text(in, "id");
        int reason = count(in, "reason");
        String wantedBy = optionalText(in, "wantedBy");
        Long computed = optionalLong(in, "computed");
        Long outputs = optionalLong(in, "outputs");
        optionalInt(in, "priority");
        return new ProbeRecord.Preempted(
                stamp,
                stepId,
                id,
                reason,
                wantedBy,
                computed,
                outputs,
                optionalCount(in, "nth"),
                optionalLong(in, "free blocks"));
    }

    private static ProbeRecord evicted(MessageUnpacker in, boolean saysCarried)
            throws IOException, ForeignFormatException {
        long stamp = whole(in, "stamp");
        long stepId = notNegative(in, "step");
        int reason = count(in, "reason");
        String wantedBy = optionalText(in, "wantedBy");
        notNegative(in, "asked");
        List<Long> hashes = longs(in);
        List<Long> reuses = longs(in);
        List<Long> idle = longs(in);
        if (reuses.size() != hashes.size() || idle.size() != hashes.size()) {
            throw new ForeignFormatException("columns of evicted blocks of different lengths");
        }
        boolean carried = false;
        if (saysCarried) {
            if (type(in) != ValueType.BOOLEAN) {
                throw new ForeignFormatException("whether evicted blocks are told of later is neither true nor false");
            }
            carried = in.unpackBoolean();
        }
        return new ProbeRecord.Evicted(stamp, stepId, reason, wantedBy, hashes, reuses, idle, carried);
    }

    /** A batch of KV events; one that cannot be read keeps its place among the records. */
    private static ProbeRecord kvEvents(MessageUnpacker in, int frameBytes) throws IOException, ForeignFormatException {
        long stamp = whole(in, "stamp");
        long sequence = notNegative(in, "kvBatchSequence");
        byte[] payload = bytes(in, frameBytes);
        try {
            return new ProbeRecord.KvEvents(stamp, sequence, KvPayload.parse(payload));
        } catch (ForeignFormatException unreadable) {
            return new ProbeRecord.Unread("KV batch " + sequence + ": " + unreadable.reason());
        }
    }

    private static byte[] bytes(MessageUnpacker in, int frameBytes) throws IOException, ForeignFormatException {
        if (type(in) != ValueType.BINARY) {
            throw new ForeignFormatException("what should be a byte string is none");
        }
        int bytes = in.unpackBinaryHeader();
        if (bytes > frameBytes - in.getTotalReadBytes()) {
            throw new ForeignFormatException("a byte string that is longer than its message");
        }
        return in.readPayload(bytes);
    }

    private static void sameSteps(MessageUnpacker in, int frameBytes, List<ProbeRecord> records, int mostRecords)
            throws IOException, ForeignFormatException {
        byte[] steps = bytes(in, frameBytes);
        int count = steps.length / SAME_STEP_BYTES;
        if (steps.length % SAME_STEP_BYTES != 0 || count == 0) {
            throw new ForeignFormatException("steps like an earlier one in " + steps.length + " bytes");
        }
        if (count > mostRecords - records.size()) {
            throw new ForeignFormatException("more records than the envelope counts");
        }
        ByteBuffer numbers = ByteBuffer.wrap(steps);
        for (int i = 0; i < count; i++) {
            records.add(sameStep(numbers));
        }
    }

    private static ProbeRecord sameStep(ByteBuffer in) {
        long stepId = in.getLong();
        long scheduleStart = in.getLong();
        long scheduleEnd = in.getLong();
        long running = in.getLong();
        long waiting = in.getLong();
        long free = in.getLong();
        long waitReason = in.getLong();
        long probeNanos = in.getLong();
        long baseStepId = in.getLong();
        long updateStart = in.getLong();
        long updateEnd = in.getLong();
        long kvBatchSequence = in.getLong();
        if (baseStepId < 0
                || stepId <= baseStepId
                || stepId - baseStepId > Integer.MAX_VALUE
                || scheduleStart > scheduleEnd
                || scheduleEnd > updateStart
                || updateStart > updateEnd
                || running < 0
                || running > Integer.MAX_VALUE
                || waiting < 0
                || waiting > Integer.MAX_VALUE
                || waitReason < 0) {
            return new ProbeRecord.Unread("step " + stepId + ", like step " + baseStepId + ": impossible numbers");
        }
        return new ProbeRecord.SameStep(
                stepId,
                baseStepId,
                scheduleStart,
                scheduleEnd,
                updateStart,
                updateEnd,
                (int) running,
                (int) waiting,
                free < 0 ? null : Long.valueOf(free),
                (int) Math.min(Integer.MAX_VALUE, waitReason),
                kvBatchSequence < 0 ? null : Long.valueOf(kvBatchSequence),
                probeNanos < 0 ? null : Long.valueOf(probeNanos));
    }

    private static ProbeRecord open(MessageUnpacker in) throws IOException, ForeignFormatException {
        long stamp = whole(in, "stamp");
        int count = bounded(array(in, "open"), "open");
        List<ProbeRecord.OpenSequence> open = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int length = array(in, "an open sequence");
            if (length != 6) {
                throw new ForeignFormatException("an open sequence of " + length + " elements");
            }
            open.add(new ProbeRecord.OpenSequence(
                    text(in, "id"),
                    optionalLong(in, "prompt"),
                    optionalLong(in, "max tokens"),
                    optionalInt(in, "priority"),
                    optionalCount(in, "preemptions"),
                    optionalNumber(in, "arrival")));
        }
        return new ProbeRecord.Open(stamp, open);
    }

    private static ProbeRecord paused(MessageUnpacker in) throws IOException, ForeignFormatException {
        String cause = text(in, "cause");
        long start = whole(in, "start");
        long end = whole(in, "end");
        if (start > end) {
            throw new ForeignFormatException("a pause that ends before it starts");
        }
        return new ProbeRecord.Paused(cause, start, end);
    }

    /** Whole numbers, truth values and texts by name; anything else is passed over. */
    private static Map<String, Object> facts(MessageUnpacker in) throws IOException, ForeignFormatException {
        if (type(in) != ValueType.MAP) {
            throw new ForeignFormatException("facts that are no map");
        }
        int count = in.unpackMapHeader();
        if (count > MAX_FACTS) {
            throw new ForeignFormatException(count + " facts, at most " + MAX_FACTS);
        }
        Map<String, Object> facts = new HashMap<>();
        for (int i = 0; i < count; i++) {
            String name = text(in, "a fact's name");
            switch (type(in)) {
                case STRING -> facts.put(name, text(in, name));
                case BOOLEAN -> facts.put(name, in.unpackBoolean());
                case INTEGER -> facts.put(name, whole(in, name));
                default -> in.skipValue();
            }
        }
        return facts;
    }

    // ---- single values

    private static ValueType type(MessageUnpacker in) throws IOException {
        return in.getNextFormat().getValueType();
    }

    private static int array(MessageUnpacker in, String what) throws IOException, ForeignFormatException {
        if (type(in) != ValueType.ARRAY) {
            throw new ForeignFormatException(what + " is no array");
        }
        return in.unpackArrayHeader();
    }

    private static int bounded(int count, String what) throws ForeignFormatException {
        if (count > MAX_COLUMN) {
            throw new ForeignFormatException(what + ": " + count + " entries, at most " + MAX_COLUMN);
        }
        return count;
    }

    private static long whole(MessageUnpacker in, String what) throws IOException, ForeignFormatException {
        if (type(in) != ValueType.INTEGER) {
            throw new ForeignFormatException(what + " is no whole number");
        }
        return in.unpackLong();
    }

    private static long notNegative(MessageUnpacker in, String what) throws IOException, ForeignFormatException {
        long value = whole(in, what);
        if (value < 0) {
            throw new ForeignFormatException(what + " is negative, " + value);
        }
        return value;
    }

    private static int count(MessageUnpacker in, String what) throws IOException, ForeignFormatException {
        long value = notNegative(in, what);
        if (value > Integer.MAX_VALUE) {
            throw new ForeignFormatException(what + " is too large, " + value);
        }
        return (int) value;
    }

    private static @Nullable Integer optionalCount(MessageUnpacker in, String what)
            throws IOException, ForeignFormatException {
        return in.tryUnpackNil() ? null : Integer.valueOf(count(in, what));
    }

    private static @Nullable Long optionalLong(MessageUnpacker in, String what)
            throws IOException, ForeignFormatException {
        return in.tryUnpackNil() ? null : Long.valueOf(notNegative(in, what));
    }

    private static @Nullable Integer optionalInt(MessageUnpacker in, String what)
            throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        long value = whole(in, what);
        if (value != (int) value) {
            throw new ForeignFormatException(what + " is too large, " + value);
        }
        return (int) value;
    }

    private static @Nullable Double optionalNumber(MessageUnpacker in, String what)
            throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        if (type(in) == ValueType.FLOAT) {
            return in.unpackDouble();
        }
        return (double) whole(in, what);
    }

    private static String text(MessageUnpacker in, String what) throws IOException, ForeignFormatException {
        if (type(in) != ValueType.STRING) {
            throw new ForeignFormatException(what + " is no text");
        }
        int bytes = in.unpackRawStringHeader();
        if (bytes > EventCodec.MAX_ID_BYTES) {
            throw new ForeignFormatException(what + " of " + bytes + " bytes, at most " + EventCodec.MAX_ID_BYTES);
        }
        return new String(in.readPayload(bytes), StandardCharsets.UTF_8);
    }

    private static @Nullable String optionalText(MessageUnpacker in, String what)
            throws IOException, ForeignFormatException {
        return in.tryUnpackNil() ? null : text(in, what);
    }

    private static @Nullable List<String> optionalTexts(MessageUnpacker in) throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        int count = bounded(array(in, "ids"), "ids");
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            texts.add(text(in, "id"));
        }
        return texts;
    }

    private static List<String> orEmpty(@Nullable List<String> texts) {
        return texts == null ? List.of() : texts;
    }

    private static int[] counts(MessageUnpacker in) throws IOException, ForeignFormatException {
        int[] counts = optionalCounts(in);
        if (counts == null) {
            throw new ForeignFormatException("a column is missing");
        }
        return counts;
    }

    private static int @Nullable [] optionalCounts(MessageUnpacker in) throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        int count = bounded(array(in, "a column"), "a column");
        List<Integer> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add(count(in, "a column"));
        }
        return ints(values);
    }

    private static int[] ints(List<Integer> values) {
        int[] ints = new int[values.size()];
        for (int i = 0; i < ints.length; i++) {
            ints[i] = values.get(i);
        }
        return ints;
    }

    /** Whole numbers; an unsigned 64-bit one keeps its bits. */
    private static List<Long> longs(MessageUnpacker in) throws IOException, ForeignFormatException {
        int count = bounded(array(in, "blocks"), "blocks");
        List<Long> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (type(in) != ValueType.INTEGER) {
                throw new ForeignFormatException("a block that is no whole number");
            }
            values.add(in.unpackBigInteger().longValue());
        }
        return values;
    }
}
