package io.tokenstair.job.step;

import io.tokenstair.job.staircase.StaircaseDetector;
import io.tokenstair.job.staircase.StaircaseState;
import java.util.ArrayList;
import java.util.List;

/**
 * What {@link EngineStairs} remembers of one engine: the detector, the last {@value #STEPS} steps, the last {@value #KV_EVENTS} KV events
 * and at most {@link StaircaseState#MAX_RISES} rises with their evidence. Under 16 KB.
 */
public class StairsState {
    /** Steps that can be cited: more than lie between an onset and its proof. */
    static final int STEPS = 256;

    /** KV events that can be cited. */
    static final int KV_EVENTS = 64;

    public StaircaseState detector = StaircaseDetector.FULL.start();

    /** Collector and epoch whose steps are watched; with a sequence it makes an event id. */
    public String space = "";

    /** Steps since the watch began; the number of the next one. */
    public int stepCount;

    /** The step at which a rise was last proven, or the watch began. */
    public int lastRiseStep;

    /** What had become usual by then: a level that becomes usual while the watch lasts is still a rise of it. */
    public double believedAtStart = 1;

    public int riseCount;
    /** True while a proven rise has not been weighed with the others yet. */
    public boolean due;

    public boolean told;

    public long[] stepIds = new long[STEPS];
    public long[] stepSequences = new long[STEPS];
    public long[] stepEpochNanos = new long[STEPS];

    /** KV events since the step before. */
    public int openKvEvents;

    public List<String> kvEventIds = new ArrayList<>();
    /** The number of the step that each of them came before. */
    public List<Integer> kvSteps = new ArrayList<>();

    public List<Cited> rises = new ArrayList<>();

    /** For Flink's serializer. */
    public StairsState() {}

    /** What can be cited for a rise, kept when it is proven: the steps around it are forgotten later. */
    public static class Cited {
        public int onset;
        public long stepId;
        public String stepEventId = "";
        public long epochNanos;
        public List<String> kvEventIds = new ArrayList<>();

        /** For Flink's serializer. */
        public Cited() {}
    }
}
