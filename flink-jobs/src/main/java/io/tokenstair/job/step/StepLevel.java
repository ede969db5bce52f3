package io.tokenstair.job.step;

import java.util.Arrays;

/**
 * By how much an engine's decode-only steps are slower than its step time model, since a moment from which on they all are. Such a rise
 * is no load: it is held here and not learnt, until it ends or has lasted so long that it is what the engine does now. What the load
 * costs is learnt on top of it, from the differences between steps on the same level.
 *
 * <p>State: {@value #OPEN_STEPS} errors of a rise or fall that is not sure yet.
 */
public class StepLevel {
    /** Steps beyond noise on one side, two for each that is not, that are a change of level. */
    static final int OPEN_STEPS = 16;

    /** Steps of an open change that say about how high it is. */
    private static final int ROUGH_STEPS = 4;

    /** Steps that the usual expected time before a change is a mean of. */
    private static final double BEFORE_STEPS = 8;

    /** A change is the load's where the expected time itself changed by this share of it: an edge of the batch may be three times as high as known. */
    private static final double LOAD_SHARE = 1.0 / 3;

    /** Steps on a level after which it is known. */
    private static final int KNOWN_STEPS = 256;

    /** A level is usual once it has lasted so many times as long as what was usual before, */
    private static final int BELIEVED_TIMES = 4;

    /** and this many steps in any case: a fault of a minute is none. */
    static final int BELIEVED_STEPS = 4_096;

    /** A fall that leaves no more than this share of a level has ended it: the rest is what the model misses of the load there. */
    private static final double REST_SHARE = 0.25;

    /** What a step is held to be. */
    enum Verdict {
        /** It tells of its load, on the level there is. */
        LEARN,
        /** Not before it is known whether the level changed. */
        HOLD,
        /** The level may have changed: whoever knows what the load can explain must say. */
        DECIDE
    }

    /** How much slower, as a share of the expected time; 0 or more. */
    public double slower;

    /** Steps on the model's own level, at most as many as matter; then those since it was left, and the least it was left by. */
    public int usualSteps;

    public int slowerSteps;
    public double leastSlower;
    /** How often as long steps take that the model expects, of all levels that became usual. */
    public double believed = 1;

    public double[] open = new double[OPEN_STEPS];
    public int openCount;
    /** True once what is open is known to be the load's doing. */
    public boolean ofLoad;
    /** Expected time, sequences and resident tokens of the last steps within noise. */
    public double expectedBefore;

    public double sequencesBefore;
    public double residentBefore;
    /** The same of the last steps before the level was left. */
    public double sequencesUsual;

    public double residentUsual;
    /** How many of the open steps are of a batch size that is well known. */
    public int openKnownCount;

    /** For Flink's serializer and a cold start. */
    public StepLevel() {}

    /** True while it is as the model expects, as far as is known. */
    boolean isUsual() {
        return slower == 0 && openCount == 0;
    }

    /** What a step takes on this level, relative to what it took before it. */
    double factor() {
        return 1 + slower;
    }

    /** The same where a change is open: about. */
    double roughFactor() {
        return openCount < ROUGH_STEPS || ofLoad ? factor() : factor() * (1 + openMedian());
    }

    /** The median error of the open steps. */
    double openMedian() {
        double[] sorted = Arrays.copyOf(open, openCount);
        Arrays.sort(sorted);
        return sorted[openCount / 2];
    }

