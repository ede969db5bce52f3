package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenRowTest {
    private static final int ROWS = 2_000;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void rowsComeBackBehindAnyOtherAndBehindTheOneBefore(long seed) {
        Random random = new Random(seed);
        List<TokenRow> rows = new ArrayList<>();
        byte[] bytes = new byte[ROWS * TokenRow.MAX_BYTES];
        int at = 0;
        TokenRow before = new TokenRow();
        for (int i = 0; i < ROWS; i++) {
            TokenRow row = random.nextInt(4) == 0 ? anyRow(random) : nextRow(before, random);
            int from = at;
            at = random.nextBoolean() ? row.write(before, bytes, at) : row.write(bytes, at);
            assertThat(at - from).isLessThanOrEqualTo(TokenRow.MAX_BYTES);
            rows.add(row);
            before = row;
        }

        TokenRow read = new TokenRow();
        int position = 0;
        for (TokenRow row : rows) {
            position = read.read(bytes, position);
            assertThat(text(read)).isEqualTo(text(row));
        }
        assertThat(position).isEqualTo(at);
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12})
    void aRowBehindAnyOtherTakesAnotherIndexAndContext(long seed) {
        TokenRow row = anyRow(new Random(seed));
        byte[] bytes = new byte[TokenRow.MAX_BYTES];
        row.write(bytes, 0);
        TokenRow.rename(bytes, 0, 77, 88);
        row.tokenIndex = 77;
        row.contextTokens = 88;
        TokenRow read = new TokenRow();
        read.read(bytes, 0);

        assertThat(text(read)).isEqualTo(text(row));
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22})
    void anOrdinaryRowIsShort(long seed) {
        TokenRow first = nextRow(anyRow(new Random(seed)), new Random(seed));
        first.part(Part.BATCH, 100);
        first.expectedNanos = first.referenceNanos + 100;
        first.part(Part.UNEXPLAINED, first.gapNanos - first.expectedNanos);
        TokenRow second = new TokenRow();
        second.set(first);
        second.tokenIndex++;
        second.contextTokens++;
        second.stepId++;
        second.coarseEpochMillis += 22;
        second.endNanos += second.gapNanos;
        second.epochNanos += second.gapNanos;

        assertThat(second.write(first, new byte[TokenRow.MAX_BYTES], 0)).isLessThan(32);
    }

    /** The row of the next step, usual but for now and then a value. */
    private static TokenRow nextRow(TokenRow before, Random random) {
        TokenRow row = new TokenRow();
        row.tokenIndex = before.tokenIndex + 1 + rarely(random);
        row.contextTokens = before.contextTokens + 1 + rarely(random);
        row.stepId = before.stepId + 1 + rarely(random);
        row.batchSequences = before.batchSequences + rarely(random);
        row.flags = before.flags + rarely(random);
        row.coarseEpochMillis = before.coarseEpochMillis + random.nextInt(300);
        row.boundNanos = before.boundNanos + rarely(random);
        row.sigmaNanos = before.sigmaNanos + rarely(random);
        row.gapNanos = random.nextInt(40_000_000);
        row.endNanos = before.endNanos + row.gapNanos + rarely(random);
        row.epochNanos = row.endNanos + (before.epochNanos - before.endNanos) + rarely(random);
        row.referenceNanos = random.nextInt(40_000_000);
        row.part(Part.REFERENCE, row.referenceNanos + rarely(random));
        row.expectedNanos = row.referenceNanos;
        if (random.nextInt(8) == 0) {
            row.part(Part.PREFILL, random.nextInt());
            row.expectedNanos += random.nextBoolean() ? row.partNanos(Part.PREFILL) : 5;
        }
        return row;
    }

    private static int rarely(Random random) {
        return random.nextInt(20) == 0 ? random.nextInt(5) - 2 : 0;
    }

    private static TokenRow anyRow(Random random) {
        TokenRow row = new TokenRow();
        row.tokenIndex = random.nextInt();
        row.contextTokens = random.nextInt();
        row.stepId = random.nextLong();
        row.batchSequences = random.nextInt();
        row.flags = random.nextInt();
        row.coarseEpochMillis = random.nextLong();
        row.boundNanos = any(random);
        row.sigmaNanos = any(random);
        row.gapNanos = any(random);
        row.endNanos = any(random);
        row.epochNanos = any(random);
        row.referenceNanos = any(random);
        row.expectedNanos = any(random);
        for (Part part : Part.values()) {
            if (random.nextInt(3) == 0) {
                row.part(part, any(random));
            }
        }
        return row;
    }

    private static long any(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> TokenRow.ABSENT;
            case 1 -> random.nextLong();
            default -> random.nextInt();
        };
    }

    private static String text(TokenRow row) {
        StringBuilder text = new StringBuilder();
        text.append(row.tokenIndex)
                .append(' ')
                .append(row.contextTokens)
                .append(' ')
                .append(row.stepId);
        text.append(' ')
                .append(row.batchSequences)
                .append(' ')
                .append(row.flags)
                .append(' ');
        text.append(row.coarseEpochMillis)
                .append(' ')
                .append(row.boundNanos)
                .append(' ')
                .append(row.sigmaNanos)
                .append(' ')
                .append(row.gapNanos);
        text.append(' ').append(row.endNanos).append(' ').append(row.epochNanos).append(' ');
        text.append(row.referenceNanos).append(' ').append(row.expectedNanos);
        for (Part part : Part.values()) {
            text.append(' ').append(row.partNanos(part));
        }
        return text.append(' ').append(row.partCount).toString();
    }
}
