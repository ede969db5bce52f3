package io.tokenstair.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.bench.accuracy.StaircaseAccuracy.Quiet;
import io.tokenstair.bench.accuracy.StaircaseAccuracy.Score;
import io.tokenstair.bench.accuracy.StaircaseSeries.Kind;
import io.tokenstair.bench.accuracy.StaircaseSeries.Truth;
import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseShape;
import io.tokenstair.job.staircase.StaircaseState;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The figures of docs/accuracy.md hold, on seeds that no constant was chosen on. */
class StaircaseAccuracyTest {
    private static final int SERIES_PER_KIND = 60;

    static Stream<Named<StaircaseDetector>> detectors() {
        return Stream.of(Named.of("full", StaircaseDetector.FULL), Named.of("compact", StaircaseDetector.COMPACT));
    }

    private static Score score(StaircaseDetector detector, boolean withKvEvents) {
        return StaircaseAccuracy.score(detector, withKvEvents, 1, StaircaseAccuracy.HELD_OUT_SEED, SERIES_PER_KIND);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void staircasesAreFoundWithKvEvidenceAndNoNullIsCalledKvDriven(StaircaseDetector detector) {
        Score score = score(detector, true);

        assertThat(score.precision()).isGreaterThanOrEqualTo(0.97);
        assertThat(score.recall()).isGreaterThanOrEqualTo(0.93);
        assertThat(score.series(Truth.NULL)).isGreaterThanOrEqualTo(500);
        assertThat(score.kvDriven(Truth.NULL)).isZero();
        assertThat(score.kvDriven(Truth.HARD_NULL)).isZero();
        assertThat(score.kvDriven(Truth.OTHER_STAIRCASE)).isZero();
        assertThat(score.kvDriven(Truth.KV_STAIRCASE) / (double) score.series(Truth.KV_STAIRCASE))
                .isGreaterThanOrEqualTo(0.9);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void hardlyASeriesThatRisesTwiceByAnotherCauseIsCalledKvDriven(StaircaseDetector detector) {
        int called = 0;
        for (int i = 0; i < 1_000; i++) {
            StaircaseSeries series = StaircaseSeries.of(Kind.TWO_SHIFTS, 8_800_000 + i);
            StaircaseState state = detector.start();
            for (int token = 0; token < series.gapNanos.length; token++) {
                detector.accept(
                        state, token, series.gapNanos[token], series.expectedNanos[token], series.kvEvents[token]);
            }
            called += detector.verdict(state).kvDriven() ? 1 : 0;
        }

        assertThat(called).isLessThanOrEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void staircasesAreFoundByTheirShapeAlone(StaircaseDetector detector) {
        Score score = score(detector, false);

        assertThat(score.precision()).isGreaterThanOrEqualTo(0.97);
        assertThat(score.recall()).isGreaterThanOrEqualTo(0.93);
        assertThat(score.kvDriven(Truth.KV_STAIRCASE)).isZero();
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void otherShapesAreToldApart(StaircaseDetector detector) {
        Score score = score(detector, true);

        assertThat(share(score, Kind.RAMP, StaircaseShape.RAMP)).isGreaterThanOrEqualTo(0.9);
        assertThat(share(score, Kind.GROWTH_NOT_MODELLED, StaircaseShape.RAMP)).isGreaterThanOrEqualTo(0.9);
        assertThat(share(score, Kind.ONE_SHIFT, StaircaseShape.SHIFT)).isGreaterThanOrEqualTo(0.95);
        assertThat(share(score, Kind.TWO_SHIFTS, StaircaseShape.SHIFT)).isGreaterThanOrEqualTo(0.95);
        assertThat(share(score, Kind.BATCH_EDGES, StaircaseShape.LOAD)).isGreaterThanOrEqualTo(0.6);
        assertThat(share(score, Kind.LEVEL, StaircaseShape.NONE)).isGreaterThanOrEqualTo(0.98);
        assertThat(share(score, Kind.JITTER, StaircaseShape.NONE)).isGreaterThanOrEqualTo(0.95);
    }

    private static double share(Score score, Kind kind, StaircaseShape shape) {
        return (double) score.shape(kind, shape) / SERIES_PER_KIND;
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void noiseAloneRaisesHardlyAnything(StaircaseDetector detector) {
        Quiet quiet = StaircaseAccuracy.quiet(detector, StaircaseAccuracy.HELD_OUT_SEED);

        assertThat(quiet.changes()).isLessThanOrEqualTo(60);
        assertThat(quiet.staircases()).isZero();
    }

    @Test
    void theSameSeedGivesTheSameSeriesAndNoiseDoesNotMoveTheShape() {
        StaircaseSeries one = StaircaseSeries.of(Kind.STAIRS, 7);
        StaircaseSeries again = StaircaseSeries.of(Kind.STAIRS, 7);
        StaircaseSeries loud = StaircaseSeries.of(Kind.STAIRS, 7, 2);

        assertThat(again.gapNanos).isEqualTo(one.gapNanos);
        assertThat(loud.onsets).isEqualTo(one.onsets);
        assertThat(loud.kvEvents).isEqualTo(one.kvEvents);
        assertThat(loud.gapNanos).isNotEqualTo(one.gapNanos);
        assertThat(StaircaseSeries.of(Kind.STAIRS, 8).gapNanos).isNotEqualTo(one.gapNanos);
    }

    @Test
    void theCommandPrintsItsTables() {
        StringWriter text = new StringWriter();
        int code = new CommandLine(new StaircaseAccuracy())
                .setOut(new PrintWriter(text))
                .execute("--series", "2");

        assertThat(code).isZero();
        assertThat(text.toString()).contains("| full | KV events | x1 |", "full, with KV events:", "| RAMP |");
    }
}
