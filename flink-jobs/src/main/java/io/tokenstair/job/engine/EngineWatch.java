package io.tokenstair.job.engine;

import io.tokenstair.job.window.SortedWindow;

/** What the findings of one engine remember: a handful of open episodes and fixed windows. */
public class EngineWatch {
    /** Steps over which the share of recomputed tokens is taken. */
    static final int STORM_STEPS = 128;

    /** Steps over which the regression of step time goes. */
    private static final long REGRESSED_STEPS = 8_192;

    public Episode pauses = new Episode();
    public Episode driver = new Episode();
    public Episode thermal = new Episode();
    public Episode fallback = new Episode();
    public Episode kernels = new Episode();
    public String otherKernel = "";
    public String usualKernel = "";
    public Episode storm = new Episode();
    public Episode pressure = new Episode();
    public Episode oscillation = new Episode();

    // Graphs: steps by graph with decodes only, and what they took.
    public long graphSteps;
    public SortedWindow graphStepNanos = new SortedWindow(64);
    public boolean eager;
    public long runSteps;
    public int leastEagerSequences;
    public int mostEagerSequences;

    // The storm's window.
    public long[] computedRing = new long[STORM_STEPS];
    public long[] recomputedRing = new long[STORM_STEPS];
    public long[] preemptionsRing = new long[STORM_STEPS];
    public int ringNext;
    public int ringCount;
    public long computedInWindow;
    public long recomputedInWindow;
    public long preemptionsInWindow;
    public long preemptionsOfStep;

    /** The swings of the batch. */
    public Swings swings = new Swings();

    // Regression of step time in microseconds on sequences, over decode-only steps; halved now and then, so that it
    // forgets.
    public long n;
    public long sumX;
    public long sumY;
    public long sumXx;
    public long sumXy;
    public long sumYy;

    /** Preemptions that have not been resumed: whether those blocks are needed again is not known yet. */
    public long firstOpenPreemptionNanos = Long.MAX_VALUE;

    public ShardLoads shards = new ShardLoads();
    public MetricWatch metrics = new MetricWatch();
    public SampleWatch samples = new SampleWatch();

    /** For Flink's serializer. */
    public EngineWatch() {}

    void regress(long x, long y) {
        if (n == REGRESSED_STEPS) {
            n /= 2;
            sumX /= 2;
            sumY /= 2;
            sumXx /= 2;
            sumXy /= 2;
            sumYy /= 2;
        }
        n++;
        sumX += x;
        sumY += y;
        sumXx += x * x;
        sumXy += x * y;
        sumYy += y * y;
    }

    private double xx() {
        return sumXx - (double) sumX * sumX / n;
    }

    private double xy() {
        return sumXy - (double) sumX * sumY / n;
    }

    /** Microseconds of a step per sequence; 0 while that is not known. */
    double slope() {
        return n < 32 || xx() <= 0 ? 0 : xy() / xx();
    }

    double correlation() {
        double yy = sumYy - (double) sumY * sumY / n;
        return n < 32 || xx() <= 0 || yy <= 0 ? 0 : xy() / StrictMath.sqrt(xx() * yy);
    }

    double meanX() {
        return (double) sumX / Math.max(1, n);
    }

    double meanY() {
        return (double) sumY / Math.max(1, n);
    }
}
