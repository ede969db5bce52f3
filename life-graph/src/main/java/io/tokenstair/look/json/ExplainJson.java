package io.tokenstair.look.json;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.look.archive.EvidenceSentence;
import io.tokenstair.look.archive.TokenParts;
import io.tokenstair.look.slo.SloBreach;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Translation;
import java.io.IOException;
import java.util.List;

/** The JSON form of a sequence and of a token. */
public final class ExplainJson {
    private ExplainJson() {}

    /** Begins a sequence's object, with its fields up to {@code tokens}, whose elements follow. */
    public static void begin(JsonWriter json, RequestAnalysis request) throws IOException {
        begin(json, request, List.of());
    }

    /** The same, with the time to its first token where that is beyond a limit. */
    public static void begin(JsonWriter json, RequestAnalysis request, List<SloBreach> breaches) throws IOException {
        json.beginObject();
        fields(json, request);
        breaches(json, breaches);
        json.beginArray("tokens");
    }

    /** Ends what {@link #begin} began. */
    public static void end(JsonWriter json) throws IOException {
        json.endArray();
        json.endObject();
    }

    /** Writes the fields of a sequence into the open object. */
    public static void fields(JsonWriter json, RequestAnalysis request) throws IOException {
        json.text("requestId", request.requestId());
        json.number("lifetime", request.lifetime());
        json.number("sequenceIndex", request.sequenceIndex());
        json.texts("aliases", request.aliases());
        json.texts("engines", request.engines());
        json.text("state", request.state());
        json.text("endReason", request.endReason());
        json.number("ttftNanos", request.ttftNanos());
        json.number("tpotNanos", request.tpotNanos());
        json.number("tokenCount", request.tokenCount());
        json.number("promptTokens", request.promptTokens());
        json.number("cachedTokens", request.cachedTokens());
        json.number("preemptions", request.preemptions());
        json.number("recomputedTokens", request.recomputedTokens());
        json.texts("requestCauses", request.requestCauses());
        json.flag("warmup", request.warmup());
        json.epoch("fromEpochNanos", request.fromEpochNanos());
        json.epoch("toEpochNanos", request.toEpochNanos());
        json.number("priority", request.priority());
        json.text("errorType", request.errorType());
        json.texts("missingLayers", request.missingLayers());
        json.number("droppedChunks", request.droppedChunks());
        json.number("droppedTokens", request.droppedTokens());
        json.number("invalidStamps", request.invalidStamps());
        json.number("usageTokens", request.usageTokens());
    }

    private static void breaches(JsonWriter json, List<SloBreach> breaches) throws IOException {
        if (breaches.isEmpty()) {
            return;
        }
        json.beginArray("sloBreaches");
        for (SloBreach breach : breaches) {
            json.beginObject();
            FindingJson.sloFields(json, breach);
            json.endObject();
        }
        json.endArray();
    }

    /** Writes one token as an object, with its gap where that is beyond a limit. */
    public static void token(JsonWriter json, TokenAnalysis token, Language language, List<SloBreach> breaches)
            throws IOException {
        json.beginObject();
        tokenFields(json, token, language);
        breaches(json, breaches);
        json.endObject();
    }

    /** Writes the fields of a token into the open object; its chain in a language. */
    public static void tokenFields(JsonWriter json, TokenAnalysis token, Language language) throws IOException {
        json.number("index", token.tokenIndex());
        json.number("stepId", token.stepId());
        json.epoch("producedEpochNanos", token.producedEpochNanos());
        json.epoch("deliveredEpochNanos", token.deliveredEpochNanos());
        json.number("boundNanos", token.boundNanos());
        json.text("gapBasis", token.gapBasis());
        json.number("gapNanos", token.gapNanos());
        json.number("expectedNanos", token.expectedNanos());
        json.number("referenceNanos", token.referenceNanos());
        json.number("excessNanos", token.excessNanos());
        json.number("contextTokens", token.contextTokens());
        json.number("batchSequences", token.batchSequences());
        json.text("state", token.state());
        json.text("cause", token.cause());
        json.text("culpritRequestId", token.culpritRequestId());
        String slowKind = token.slowKind();
        if (slowKind != null) {
            json.truth("anomaly", slowKind.equals("anomaly"));
        }
        if (token.confidence() != null) {
            json.beginObject("confidence");
            json.text("level", token.confidence());
            String why = token.confidenceWhy();
            json.text("why", why == null ? null : Translation.reason(language, why));
            json.endObject();
        }
        parts(json, "parts", TokenParts.ofGap(token));
        json.number("deliveryNanos", token.deliveryNanos());
        json.number("deliveredBoundNanos", token.deliveredBoundNanos());
        parts(json, "deliveryParts", TokenParts.ofDelivery(token));
        json.text("deliveryCause", token.deliveryCause());
        json.beginArray("chain");
        for (String archived : token.chain()) {
            EvidenceSentence sentence = EvidenceSentence.parse(archived, language);
            json.beginObject();
            json.text("text", sentence.text());
            json.texts("evidence", sentence.evidence());
            json.endObject();
        }
        json.endArray();
        json.texts("missingLayers", token.missingLayers());
        json.number("sigmaNanos", token.sigmaNanos());
        json.number("deliveredSigmaNanos", token.deliveredSigmaNanos());
        if (token.isOrderUndecidable()) {
            json.truth("orderUndecidable", true);
        }
    }

    private static void parts(JsonWriter json, String name, List<TokenParts.NamedPart> parts) throws IOException {
        if (parts.isEmpty()) {
            return;
        }
        json.beginArray(name);
        for (TokenParts.NamedPart part : parts) {
            json.beginObject();
            json.text("part", part.name());
            json.number("nanos", part.nanos());
            json.texts("evidence", part.evidence());
            json.endObject();
        }
        json.endArray();
    }
}
