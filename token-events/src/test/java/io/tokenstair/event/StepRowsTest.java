package io.tokenstair.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class StepRowsTest {
    @Test
    void rowsComeBackAsTheyWentIn() {
        List<SequenceRow> rows = List.of(
                new SequenceRow(7, 3, 1, 40, 1, Phase.DECODE, null, 2, 0L),
                new SequenceRow(8, null, 0, 512, 512, Phase.PREFILL, 0, null, null));
        SequenceRows columns = SequenceRows.of(rows);

        assertThat(columns.count()).isEqualTo(2);
        assertThat(columns.row(0)).isEqualTo(rows.get(0));
        assertThat(columns.row(1)).isEqualTo(rows.get(1));
        assertThat(columns).isEqualTo(SequenceRows.of(rows)).hasSameHashCodeAs(SequenceRows.of(rows));
        assertThat(columns.firstTokenIndex(1)).isEqualTo(SequenceRows.ABSENT);
        assertThat(columns.cachedTokens(1)).isZero();
    }

    @Test
    void negativeValuesAreRefusedBecauseTheyWouldReadAsAbsent() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> SequenceRows.of(List.of(new SequenceRow(7, 3, 1, 40, 1, Phase.DECODE, null, null, -1L))))
                .withMessage("Cannot hold a negative value in a step row: -1");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        SequenceRows.of(List.of(new SequenceRow(7, -1, 1, 40, 1, Phase.DECODE, null, null, null))));
    }

    @Test
    void columnsOfDifferentLengthsAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SequenceRows(
                        new int[2],
                        new int[2],
                        new int[2],
                        new int[2],
                        new int[1],
                        new byte[2],
                        new int[2],
                        new int[2],
                        new long[2]))
                .withMessageContaining("different lengths");
    }

    @Test
    void decodesOfTheSameSequencesAreATokenFurther() {
        int unknown = SequenceRows.ABSENT;
        SequenceRows before = decodes(new int[] {7, 8}, new int[] {3, unknown}, new int[] {40, 90});

        assertThat(decodes(new int[] {7, 8}, new int[] {4, unknown}, new int[] {41, 91})
                        .areOneTokenFurther(before))
                .isTrue();
        assertThat(decodes(new int[] {7, 8}, new int[] {unknown, unknown}, new int[] {41, 91})
                        .areOneTokenFurther(before))
                .isTrue();
    }

    @Test
    void whatMayBeSomethingElseIsNoTokenFurther() {
        int unknown = SequenceRows.ABSENT;
        SequenceRows before = decodes(new int[] {7, 8}, new int[] {3, unknown}, new int[] {40, 90});
        int[] contexts = {41, 91};

        List<SequenceRows> others = List.of(
                decodes(new int[] {8, 7}, new int[] {unknown, unknown}, contexts),
                decodes(new int[] {7}, new int[] {4}, new int[] {41}),
                decodes(new int[] {7, 8}, new int[] {4, unknown}, new int[] {41, 92}),
                decodes(new int[] {7, 8}, new int[] {5, unknown}, contexts),
                // An index that was not known: whether it is the next one is not told by the rows.
                decodes(new int[] {7, 8}, new int[] {4, 0}, contexts),
                decodes(new int[] {7, 8}, new int[] {4, 6}, contexts),
                SequenceRows.of(List.of(
                        new SequenceRow(7, 4, 1, 41, 1, Phase.DECODE, null, null, null),
                        new SequenceRow(8, null, 1, 91, 1, Phase.DECODE, null, null, null))));
        assertThat(others).noneMatch(rows -> rows.areOneTokenFurther(before));
    }

    private static SequenceRows decodes(int[] handles, int[] firstTokenIndexes, int[] contextTokens) {
        int n = handles.length;
        return new SequenceRows(
                handles,
                firstTokenIndexes,
                new int[n],
                contextTokens,
                new int[n],
                new byte[n],
                new int[n],
                new int[n],
                new long[n],
                true);
    }

    @Test
    void aChunkWithoutTokensHasNoPosition() {
        assertThat(new Chunk(0, 1, 9, 0, 10, 1, Finish.NONE).firstTokenIndex()).isNull();
        assertThatIllegalArgumentException().isThrownBy(() -> new Chunk(0, 1, null, 1, 10, 1, Finish.NONE));
        assertThatIllegalArgumentException().isThrownBy(() -> new Chunk(0, 1, 0, -1, 10, 1, Finish.NONE));
    }

    @Test
    void everyCodeComesBack() {
        for (Phase phase : Phase.values()) {
            assertThat(Phase.ofCode(phase.code())).isEqualTo(phase);
        }
        for (Finish finish : Finish.values()) {
            assertThat(Finish.ofCode(finish.code())).isEqualTo(finish);
        }
        assertThatIllegalArgumentException().isThrownBy(() -> Phase.ofCode(0)).withMessageContaining("0");
        assertThatIllegalArgumentException().isThrownBy(() -> Phase.ofCode(5));
        assertThatIllegalArgumentException().isThrownBy(() -> Finish.ofCode(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> Finish.ofCode(6));
    }
}
