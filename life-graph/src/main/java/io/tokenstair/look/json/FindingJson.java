package io.tokenstair.look.json;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.look.slo.SloBreach;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Translation;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The JSON form of a finding. */
public final class FindingJson {
    private FindingJson() {}

    /** Writes one finding as an object. */
    public static void write(JsonWriter json, Finding finding) throws IOException {
        write(json, finding, null, Language.EN);
    }

    /** Writes one finding as an object, its narrative in a language; with what is beyond a limit where it is a breach. */
    public static void write(JsonWriter json, Finding finding, @Nullable SloBreach breach, Language language)
            throws IOException {
        json.beginObject();
        json.text("findingId", finding.findingId());
        json.text("rule", finding.rule());
        json.number("ruleRevision", finding.ruleRevision());
        json.text("cause", finding.cause().isEmpty() ? null : finding.cause());
        json.text("severity", finding.severity());
        json.beginObject("key");
        json.text("engineId", finding.engineId());
        json.text("requestId", finding.requestId());
        json.number("lifetime", finding.lifetime());
        json.number("sequenceIndex", finding.sequenceIndex());
        json.endObject();
        json.epoch("fromEpochNanos", finding.fromEpochNanos());
        json.epoch("toEpochNanos", finding.toEpochNanos());
        json.number("boundNanos", finding.boundNanos());
        json.number("firstTokenIndex", finding.firstTokenIndex());
        json.number("lastTokenIndex", finding.lastTokenIndex());
        json.text("culpritRequestId", finding.culpritRequestId());
        json.beginObject("confidence");
        json.text("level", finding.confidence());
        json.text("why", Translation.reason(language, finding.confidenceWhy()));
        json.endObject();
        json.texts("evidence", finding.evidence());
        json.texts("missingLayers", finding.missingLayers());
        json.beginArray("parts");
        int parts = Math.min(finding.partNames().size(), finding.partNanos().size());
        for (int part = 0; part < parts; part++) {
            json.beginObject();
            json.text("part", finding.partNames().get(part));
            json.number("nanos", finding.partNanos().get(part));
            json.endObject();
        }
        json.endArray();
        json.text("narrative", Translation.narrative(language, finding.narrative()));
        json.number("sigmaNanos", finding.sigmaNanos());
        if (breach != null) {
            json.beginObject("slo");
            sloFields(json, breach);
            json.endObject();
        }
        json.endObject();
    }

    /** Writes what is beyond a limit into the open object. */
    static void sloFields(JsonWriter json, SloBreach breach) throws IOException {
        json.text("measure", breach.slo());
        json.number("limitNanos", breach.limitNanos());
        json.number("measuredNanos", breach.measuredNanos());
        json.text("basis", breach.basis());
    }
}
