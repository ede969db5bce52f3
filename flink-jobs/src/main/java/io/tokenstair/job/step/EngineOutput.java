package io.tokenstair.job.step;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.StepAnalysis;

/** Where an engine's timeline puts what it concludes, in the order of the engine's own time. */
public interface EngineOutput {
    /** Tokens of one sequence. */
    void tokens(TokenBatch batch);

    /** Something that happened to a sequence. */
    void fact(SequenceFact fact);

    /** A judged step. */
    void step(StepAnalysis step);

    /** The version of the step time model that judges the steps to come. */
    default void model(ModelSnapshot snapshot) {}

    /** Something that was concluded of the engine as a whole. */
    void finding(Finding finding);
}
