package io.tokenstair.job.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tokenstair.archive.result.Covariance;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Moments against the series they come from. */
class MomentSumsTest {
    private static final long START = 1_790_000_000_000L;
    private static final int V = Variable.COUNT;

    /** Panes of a random series that is interrupted now and then. */
    private static List<MomentPane> panes(SplittableRandom random, int steps) {
        List<MomentPane> panes = new ArrayList<>();
        BlockSeries series = new BlockSeries();
        long millis = START;
        for (int i = 0; i < steps; i++) {
            millis += random.nextInt(60);
            if (random.nextInt(900) == 0) {
                series.interrupt();
            }
            if (random.nextInt(4) == 0) {
                series.lookup(1_000L, random.nextLong(1_001));
            }
            MomentPane done = series.step(
                    millis,
                    20_000_000 + random.nextLong(3_000_000),
                    21_000_000,
                    1 + random.nextInt(64),
                    random.nextLong(200_000),
                    64,
                    random.nextInt(3) * 100L);
            if (done != null) {
                panes.add(done);
            }
        }
        MomentPane last = series.takeBefore(Long.MAX_VALUE);
        if (last != null) {
            panes.add(last);
        }
        panes.forEach(pane -> pane.engineId = "engine");
        return panes;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void addingAndSubtractingPanesIsExactInAnyOrder(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<MomentPane> panes = panes(random, 30_000);
        MomentSums forward = new MomentSums();
        panes.forEach(pane -> forward.add(pane.moments));
        MomentSums backward = new MomentSums();
        for (int i = panes.size() - 1; i >= 0; i--) {
            backward.add(panes.get(i).moments);
        }
        assertThat(backward.sums).isEqualTo(forward.sums);
        for (int i = 0; i < panes.size() - 1; i++) {
            forward.subtract(panes.get(i).moments);
        }
        assertThat(forward.sums).isEqualTo(panes.get(panes.size() - 1).moments.sums);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void windowsAreToldAlikeInStreamAndBatch(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<MomentPane> panes = panes(random, 60_000);
        List<Covariance> batch = new ArrayList<>();
        MomentWindow window = new MomentWindow();
        for (int i = panes.size() - 1; i >= 0; i--) {
            window.add(panes.get(i));
        }
        window.tell(Long.MAX_VALUE, batch::add);

        List<Covariance> stream = new ArrayList<>();
        window = new MomentWindow();
        for (MomentPane pane : panes) {
            window.tell(pane.paneStartMillis, stream::add);
            assertThat(window.add(pane)).isTrue();
        }
        window.tell(Long.MAX_VALUE, stream::add);
        assertThat(stream).isEqualTo(batch).isNotEmpty();
        assertThat(window.panes).isEmpty();
        assertThat(window.sum.sums).containsOnly(0);
    }

    @Test
    void covariancesAtAllLagsAreThoseOfTheSeries() {
        SplittableRandom random = new SplittableRandom(5);
        int n = 500;
        long[][] blocks = new long[n][V];
        MomentSums sums = new MomentSums();
        long[] ring = new long[MomentSums.LAGS * V];
        int newest = 0;
        for (int i = 0; i < n; i++) {
            for (int v = 0; v < V; v++) {
                blocks[i][v] = 400_000 + random.nextLong(1_000) + (i == 0 ? 0 : blocks[i - 1][v] - 400_000) / 2;
            }
            sums.add(blocks[i], ring, newest, Math.min(i, MomentSums.LAGS));
            newest = (newest + 1) % MomentSums.LAGS;
            System.arraycopy(blocks[i], 0, ring, newest * V, V);
        }
        for (int lag = 0; lag <= MomentSums.LAGS; lag++) {
            for (Variable later : Variable.values()) {
                for (Variable earlier : Variable.values()) {
                    double a = 0;
                    double b = 0;
                    for (int i = lag; i < n; i++) {
                        a += blocks[i][later.ordinal()];
                        b += blocks[i - lag][earlier.ordinal()];
                    }
                    a /= n - lag;
                    b /= n - lag;
                    double sum = 0;
                    for (int i = lag; i < n; i++) {
                        sum += (blocks[i][later.ordinal()] - a) * (blocks[i - lag][earlier.ordinal()] - b);
                    }
                    assertThat(sums.covariance(lag, later, earlier))
                            .as("%d %s %s", lag, later, earlier)
                            .isCloseTo(sum / (n - lag), within(1e-3));
                }
            }
        }
    }

    @Test
    void theDifferenceOfProductsIsExact() {
        SplittableRandom random = new SplittableRandom(9);
        for (int i = 0; i < 200_000; i++) {
            long n = random.nextLong(1L << 1 + random.nextInt(20));
            long product = random.nextLong() >> random.nextInt(63);
            long a = random.nextLong() >> random.nextInt(63);
            // Often nearly the same: there a double alone would lose everything.
            long b = a == 0 || random.nextBoolean()
                    ? random.nextLong() >> random.nextInt(63)
                    : BigInteger.valueOf(n)
                            .multiply(BigInteger.valueOf(product))
                            .divide(BigInteger.valueOf(a))
                            .longValue();
            BigInteger exact = BigInteger.valueOf(n)
                    .multiply(BigInteger.valueOf(product))
                    .subtract(BigInteger.valueOf(a).multiply(BigInteger.valueOf(b)));
            if (exact.bitLength() > 126) {
                continue;
            }
            double told = MomentSums.difference(n, product, a, b);
            assertThat(told).isCloseTo(exact.doubleValue(), within(Math.abs(exact.doubleValue()) * 1e-15));
        }
    }

    @Test
    void sumsOfTheLargestBlocksDoNotOverflow() {
        long limit = Variable.RESIDENT_CONTEXT.clip(Long.MAX_VALUE);
        long panes = Panes.MOMENT_WINDOW_MILLIS / Panes.MOMENT_MILLIS;
        for (Variable variable : Variable.values()) {
            assertThat(variable.clip(Long.MAX_VALUE)).isLessThanOrEqualTo(limit);
        }
        assertThat(BigInteger.valueOf(limit)
                        .multiply(BigInteger.valueOf(limit))
                        .multiply(BigInteger.valueOf(MomentSums.BLOCKS_PER_PANE * (panes + 1)))
                        .bitLength())
                .isLessThanOrEqualTo(63);
    }
}
