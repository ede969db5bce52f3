package io.tokenstair.job.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.job.statistics.Displacement.Loser;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What one priority costs another in a step. */
class DisplacementTest {
    private static final long STEP = 25_000_000;

    private static Loser waits(int priority, String requestId) {
        return new Loser(priority, requestId, 1, STEP, null);
    }

    private static List<String> book(Displacement displacement, boolean scarce, Loser... losers) {
        List<String> booked = new ArrayList<>();
        displacement.book(
                scarce,
                List.of(losers),
                (winner, loser, requestId, nanos) ->
                        booked.add(winner + " -> " + loser + " " + requestId + " " + nanos));
        return booked;
    }

    /** The example of docs/accuracy.md. */
    @Test
    void sixSeatsFourOfThemHeldByTheLeastUrgent() {
        Displacement displacement = new Displacement();
        displacement.begin(0);
        for (int i = 0; i < 4; i++) {
            displacement.holds(10, 1);
        }
        displacement.holds(0, 1);
        displacement.holds(0, 1);

        assertThat(book(
                        displacement,
                        true,
                        waits(0, "high-2"),
                        waits(5, "mid-0"),
                        waits(0, "high-3"),
                        waits(10, "low-4"),
                        waits(10, "low-5"),
                        waits(10, "low-6")))
                .containsExactly(
                        "10 -> 0 high-2 25000000",
                        "0 -> 5 mid-0 8333333",
                        "10 -> 5 mid-0 16666667",
                        "10 -> 0 high-3 25000000",
                        // Two seats are all that the others hold: low-6 waits for its own kind.
                        "0 -> 10 low-4 25000000",
                        "0 -> 10 low-5 25000000");
    }

    @Test
    void whoWouldNotFitAnywayAndWhoIsBehindItLoseNothing() {
        Displacement displacement = new Displacement();
        displacement.begin(100);
        displacement.holds(10, 400);
        displacement.holds(0, 1_000);

        assertThat(book(
                        displacement,
                        true,
                        new Loser(0, "large", 501, STEP, null),
                        new Loser(0, "small", 10, STEP, null)))
                .isEmpty();
        assertThat(book(displacement, true, new Loser(0, "fits", 500, STEP, null)))
                .containsExactly("10 -> 0 fits 25000000");
        assertThat(book(displacement, true, new Loser(0, "waits for something else", 100, STEP, null)))
                .isEmpty();
        assertThat(book(displacement, false, new Loser(0, "nothing is scarce", 300, STEP, null)))
                .isEmpty();
    }

    @Test
    void whoMadeRoomForAnotherClassLosesToThatClassAlone() {
        Displacement displacement = new Displacement();
        displacement.begin(0);
        displacement.holds(10, 6);

        assertThat(book(
                        displacement,
                        false,
                        new Loser(10, "victim", 1, STEP, 0),
                        new Loser(10, "victim of its own", 1, STEP, 10)))
                .containsExactly("0 -> 10 victim 25000000");
    }

    @Test
    void aRequestLosesItsWholeWaitOrNothingAndNeverToItsOwnClass() {
        SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 20_000; round++) {
            Displacement displacement = new Displacement();
            displacement.begin(random.nextInt(3));
            for (int i = random.nextInt(60); i > 0; i--) {
                displacement.holds(random.nextInt(40) - 20, random.nextInt(2_000));
            }
            Map<String, Long> waited = new HashMap<>();
            List<Loser> losers = new ArrayList<>();
            for (int i = random.nextInt(30); i > 0; i--) {
                @Nullable Integer room = random.nextInt(5) == 0 ? Integer.valueOf(random.nextInt(40) - 20) : null;
                Loser loser = new Loser(
                        random.nextInt(40) - 20,
                        "r" + i,
                        1 + random.nextInt(3_000),
                        random.nextLong(10_000_000_000L) - 100,
                        room);
                waited.put(loser.requestId(), loser.waitedNanos());
                losers.add(loser);
            }
            Map<String, Long> lost = new HashMap<>();
            displacement.book(true, losers, (winner, loser, requestId, nanos) -> {
                assertThat(winner).isNotEqualTo(loser);
                assertThat(nanos).isPositive();
                lost.merge(requestId, nanos, Long::sum);
            });
            lost.forEach((requestId, nanos) -> assertThat(nanos).isEqualTo(waited.get(requestId)));
        }
    }

    @Test
    void aPaneIsToldOnceWithItsSumsAndItsWorst() {
        List<PriorityDisplacement> rows = new ArrayList<>();
        DisplacementPane pane = new DisplacementPane();
        pane.at("engine", 20_000, rows::add);
        pane.lost(0, 10, "a", 5);
        pane.lost(0, 10, "b", 7);
        pane.lost(0, 10, "a", 4);
        pane.at("engine", 29_999, rows::add);
        pane.lost(10, 0, "c", 1);
        pane.tellBefore("engine", 29_999, rows::add);
        assertThat(rows).isEmpty();
        pane.at("engine", 30_000, rows::add);
        pane.tellBefore("engine", Long.MAX_VALUE, rows::add);

        assertThat(rows)
                .containsExactly(
                        new PriorityDisplacement("engine", 20_000L, 30_000L, 0, 10, 16, 2, "a", 9),
                        new PriorityDisplacement("engine", 20_000L, 30_000L, 10, 0, 1, 1, "c", 1));
    }

    @Test
    void whatIsRememberedIsBounded() {
        DisplacementPane pane = new DisplacementPane();
        pane.at("engine", 0, row -> {});
        for (int i = 0; i < 1_000; i++) {
            for (int j = 0; j < 20; j++) {
                pane.lost(i, -1, "r" + i + "-" + j, 1);
            }
        }
        assertThat(pane.pairs).hasSize(DisplacementPane.PAIRS);
        for (int j = 0; j < 20_000; j++) {
            pane.lost(0, -1, "s" + j, 1);
        }
        assertThat(pane.losers).isEqualTo(DisplacementPane.LOSERS);
        assertThat(pane.pairs.get(0).nanos).isEqualTo(20_020);
    }
}
