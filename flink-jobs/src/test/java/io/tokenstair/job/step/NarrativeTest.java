package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class NarrativeTest {

    @Test
    void millisecondsReadAsTheFormatterWritesThem() {
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < 200_000; i++) {
            long nanos = random.nextLong(1L << 1 + random.nextInt(52));
            nanos = i % 4 == 0 ? nanos / 50_000 * 50_000 : i % 4 == 1 ? -nanos : nanos;
            assertThat(Narrative.millis(nanos)).isEqualTo(String.format(Locale.ROOT, "%.1f ms", nanos / 1e6));
        }
    }
}
