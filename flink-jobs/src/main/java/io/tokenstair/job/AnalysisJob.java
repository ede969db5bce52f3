package io.tokenstair.job;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.result.Covariance;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.archive.result.Quantile;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.clock.ClockBroadcast;
import io.tokenstair.job.clock.FitClocks;
import io.tokenstair.job.clock.HoldForSegments;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.layer.CountLayers;
import io.tokenstair.job.layer.LayerCount;
import io.tokenstair.job.layer.ReportLayers;
import io.tokenstair.job.name.JoinNames;
import io.tokenstair.job.name.JoinedNames;
import io.tokenstair.job.request.AnalyseRequests;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.StreamRequests;
import io.tokenstair.job.request.TokenRun;
import io.tokenstair.job.rule.MakeFinding;
import io.tokenstair.job.rule.RevisedRules;
import io.tokenstair.job.rule.RuleMatches;
import io.tokenstair.job.sink.ArchiveSinks;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.statistics.BundlePanes;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.statistics.SlideCovariance;
import io.tokenstair.job.statistics.SlideQuantiles;
import io.tokenstair.job.step.AnalyseSteps;
import io.tokenstair.job.step.EngineRecord;
import io.tokenstair.job.step.EngineRecordTypeInfo;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.streaming.api.datastream.BroadcastStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.jspecify.annotations.Nullable;

/**
 * The one analysis graph: decode, archive, clocks, steps, requests, rules, findings. Streaming and replay differ in the records that go in
 * and in {@code sortedInput}, nothing else.
 */
public final class AnalysisJob {
    /**
     * How far behind the watermark statistics are told: requests speak one hold late, what they hear may have been said another one
     * late, and parts of panes wait a while beside them.
     */
    static final long STATISTICS_HOLD_MILLIS = 2 * AnalyseRequests.HOLD_MILLIS + BundlePanes.GRID_MILLIS + 1_000;

    private final boolean sortedInput;
    private final List<BoundRule> rules;
    private final @Nullable Path rawArchive;
    private final @Nullable Path results;
    private final boolean tokenRuns;
    private final boolean fixedRules;
    private final JoinedNames names;

    /**
     * An analysis.
     *
     * @param sortedInput true in batch mode
     * @param rules rules to match
     * @param rawArchive where raw tables go; null when they are there already
     * @param results where result tables go; null when the caller takes the streams of {@link Results}
     */
    public AnalysisJob(boolean sortedInput, List<BoundRule> rules, @Nullable Path rawArchive, @Nullable Path results) {
        this(sortedInput, rules, rawArchive, results, false);
    }

    /**
     * An analysis.
     *
     * @param sortedInput true in batch mode
     * @param rules rules to match
     * @param rawArchive where raw tables go; null when they are there already
     * @param results where result tables go; null when the caller takes the streams of {@link Results}
     * @param tokenRuns whether tokens of which there is nothing to say but their numbers come as {@link Results#runs}, not as rows; not
     *     together with result tables, which are made of rows
     */
    public AnalysisJob(
            boolean sortedInput,
            List<BoundRule> rules,
            @Nullable Path rawArchive,
            @Nullable Path results,
            boolean tokenRuns) {
        this(sortedInput, rules, rawArchive, results, tokenRuns, false, JoinedNames.none());
    }

    private AnalysisJob(
            boolean sortedInput,
            List<BoundRule> rules,
            @Nullable Path rawArchive,
            @Nullable Path results,
            boolean tokenRuns,
            boolean fixedRules,
            JoinedNames names) {
        if (tokenRuns && results != null) {
            throw new IllegalArgumentException("Cannot write result tables without rows of tokens");
        }
        this.tokenRuns = tokenRuns;
        this.sortedInput = sortedInput;
        this.rules = List.copyOf(rules);
        this.rawArchive = rawArchive;
        this.results = results;
        this.fixedRules = fixedRules;
        this.names = names;
    }

    /** The same with rules that never change, matched by flink-cep as it comes; there is no {@code rule_activity} of them. */
    public AnalysisJob withFixedRules() {
        return new AnalysisJob(sortedInput, rules, rawArchive, results, tokenRuns, true, names);
    }

    /** The same with names of engines and gateways joined with those of clients. */
    public AnalysisJob withNames(JoinedNames joined) {
        return new AnalysisJob(sortedInput, rules, rawArchive, results, tokenRuns, fixedRules, joined);
    }

    /**
     * What the analysis says.
     *
     * @param tokens every token once, but for those of the runs
     * @param runs tokens of which there is nothing to say but their numbers, if they were asked for as runs; else none
     * @param findings of detectors and rules
     * @param milestones what the rules saw
     * @param activity what the rules did, by minute; absent where there are none or they are fixed
     */
    public record Results(
            SingleOutputStreamOperator<TokenAnalysis> tokens,
            DataStream<TokenRun> runs,
            DataStream<Finding> findings,
            DataStream<Milestone> milestones,
            @Nullable DataStream<RuleMinute> activity) {}

