package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.RandomEngine;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.job.step.Told;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What comes in blocks is what comes one by one, at the same subtask. */
class RequestBlocksTest {
    private static final int MAX = JobEnvironment.MAX_PARALLELISM;

    private static final Comparator<RequestInput> ORDER =
            RequestInput.ORDER.thenComparing((RequestInput input) -> input.requestId);

    private final RequestInputSerializer serializer = new RequestInputSerializer();

    @ParameterizedTest
    @CsvSource({"1,1", "2,2", "3,3", "4,16", "5,720"})
    void everythingComesBackAtItsSubtask(long seed, int parallelism) throws Exception {
        assertCrossing(RandomEngine.script(seed, 400).told(), parallelism, new Random(seed));
    }

    @ParameterizedTest
    @CsvSource({"1", "2"})
    void sequencesThatDecodeTogetherShareTheirRows(int parallelism) throws Exception {
        EngineScript engine = new EngineScript();
        // Longer than rows are kept, with a long prompt now and then, which slows all beside it for the same reason.
        for (int round = 0; round < 12; round++) {
            String[] names = new String[16];
            for (int i = 0; i < names.length; i++) {
                names[i] = "r" + round + "-" + i;
            }
            engine.start(64, names).decode(70, names);
            engine.queue("long" + round, 400);
            engine.step().decode(names).prefill("long" + round, 400).run();
            engine.finish("long" + round, "length");
            engine.decode(10, names);
            for (String name : names) {
                engine.finish(name, "length");
            }
        }
        Told told = engine.told();

        int[] bytes = assertCrossing(told, parallelism, new Random(7));

        assertThat(told.batches.stream().flatMap(batch -> batch.slow.stream())).hasSizeGreaterThan(100);
        assertThat(bytes[1]).as("bytes in blocks").isLessThan(bytes[0] * 2 / 3);
    }

    @Test
    void nonsenseIsRefused() throws IOException {
        List<RequestInput> sent = new ArrayList<>();
        RequestBlocks blocks = new RequestBlocks(MAX, 1);
        for (TokenBatch batch : RandomEngine.script(1, 50).told().batches) {
            blocks.add(RequestInput.of(batch), into(sent));
        }
        blocks.flush(into(sent));
        byte[] whole = bytes(sent.get(0));
        for (int cut = 8; cut < whole.length; cut += 97) {
            byte[] part = new byte[cut];
            System.arraycopy(whole, 4, part, 4, cut - 4);
            part[0] = (byte) (cut - 4 >>> 24);
            part[1] = (byte) (cut - 4 >>> 16);
            part[2] = (byte) (cut - 4 >>> 8);
            part[3] = (byte) (cut - 4);
            assertThatThrownBy(() -> serializer.unpack(
                            serializer.deserialize(new DataInputDeserializer(part)), RequestInput::tokens))
                    .isInstanceOf(IOException.class);
        }
    }

    /** Bytes of all inputs one by one, and in blocks. */
    private int[] assertCrossing(Told told, int parallelism, Random random) throws Exception {
        List<RequestInput> inputs = new ArrayList<>();
        told.batches.forEach(batch -> inputs.add(RequestInput.of(batch)));
        told.facts.forEach(fact -> inputs.add(RequestInput.of(fact)));
        inputs.sort(ORDER);
        int[] size = new int[2];
        RequestBlocks blocks = new RequestBlocks(MAX, parallelism);
        List<RequestInput> sent = new ArrayList<>();
        for (RequestInput input : inputs) {
            blocks.add(input, into(sent));
            if (random.nextInt(64) == 0) {
                blocks.flush(into(sent));
            }
        }
        blocks.flush(into(sent));
        List<RequestInput> arrived = new ArrayList<>();
        for (RequestInput block : sent) {
            int subtask = KeyGroupRangeAssignment.assignKeyToParallelOperator(block.requestId, MAX, parallelism);
            byte[] bytes = bytes(block);
            size[1] += bytes.length;
            RequestInput crossed = serializer.deserialize(new DataInputDeserializer(bytes));
            assertThat(crossed.isBlock()).isTrue();
            serializer.unpack(crossed, input -> {
                assertThat(KeyGroupRangeAssignment.assignKeyToParallelOperator(input.requestId, MAX, parallelism))
                        .isEqualTo(subtask);
                arrived.add(input);
            });
        }
        arrived.sort(ORDER);
        assertThat(arrived).hasSameSizeAs(inputs);
        for (int i = 0; i < inputs.size(); i++) {
            RequestInput input = inputs.get(i);
            RequestInput back = arrived.get(i);
            byte[] single = bytes(input);
            size[0] += single.length;
            assertThat(back.requestId).isEqualTo(input.requestId);
            assertThat(RequestInput.ORDER.compare(back, input)).isZero();
            assertThat(said(back.tokens())).isEqualTo(said(input.tokens()));
            // What a request keeps of it in a snapshot is what it kept of one that came by itself.
            assertThat(bytes(back)).isEqualTo(single);
        }
        return size;
    }

    private static List<String> said(@Nullable TokenBatch batch) {
        Told told = new Told();
        if (batch != null) {
            told.tokens(batch);
        }
        return told.said();
    }

    private byte[] bytes(RequestInput input) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(input, out);
        return out.getCopyOfBuffer();
    }

    private static Collector<RequestInput> into(List<RequestInput> sent) {
        return new Collector<>() {
            @Override
            public void collect(RequestInput record) {
                sent.add(record);
            }

            @Override
            public void close() {}
        };
    }
}
