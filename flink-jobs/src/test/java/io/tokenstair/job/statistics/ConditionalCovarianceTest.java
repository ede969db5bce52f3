package io.tokenstair.job.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Covariance;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The verdict on series whose truth is known; the bench CovarianceAccuracy has more of them and longer ones. */
class ConditionalCovarianceTest {

    /** What a series is made of. */
    private record Law(double memory, double hitMemory, double hitEffect, double modelError, boolean batchVaries) {}

    private static MomentSums series(SplittableRandom random, int steps, Law law) {
        BlockSeries series = new BlockSeries();
        MomentSums sums = new MomentSums();
        double noise = 0;
        double slow = 0;
        double batch = 40;
        double context = 100_000;
        for (int i = 0; i < steps; i++) {
            noise = law.memory * noise + StrictMath.sqrt(1 - law.memory * law.memory) * 0.02 * random.nextGaussian();
            slow = law.hitMemory * slow
                    + StrictMath.sqrt(1 - law.hitMemory * law.hitMemory) * 0.15 * random.nextGaussian();
            if (law.batchVaries) {
                batch = Math.max(1, batch + 0.3 * random.nextGaussian());
                context = Math.max(1_000, context * (1 + 0.003 * random.nextGaussian()));
            }
            double hit = Math.max(0, Math.min(1, 0.5 + slow + 0.003 * (batch - 40)));
            series.lookup(10_000L, Math.round(10_000 * hit));
            double level = noise + law.modelError * (batch - 40) - law.hitEffect * (hit - 0.5);
            series.step(
                    i / 10,
                    Math.round(20e6 * StrictMath.exp(level)),
                    20_000_000,
                    (int) batch,
                    Math.round(context),
                    (int) batch,
                    random.nextInt(10) == 0 ? random.nextInt(300) : 0);
        }
        MomentPane pane = series.takeBefore(Long.MAX_VALUE);
        if (pane != null) {
            sums.add(pane.moments);
        }
        return sums;
    }

    private static Covariance row(List<Covariance> rows, String x, String y) {
        return rows.stream()
                .filter(row -> row.x().equals(x) && row.y().equals(y))
                .findFirst()
                .orElseThrow();
    }

    private static List<Covariance> rows(MomentSums sums) {
        return ConditionalCovariance.rows(0L, 1L, "engine", null, sums);
    }

    private static int related(long firstSeed, int series, int steps, Law law) {
        int related = 0;
        for (int i = 0; i < series; i++) {
            SplittableRandom random = new SplittableRandom(firstSeed + i);
            Covariance row = row(rows(series(random, steps, law)), "kv_hit_rate", "tpot_level");
            assertThat(row.verdict()).isNotEqualTo("not-separable");
            related += "related".equals(row.verdict()) ? 1 : 0;
        }
        return related;
    }

    @Test
    void seriesWithoutARelationAreSaidToHaveOneInLessThanOnePointFivePercent() {
        int wrong = related(10_000, 500, 800, new Law(0, 0.97, 0, 0, true))
                + related(20_000, 500, 800, new Law(0.3, 0.99, 0, 0, true))
                + related(30_000, 500, 1_600, new Law(0.9, 0.9, 0, 0, true))
                + related(40_000, 500, 1_600, new Law(0.97, 0.97, 0, 0, true))
                + related(50_000, 500, 1_600, new Law(0.3, 0.99, 0, 0.002, true));
        // 2,500 series: 37 are 1.5 %.
        assertThat(wrong).isLessThanOrEqualTo(37);
    }

    @Test
    void aRelationIsFound() {
        // A full swing of the hit rate is worth 4 % of the token time, the noise of a step 2 %.
        assertThat(related(60_000, 100, 2_400, new Law(0.3, 0.99, 0.04, 0, true)))
                .isGreaterThan(95);
    }

    @Test
    void whatTheRelationIsWorthIsToldInItsUnits() {
        SplittableRandom random = new SplittableRandom(70_000);
        List<Covariance> rows = rows(series(random, 60_000, new Law(0.3, 0.99, 0.04, 0, true)));
        Covariance level = row(rows, "kv_hit_rate", "tpot_level");
        assertThat(level.verdict()).isEqualTo("related");
        assertThat(level.partialCorrelation()).isNegative();
        assertThat(level.given()).containsExactly("resident_context", "padded_batch", "prompt_tokens");
        assertThat(level.count()).isEqualTo(60_000 / BlockSeries.STEPS);
        assertThat(level.effectiveCount()).isPositive().isLessThanOrEqualTo(level.count());
        assertThat(Math.abs(level.lagTokens())).isLessThanOrEqualTo(16);
        Covariance change = row(rows, "kv_hit_rate", "tpot_change");
        assertThat(change.verdict()).isNull();
        assertThat(change.covariance()).isNotNull();
        assertThat(Math.abs(change.partialCorrelation())).isLessThan(Math.abs(level.partialCorrelation()));
    }

    @Test
    void ofAConstantBatchOwnAndResidentContextCannotBeToldApart() {
        SplittableRandom random = new SplittableRandom(80_000);
        BlockSeries series = new BlockSeries();
        MomentSums sums = new MomentSums();
        for (int i = 0; i < 4_000; i++) {
            series.step(i, 20_000_000 + random.nextLong(1_000_000), 20_000_000, 16, 16_000 + 16L * i, 16, 0);
        }
        MomentPane pane = series.takeBefore(Long.MAX_VALUE);
        assertThat(pane).isNotNull();
        sums.add(pane.moments);
        List<Covariance> rows = rows(sums);

        assertThat(row(rows, "own_context", "tpot_level").verdict()).isEqualTo("not-separable");
        assertThat(row(rows, "resident_context", "tpot_level").given()).isEmpty();
        // Nobody said what the cache was asked.
        assertThat(rows).noneMatch(row -> row.x().equals("kv_hit_rate"));
    }

    @Test
    void aFewBlocksSayNothing() {
        List<Covariance> rows = rows(series(new SplittableRandom(1), 200, new Law(0, 0.9, 1, 0, true)));
        assertThat(rows)
                .filteredOn(row -> row.y().equals("tpot_level"))
                .allMatch(row -> "too-few".equals(row.verdict()));
    }

    @Test
    void theCostOfAnAbsurdStepIsBounded() {
        BlockSeries series = new BlockSeries();
        for (int i = 0; i < 8_000; i++) {
            series.lookup(Long.MAX_VALUE, Long.MAX_VALUE);
            series.lookup(5L, -1L);
            series.lookup(5L, 6L);
            series.step(i, Long.MAX_VALUE / 16, Long.MAX_VALUE / 200, 1, 1L << 50, 1 << 24, 1L << 50);
        }
        MomentPane pane = series.takeBefore(Long.MAX_VALUE);
        assertThat(pane).isNotNull();
        assertThat(java.util.Arrays.stream(pane.moments.sums)).allMatch(sum -> sum >= 0);
        assertThat(rows(pane.moments))
                .allMatch(row -> row.verdict() == null || !row.verdict().equals("related"));
    }
}
