package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.cause.Part;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.SequenceName;
import io.tokenstair.job.step.SlowToken;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.job.step.TokenBatchSerializer;
import io.tokenstair.job.step.TokenRow;
import io.tokenstair.job.step.Told;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class RequestInputSerializerTest {
    private final SplittableRandom random = new SplittableRandom(3);
    private final RequestInputSerializer serializer = new RequestInputSerializer();

    @Test
    void tokensComeBackWhole() throws IOException {
        for (int rows = 1; rows <= TokenBatch.CAPACITY; rows++) {
            for (int width : new int[] {0, 8, 40, 62}) {
                TokenBatch batch = batch(rows, width);
                RequestInput sent = RequestInput.of(batch);
                RequestInput back = crossed(sent);
                assertThat(said(Objects.requireNonNull(back.tokens()))).isEqualTo(said(batch));
                assertThat(RequestInput.ORDER.compare(sent, back)).isZero();
                assertThat(back.requestId).isEqualTo(sent.requestId);
                // Once more: a request's state holds inputs that crossed already.
                assertThat(said(Objects.requireNonNull(crossed(back).tokens()))).isEqualTo(said(batch));
            }
        }
    }

    @Test
    void aBatchOfTheSameSequenceKeepsTheNameOfTheOneBefore() throws IOException {
        TokenBatch first =
                Objects.requireNonNull(crossed(RequestInput.of(batch(2, 8))).tokens());
        TokenBatch second =
                Objects.requireNonNull(crossed(RequestInput.of(batch(3, 8))).tokens(first));
        TokenBatch other = batch(1, 8);
        other.name = SequenceName.of("engine-1", "cmpl-r-2-0123abcd");
        TokenBatch third =
                Objects.requireNonNull(crossed(RequestInput.of(other)).tokens(first));

        assertThat(second.name).isSameAs(first.name);
        assertThat(third.name).usingRecursiveComparison().isEqualTo(other.name);
    }

    @Test
    void anOpenBatchGoesOnGrowing() throws IOException {
        TokenBatch open = batch(5, 40);
        TokenBatchSerializer batches = new TokenBatchSerializer();
        DataOutputSerializer out = new DataOutputSerializer(64);
        batches.serialize(open, out);
        TokenBatch back = batches.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
        TokenRow row = new TokenRow();
        open.add(row);
        back.add(row);
        SlowToken slow = new SlowToken();
        slow.row = 5;
        open.slow.add(slow);
        back.slow.add(slow);

        assertThat(said(back)).isEqualTo(said(open));
        assertThat(said(batches.copy(open))).isEqualTo(said(open));
    }

    @Test
    void factsComeBackWithAndWithoutWhatMayBeAbsent() throws IOException {
        SequenceFact bare = new SequenceFact();
        bare.kind = SequenceFact.Kind.FINISHED;
        bare.name = SequenceName.of("engine-\u00fc", "cmpl-\u4e2d-0-0123abcd");
        SequenceFact full = new SequenceFact();
        full.kind = SequenceFact.Kind.PREEMPTED;
        full.name = bare.name;
        full.clockId = "c";
        full.coarseEpochMillis = Long.MAX_VALUE;
        full.epochNanos = 1L;
        full.boundNanos = 2L;
        full.sigmaNanos = 11L;
        full.clockNanos = 3;
        full.eventId = "e";
        full.tokens = 4L;
        full.promptTokens = 5L;
        full.priority = -6;
        full.stepId = 7L;
        full.endReason = "";
        full.otherRequestId = "o";
        full.otherEventId = "p";
        full.kvUsedBlocksCount = 8L;
        full.kvTotalBlocksCount = 9L;
        full.blockSizeTokens = 10;
        for (SequenceFact fact : new SequenceFact[] {bare, full}) {
            RequestInput sent = RequestInput.of(fact);
            RequestInput back = crossed(sent);
            assertThat(back.fact()).usingRecursiveComparison().isEqualTo(fact);
            assertThat(back.tokens()).isNull();
            assertThat(RequestInput.ORDER.compare(sent, back)).isZero();
            assertThat(back.requestId).isEqualTo(sent.requestId);
            // Once more: a request's state holds inputs that crossed already.
            assertThat(crossed(back).fact()).usingRecursiveComparison().isEqualTo(fact);
        }
    }

    @Test
    void observedEventsComeBack() throws IOException {
        RequestInput sent = RequestInput.observed("r", 5, "client", 2, 3, new byte[] {1, 2, 3});
        assertThat(crossed(sent)).usingRecursiveComparison().isEqualTo(sent);
    }

    @Test
    void nonsenseIsRefused() {
        assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(new byte[] {0x7f, 0, 0, 0, 0})))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(
                        () -> serializer.deserialize(new DataInputDeserializer(new byte[] {0, 0, 0, 5, 1, 0, 0, 0, 9})))
                .isInstanceOf(IOException.class);
    }

    private RequestInput crossed(RequestInput input) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.duplicate().serialize(input, out);
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
        RequestInput back = serializer.duplicate().deserialize(in);
        assertThat(in.available()).isZero();
        return back;
    }

    private long number(int width) {
        return width == 0 ? 7 : random.nextInt(20) == 0 ? TokenBatch.ABSENT : random.nextLong(1L << width);
    }

    private static List<String> said(TokenBatch batch) {
        Told told = new Told();
        told.tokens(batch);
        List<String> said = told.said();
        said.add(batch.clockId + " " + batch.firstEndNanos + " " + batch.firstCoarseEpochMillis);
        return said;
    }

    private TokenBatch batch(int rows, int width) {
        TokenBatch batch = new TokenBatch();
        batch.name = SequenceName.of("engine-1", "cmpl-r-1-0123abcd");
        batch.clockId = "monotonic";
        batch.residentNanosPerToken = 0.1;
        for (int i = 0; i < rows; i++) {
            TokenRow row = new TokenRow();
            row.tokenIndex = i;
            row.stepId = number(width);
            row.endNanos = number(width);
            row.coarseEpochMillis = number(width);
            row.epochNanos = number(width);
            row.boundNanos = number(width);
            row.sigmaNanos = number(width);
            row.gapNanos = number(width);
            row.expectedNanos = number(width);
            row.referenceNanos = number(width);
            row.contextTokens = (int) number(Math.min(width, 30));
            row.batchSequences = (int) number(Math.min(width, 30));
            row.flags = i % 3;
            row.part(Part.REFERENCE, number(width));
            if (i % 2 == 0) {
                row.part(Part.UNEXPLAINED, -number(width));
            }
            if (i == 3) {
                SlowToken slow = new SlowToken();
                slow.row = i;
                slow.cause = "HOST_PAUSE";
                slow.evidence.add("unexplained");
                slow.evidence.add("c/1/2");
                slow.chain.add("Token 3 came late.");
                batch.slow.add(slow);
            }
            batch.add(row);
        }
        return batch;
    }
}