    /**
     * Takes the next decode-only step.
     *
     * @param error of its time relative to what it should take on this level
     * @param band what noise can be
     * @param knownRow true for a batch size that is well known
     */
    Verdict accept(double error, double band, boolean knownRow, double expectedNanos, StepLoad load) {
        if (slower > 0) {
            slowerSteps++;
        } else {
            usualSteps = Math.min(usualSteps + 1, BELIEVED_STEPS / BELIEVED_TIMES);
        }
        if (StrictMath.abs(error) <= band) {
            openCount = Math.max(0, openCount - 2);
            ofLoad &= openCount > 0;
            if (openCount == 0) {
                double rate = expectedBefore == 0 ? 1 : 1 / BEFORE_STEPS;
                expectedBefore += rate * (expectedNanos - expectedBefore);
                sequencesBefore += rate * (load.sequences() - sequencesBefore);
                residentBefore += rate * (load.residentTokens() - residentBefore);
                sequencesUsual = slower > 0 ? sequencesUsual : sequencesBefore;
                residentUsual = slower > 0 ? residentUsual : residentBefore;
            }
            return Verdict.LEARN;
        }
        if (slower == 0 && (error < 0 || usualSteps < KNOWN_STEPS)) {
            // No fault makes steps faster: too much was expected. And what is new is not known yet.
            openCount = 0;
            return Verdict.LEARN;
        }
        if (openCount > 0 && error > 0 != open[0] > 0) {
            openCount = 0;
        }
        if (openCount == 0) {
            ofLoad = false;
            openKnownCount = 0;
        }
        openKnownCount = Math.min(openCount, openKnownCount) + (knownRow ? 1 : 0);
        if (openCount == OPEN_STEPS) {
            System.arraycopy(open, 1, open, 0, OPEN_STEPS - 1);
            openCount--;
        }
        open[openCount++] = error;
        if (ofLoad) {
            return Verdict.LEARN;
        }
        return openCount == OPEN_STEPS ? Verdict.DECIDE : Verdict.HOLD;
    }

    /**
     * Says of an open change whether it is the load's: then it is learnt like any error; else it is the level from here on.
     *
     * @param unknown by how much the model may be wrong about how the load changed since before the open change, or for a fall since before
     *     the level was left, relative to the expected time: what a fall leaves within it is the load's
     * @param expectedNanos what a step of now should take
     */
    void decide(double unknown, double band, double expectedNanos) {
        double change = openMedian();
        double loadChange = expectedBefore == 0 ? 0 : StrictMath.abs(expectedNanos / expectedBefore - 1);
        ofLoad = change > 0
                && (2 * openKnownCount < OPEN_STEPS || StrictMath.max(unknown, loadChange / LOAD_SHARE) >= change);
        if (!ofLoad) {
            double before = slower;
            slower = factor() * (1 + change) - 1;
            boolean over = change < 0 && slower <= StrictMath.max(unknown, before * REST_SHARE);
            slower = over || slower < band / 2 ? 0 : slower;
            leastSlower = slowerSteps == 0 ? slower : StrictMath.min(leastSlower, slower);
            slowerSteps = slower == 0 ? 0 : slowerSteps;
            openCount = 0;
        }
    }

    /** Follows a level by what steps within noise miss it by, so that what they are learnt by is how they differ from each other. */
    void follow(double error, double noise) {
        if (slower > 0) {
            slower = factor() * (1 + error / OPEN_STEPS) - 1;
            leastSlower = StrictMath.min(leastSlower, slower);
            if (slower < noise) {
                slower = 0;
                slowerSteps = 0;
            }
        }
    }

    /** By how much what is usual has become slower, as a factor; 1 while it has not. What is left of the level stays one. */
    double believe() {
        if (slower == 0 || slowerSteps < BELIEVED_TIMES * usualSteps) {
            return 1;
        }
        double factor = 1 + leastSlower;
        slower = factor() / factor - 1;
        leastSlower = slower;
        usualSteps = Math.min(slowerSteps, BELIEVED_STEPS / BELIEVED_TIMES);
        slowerSteps = 0;
        believed *= factor;
        expectedBefore *= factor;
        return factor;
    }

    /** Forgets everything: the engine has become another one. */
    void restart() {
        believed *= factor();
        slower = 0;
        slowerSteps = 0;
        usualSteps = 0;
        openCount = 0;
        ofLoad = false;
        expectedBefore = 0;
    }
}