    /** Wires the graph behind a stream of records with event time and watermarks. */
    public Results wire(DataStream<RawRecord> records) {
        return wire(records, null, false);
    }

    /**
     * Wires the graph behind a stream of records with event time and watermarks.
     *
     * @param records the event log, or an archive
     * @param revisions a control log with revisions of rules; its event time does not matter; null where there is none
     * @param revisionsFirst whether the control log ends, and is read to its end before any event time passes for the rules
     */
    public Results wire(
            DataStream<RawRecord> records, @Nullable DataStream<RawRecord> revisions, boolean revisionsFirst) {
        if (fixedRules && revisions != null) {
            throw new IllegalArgumentException("Cannot revise rules that are fixed");
        }
        boolean schedules = !fixedRules && (revisions != null || !rules.isEmpty());
        SingleOutputStreamOperator<EngineRecord> routed = records.process(
                        new RouteRecords(rawArchive != null, schedules), EngineRecordTypeInfo.INSTANCE)
                .name("route-records")
                .uid("route-records");
        SingleOutputStreamOperator<PublishedSegment> segments = routed.getSideOutput(RouteRecords.CLOCKS)
                .keyBy(record -> FitClocks.KEY, Types.STRING)
                .process(new FitClocks(sortedInput, rawArchive != null), TypeInformation.of(PublishedSegment.class))
                .name("fit-clocks")
                .uid("fit-clocks");
        if (rawArchive != null) {
            segments.getSideOutput(FitClocks.ARCHIVE)
                    .sinkTo(ArchiveSinks.raw(rawArchive))
                    .name("clock-archive")
                    .uid("clock-archive");
        }
        SingleOutputStreamOperator<PublishedSegment> held = segments.transform(
                        "hold-for-segments", TypeInformation.of(PublishedSegment.class), new HoldForSegments())
                .uid("hold-for-segments");
        BroadcastStream<PublishedSegment> clocks = held.broadcast(ClockBroadcast.WAYS);
        SingleOutputStreamOperator<RequestInput> steps = routed.keyBy(record -> record.engineId, Types.STRING)
                .connect(clocks)
                .process(
                        new AnalyseSteps(sortedInput, !sortedInput && names.isEmpty()),
                        TypeInformation.of(RequestInput.class))
                .name("analyse-steps")
                .uid("analyse-steps");
        if (rawArchive != null) {
            // Two sinks, not one of both: rows stay in their chain, and no event is encoded again on its way to its
            // file.
            routed.getSideOutput(RouteRecords.ARCHIVE)
                    .sinkTo(ArchiveSinks.raw(rawArchive))
                    .name("raw-archive")
                    .uid("raw-archive");
            steps.getSideOutput(AnalyseSteps.REJECTED)
                    .sinkTo(ArchiveSinks.raw(rawArchive))
                    .name("rejected-archive")
                    .uid("rejected-archive");
        }
        DataStream<RequestInput> heard = steps.union(routed.getSideOutput(RouteRecords.OBSERVED));
        if (!names.isEmpty()) {
            heard = heard.flatMap(new JoinNames(names))
                    .returns(TypeInformation.of(RequestInput.class))
                    .name("join-names")
                    .uid("join-names");
        }
        KeyedStream<RequestInput, String> inputs = heard.keyBy(input -> input.requestId, Types.STRING);
        TypeInformation<TokenAnalysis> tokenType = TypeInformation.of(TokenAnalysis.class);
        SingleOutputStreamOperator<TokenAnalysis> tokens = (sortedInput
                        ? inputs.connect(clocks).process(new AnalyseRequests(tokenRuns), tokenType)
                        : inputs.connect(held.broadcast())
                                .transform("analyse-requests", tokenType, new StreamRequests(tokenRuns)))
                .name("analyse-requests")
                .uid("analyse-requests");
        DataStream<Milestone> milestones =
                tokens.getSideOutput(AnalyseRequests.MILESTONES).union(steps.getSideOutput(AnalyseSteps.MILESTONES));
        DataStream<Finding> findings =
                tokens.getSideOutput(AnalyseRequests.FINDINGS).union(steps.getSideOutput(AnalyseSteps.FINDINGS));
        @Nullable DataStream<RuleMinute> activity = null;
        if (schedules || !rules.isEmpty()) {
            DataStream<Milestone> shifted = milestones
                    .transform("shift-event-time", TypeInformation.of(Milestone.class), new ShiftEventTime())
                    .uid("shift-event-time");
            if (schedules) {
                DataStream<RawRecord> revised = routed.getSideOutput(RouteRecords.RULES);
                RevisedRules revisedRules = RevisedRules.of(
                        sortedInput,
                        rules,
                        shifted,
                        revisions == null ? revised : revised.union(revisions),
                        revisions != null && revisionsFirst,
                        ShiftEventTime.SHIFT_MILLIS);
                findings = findings.union(revisedRules.findings());
                activity = revisedRules.activity();
                if (rawArchive != null) {
                    sink(revisedRules.archive(), ArchiveSinks.raw(rawArchive), "rule-archive");
                }
            } else {
                findings = findings.union(RuleMatches.of(shifted, rules)
                        .map(new MakeFinding(rules))
                        .returns(TypeInformation.of(Finding.class))
                        .name("make-finding")
                        .uid("make-finding"));
            }
        }
        DataStream<LayerReport> layers = records.transform(
                        "count-layers", TypeInformation.of(LayerCount.class), new CountLayers())
                .uid("count-layers")
                .keyBy(count -> count.layer.layerName(), Types.STRING)
                .process(new ReportLayers(), TypeInformation.of(LayerReport.class))
                .setParallelism(1)
                .name("report-layers")
                .uid("report-layers");
        if (results != null) {
            sink(
                    tokens,
                    ArchiveSinks.result(
                            results,
                            ResultTables.TOKEN_ANALYSIS,
                            row -> millis(
                                    row.producedEpochNanos() != null
                                            ? row.producedEpochNanos()
                                            : row.deliveredEpochNanos())),
                    "token-analysis");
            sink(
                    tokens.getSideOutput(AnalyseRequests.REQUESTS),
                    ArchiveSinks.result(results, ResultTables.REQUEST_ANALYSIS, row -> millis(row.fromEpochNanos())),
                    "request-analysis");
            sink(
                    findings,
                    ArchiveSinks.result(results, ResultTables.FINDING, row -> millis(row.fromEpochNanos())),
                    "finding");
            sink(
                    milestones,
                    ArchiveSinks.result(results, ResultTables.MILESTONE, row -> millis(row.epochNanos())),
                    "milestone");
            sink(
                    steps.getSideOutput(AnalyseSteps.STEPS),
                    ArchiveSinks.result(results, ResultTables.STEP_ANALYSIS, row -> millis(row.endEpochNanos())),
                    "step-analysis");
            sink(
                    steps.getSideOutput(AnalyseSteps.MODELS),
                    ArchiveSinks.result(results, ResultTables.MODEL_SNAPSHOT, row -> millis(row.validFromEpochNanos())),
                    "model-snapshot");
            sink(
                    steps.getSideOutput(AnalyseSteps.REMARKS),
                    ArchiveSinks.result(results, ResultTables.REMARK, row -> millis(row.fromEpochNanos())),
                    "remark");
            statistics(steps, tokens, results);
            if (activity != null) {
                sink(
                        activity,
                        ArchiveSinks.result(results, ResultTables.RULE_ACTIVITY, RuleMinute::minuteStartMillis),
                        "rule-activity");
            }
            sink(
                    layers.union(steps.getSideOutput(AnalyseSteps.LAYERS)),
                    ArchiveSinks.result(results, ResultTables.LAYER_REPORT, row -> null),
                    "layer-report");
        }
        return new Results(tokens, tokens.getSideOutput(AnalyseRequests.RUNS), findings, milestones, activity);
    }

