package io.tokenstair.look.page;

import io.javalin.http.Context;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Severity;
import io.tokenstair.look.archive.ArchiveSummary;
import io.tokenstair.look.archive.FindingFilter;
import io.tokenstair.look.archive.PageQueries;
import io.tokenstair.look.archive.RequestFilter;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.look.archive.SequenceKey;
import io.tokenstair.look.archive.SequenceOrder;
import io.tokenstair.look.archive.SequencePage;
import io.tokenstair.look.archive.SequenceSummary;
import io.tokenstair.look.archive.SharedStep;
import io.tokenstair.look.archive.StripPlace;
import io.tokenstair.look.json.ExplainJson;
import io.tokenstair.look.json.FindingJson;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.narrative.Language;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The JSON answers of the page. Every answer is bounded. Objects have the fields of the command line's JSON; epoch stamps are strings,
 * since a browser's numbers cannot hold them.
 */
final class PageAnswers {
    private static final int MAX_ID_CHARACTERS = 1_024;
    private static final int MAX_FINDINGS = 500;

    /** A request that cannot be answered as asked. */
    static final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final int status;

        RefusedException(int status, String message) {
            super(message);
            this.status = status;
        }

        int status() {
            return status;
        }
    }

    /** Writes the fields of an answer. */
    private interface Fields {
        void write(JsonWriter json) throws IOException;
    }

    private final ResultArchive archive;
    private final PageQueries queries;
    private final ArchiveSummary summary;

    PageAnswers(ResultArchive archive, PageQueries queries) {
        this.archive = archive;
        this.queries = queries;
        this.summary = archive.summary();
    }

    /** The archive in numbers. */
    void archive(Context context) {
        answer(context, json -> {
            json.text("name", shortName(archive.directory()));
            json.number("requests", summary.requests());
            json.number("sequences", summary.sequences());
            json.number("tokens", summary.tokens());
            json.number("slowTokens", summary.slowTokens());
            json.number("lateTokens", summary.lateTokens());
            json.number("critical", summary.critical());
            json.number("warning", summary.warning());
            json.number("info", summary.info());
            json.epoch("fromEpochNanos", summary.fromEpochNanos());
            json.epoch("toEpochNanos", summary.toEpochNanos());
            json.beginArray("missingLayers");
            for (LayerReport report : summary.missingLayers()) {
                json.beginObject();
                json.text("engineId", report.engineId());
                json.text("layer", report.layer());
                json.endObject();
            }
            json.endArray();
        });
    }

    /** The last two parts of a path: the last alone is often the same for every archive. */
    private static String shortName(Path directory) {
        int parts = directory.getNameCount();
        return parts == 0
                ? directory.toString()
                : directory.subpath(Math.max(0, parts - 2), parts).toString();
    }

    /** A page of the list of sequences. */
    void requests(Context context) {
        SequenceOrder order = choice(context, "sort", SequenceOrder.WORST, name -> SequenceOrder.valueOf(name));
        SequencePage page = queries.search(
                text(context, "q", ""), order, number(context, "limit", 100), number(context, "offset", 0));
        answer(context, json -> {
            json.number("total", page.total());
            json.beginArray("sequences");
            for (SequenceSummary sequence : page.sequences()) {
                json.beginObject();
                ExplainJson.fields(json, sequence.request());
                json.number("slowTokens", sequence.slowTokens());
                json.number("lateTokens", sequence.lateTokens());
                json.number("lostNanos", sequence.lostNanos());
                json.number("worstGapNanos", sequence.worstGapNanos());
                json.number("worstTokenIndex", sequence.worstTokenIndex());
                json.text("worstCause", sequence.worstCause());
                json.text("worstState", sequence.worstState());
                json.endObject();
            }
            json.endArray();
        });
    }

    /** One sequence, found by its id or an alias. */
    void sequence(Context context) {
        RequestAnalysis request = sequenceOf(context);
        answer(context, json -> ExplainJson.fields(json, request));
    }

    /** The token strip of a sequence, column by column. */
    void strip(Context context) {
        RequestAnalysis request = sequenceOf(context);
        SequenceKey key = SequenceKey.of(request);
        int from = number(context, "from", 0);
        Long tokens = request.tokenCount();
        int to = (int) Math.min(number(context, "to", Integer.MAX_VALUE), tokens == null ? 0 : tokens);
        List<StripPlace> places = queries.strip(key, from, to, number(context, "places", PageQueries.MAX_PLACES));
        answer(context, json -> {
            numbers(json, "index", places, place -> (long) place.tokenIndex());
            numbers(json, "tokens", places, place -> (long) place.tokens());
            numbers(json, "gapNanos", places, StripPlace::gapNanos);
            numbers(json, "expectedNanos", places, StripPlace::expectedNanos);
            numbers(json, "referenceNanos", places, StripPlace::referenceNanos);
            texts(json, "state", places, StripPlace::state);
            texts(json, "cause", places, StripPlace::cause);
            texts(json, "confidence", places, StripPlace::confidence);
            numbers(json, "layerMissing", places, place -> place.layerMissing() ? 1L : 0L);
            numbers(json, "deliveredLate", places, place -> place.deliveredLate() ? 1L : 0L);
        });
    }

    /** One token with its step and the tokens made by the same step. */
    void token(Context context) {
        RequestAnalysis request = sequenceOf(context);
        int index = number(context, "token", 0);
        TokenAnalysis token = queries.token(SequenceKey.of(request), index)
                .orElseThrow(() -> new RefusedException(404, "Cannot find token: " + index));
        String engineId = token.engineId();
        Long stepId = token.stepId();
        List<StepAnalysis> steps = engineId == null || stepId == null ? List.of() : archive.steps(engineId, stepId);
        List<SharedStep> neighbours = engineId == null || stepId == null ? List.of() : queries.madeBy(engineId, stepId);
        answer(context, json -> {
            json.text("requestId", request.requestId());
            json.number("lifetime", request.lifetime());
            json.number("sequenceIndex", request.sequenceIndex());
            json.text("engineId", engineId);
            ExplainJson.tokenFields(json, token, Language.EN);
            json.beginArray("steps");
            for (StepAnalysis step : steps) {
                step(json, step);
            }
            json.endArray();
            json.beginArray("madeByTheSameStep");
            for (SharedStep neighbour : neighbours) {
                if (!neighbour.key().equals(SequenceKey.of(request))) {
                    json.beginObject();
                    json.text("requestId", neighbour.key().requestId());
                    json.number("lifetime", neighbour.key().lifetime());
                    json.number("sequenceIndex", neighbour.key().sequenceIndex());
                    json.number("index", neighbour.tokenIndex());
                    json.text("state", neighbour.state());
                    json.endObject();
                }
            }
            json.endArray();
        });
    }

    /** Findings, most severe first. */
    void findings(Context context) {
        String request = text(context, "request", "");
        Severity atLeast = choice(context, "severity", Severity.INFO, name -> Severity.valueOf(name));
        FindingFilter filter = new FindingFilter(request.isEmpty() ? null : request, atLeast, null);
        int limit = Math.min(number(context, "limit", 100), MAX_FINDINGS);
        int offset = number(context, "offset", 0);
        answer(context, json -> {
            json.beginArray("findings");
            try (RowCursor<Finding> findings = archive.findingsBySeverity(filter, limit, offset)) {
                while (findings.hasNext()) {
                    FindingJson.write(json, findings.next());
                }
            }
            json.endArray();
        });
    }

    /** An error as JSON. */
    void error(Context context, int status, @Nullable String message) {
        context.status(status);
        answer(context, json -> json.text("error", message == null ? "unknown" : message));
    }

    private static void step(JsonWriter json, StepAnalysis step) throws IOException {
        json.beginObject();
        json.number("dpRank", step.dpRank());
        json.number("stepId", step.stepId());
        json.epoch("endEpochNanos", step.endEpochNanos());
        json.number("stepNanos", step.stepNanos());
        json.number("idleNanos", step.idleNanos());
        json.number("expectedNanos", step.expectedNanos());
        json.number("referenceNanos", step.referenceNanos());
        json.number("batchSequences", step.batchSequences());
        json.number("decodeSequences", step.decodeSequences());
        json.number("residentTokens", step.residentTokens());
        json.number("prefillTokens", step.prefillTokens());
        json.number("recomputeTokens", step.recomputeTokens());
        json.number("runningCount", step.runningCount());
        json.number("waitingCount", step.waitingCount());
        json.number("kvUsedBlocksCount", step.kvUsedBlocksCount());
        json.number("kvTotalBlocksCount", step.kvTotalBlocksCount());
        json.number("coreWaitNanos", step.coreWaitNanos());
        json.endObject();
    }

    private RequestAnalysis sequenceOf(Context context) {
        String request = text(context, "request", "");
        Integer sequence = context.queryParam("sequence") == null ? null : number(context, "sequence", 0);
        int lifetime = context.queryParam("lifetime") == null ? -1 : number(context, "lifetime", 0);
        return queries.sequence(new RequestFilter(request, sequence, null), lifetime)
                .orElseThrow(() -> new RefusedException(404, "Cannot find request: " + request));
    }

    private static String text(Context context, String name, String otherwise) {
        String value = context.queryParam(name);
        if (value == null) {
            return otherwise;
        }
        if (value.length() > MAX_ID_CHARACTERS) {
            throw new RefusedException(400, "Cannot use parameter " + name + ": longer than " + MAX_ID_CHARACTERS);
        }
        return value;
    }

    private static int number(Context context, String name, int otherwise) {
        String value = context.queryParam(name);
        if (value == null) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(value);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException unreadable) {
            // Refused below, together with negative numbers.
        }
        throw new RefusedException(400, "Cannot use parameter " + name + ": not a whole number from 0");
    }

    private static <T> T choice(Context context, String name, T otherwise, Function<String, T> choices) {
        String value = context.queryParam(name);
        if (value == null || value.isEmpty()) {
            return otherwise;
        }
        try {
            return choices.apply(value.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException unknown) {
            throw new RefusedException(400, "Cannot use parameter " + name + ": unknown value");
        }
    }

    private static void numbers(
            JsonWriter json, String name, List<StripPlace> places, Function<StripPlace, @Nullable Long> value)
            throws IOException {
        json.beginArray(name);
        for (StripPlace place : places) {
            json.element(value.apply(place));
        }
        json.endArray();
    }

    private static void texts(
            JsonWriter json, String name, List<StripPlace> places, Function<StripPlace, @Nullable String> value)
            throws IOException {
        json.beginArray(name);
        for (StripPlace place : places) {
            String text = value.apply(place);
            if (text == null) {
                json.element((Long) null);
            } else {
                json.element(text);
            }
        }
        json.endArray();
    }

    private static void answer(Context context, Fields fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonWriter json = new JsonWriter(bytes, true)) {
            json.beginObject();
            fields.write(json);
            json.endObject();
        } catch (IOException failure) {
            throw new UncheckedIOException("Cannot write an answer", failure);
        }
        context.contentType("application/json");
        context.result(bytes.toByteArray());
    }
}
