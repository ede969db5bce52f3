package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedOutputStream;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeaderPeekTest {
    @Test
    void theHeaderAndTheKindAreRead() {
        RawRecord record = RawRecord.of(Records.bytes("engine-0", 3), "partition-0000", 12);
        assertThat(record.collectorId).isEqualTo("engine-0");
        assertThat(record.collectorEpoch).isEqualTo(7);
        assertThat(record.sequence).isEqualTo(3);
        assertThat(record.coarseEpochMillis).isEqualTo(Records.START_EPOCH_MILLIS + 3000);
        assertThat(record.kindTag).isEqualTo(EventKind.ID_ALIASED.tag());
        assertThat(record.origin).isEqualTo("partition-0000");
        assertThat(record.ordinal).isEqualTo(12);
    }

    @Test
    void aRecordWithoutWallTimeIsUndated() {
        RawRecord record = RawRecord.of(EventCodec.encode(Records.event("engine-0", 3, null)), "p", 0);
        assertThat(record.isDated()).isFalse();
        assertThat(record.kindTag).isEqualTo(EventKind.ID_ALIASED.tag());
    }

    @Test
    void aDateNoCalendarHasIsNoDate() {
        for (long millis : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, HeaderPeek.LATEST_EPOCH_MILLIS + 1}) {
            RawRecord record = RawRecord.of(EventCodec.encode(Records.event("engine-0", 3, millis)), "p", 0);
            assertThat(record.isDated()).isFalse();
        }
    }

    @Test
    void theEngineOfAStepIsReadInOnePieceAndInParts() throws IOException {
        byte[] named = {1 << 3 | 2, 3, 'e', '-', '1', 3 << 3, 9};
        byte[] unnamed = {3 << 3, 9};
        assertThat(HeaderPeek.engineId(step(named))).isEqualTo("e-1");
        assertThat(HeaderPeek.engineId(step(unnamed, named, unnamed))).isEqualTo("e-1");
    }

    @Test
    void aStepThatDoesNotNameOneEngineAtFirstSightMustBeDecoded() throws IOException {
        byte[] named = {1 << 3 | 2, 3, 'e', '-', '1'};
        byte[] tooShort = {1 << 3 | 2, 100, 'e'};
        assertThat(HeaderPeek.engineId(step())).isNull();
        assertThat(HeaderPeek.engineId(step(new byte[] {3 << 3, 9}))).isNull();
        assertThat(HeaderPeek.engineId(step(named, named))).isNull();
        assertThat(HeaderPeek.engineId(step(tooShort))).isNull();
    }

    private static RawRecord step(byte[]... parts) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        for (byte[] part : parts) {
            out.writeByteArray(EventKind.STEP_COMPLETED.tag(), part);
        }
        out.writeString(1, "collector");
        out.flush();
        return RawRecord.of(bytes.toByteArray(), "p", 0);
    }

    @Test
    void fieldsMayComeInAnyOrderAndUnknownOnesAreSteppedOver() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.writeString(900, "from a later version");
        out.writeByteArray(EventKind.STEP_COMPLETED.tag(), new byte[] {1, 2, 3});
        out.writeSFixed64(6, 1234);
        out.writeInt64(3, 5);
        out.writeString(1, "late-header");
        out.flush();
        RawRecord record = RawRecord.of(bytes.toByteArray(), "p", 0);
        assertThat(record.kindTag).isEqualTo(EventKind.STEP_COMPLETED.tag());
        assertThat(record.collectorId).isEqualTo("late-header");
        assertThat(record.coarseEpochMillis).isEqualTo(1234);
        assertThat(record.sequence).isEqualTo(5);
    }

    @Test
    void whatIsNoLogRecordHasNoKindAndNoDate() {
        byte[] good = Records.bytes("engine-0", 3);
        LoggedEvent longId = new LoggedEvent(
                new EventHeader("x".repeat(EventCodec.MAX_ID_BYTES + 1), 1, 1, "c", null, 1L),
                new IdAliased("a", "b", "c"));
        for (byte[] bytes : new byte[][] {
            {},
            {0},
            {-1, -1, -1, -1},
            "plain text\n".getBytes(java.nio.charset.StandardCharsets.UTF_8),
            Arrays.copyOf(good, good.length - 1),
            EventCodec.encode(longId)
        }) {
            RawRecord record = RawRecord.of(bytes, "p", 0);
            assertThat(record.kindTag).isZero();
            assertThat(record.isDated()).isFalse();
            assertThat(record.collectorId).isEmpty();
        }
    }

    @Test
    void whatIsSeenAtFirstSightIsWhatAParserReads() throws IOException {
        Random random = new Random(2);
        byte[] step = step(new byte[] {1 << 3 | 2, 3, 'e', '-', '1', 3 << 3, 9, 0x52, 2, 7, 7}).bytes;
        int seen = 0;
        for (byte[] good : new byte[][] {Records.bytes("engine-0", 3), step}) {
            for (int i = 0; i < 60_000; i++) {
                byte[] bytes = Arrays.copyOf(good, random.nextInt(5) == 0 ? random.nextInt(good.length) : good.length);
                for (int damage = random.nextInt(3); damage > 0 && bytes.length > 0; damage--) {
                    int at = random.nextInt(bytes.length);
                    bytes[at] = (byte) (random.nextBoolean() ? random.nextInt(256) : bytes[at] + random.nextInt(3) - 1);
                }
                RawRecord record = RawRecord.of(bytes, "p", 0);
                RawRecord parsed = record.copy();
                HeaderPeek.parse(parsed);
                assertThat(record).as(Arrays.toString(bytes)).isEqualTo(parsed);
                if (record.kindTag == EventKind.STEP_COMPLETED.tag()) {
                    String engineId = HeaderPeek.engineId(record);
                    seen += engineId == null ? 0 : 1;
                    assertThat(engineId)
                            .as(Arrays.toString(bytes))
                            .isEqualTo(HeaderPeek.parsedEngineId(record, record.kindTag << 3 | 2));
                }
            }
        }
        assertThat(seen).isGreaterThan(10_000);
    }

    @Test
    void damagedBytesNeverThrow() {
        Random random = new Random(1);
        byte[] good = Records.bytes("engine-0", 3);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = Arrays.copyOf(good, 1 + random.nextInt(good.length));
            for (int damage = random.nextInt(4); damage >= 0; damage--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            assertThat(RawRecord.of(bytes, "p", 0).collectorId.length()).isLessThanOrEqualTo(256);
        }
    }
}
