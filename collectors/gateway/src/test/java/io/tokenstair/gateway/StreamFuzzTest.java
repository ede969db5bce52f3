package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.Chunk;
import io.tokenstair.event.Event;
import io.tokenstair.fuzz.Mutations;
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
                if (bytes.size() > 0) {
                    streams.add(bytes.toByteArray());
                }
            }
        }
        int ended = 0;
        Mutations mutations = new Mutations(1, streams, "\r", "\\", "\"token_ids\":[", "\"usage\":{");
        for (int round = 0; round < ROUNDS; round++) {
            Random random = new Random(round);
            byte[] bytes = mutations.next();
            List<Event> events = new ArrayList<>();
            ExchangeRecord record = ExchangeRecordTest.record("q", events, true);
            record.body(mutations.next());
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

    @Test
    void damagedGrpcMessagesDoNoHarm() throws Exception {
        List<byte[]> messages = GrpcMessages.ofEverySchema();
        for (String route : GrpcMessages.ROUTES) {
            Mutations mutations = new Mutations(7, messages);
            for (int round = 0; round < ROUNDS; round++) {
                byte[] message = mutations.next();
                List<Event> events = new ArrayList<>();
                ExchangeRecord record = ExchangeRecordTest.record("q", route, events, true);
                record.body(GrpcMessages.framed(message));
                record.answer(200, AnswerForm.GRPC);
                for (int i = 0; i < 3; i++) {
                    record.piece(GrpcMessages.framed(mutations.next()), new Stamps(i, null, null));
                }
                record.ended(ExchangeRecordTest.end());
                assertThat(ExchangeRecordTest.completed(events)).isNotNull();
                int next = 0;
                for (Chunk chunk : ExchangeRecordTest.chunks(events)) {
                    if (chunk.sequenceIndex() == 0 && chunk.tokenCount() > 0) {
                        assertThat(chunk.firstTokenIndex()).isEqualTo(next);
                        next += chunk.tokenCount();
                    }
                }
            }
        }
    }
}
