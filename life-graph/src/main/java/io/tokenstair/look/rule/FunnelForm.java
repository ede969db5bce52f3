package io.tokenstair.look.rule;

import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.look.text.Quantity;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** How a funnel is written. */
final class FunnelForm {
    private FunnelForm() {}

    /** The stages and how often each was reached: {@code preempted 7 > recomputed 6}. A stage that takes nothing is left out. */
    static String stages(RuleFunnel funnel) {
        BoundRule rule = funnel.rule();
        List<String> words = new ArrayList<>();
        int stages = rule == null ? funnel.reached().size() : rule.stages().size();
        for (int stage = 0; stage < stages; stage++) {
            BoundStage bound = rule == null ? null : rule.stages().get(stage);
            if (bound == null || !bound.absent()) {
                words.add((bound == null ? "" : bound.name() + " ") + Quantity.count(funnel.reached(stage)));
            }
        }
        return String.join(" > ", words);
    }

    /** Writes a funnel into the open object. */
    static void json(JsonWriter json, RuleFunnel funnel) throws IOException {
        json.text("rule", funnel.ruleId());
        json.number("ruleRevision", funnel.ruleRevision());
        json.number("milestones", Long.valueOf(funnel.milestones()));
        json.beginArray("stages");
        BoundRule rule = funnel.rule();
        int stages = rule == null ? funnel.reached().size() : rule.stages().size();
        for (int stage = 0; stage < stages; stage++) {
            json.beginObject();
            json.text("stage", rule == null ? null : rule.stages().get(stage).name());
            json.number("reached", Long.valueOf(funnel.reached(stage)));
            json.endObject();
        }
        json.endArray();
        counts(json, funnel);
    }

    /** Writes what became of the matches into the open object. */
    static void counts(JsonWriter json, RuleFunnel funnel) throws IOException {
        json.number("begun", Long.valueOf(funnel.begun()));
        json.number("found", Long.valueOf(funnel.matched()));
        json.number("expired", Long.valueOf(funnel.expired()));
        json.number("broken", Long.valueOf(funnel.broken()));
        json.number("cut", Long.valueOf(funnel.cut()));
        json.number("open", Long.valueOf(funnel.open()));
        json.number("failedEvaluations", funnel.failed());
    }
}
