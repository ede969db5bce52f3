package io.tokenstair.bench.accuracy;

import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.clock.ClockFit;
import io.tokenstair.clock.ClockWay;
import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.ClockSampled;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * How well clocks are aligned: simulated links, one clock 10 ppm fast and wandering, read in brackets; stamps of the other are
 * aligned as the job does it, with the segments published by then, and compared with the truth. Beside it the offset of the
 * shortest round trip, and a line through the best tenth of them.
 */
public final class ClockAccuracy {
    private static final double DRIFT = 10e-6;
    private static final int SECONDS = 150;
    private static final int WARM_SECONDS = 30;
    private static final int STAMPS_PER_SECOND = 20;
    private static final long OFFSET_NANOS = 1_790_000_000_000_000_000L;
    private static final double WINDOW_NANOS = ClockFit.WINDOW_NANOS;

    static final List<ClockLink> LINKS = List.of(
            new ClockLink("LAN 12 us, light queueing", 2, 12_000, 12_000, 0.9, 1_500, 60_000, 1, 5, 200),
            new ClockLink("LAN 12 us, light queueing", 10, 12_000, 12_000, 0.9, 1_500, 60_000, 1, 5, 200),
            new ClockLink("LAN 12 us, heavy queueing", 2, 12_000, 12_000, 0.2, 1_500, 60_000, 1, 5, ClockLink.NO_GOAL),
            new ClockLink("LAN 12 us, heavy queueing", 10, 12_000, 12_000, 0.2, 1_500, 60_000, 1, 5, 200),
            new ClockLink("LAN 12 us, wander x 10", 10, 12_000, 12_000, 0.9, 1_500, 60_000, 1, 50, 200),
            new ClockLink("LAN 12 us, 10 % asymmetry", 10, 13_200, 10_800, 0.9, 1_500, 60_000, 1, 5, ClockLink.NO_GOAL),
            new ClockLink("GPU 0.9 us, ticks of 32 ns", 10, 880, 880, 0.9, 100, 20_000, 32, 5, 50),
            new ClockLink("GPU 0.9 us, ticks of 32 ns", 2, 880, 880, 0.9, 100, 20_000, 32, 5, ClockLink.NO_GOAL),
            new ClockLink("GPU 0.9 us, wander x 10", 10, 880, 880, 0.9, 100, 20_000, 32, 50, ClockLink.NO_GOAL));

    private ClockAccuracy() {}

    /** Prints the table. Arguments: first seed (1001: no figure was set with seeds from there on), number of runs. */
    public static void main(String[] arguments) {
        long seed = arguments.length > 0 ? Long.parseLong(arguments[0]) : 1_001;
        int runs = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 20;
        print(System.out, seed, runs);
    }

    private static void print(PrintStream out, long seed, int runs) {
        out.printf(
                "| %-27s | %6s | %15s | %13s | %17s | %8s | %8s | %5s | %7s | %5s | %7s |%n",
                "link",
                "probes",
                "min-RTT p50/p95",
                "OLS p50/p95",
                "hull p50/p95/max",
                "covered",
                "half-w.",
                "sigma",
                "<2sigma",
                "steps",
                "segm./m");
        out.println("|---|---|---|---|---|---|---|---|---|---|---|");
        for (ClockLink link : LINKS) {
            Result result = new Result();
            for (int run = 0; run < runs; run++) {
                run(link, seed + run, result);
            }
            out.println(result.row(link, runs));
        }
    }

    /** What was seen on a link. */
    static final class Result {
        private final List<Double> errors = new ArrayList<>();
        private final List<Double> shortestErrors = new ArrayList<>();
        private final List<Double> lineErrors = new ArrayList<>();
        private final List<Double> bounds = new ArrayList<>();
        private final List<Double> sigmas = new ArrayList<>();
        private int unaligned;
        private int covered;
        private int withinTwoSigma;
        private int steps;
        private int segments;

        /** Share of the stamps whose truth lay within the hard bound, in percent. */
        double coveredPercent() {
            return 100.0 * covered / (errors.size() + unaligned);
        }

        /** The error that so many percent of the stamps stay under, in ns. */
        double errorNanos(double percent) {
            return quantile(errors, percent);
        }

        String row(ClockLink link, int runs) {
            return String.format(
                    Locale.ROOT,
                    "| %-27s | %4d/s | %7.0f/%7.0f | %6.0f/%6.0f | %5.0f/%5.0f/%5.0f | %7.3f%% | %8.0f | %5.0f | %6.1f%% | %5d | %7.1f |",
                    link.name(),
                    link.probesPerSecond(),
                    quantile(shortestErrors, 50),
                    quantile(shortestErrors, 95),
                    quantile(lineErrors, 50),
                    quantile(lineErrors, 95),
                    quantile(errors, 50),
                    quantile(errors, 95),
                    quantile(errors, 100),
                    coveredPercent(),
                    quantile(bounds, 50),
                    quantile(sigmas, 50),
                    100.0 * withinTwoSigma / errors.size(),
                    steps,
                    segments * 60.0 / SECONDS / runs);
        }

