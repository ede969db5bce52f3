package io.tokenstair.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.live.KvEvictionReasons;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Real messages with bytes changed, cut, doubled and put in: read, or refused with a reason; never anything else. */
class MutatedProbeTest {
    private static final int INPUTS = 12_000;

    @Test
    void everyMutatedMessageIsReadOrRefused() throws Exception {
        List<byte[][]> real = new ArrayList<>();
        for (String recorded : List.of(
                "probe-vllm-0.32.0.bin.gz", "probe-vllm-0.32.0-carried.bin.gz", "probe-vllm-0.19.1-carried.bin.gz")) {
            real.addAll(RecordedMessages.of(recorded).messages());
        }
        SplittableRandom random = new SplittableRandom(11);
        long[] events = new long[1];
        ProbeSources sources = new ProbeSources(
                "vllm",
                "vllm-0",
                (collector, clock, nanos, event) -> events[0]++,
                rank -> rank % 2 == 0 ? new KvEvictionReasons() : null,
                process -> {});
        for (int i = 0; i < INPUTS; i++) {
            byte[][] message = real.get(random.nextInt(real.size()));
            boolean header = random.nextInt(8) == 0;
            sources.message(
                    header ? mutated(message[0], random) : message[0],
                    header ? message[1] : mutated(message[1], random));
        }

        assertThat(events[0]).isPositive();
        assertThat(sources.counts().rejectedCount())
                .isPositive()
                .isLessThanOrEqualTo(INPUTS + sources.counts().recordCount());
    }

    private static byte[] mutated(byte[] bytes, SplittableRandom random) {
        List<Byte> changed = new ArrayList<>(bytes.length + 8);
        for (byte b : bytes) {
            changed.add(b);
        }
        int changes = 1 + random.nextInt(4);
        for (int i = 0; i < changes && !changed.isEmpty(); i++) {
            int at = random.nextInt(changed.size());
            switch (random.nextInt(5)) {
                case 0 -> changed.set(at, (byte) random.nextInt(256));
                case 1 -> changed.remove(at);
                case 2 -> changed.add(at, (byte) random.nextInt(256));
                case 3 -> changed.subList(at, changed.size()).clear();
                // Headers of large arrays, maps, texts and numbers.
                default ->
                    changed.set(
                            at, (byte) new int[] {0xdd, 0xdf, 0xdb, 0xcf, 0xd3, 0xc6, 0xc0, 0x9f}[random.nextInt(8)]);
            }
        }
        byte[] result = new byte[changed.size()];
        for (int i = 0; i < result.length; i++) {
            result[i] = changed.get(i);
        }
        return result;
    }
}
