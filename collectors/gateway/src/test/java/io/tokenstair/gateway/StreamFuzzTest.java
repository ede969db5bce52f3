package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.Event;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Recorded streams, damaged in ten thousand ways: nothing is thrown, nothing hangs, and what was counted stays in order. */
@Timeout(180)
class StreamFuzzTest {
    private static final int ROUNDS = 10_000;

    @Test
    void damagedStreamsDoNoHarm() throws Exception {
        List<byte[]> streams = new ArrayList<>();
        for (String name : RecordedStreams.NAMES) {
            for (RecordedStreams.Stream stream : RecordedStreams.read(name).values()) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int i = 0; i < Math.min(12, stream.lines.size()); i++) {
                    bytes.write(stream.bytes(i));
                }
                streams.add(bytes.toByteArray());
            }
        }
        int ended = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Random random = new Random(round);
            byte[] bytes = damaged(streams.get(round % streams.size()), random);
            List<Event> events = new ArrayList<>();
            ExchangeRecord record = ExchangeRecordTest.record("q", events, true);
            record.body(damaged(bytes, random));
            record.answer(200, AnswerForm.values()[round % 4 == 3 ? random.nextInt(4) : 0]);
            int at = 0;
            while (at < bytes.length) {
                int end = Math.min(bytes.length, at + 1 + random.nextInt(2_000));
                record.piece(Arrays.copyOfRange(bytes, at, end), new Stamps(at, null, null));
                at = end;
            }
            record.ended(ExchangeRecordTest.end());
            ended += ExchangeRecordTest.completed(events) != null ? 1 : 0;
            int next = 0;
            for (Chunk chunk : ExchangeRecordTest.chunks(events)) {
                if (chunk.sequenceIndex() == 0 && chunk.tokenCount() > 0) {
                    assertThat(chunk.firstTokenIndex()).isEqualTo(next);
                    next += chunk.tokenCount();
                }
            }
        }
        assertThat(ended).isEqualTo(ROUNDS);
    }

    private static byte[] damaged(byte[] whole, Random random) {
        byte[] bytes = whole.clone();
        if (bytes.length == 0) {
            return bytes;
        }
        for (int i = 1 + random.nextInt(8); i > 0; i--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 ->
                    bytes[at] = "\"{}[]:,\n\r\\0-9e"
                            .getBytes(java.nio.charset.StandardCharsets.US_ASCII)[random.nextInt(14)];
                case 2 -> bytes = Arrays.copyOf(bytes, 1 + at);
                default -> {
                    int from = random.nextInt(bytes.length);
                    int length = Math.min(bytes.length - Math.max(at, from), random.nextInt(64));
                    System.arraycopy(bytes, from, bytes, at, Math.max(0, length));
                }
            }
        }
        return bytes;
    }
}
