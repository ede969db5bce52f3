package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.RandomEngine;
import io.tokenstair.job.step.Told;
import io.tokenstair.job.type.ZeroPackedSerializer;
import io.tokenstair.milestone.MilestoneKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request says and keeps the same of runs of shared rows, which it takes in at once, as of one row after the other. */
class SharedColumnsTest {
    private static final int SEQUENCES = 16;
    private static final long MILLIS = 1_000_000;

    /** What requests said, and what they kept before they ended. */
    private record Lives(Map<String, List<String>> said, Map<String, byte[]> kept, List<Lived> lived) {}

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void manyStepsTogether(long seed) throws Exception {
        Lives lives = assertSame(staircases(new EngineScript().clockSampled(500), seed), seed);

        assertThat(lives.lived.stream().flatMap(lived -> lived.milestones(MilestoneKind.TPOT_STEP_UP).stream()))
                .as("rises in the middle of runs")
                .hasSizeGreaterThan(SEQUENCES);
        assertThat(lives.lived.stream().flatMap(lived -> lived.milestones(MilestoneKind.CONTEXT_EXPANDED).stream()))
                .as("contexts that double")
                .hasSizeGreaterThanOrEqualTo(SEQUENCES);
    }

    @Test
    void stampsWithoutADate() throws Exception {
        assertSame(staircases(new EngineScript(), 5), 5);
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13})
    void anyEngine(long seed) throws Exception {
        assertSame(RandomEngine.script(seed, 400).told(), seed);
    }

    /** Sequences that decode together, slower and slower, beside prompts that come now and then and KV blocks that go. */
    private static Told staircases(EngineScript engine, long seed) {
        Random random = new Random(seed);
        String[] names = new String[SEQUENCES];
        for (int i = 0; i < names.length; i++) {
            names[i] = "r" + i;
            engine.start(1_300 + 50 * i, names[i]);
        }
        int prompts = 0;
        for (int step = 0; step < 900; step++) {
            if (step == 400) {
                engine.clockSampled(700);
            }
            EngineScript.Step next =
                    engine.step().decode(names).late(step / 220 * 3 * MILLIS + random.nextLong(200_000));
            if (step % 97 == 50) {
                engine.evicted(step, (long) step);
            }
            if (step % 130 == 100) {
                String prompt = "prompt" + prompts++;
                engine.queue(prompt, 200);
                next.prefill(prompt, 200);
            }
            next.run();
        }
        return engine.told();
    }

    private static Lives assertSame(Told told, long seed) throws Exception {
        List<RequestInput> alone = new ArrayList<>();
        told.batches.forEach(batch -> alone.add(RequestInput.of(batch)));
        told.facts.forEach(fact -> alone.add(RequestInput.of(fact)));
        alone.sort(RequestInput.ORDER);
        Lives expected = lives(alone);

        Lives taken = lives(crossed(alone, new Random(seed)));

        assertThat(taken.said).isEqualTo(expected.said);
        assertThat(taken.kept.keySet()).isEqualTo(expected.kept.keySet());
        taken.kept.forEach((id, bytes) -> assertThat(bytes).as(id).isEqualTo(expected.kept.get(id)));
        return taken;
    }

    /** The inputs as they arrive in blocks. */
    private static List<RequestInput> crossed(List<RequestInput> inputs, Random random) throws Exception {
        RequestInputSerializer serializer = new RequestInputSerializer();
        List<RequestInput> sent = new ArrayList<>();
        Collector<RequestInput> into = new Collector<>() {
            @Override
            public void collect(RequestInput block) {
                sent.add(block);
            }

            @Override
            public void close() {}
        };
        RequestBlocks blocks = new RequestBlocks(JobEnvironment.MAX_PARALLELISM, 1);
        for (RequestInput input : inputs) {
            blocks.add(input, into);
            if (random.nextInt(24) == 0) {
                blocks.flush(into);
            }
        }
        blocks.flush(into);
        List<RequestInput> arrived = new ArrayList<>();
        for (RequestInput block : sent) {
            DataOutputSerializer out = new DataOutputSerializer(64);
            serializer.serialize(block, out);
            serializer.unpack(serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer())), arrived::add);
        }
        return arrived;
    }

    private static Lives lives(List<RequestInput> inputs) throws IOException {
        Map<String, List<RequestInput>> byRequest = new TreeMap<>();
        inputs.forEach(input -> byRequest
                .computeIfAbsent(input.requestId, id -> new ArrayList<>())
                .add(input));
        Lives lives = new Lives(new TreeMap<>(), new TreeMap<>(), new ArrayList<>());
        for (Map.Entry<String, List<RequestInput>> entry : byRequest.entrySet()) {
            entry.getValue().sort(RequestInput.ORDER);
            RequestState state = new RequestState();
            Lived lived = new Lived();
            RequestLife life = new RequestLife(entry.getKey(), state, lived);
            entry.getValue().forEach(life::accept);
            lives.kept.put(entry.getKey(), bytes(state));
            life.finish();
            lives.said.put(entry.getKey(), lived.said());
            lives.lived.add(lived);
        }
        return lives;
    }

    private static byte[] bytes(RequestState state) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(4_096);
        new ZeroPackedSerializer<>(TypeInformation.of(RequestState.class).createSerializer(new SerializerConfigImpl()))
                .serialize(state, out);
        return out.getCopyOfBuffer();
    }
}
