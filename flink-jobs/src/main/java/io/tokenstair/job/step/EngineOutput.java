package io.tokenstair.job.step;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.milestone.Milestone;

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

    /** What is known of a layer of the engine at the end of the input. */
    default void layer(LayerReport report) {}

    /** What was refused of a record that was read, and why: a row of the archive's rejects. Where nothing is archived it is only counted. */
    default void rejected(LoggedEvent rejected) {}

    /** Something that was concluded of the engine as a whole. */
    void finding(Finding finding);

    /** A rare fact of the engine as a whole, for rules. */
    default void milestone(Milestone milestone) {}

    /** Something worth knowing of the engine, or of what else was sampled, that is no finding. */
    default void remark(Remark remark) {}
}