    /** Panes to windows, behind the operators that count them. */
    private void statistics(
            SingleOutputStreamOperator<RequestInput> steps,
            SingleOutputStreamOperator<TokenAnalysis> tokens,
            Path archive) {
        DataStream<DurationPane> panes = bundled(steps.getSideOutput(AnalyseSteps.DURATIONS), "bundle-step-panes")
                .union(bundled(tokens.getSideOutput(AnalyseRequests.DURATIONS), "bundle-arrival-panes"));
        sink(
                panes.keyBy(SlideQuantiles::key, Types.STRING)
                        .process(new SlideQuantiles(STATISTICS_HOLD_MILLIS), TypeInformation.of(Quantile.class))
                        .name("slide-quantiles")
                        .uid("slide-quantiles"),
                ArchiveSinks.result(archive, ResultTables.QUANTILE, Quantile::windowEndMillis),
                "quantile");
        sink(
                steps.getSideOutput(AnalyseSteps.MOMENTS)
                        .keyBy(pane -> pane.engineId, Types.STRING)
                        .process(new SlideCovariance(STATISTICS_HOLD_MILLIS), TypeInformation.of(Covariance.class))
                        .name("slide-covariance")
                        .uid("slide-covariance"),
                ArchiveSinks.result(archive, ResultTables.COVARIANCE, Covariance::windowEndMillis),
                "covariance");
        sink(
                steps.getSideOutput(AnalyseSteps.DISPLACEMENT),
                ArchiveSinks.result(
                        archive, ResultTables.PRIORITY_DISPLACEMENT, PriorityDisplacement::windowStartMillis),
                "priority-displacement");
    }

    private static DataStream<DurationPane> bundled(DataStream<DurationPane> parts, String name) {
        return parts.transform(name, TypeInformation.of(DurationPane.class), new BundlePanes())
                .uid(name);
    }

    private static <R> void sink(DataStream<R> rows, FileSink<R> sink, String name) {
        rows.sinkTo(sink).name(name).uid(name);
    }

    private static @Nullable Long millis(@Nullable Long nanos) {
        return nanos == null ? null : Long.valueOf(nanos / 1_000_000);
    }
}
