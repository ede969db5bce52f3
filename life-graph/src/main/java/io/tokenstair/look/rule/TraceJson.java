package io.tokenstair.look.rule;

import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.ConditionFailure;
import io.tokenstair.rule.trace.RuleAttempt;
import io.tokenstair.rule.trace.RuleMiss;
import io.tokenstair.rule.trace.RuleTrace;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** The JSON form of how far a rule got. */
final class TraceJson {
    private TraceJson() {}

    /** Writes a trace into the open object. */
    static void fields(JsonWriter json, RuleTrace trace) throws IOException {
        RuleAttempt best = trace.best();
        List<List<Milestone>> taken = best == null ? List.of() : best.taken();
        json.number("stages", trace.rule().stages().size());
        json.number("stagesReached", trace.stagesReached());
        json.text("end", best == null ? "not-begun" : lowerCase(best.end()));
        json.beginArray("taken");
        for (int stage = 0; stage < taken.size(); stage++) {
            for (Milestone milestone : taken.get(stage)) {
                json.beginObject();
                json.text("stage", trace.rule().stages().get(stage).name());
                milestone(json, milestone);
                json.endObject();
            }
        }
        json.endArray();
        BoundStage next = trace.nextStage();
        if (next != null) {
            json.text("nextStage", next.name());
            json.number("missedCount", trace.missedCount());
            json.beginArray("missed");
            for (RuleMiss miss : trace.misses()) {
                json.beginObject();
                milestone(json, miss.milestone());
                json.text("why", lowerCase(miss.why()));
                ConditionFailure failure = miss.failure();
                if (failure != null) {
                    json.text("condition", failure.text());
                    json.text("error", failure.error());
                    json.beginObject("values");
                    for (ConditionFailure.Value value : failure.values()) {
                        json.text(value.name(), value.shown());
                    }
                    json.endObject();
                }
                json.endObject();
            }
            json.endArray();
        }
    }

    private static void milestone(JsonWriter json, Milestone milestone) throws IOException {
        json.text("kind", milestone.milestoneKind().name());
        json.number("coarseEpochMillis", Long.valueOf(milestone.coarseEpochMillis()));
        json.epoch("epochNanos", milestone.epochNanos());
        json.text("engineId", milestone.engineId());
        json.text("requestId", milestone.requestId());
        json.number("sequenceIndex", milestone.sequenceIndex());
        json.number("tokenIndex", milestone.tokenIndex());
        json.number("stepId", milestone.stepId());
        json.texts("evidence", milestone.evidence());
    }

    private static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
