package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.ClockFitted;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClockGraphTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long NOW = 100_000;

    private final ClockGraph graph = new ClockGraph();

    private ClockGraphTest join(String from, String to, long offset, long bound) {
        graph.add(ClockWayTest.segment(from, to, 0, 0, offset, 0, bound), NOW);
        return this;
    }

    private static AlignedStamp some(@org.jspecify.annotations.Nullable AlignedStamp aligned) {
        return Objects.requireNonNull(aligned);
    }

    @Test
    void aStampGoesAlongThePathInEitherDirectionAndBoundsAdd() {
        join("gpu", "host-a", 1_000, 900).join("host-b", "host-a", 50, 12_000).join("host-b", "wall@b", 7_000, 100);

        AlignedStamp aligned = some(graph.toEpoch("gpu", SECOND, NOW));
        assertThat(aligned.epochNanos()).isBetween(SECOND + 1_000 - 50 + 7_000 - 3, SECOND + 1_000 - 50 + 7_000 + 3);
        assertThat(aligned.boundNanos()).isBetween(13_000L, 13_030L);
        assertThat(aligned.sigmaNanos()).isLessThan(5);
        assertThat(graph.wallOf("gpu", NOW)).isEqualTo("wall@b");
        assertThat(some(graph.align("gpu", "host-b", SECOND, NOW)).boundNanos()).isBetween(12_900L, 12_930L);
    }

    @Test
    void oneClockIsItsOwnAxisExactly() {
        assertThat(graph.align("unheard-of", "unheard-of", 42, NOW)).isEqualTo(new AlignedStamp(42, 0));
        assertThat(graph.toEpoch("host-a/wall", 42, NOW)).isEqualTo(new AlignedStamp(42, 0));
        assertThat(graph.toEpoch("host-a/mono", 42, NOW)).isNull();
    }

    @Test
    void withoutAPathNothingIsAligned() {
        join("a", "b", 1, 1).join("c", "d", 1, 1);

        assertThat(graph.align("a", "d", 5, NOW)).isNull();
        assertThat(graph.align("a", "nobody", 5, NOW)).isNull();
        assertThat(graph.toEpoch("a", 5, NOW)).isNull();
        assertThat(graph.align("a", "b", 5, NOW)).isNotNull();
        // Nor before the way began.
        assertThat(graph.align("a", "b", 5, NOW - 1)).isNull();
    }

    @Test
    void theSurestPathIsTakenAndCyclesDoNoHarm() {
        join("a", "d", 400, 500)
                .join("a", "b", 100, 100)
                .join("b", "c", 100, 100)
                .join("c", "d", 100, 100)
                .join("c", "a", 0, 900)
                .join("d", "b", 0, 900);

        assertThat(some(graph.align("a", "d", SECOND, NOW)).epochNanos()).isEqualTo(SECOND + 300);
        assertThat(graph.align("d", "d", SECOND, NOW)).isEqualTo(new AlignedStamp(SECOND, 0));
    }

    @Test
    void ofTwoEqualPathsTheOneOverTheSmallerIdsIsTakenWhateverCameFirst() {
        List<ClockFitted> segments = new ArrayList<>(List.of(
                ClockWayTest.segment("a", "x", 0, 0, 1, 0, 100),
                ClockWayTest.segment("x", "z", 0, 0, 1, 0, 100),
                ClockWayTest.segment("a", "m", 0, 0, 10, 0, 100),
                ClockWayTest.segment("m", "z", 0, 0, 10, 0, 100),
                ClockWayTest.segment("z", "wall/2", 0, 0, 1_000, 0, 5),
                ClockWayTest.segment("z", "wall/1", 0, 0, 2_000, 0, 5)));
        for (int round = 0; round < 20; round++) {
            Collections.shuffle(segments, new Random(round));
            ClockGraph shuffled = new ClockGraph();
            segments.forEach(segment -> shuffled.add(segment, NOW));

            assertThat(some(shuffled.align("a", "z", SECOND, NOW)).epochNanos()).isEqualTo(SECOND + 20);
            assertThat(shuffled.wallOf("a", NOW)).isEqualTo("wall/1");
            assertThat(some(shuffled.toEpoch("a", SECOND, NOW)).epochNanos()).isEqualTo(SECOND + 2_020);
        }
    }

    @Test
    void anAnswerDependsOnTheEventTimeAndNotOnWhatHasArrivedSince() {
        Random random = new Random(3);
        List<String> clocks = List.of("a", "b", "c", "d", "e/wall");
        List<ClockFitted> segments = new ArrayList<>();
        List<Long> published = new ArrayList<>();
        long millis = NOW;
        for (int i = 0; i < 300; i++) {
            millis += random.nextInt(700);
            int from = random.nextInt(clocks.size());
            int to = (from + 1 + random.nextInt(clocks.size() - 1)) % clocks.size();
            segments.add(ClockWayTest.segment(
                    clocks.get(from),
                    clocks.get(to),
                    i,
                    millis * 1_000_000,
                    random.nextInt(),
                    0,
                    random.nextInt(9_000)));
            published.add(millis);
        }
        ClockGraph all = new ClockGraph();
        for (int i = 0; i < segments.size(); i++) {
            all.add(segments.get(i), published.get(i));
        }
        ClockGraph growing = new ClockGraph();
        int next = 0;
        for (long at = NOW; at < millis; at += 1 + random.nextInt(300)) {
            // Some segments come before their time.
            while (next < segments.size() && (published.get(next) <= at || random.nextInt(3) == 0)) {
                growing.add(segments.get(next), published.get(next));
                next++;
            }
            for (String clock : clocks) {
                long stamp = at * 1_000_000;
                assertThat(growing.toEpoch(clock, stamp, at)).isEqualTo(all.toEpoch(clock, stamp, at));
                assertThat(growing.align(clock, "a", stamp, at)).isEqualTo(all.align(clock, "a", stamp, at));
            }
        }
    }

    @Test
    void waysThatFellSilentAreForgotten() {
        join("a", "b", 1, 1);
        graph.add(ClockWayTest.segment("b", "c", 0, 0, 1, 0, 1), NOW + ClockGraph.MEMORY_MILLIS);

        assertThat(graph.forget(NOW + ClockGraph.MEMORY_MILLIS + 1)).containsExactly(ClockGraph.wayId("a", "b"));
        assertThat(graph.wayCount()).isEqualTo(1);
        assertThat(graph.align("a", "b", 5, NOW + ClockGraph.MEMORY_MILLIS + 1)).isNull();
    }

    @Test
    void aClockIsNoWayToItself() {
        assertThat(graph.add(ClockWayTest.segment("a", "a", 0, 0, 1, 0, 1), NOW))
                .isNull();
        assertThat(graph.wayCount()).isZero();
    }

    @Test
    void aWallClockIsKnownByItsName() {
        assertThat(List.of("wall", "wall@host-a", "host-a/wall", "host-wall", "wall_2", "x wall y"))
                .allMatch(ClockGraph::isWall);
        assertThat(List.of("", "mono", "walls", "firewall", "wallclock9", "WALL"))
                .noneMatch(ClockGraph::isWall);
    }
}
