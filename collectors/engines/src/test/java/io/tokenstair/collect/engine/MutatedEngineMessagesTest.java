package io.tokenstair.collect.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tokenstair.collect.engine.dynamo.ForwardPassStream;
import io.tokenstair.collect.engine.llamacpp.LlamaCppSlots;
import io.tokenstair.collect.engine.trtllm.PolledIterations;
import io.tokenstair.collect.live.HttpPoller;
import io.tokenstair.collect.live.Source;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real messages and answers with bytes changed, cut and put in: taken, or rejected with a reason; never anything else. */
@Timeout(180)
class MutatedEngineMessagesTest {
    private static final int INPUTS = 10_000;

    private final long[] told = new long[1];

    private Source source() {
        return new Source("inputs", "test", "test", (id, clock, nanos, event) -> told[0]++);
    }

    private static byte[] mutated(byte[] bytes, SplittableRandom random) {
        byte[] changed = bytes.clone();
        for (int i = random.nextInt(4); i >= 0 && changed.length > 1; i--) {
            int at = random.nextInt(changed.length);
            switch (random.nextInt(4)) {
                case 0 -> changed[at] = (byte) random.nextInt(256);
                case 1 -> changed = Arrays.copyOf(changed, at);
                case 2 -> {
                    byte[] longer = Arrays.copyOf(changed, changed.length + 1);
                    System.arraycopy(changed, at, longer, at + 1, changed.length - at);
                    changed = longer;
                }
                // Headers of large arrays, maps, texts and numbers; in JSON what opens and closes.
                default ->
                    changed[at] = (byte)
                            new int[] {0xdd, 0xdf, 0xdb, 0xcf, 0xc6, 0xc0, '[', '{', '"', '-', '9'}[random.nextInt(11)];
            }
        }
        return changed;
    }

    @Test
    void everyMutatedForwardPassIsTakenOrRejected() throws Exception {
        ObjectMapper json = new ObjectMapper();
        List<List<byte[]>> real = new ArrayList<>();
        for (String line : Heard.lines("dynamo-event-plane.jsonl.gz")) {
            List<byte[]> frames = new ArrayList<>();
            for (JsonNode frame : json.readTree(line).get("frames_hex")) {
                frames.add(HexFormat.of().parseHex(frame.textValue()));
            }
            real.add(frames);
        }
        SplittableRandom random = new SplittableRandom(5);
        Source source = source();
        ForwardPassStream stream = ForwardPassStream.of(source, "engine");
        for (int i = 0; i < INPUTS; i++) {
            List<byte[]> frames = new ArrayList<>(real.get(random.nextInt(real.size())));
            int last = frames.size() - 1;
            // With its length told anew in half of the cases, so that what is inside is reached.
            byte[] changed = mutated(frames.get(last), random);
            if (random.nextBoolean() && changed.length > 5) {
                changed[0] = 1;
                int length = changed.length - 5;
                for (int j = 0; j < 4; j++) {
                    changed[4 - j] = (byte) (length >> 8 * j);
                }
            }
            frames.set(last, changed);
            if (random.nextInt(20) == 0) {
                frames.remove(0);
            }
            stream.message(frames, i);
        }
        assertThat(told[0]).isPositive();
        assertThat(source.toString()).matches("inputs [1-9]\\d*, lost \\d+, rejected [1-9]\\d*");
    }

    private void everyAnswer(HttpPoller.Answers answers, Source source, List<byte[]> real) {
        SplittableRandom random = new SplittableRandom(9);
        for (int i = 0; i < INPUTS; i++) {
            answers.answered(mutated(real.get(random.nextInt(real.size())), random), i, i + 1L);
        }
        assertThat(source.toString()).matches("inputs [1-9]\\d*, lost \\d+, rejected [1-9]\\d*");
    }

    @Test
    void everyMutatedAnswerOfSlotsIsTakenOrRejected() {
        Source source = source();
        List<byte[]> real = new ArrayList<>();
        Heard.lines("llamacpp-slots.json.gz").forEach(line -> real.add(line.getBytes(StandardCharsets.UTF_8)));
        everyAnswer(new LlamaCppSlots("llamacpp", source), source, real);
    }

    @Test
    void everyMutatedAnswerOfIterationsIsTakenOrRejected() {
        Source source = source();
        everyAnswer(new PolledIterations("trtllm", source), source, List.of(Heard.recorded("trtllm-iter154.json.gz")));
    }
}
