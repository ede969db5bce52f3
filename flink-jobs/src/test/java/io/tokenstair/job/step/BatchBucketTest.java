package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchBucketTest {

    @Test
    void everySizeIsInTheFirstRowThatHoldsIt() {
        for (int size = 1; size <= BatchBucket.MAX_COUNT; size++) {
            int bucket = BatchBucket.of(size);
            assertThat(bucket).isBetween(0, BatchBucket.COUNT - 1);
            assertThat(BatchBucket.largest(bucket)).isGreaterThanOrEqualTo(size);
            if (bucket > 0) {
                assertThat(BatchBucket.largest(bucket - 1)).isLessThan(size);
            }
        }
        assertThat(BatchBucket.of(BatchBucket.MAX_COUNT)).isEqualTo(BatchBucket.COUNT - 1);
    }

    @Test
    void absurdSizesHaveARowToo() {
        assertThat(BatchBucket.of(0)).isZero();
        assertThat(BatchBucket.of(Integer.MIN_VALUE)).isZero();
        assertThat(BatchBucket.of(Integer.MAX_VALUE)).isEqualTo(BatchBucket.COUNT - 1);
    }

    @ParameterizedTest
    @CsvSource({
        "3, 3, 0, 0, NOT_REPORTED, 3",
        "3, 3, 0, 0, EAGER, 3",
        "3, 3, 0, 0, FULL, 4",
        "5, 5, 0, 0, PIECEWISE, 8",
        "257, 257, 0, 0, FULL, 272",
        "600, 600, 0, 0, FULL, 600",
        "3, 3, 0, 16, FULL, 16",
        "3, 3, 0, 16, NOT_REPORTED, 16",
        // Less than the batch, or beyond what is possible: not believed.
        "3, 3, 0, 2, EAGER, 3",
        "3, 3, 0, 2000000, EAGER, 3",
        // Padding of tokens, prompts included, says nothing of the batch.
        "3, 2, 500, 512, PIECEWISE, 4",
        "3, 2, 500, 8, PIECEWISE, 8"
    })
    void whatTheEngineReportsCountsElseTheRuleOfItsMode(
            int sequences, int decodes, long promptTokens, int reported, GraphMode mode, int padded) {
        assertThat(BatchBucket.paddedCount(sequences, decodes, promptTokens, reported, mode))
                .isEqualTo(padded);
    }
}
