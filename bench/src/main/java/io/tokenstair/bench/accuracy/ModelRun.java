package io.tokenstair.bench.accuracy;

import io.tokenstair.job.step.StepExpectation;
import io.tokenstair.job.step.StepLoad;
import io.tokenstair.job.step.StepTimeModel;
import io.tokenstair.job.step.StepTimeSnapshot;
import io.tokenstair.job.step.UsualGraphMode;
import io.tokenstair.job.window.SortedWindow;

/** The model over a series of steps: each judged by the version before it, then learnt. */
final class ModelRun {
    private static final int USUAL_STEPS = 400;

    private final StepTimeModel.State model = new StepTimeModel.State();
    private final SortedWindow sequences = new SortedWindow(USUAL_STEPS);
    private final SortedWindow padded = new SortedWindow(USUAL_STEPS);
    private final SortedWindow resident = new SortedWindow(USUAL_STEPS);
    private final UsualGraphMode graphMode = new UsualGraphMode(USUAL_STEPS);
    private StepTimeSnapshot snapshot = new StepTimeSnapshot();
    private long stepId;

    /** True once it says something of such a step. */
    boolean knows(StepLoad load) {
        return snapshot.version > 0 && (load.promptTokens() == 0 || snapshot.promptsKnown);
    }

    /** What it expects of a step. */
    StepExpectation expect(StepLoad load) {
        return snapshot.expect(load);
    }

    /** Learns a step. */
    void learn(StepLoad load, long stepNanos) {
        if (load.promptTokens() == 0) {
            sequences.add(load.sequences());
            padded.add(load.paddedCount());
            resident.add(load.residentTokens());
            graphMode.add(load.graphMode());
        }
        StepTimeModel.learn(model, load, stepNanos);
        stepId++;
        if (sequences.size() > 0) {
            StepLoad usual = new StepLoad(
                    (int) sequences.median(), (int) padded.median(), graphMode.most(), resident.median(), 0, 0, 0, 0);
            snapshot = StepTimeModel.publish(model, snapshot, load, usual, stepId);
        }
    }

    /** How many versions were published. */
    int versions() {
        return snapshot.version;
    }
}
