package io.tokenstair.archive;

import io.tokenstair.archive.result.Covariance;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.archive.result.Quantile;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.milestone.Milestone;
import java.util.List;

/** The tables that an analysis writes beside the raw ones. */
public final class ResultTables {
    /** One row per output token. */
    public static final TableSchema<TokenAnalysis> TOKEN_ANALYSIS =
            TableSchema.of("token_analysis", TokenAnalysis.class);

    /** One row per sequence of a request. */
    public static final TableSchema<RequestAnalysis> REQUEST_ANALYSIS =
            TableSchema.of("request_analysis", RequestAnalysis.class);

    /** One row per finding. */
    public static final TableSchema<Finding> FINDING = TableSchema.of("finding", Finding.class);

    /** One row per engine step. */
    public static final TableSchema<StepAnalysis> STEP_ANALYSIS = TableSchema.of("step_analysis", StepAnalysis.class);

    /** One row per milestone. */
    public static final TableSchema<Milestone> MILESTONE = TableSchema.of("milestone", Milestone.class);

    /** One row per layer of an engine or of the input. */
    public static final TableSchema<LayerReport> LAYER_REPORT = TableSchema.of("layer_report", LayerReport.class);

    /** One row per version of an engine's step time model. */
    public static final TableSchema<ModelSnapshot> MODEL_SNAPSHOT =
            TableSchema.of("model_snapshot", ModelSnapshot.class);

    /** One row per window, duration and scope. */
    public static final TableSchema<Quantile> QUANTILE = TableSchema.of("quantile", Quantile.class);

    /** One row per window, engine and pair of variables. */
    public static final TableSchema<Covariance> COVARIANCE = TableSchema.of("covariance", Covariance.class);

    /** One row per window, engine and pair of priorities. */
    public static final TableSchema<PriorityDisplacement> PRIORITY_DISPLACEMENT =
            TableSchema.of("priority_displacement", PriorityDisplacement.class);

    /** One row per remark. */
    public static final TableSchema<Remark> REMARK = TableSchema.of("remark", Remark.class);

    /** One row per revision of a rule and minute in which it saw something. */
    public static final TableSchema<RuleMinute> RULE_ACTIVITY = TableSchema.of("rule_activity", RuleMinute.class);

    private static final List<TableSchema<?>> ALL = List.of(
            TOKEN_ANALYSIS,
            REQUEST_ANALYSIS,
            FINDING,
            STEP_ANALYSIS,
            MILESTONE,
            LAYER_REPORT,
            MODEL_SNAPSHOT,
            QUANTILE,
            COVARIANCE,
            PRIORITY_DISPLACEMENT,
            REMARK,
            RULE_ACTIVITY);

    private ResultTables() {}

    /** All of them. */
    public static List<TableSchema<?>> all() {
        return ALL;
    }
}
