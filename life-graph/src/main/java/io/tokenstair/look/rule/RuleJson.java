package io.tokenstair.look.rule;

import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.rule.bound.BoundRule;
import java.io.IOException;
import java.util.Locale;

/** The JSON form of a rule. */
final class RuleJson {
    private RuleJson() {}

    /** Writes what identifies and describes a rule into the open object. */
    static void fields(JsonWriter json, BoundRule rule) throws IOException {
        json.text("rule", rule.id());
        json.number("ruleRevision", rule.revision());
        json.text("key", rule.key().name().toLowerCase(Locale.ROOT));
        json.text("cause", rule.causeText());
        json.text("severity", rule.severity().severityName());
        json.text("description", oneLine(rule.description()));
    }

    static String oneLine(String text) {
        return text.strip().replaceAll("\\s+", " ");
    }
}
