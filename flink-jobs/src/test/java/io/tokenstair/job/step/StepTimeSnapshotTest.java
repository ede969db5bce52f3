package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tokenstair.archive.result.ModelSnapshot;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class StepTimeSnapshotTest {
    private static final int FACTORS = 5;

    @Test
    void sharesAreTheShapleyValuesOfAllOrders() {
        Random random = new Random(3);
        List<int[]> orders = new ArrayList<>();
        permute(new int[] {0, 1, 2, 3, 4}, 0, orders);
        assertThat(orders).hasSize(120);
        for (int round = 0; round < 200; round++) {
            StepTimeSnapshot snapshot = snapshot(random);
            StepLoad load = load(random, false);
            StepExpectation expectation = snapshot.expect(load);
            double[] shares = new double[FACTORS];
            for (int[] order : orders) {
                boolean[] changed = new boolean[FACTORS];
                long before = snapshot.expectedNanos(mixed(snapshot, load, changed));
                for (int factor : order) {
                    changed[factor] = true;
                    long after = snapshot.expectedNanos(mixed(snapshot, load, changed));
                    shares[factor] += (after - before) / 120.0;
                    before = after;
                }
            }

            assertThat((double) expectation.batchNanos()).isCloseTo(shares[0], within(4.0));
            assertThat((double) expectation.graphNanos()).isCloseTo(shares[1], within(4.0));
            assertThat((double) expectation.contextNanos()).isCloseTo(shares[2], within(4.0));
            assertThat((double) expectation.prefillNanos()).isCloseTo(shares[3], within(4.0));
            assertThat((double) expectation.recomputeNanos()).isCloseTo(shares[4], within(4.0));
        }
    }

    @Test
    void sharesSumExactlyWhateverTheStepIs() {
        Random random = new Random(4);
        for (int round = 0; round < 5_000; round++) {
            StepTimeSnapshot snapshot = snapshot(random);
            StepLoad load = load(random, round % 2 == 0);
            StepExpectation expectation = snapshot.expect(load);

            assertThat(expectation.batchNanos()
                            + expectation.contextNanos()
                            + expectation.prefillNanos()
                            + expectation.recomputeNanos()
                            + expectation.graphNanos())
                    .isEqualTo(expectation.expectedNanos() - expectation.referenceNanos());
            assertThat(expectation.expectedNanos()).isEqualTo(snapshot.expectedNanos(load));
            assertThat(expectation.expectedNanos()).isPositive();
        }
    }

    @Test
    void aFactorThatIsAsUsualOwnsNothing() {
        StepTimeSnapshot snapshot = snapshot(new Random(5));
        StepLoad usual = usual(snapshot);

        StepExpectation expectation = snapshot.expect(usual);

        assertThat(expectation.expectedNanos()).isEqualTo(snapshot.referenceNanos);
        assertThat(expectation.batchNanos()).isZero();
        assertThat(expectation.contextNanos()).isZero();
        assertThat(expectation.prefillNanos()).isZero();
        assertThat(expectation.recomputeNanos()).isZero();
        assertThat(expectation.graphNanos()).isZero();
    }

    @Test
    void aModeThatIsNotReportedOwnsNothing() {
        StepTimeSnapshot snapshot = snapshot(new Random(6));
        StepLoad load = new StepLoad(40, 40, GraphMode.NOT_REPORTED, 9_000, 0, 0, 0, 0);

        assertThat(snapshot.expect(load).graphNanos()).isZero();
    }

    @Test
    void rowsThatWereNotLearntComeFromTheirNeighboursOrTheUsualMode() {
        StepTimeSnapshot snapshot = new StepTimeSnapshot();
        int full = GraphMode.FULL.ordinal() * BatchBucket.COUNT;
        snapshot.version = 1;
        snapshot.usualGraphMode = GraphMode.FULL.ordinal();
        snapshot.cells = new int[] {full + 3, full + 7, full + 20};
        snapshot.cellNanos = new long[] {1_000, 2_000, -600};

        assertThat(snapshot.cell(GraphMode.FULL, 3)).isEqualTo(1_000);
        assertThat(snapshot.cell(GraphMode.FULL, 4)).isEqualTo(1_250);
        assertThat(snapshot.cell(GraphMode.FULL, 8)).isEqualTo(1_800);
        assertThat(snapshot.cell(GraphMode.FULL, 0)).isEqualTo(1_000);
        assertThat(snapshot.cell(GraphMode.FULL, 90)).isEqualTo(-600);
        assertThat(snapshot.cell(GraphMode.EAGER, 7)).isEqualTo(2_000);
        assertThat(snapshot.expect(decode(4, GraphMode.FULL)).basis()).isEqualTo(StepExpectation.Basis.LEARNT);
        assertThat(snapshot.expect(decode(6, GraphMode.FULL)).basis()).isEqualTo(StepExpectation.Basis.NEIGHBOURS);
        assertThat(snapshot.expect(decode(400, GraphMode.FULL)).basis()).isEqualTo(StepExpectation.Basis.NEIGHBOURS);
        assertThat(snapshot.expect(decode(4, GraphMode.EAGER)).basis()).isEqualTo(StepExpectation.Basis.OTHER_MODE);
        assertThat(snapshot.expect(new StepLoad(4, 4, GraphMode.FULL, 0, 5, 0, 25, 0))
                        .basis())
                .isEqualTo(StepExpectation.Basis.PROMPTS_UNKNOWN);
    }

    @Test
    void productsAreExactAndNeverWrapAround() {
        Random random = new Random(7);
        for (int round = 0; round < 20_000; round++) {
            long coefficient = random.nextLong() >>> 1 + random.nextInt(62);
            long count = random.nextLong() >>> 1 + random.nextInt(62);
            int bits = List.of(10, 20, 40).get(random.nextInt(3));
            BigInteger exact = BigInteger.valueOf(coefficient)
                    .multiply(BigInteger.valueOf(count))
                    .shiftRight(bits)
                    .min(BigInteger.ONE.shiftLeft(58));

            assertThat(StepTimeSnapshot.times(coefficient, count, bits)).isEqualTo(exact.longValueExact());
        }
        assertThat(StepTimeSnapshot.times(5_000, -7, 10)).isZero();
    }

    @Test
    void expectedTimeCanBeComputedAgainFromTheArchivedRow() {
        Random random = new Random(8);
        for (int round = 0; round < 500; round++) {
            StepTimeSnapshot snapshot = snapshot(random);
            StepLoad load = load(random, false);
            ModelSnapshot row = snapshot.row("engine-0", 3, null, null);
            assertThat(row.dpRank()).isEqualTo(3);
            TreeMap<String, Long> cells = new TreeMap<>();
            for (int i = 0; i < row.cells().size(); i++) {
                cells.put(row.cells().get(i), row.cellNanos().get(i));
            }
            String key = load.graphMode().modeName() + "/" + BatchBucket.largest(BatchBucket.of(load.paddedCount()));
            Long cell = cells.get(key);
            if (cell == null) {
                continue;
            }
            long expected = row.fixedNanos()
                    + cell
                    + (row.perSequence() * load.sequences() >> 10)
                    + (row.perResident() * load.residentTokens() >> 20)
                    + (row.perPrompt() * load.promptTokens() >> 20)
                    + BigInteger.valueOf(row.perPair())
                            .multiply(BigInteger.valueOf(load.promptPairs()))
                            .shiftRight(40)
                            .longValueExact();

            assertThat(snapshot.expectedNanos(load)).isEqualTo(Math.max(1_000, expected));
        }
    }

    private static StepLoad decode(int sequences, GraphMode mode) {
        return new StepLoad(sequences, sequences, mode, 0, 0, 0, 0, 0);
    }

    private static StepLoad usual(StepTimeSnapshot snapshot) {
        return new StepLoad(
                snapshot.usualSequences,
                snapshot.usualPaddedCount,
                GraphMode.ofOrdinal(snapshot.usualGraphMode),
                snapshot.usualResidentTokens,
                0,
                0,
                0,
                0);
    }

    /** The usual step with those factors of the load that are changed. */
    private static StepLoad mixed(StepTimeSnapshot snapshot, StepLoad load, boolean[] changed) {
        StepLoad usual = usual(snapshot);
        return new StepLoad(
                changed[0] ? load.sequences() : usual.sequences(),
                changed[0] ? load.paddedCount() : usual.paddedCount(),
                changed[1] ? load.graphMode() : usual.graphMode(),
                changed[2] ? load.residentTokens() : usual.residentTokens(),
                changed[3] ? load.prefillTokens() : 0,
                changed[4] ? load.recomputeTokens() : 0,
                changed[3] ? load.prefillPairs() : 0,
                changed[4] ? load.recomputePairs() : 0);
    }

    private static void permute(int[] order, int at, List<int[]> orders) {
        if (at == order.length) {
            orders.add(order.clone());
            return;
        }
        for (int i = at; i < order.length; i++) {
            int swapped = order[at];
            order[at] = order[i];
            order[i] = swapped;
            permute(order, at + 1, orders);
            order[i] = order[at];
            order[at] = swapped;
        }
    }

    private static StepLoad load(Random random, boolean absurd) {
        int sequences = 1 + random.nextInt(absurd ? Integer.MAX_VALUE - 1 : 300);
        GraphMode mode = GraphMode.values()[1 + random.nextInt(3)];
        return new StepLoad(
                sequences,
                absurd ? random.nextInt() : sequences + random.nextInt(8),
                mode,
                absurd ? random.nextLong() : random.nextInt(400_000),
                absurd ? random.nextLong() >>> 2 : random.nextInt(2_000),
                absurd ? random.nextLong() >>> 2 : random.nextInt(2_000),
                absurd ? random.nextLong() >>> 2 : random.nextInt(4_000_000),
                absurd ? random.nextLong() >>> 2 : random.nextInt(4_000_000));
    }

    private static StepTimeSnapshot snapshot(Random random) {
        StepTimeSnapshot snapshot = new StepTimeSnapshot();
        snapshot.version = 1;
        snapshot.promptsKnown = true;
        snapshot.fixedNanos = 40_000_000 + random.nextInt(5_000_000);
        snapshot.perSequence = random.nextInt(100_000_000);
        snapshot.perResident = random.nextInt(200_000_000);
        snapshot.perPrompt = random.nextInt(Integer.MAX_VALUE);
        snapshot.perPair = random.nextLong() >>> 22;
        TreeMap<Integer, Long> cells = new TreeMap<>();
        for (int i = 0; i < 40; i++) {
            int mode = 1 + random.nextInt(3);
            cells.put(mode * BatchBucket.COUNT + random.nextInt(BatchBucket.COUNT), (long) random.nextInt(9_000_000));
        }
        snapshot.cells = cells.keySet().stream().mapToInt(Integer::intValue).toArray();
        snapshot.cellNanos = cells.values().stream().mapToLong(Long::longValue).toArray();
        snapshot.usualSequences = 1 + random.nextInt(200);
        snapshot.usualPaddedCount = snapshot.usualSequences + random.nextInt(8);
        snapshot.usualGraphMode = GraphMode.FULL.ordinal();
        snapshot.usualResidentTokens = random.nextInt(300_000);
        snapshot.referenceNanos = snapshot.expectedNanos(usual(snapshot));
        return snapshot;
    }
}