        private static double quantile(List<Double> values, double percent) {
            double[] sorted =
                    values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            return sorted[(int) Math.min(sorted.length - 1, sorted.length * percent / 100)];
        }
    }

    /** One run of one link. */
    static void run(ClockLink link, long seed, Result result) {
        CountedRandom delays = new CountedRandom(seed, 1);
        CountedRandom wander = new CountedRandom(seed, 2);
        CountedRandom instants = new CountedRandom(seed, 3);
        ClockFit fit = ClockFit.between("a", "b");
        ClockWay way = ClockWay.between("a", "b");
        List<double[]> window = new ArrayList<>();
        double offset = 0;
        double wanderedTo = 0;
        double shortest = 0;
        double[] line = new double[2];
        double probeEvery = 1e9 / link.probesPerSecond();
        double stampEvery = 1e9 / STAMPS_PER_SECOND;
        double nextProbe = probeEvery * instants.uniform();
        double nextStamp = stampEvery * instants.uniform();
        while (Math.min(nextProbe, nextStamp) < SECONDS * 1e9) {
            if (nextStamp < nextProbe) {
                double now = nextStamp;
                nextStamp += stampEvery;
                offset += link.wanderNanos() * StrictMath.sqrt(Math.max(0, now - wanderedTo) / 1e9) * wander.normal();
                wanderedTo = Math.max(wanderedTo, now);
                if (now < WARM_SECONDS * 1e9) {
                    continue;
                }
                long stamp = (long) now;
                double truth = DRIFT * stamp + offset;
                AlignedStamp said = way.align(stamp, stamp / 1_000_000);
                if (said == null) {
                    result.unaligned++;
                    continue;
                }
                double error = Math.abs(said.epochNanos() - stamp - OFFSET_NANOS - truth);
                result.errors.add(error);
                result.bounds.add((double) said.boundNanos());
                result.sigmas.add((double) said.sigmaNanos());
                // Half a nanosecond is lost where the truth is no whole number.
                result.covered += error <= said.boundNanos() + 0.5 ? 1 : 0;
                result.withinTwoSigma += error <= 2 * said.sigmaNanos() ? 1 : 0;
                result.shortestErrors.add(Math.abs(shortest - truth));
                result.lineErrors.add(Math.abs(line[0] + line[1] * (now - line0(window)) - truth));
                continue;
            }
            double there = link.thereNanos() + delay(link, delays);
            double back = link.backNanos() + delay(link, delays);
            double read = nextProbe + there;
            offset += link.wanderNanos() * StrictMath.sqrt(Math.max(0, read - wanderedTo) / 1e9) * wander.normal();
            wanderedTo = Math.max(wanderedTo, read);
            double truth = DRIFT * read + offset;
            long before = (long) nextProbe;
            long after = (long) StrictMath.ceil(read + back);
            long remote = Math.floorDiv(OFFSET_NANOS + (long) StrictMath.floor(read + truth), link.tickNanos())
                    * link.tickNanos();
            nextProbe += probeEvery * (0.9 + 0.2 * instants.uniform());
            for (ClockFitted segment : fit.accept(new ClockSampled("a", "b", before, remote, after, null))) {
                way.add(segment, (after + 999_999) / 1_000_000);
                result.segments++;
                result.steps += segment.stepped() ? 1 : 0;
            }
            double middle = before + (after - before) / 2.0;
            window.add(new double[] {middle, remote - OFFSET_NANOS - middle, after - before});
            while (window.get(0)[0] < middle - WINDOW_NANOS) {
                window.remove(0);
            }
            shortest = shortest(window);
            line = line(window);
        }
    }

    private static double delay(ClockLink link, CountedRandom delays) {
        double clean = delays.exponential(link.jitterNanos());
        return delays.uniform() < link.cleanShare() ? clean : clean + delays.exponential(link.queueNanos());
    }

    /** The offset of the shortest round trip. */
    private static double shortest(List<double[]> window) {
        double[] best = window.get(0);
        for (double[] probe : window) {
            best = probe[2] < best[2] ? probe : best;
        }
        return best[1];
    }

    private static double line0(List<double[]> window) {
        return window.get(window.size() - 1)[0];
    }

    /** The line through the tenth of the probes with the shortest round trips: value at the newest, and slope. */
    private static double[] line(List<double[]> window) {
        double[][] sorted = window.toArray(new double[0][]);
        Arrays.sort(sorted, (a, b) -> Double.compare(a[2], b[2]));
        int count = Math.min(sorted.length, Math.max(3, sorted.length / 10));
        double origin = line0(window);
        double base = sorted[0][1];
        double x = 0;
        double y = 0;
        double xx = 0;
        double xy = 0;
        for (int i = 0; i < count; i++) {
            double dx = sorted[i][0] - origin;
            double dy = sorted[i][1] - base;
            x += dx;
            y += dy;
            xx += dx * dx;
            xy += dx * dy;
        }
        double denominator = count * xx - x * x;
        double slope = denominator == 0 ? 0 : (count * xy - x * y) / denominator;
        return new double[] {base + (y - slope * x) / count, slope};
    }
}
