package io.tokenstair.event.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import com.sun.management.ThreadMXBean;
import io.tokenstair.event.EventFixtures;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.proto.ChunkDelivered;
import io.tokenstair.event.wire.proto.LogRecord;
import io.tokenstair.event.wire.proto.StepCompleted;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EventCodecTest {
    private static final int RANDOM_EVENTS_PER_KIND = 200;
    private static final int MUTATIONS = 10_000;

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void everyKindComesBackWithAbsentAndPresentFields(EventKind kind) throws WireException {
        for (LoggedEvent event : List.of(
                new LoggedEvent(EventFixtures.header(1), EventFixtures.full(kind)),
                new LoggedEvent(EventFixtures.sparseHeader(1), EventFixtures.full(kind)),
                new LoggedEvent(EventFixtures.header(1), EventFixtures.sparse(kind)))) {
            assertThat(event.event().kind()).isEqualTo(kind);
            assertThat(EventCodec.decode(EventCodec.encode(event))).isEqualTo(event);
        }
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void theFullEventOfEachKindHasEveryField(EventKind kind) throws WireException {
        LogRecord record =
                EventCodec.parse(EventCodec.encode(new LoggedEvent(EventFixtures.header(1), EventFixtures.full(kind))));
        Message message = (Message) record.getField(LogRecord.getDescriptor().findFieldByNumber(kind.tag()));

        for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
            boolean present = field.isRepeated() ? message.getRepeatedFieldCount(field) > 0 : message.hasField(field);
            assertThat(present).as(field.getName()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void randomEventsComeBackAndTheirBytesAreCanonical(EventKind kind) throws WireException {
        for (int seed = 0; seed < RANDOM_EVENTS_PER_KIND; seed++) {
            LoggedEvent event = new LoggedEvent(EventFixtures.randomHeader(seed), EventFixtures.random(kind, seed));
            byte[] bytes = EventCodec.encode(event);
            LoggedEvent decoded = EventCodec.decode(bytes);

            assertThat(decoded).as("seed %d", seed).isEqualTo(event);
            assertThat(EventCodec.encode(decoded)).as("seed %d", seed).isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void aHeaderIsReadWithoutItsEvent(EventKind kind) throws WireException {
        LogRecord record =
                EventCodec.parse(EventCodec.encode(new LoggedEvent(EventFixtures.header(5), EventFixtures.full(kind))));

        assertThat(EventCodec.header(record)).isEqualTo(EventFixtures.header(5));
        assertThat(EventCodec.kind(record)).isEqualTo(kind);
    }

    @Test
    void mutatedBytesGiveAnEventOrAWireExceptionAndNoLargeAllocation() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        List<byte[]> originals = new ArrayList<>();
        for (EventKind kind : EventKind.values()) {
            originals.add(EventCodec.encode(new LoggedEvent(EventFixtures.header(1), EventFixtures.full(kind))));
            originals.add(EventCodec.encode(new LoggedEvent(EventFixtures.header(1), EventFixtures.random(kind, 1))));
        }
        Random random = new Random(42);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] mutated = mutate(originals.get(i % originals.size()), random);
            long before = threads.getCurrentThreadAllocatedBytes();
            try {
                EventCodec.decode(mutated);
            } catch (WireException e) {
                refused++;
                assertThat(e).message().isNotBlank();
            }
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            assertThat(allocated).as("mutation %d", i).isLessThan(1_000_000 + 200L * mutated.length);
        }

        assertThat(refused).isBetween(MUTATIONS / 10, MUTATIONS);
    }

    private static byte[] mutate(byte[] original, Random random) {
        byte[] bytes = original.clone();
        for (int change = 0; change <= random.nextInt(3); change++) {
            if (bytes.length == 0) {
                return bytes;
            }
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(6)) {
                case 0 -> bytes = Arrays.copyOf(bytes, at);
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> bytes[at] = (byte) random.nextInt(256);
                case 3 -> bytes = spliced(bytes, at, at, new byte[] {-1, -1, -1, -1, 7});
                case 4 -> bytes = spliced(bytes, at, Math.min(bytes.length, at + 1 + random.nextInt(8)), new byte[0]);
                default -> {
                    byte[] noise = new byte[random.nextInt(20)];
                    random.nextBytes(noise);
                    bytes = spliced(bytes, at, at, noise);
                }
            }
        }
        return bytes;
    }

    private static byte[] spliced(byte[] bytes, int from, int to, byte[] middle) {
        byte[] result = new byte[from + middle.length + bytes.length - to];
        System.arraycopy(bytes, 0, result, 0, from);
        System.arraycopy(middle, 0, result, from, middle.length);
        System.arraycopy(bytes, to, result, from + middle.length, bytes.length - to);
        return result;
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void everyTruncationGivesAnEventOrAWireException(EventKind kind) {
        byte[] bytes = EventCodec.encode(new LoggedEvent(EventFixtures.header(1), EventFixtures.full(kind)));
        for (int length = 0; length < bytes.length; length++) {
            byte[] truncated = Arrays.copyOf(bytes, length);
            assertThatExceptionOfType(WireException.class).isThrownBy(() -> EventCodec.decode(truncated));
        }
    }

    @Test
    void noiseIsAWireException() {
        Random random = new Random(5);
        for (int i = 0; i < 2_000; i++) {
            byte[] noise = new byte[random.nextInt(200)];
            random.nextBytes(noise);
            assertThatExceptionOfType(WireException.class).isThrownBy(() -> EventCodec.decode(noise));
        }
    }

    @Test
    void aRecordWithoutAKindSaysSo() {
        assertThatExceptionOfType(WireException.class)
                .isThrownBy(() -> EventCodec.decode(record().build()))
                .withMessage("a log record without a kind");
        assertThatExceptionOfType(WireException.class)
                .isThrownBy(() ->
                        EventCodec.decode(record().setUnknownFields(unknown(60)).build()))
                .withMessage("a log record without a kind");
    }

    @Test
    void aRecordWithoutBytesIsDamageOrWasSentEmpty() {
        assertThatExceptionOfType(WireException.class)
                .isThrownBy(() -> EventCodec.decode(new byte[0]))
                .withMessage("no bytes: the log is damaged here, or an empty record was sent");
    }

    @Test
    void aKindOfANewerVersionIsNamedByItsNumber() throws WireException {
        LogRecord record = EventCodec.parse(record().setUnknownFields(
                        unknown(7).toBuilder().mergeFrom(unknown(14)).build())
                .build()
                .toByteArray());

        assertThat(EventCodec.kind(record)).isNull();
        assertThatExceptionOfType(WireException.class)
                .isThrownBy(() -> EventCodec.decode(record))
                .withMessage("a kind this version does not know, field number 14");
    }

    @Test
    void fieldsOfANewerVersionAreIgnored() throws WireException {
        io.tokenstair.event.wire.proto.IdAliased newer = io.tokenstair.event.wire.proto.IdAliased.newBuilder()
                .setRequestId("req-7")
                .setAlias("cmpl-7")
                .setAliasOrigin("engine-0")
                .setUnknownFields(unknown(900))
                .build();
        LogRecord record =
                record().setIdAliased(newer).setUnknownFields(unknown(800)).build();

        assertThat(EventCodec.decode(record.toByteArray()))
                .isEqualTo(new LoggedEvent(
                        new EventHeader("c", 1, 2, "k", null, null), new IdAliased("req-7", "cmpl-7", "engine-0")));
    }

    @Test
    void impossibleValuesAreRefusedWithTheKindAndTheValue() {
        refused(
                "ChunkDelivered: Cannot hold this many chunks: 0",
                record().setChunkDelivered(ChunkDelivered.newBuilder()));
        refused(
                "ChunkDelivered: Cannot join chunk columns of different lengths",
                record().setChunkDelivered(ChunkDelivered.newBuilder().addChunkIndex(1)));
        ChunkDelivered.Builder many = ChunkDelivered.newBuilder();
        for (int i = 0; i < 17; i++) {
            chunk(many, 0);
        }
        refused("ChunkDelivered: Cannot hold this many chunks: 17", record().setChunkDelivered(many));
        refused(
                "ChunkDelivered: Cannot read finish code: 99",
                record().setChunkDelivered(chunk(ChunkDelivered.newBuilder(), 99)));
        refused(
                "StepCompleted: Cannot join step columns of different lengths: 1 handles",
                record().setStepCompleted(StepCompleted.newBuilder().addRequestHandle(1)));
        refused(
                "StepCompleted: Cannot pair announced handles with ids: 1 and 0",
                record().setStepCompleted(StepCompleted.newBuilder().addAnnouncedHandle(1)));
        refused("StepCompleted: Cannot read phase code: 0", record().setStepCompleted(row(0, 0)));
        refused("StepCompleted: Cannot hold a negative value in row 0", record().setStepCompleted(row(2, -1)));
    }

    @Test
    void idsAreBounded() throws WireException {
        String longest = "é".repeat(EventCodec.MAX_ID_BYTES / 2);
        LoggedEvent taken = new LoggedEvent(EventFixtures.header(1), new IdAliased(longest, longest, "engine-0"));
        assertThat(EventCodec.decode(EventCodec.encode(taken))).isEqualTo(taken);

        String tooLong = longest + "x";
        refused(
                "IdAliased: Cannot take a longer alias than 256 bytes",
                record().setIdAliased(io.tokenstair.event.wire.proto.IdAliased.newBuilder()
                        .setRequestId("r")
                        .setAlias(tooLong)));
        refused(
                "StepCompleted: Cannot take a longer engineRequestId than 256 bytes",
                record().setStepCompleted(StepCompleted.newBuilder()
                        .addAnnouncedHandle(1)
                        .addAnnouncedEngineRequestId("y".repeat(100_000))));
        refused(
                "ChunkDelivered: Cannot take a longer requestId than 256 bytes",
                record().setChunkDelivered(chunk(ChunkDelivered.newBuilder().setRequestId(tooLong), 0)));
        refused(
                "IdAliased: Cannot take a longer collectorId than 256 bytes",
                record().setCollectorId(tooLong)
                        .setIdAliased(io.tokenstair.event.wire.proto.IdAliased.getDefaultInstance()));
    }

    @Test
    void textThatIsNotUtf8IsRefused() {
        byte[] bytes = record().build().toBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                27,
                                UnknownFieldSet.Field.newBuilder()
                                        .addLengthDelimited(
                                                ByteString.copyFrom(new byte[] {0x0A, 2, (byte) 0xC3, 0x28}))
                                        .build())
                        .build())
                .build()
                .toByteArray();

        assertThatExceptionOfType(WireException.class).isThrownBy(() -> EventCodec.decode(bytes));
    }

    private static void refused(String message, LogRecord.Builder record) {
        byte[] bytes = record.build().toByteArray();
        assertThatExceptionOfType(WireException.class)
                .isThrownBy(() -> EventCodec.decode(bytes))
                .withMessageStartingWith(message);
    }

    private static LogRecord.Builder record() {
        return LogRecord.newBuilder()
                .setCollectorId("c")
                .setCollectorEpoch(1)
                .setSequence(2)
                .setClockId("k");
    }

    private static ChunkDelivered.Builder chunk(ChunkDelivered.Builder chunks, int finishCode) {
        return chunks.addSequenceIndex(0)
                .addChunkIndex(0)
                .addFirstTokenIndex(0)
                .addTokenCount(0)
                .addSizeBytes(0)
                .addArrivedNanos(0)
                .addFinishCode(finishCode);
    }

    private static StepCompleted.Builder row(int phase, int cachedTokensPlus1) {
        return StepCompleted.newBuilder()
                .addRequestHandle(1)
                .addFirstTokenIndexPlus1(0)
                .addTokenCount(0)
                .addContextTokens(0)
                .addScheduledTokens(0)
                .addPhase(phase)
                .addCachedTokensPlus1(cachedTokensPlus1)
                .addPreemptionCountPlus1(0)
                .addWaitNanosPlus1(0);
    }

    private static UnknownFieldSet unknown(int number) {
        return UnknownFieldSet.newBuilder()
                .addField(
                        number,
                        UnknownFieldSet.Field.newBuilder()
                                .addLengthDelimited(ByteString.copyFromUtf8("later"))
                                .build())
                .build();
    }
}
