package io.tokenstair.simulate;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import io.tokenstair.cause.Cause;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Writes the truth of a run: one JSON object a line, fields as the command line's contract names them. */
final class TruthFolder {
    private final Path folder;
    private final JsonFactory json = new JsonFactory();

    TruthFolder(Path folder) {
        this.folder = folder;
    }

    private interface Line<T> {
        void write(JsonGenerator out, T item) throws IOException;
    }

    void write(Simulation run) throws IOException {
        Files.createDirectories(folder);
        lines("tokens.jsonl", run.tokens(), TruthFolder::token);
        lines("staircases.jsonl", run.staircases(), TruthFolder::staircase);
        lines("faults.jsonl", run.faults(), TruthFolder::fault);
        lines("requests.jsonl", run.requests(), TruthFolder::request);
        lines("steps.jsonl", run.steps(), TruthFolder::step);
    }

    private <T> void lines(String file, List<T> items, Line<T> line) throws IOException {
        try (JsonGenerator out = json.createGenerator(Files.newOutputStream(folder.resolve(file)), JsonEncoding.UTF8)) {
            out.setPrettyPrinter(new MinimalPrettyPrinter("\n"));
            for (T item : items) {
                out.writeStartObject();
                line.write(out, item);
                out.writeEndObject();
            }
            if (!items.isEmpty()) {
                out.writeRaw('\n');
            }
        }
    }

    private static void token(JsonGenerator out, TokenTruth token) throws IOException {
        out.writeStringField("requestId", token.requestId());
        out.writeNumberField("sequenceIndex", token.sequenceIndex());
        out.writeNumberField("tokenIndex", token.tokenIndex());
        out.writeNumberField("gapNanos", token.gapNanos());
        out.writeNumberField("baselineNanos", token.baselineNanos());
        out.writeObjectFieldStart("contributions");
        for (Map.Entry<Cause, Long> contribution : token.contributions().entrySet()) {
            out.writeNumberField(contribution.getKey().name(), contribution.getValue());
        }
        out.writeEndObject();
        if (token.dominantCause() != null) {
            out.writeStringField("dominantCause", token.dominantCause().name());
        }
        if (token.culpritRequestId() != null) {
            out.writeStringField("culpritRequestId", token.culpritRequestId());
        }
    }

    private static void staircase(JsonGenerator out, StaircaseTruth staircase) throws IOException {
        out.writeStringField("level", staircase.level());
        out.writeStringField("key", staircase.key());
        out.writeStringField("class", staircase.shape());
        out.writeBooleanField("kvDriven", staircase.kvDriven());
        out.writeArrayFieldStart("onsetTokenOrStep");
        for (long onset : staircase.onsets()) {
            out.writeNumber(onset);
        }
        out.writeEndArray();
    }

    private static void fault(JsonGenerator out, FaultTruth fault) throws IOException {
        out.writeStringField("kind", fault.kind());
        if (fault.cause() != null) {
            out.writeStringField("cause", fault.cause().name());
        }
        out.writeNumberField("fromEpochNanos", fault.fromEpochNanos());
        out.writeNumberField("toEpochNanos", fault.toEpochNanos());
        if (fault.sizeNanos() != null) {
            out.writeNumberField("sizeNanos", fault.sizeNanos());
        }
        if (fault.factor() != null) {
            out.writeNumberField("factor", fault.factor());
        }
        if (fault.stepId() != null) {
            out.writeNumberField("stepId", fault.stepId());
        }
    }

    private static void request(JsonGenerator out, RequestTruth request) throws IOException {
        out.writeStringField("requestId", request.requestId());
        out.writeNumberField("sequenceIndex", request.sequenceIndex());
        if (request.ttftNanos() != null) {
            out.writeNumberField("ttftNanos", request.ttftNanos());
        }
        out.writeNumberField("preemptions", request.preemptions());
        out.writeNumberField("loopRecomputedTokens", request.loopRecomputedTokens());
        out.writeNumberField("loopGainedTokens", request.loopGainedTokens());
        out.writeNumberField("overtakenCount", request.overtakenCount());
        out.writeNumberField("passedOverCount", request.passedOverCount());
        out.writeNumberField("promptTokens", request.promptTokens());
        out.writeNumberField("prefixFoundTokens", request.prefixFoundTokens());
        out.writeNumberField("prefixLostTokens", request.prefixLostTokens());
    }

    private static void step(JsonGenerator out, StepTruth step) throws IOException {
        out.writeStringField("engineId", step.engineId());
        out.writeNumberField("stepId", step.stepId());
        out.writeNumberField("sequences", step.sequences());
        out.writeNumberField("computedTokens", step.computedTokens());
        out.writeNumberField("recomputedTokens", step.recomputedTokens());
        out.writeNumberField("preemptions", step.preemptions());
        out.writeNumberField("lawNanos", step.lawNanos());
    }
}
