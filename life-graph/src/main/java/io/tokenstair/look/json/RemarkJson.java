package io.tokenstair.look.json;

import io.tokenstair.archive.result.Remark;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Translation;
import java.io.IOException;

/** The JSON form of a remark. */
public final class RemarkJson {
    private RemarkJson() {}

    /** Writes one remark as an object, what it says in a language. */
    public static void write(JsonWriter json, Remark remark, Language language) throws IOException {
        json.beginObject();
        json.text("remarkId", remark.remarkId());
        json.text("topic", remark.topic());
        json.text("subject", remark.subject());
        json.epoch("fromEpochNanos", remark.fromEpochNanos());
        json.epoch("toEpochNanos", remark.toEpochNanos());
        json.beginObject("confidence");
        json.text("level", remark.confidence());
        json.text("why", Translation.reason(language, remark.confidenceWhy()));
        json.endObject();
        json.texts("evidence", remark.evidence());
        json.texts("missingLayers", remark.missingLayers());
        json.text("narrative", Translation.narrative(language, remark.narrative()));
        json.endObject();
    }
}
