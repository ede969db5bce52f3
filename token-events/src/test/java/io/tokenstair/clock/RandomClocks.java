package io.tokenstair.clock;

import io.tokenstair.event.ClockSampled;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Two made-up clocks that keep to what {@link ClockFit} says of clocks, and samples of them over a link with queues. */
final class RandomClocks {
    private final long originNanos;
    private final long driftPpb;
    private final long bendNanos;
    private final long stepAtNanos;
    private final long stepNanos;

    RandomClocks(Random random, long stepAtNanos, long stepNanos) {
        this.originNanos = random.nextLong() >> 3;
        this.driftPpb = random.nextInt(900_001) - 450_000;
        // A slow swing, far within what a clock may leave a straight line by.
        this.bendNanos = random.nextInt(200);
        this.stepAtNanos = stepAtNanos;
        this.stepNanos = stepNanos;
    }

    /** The second clock at a reading of the first. */
    long truth(long nanos) {
        long drifted = Math.floorDiv(nanos / 1_000 * driftPpb, 1_000_000L);
        long bent = (long) (bendNanos * StrictMath.sin(nanos / 20e9));
        return originNanos + nanos + drifted + bent + (nanos >= stepAtNanos ? stepNanos : 0);
    }

    /** Samples so many ns apart, the shortest ways so long, some of them through queues. */
    List<ClockSampled> samples(Random random, int count, long everyNanos, int wayNanos) {
        List<ClockSampled> samples = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long before = i * everyNanos + random.nextInt(1_000);
            long way = wayNanos + delay(random);
            long back = wayNanos + delay(random);
            samples.add(new ClockSampled("a", "b", before, truth(before + way), before + way + back, null));
        }
        return samples;
    }

    private static int delay(Random random) {
        return random.nextInt(random.nextInt(4) == 0 ? 200_000 : 2_000);
    }
}
