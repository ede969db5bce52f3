package io.tokenstair.collect.otlp.receive;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.tokenstair.collect.otlp.OtlpSignal;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/** Answers in OTLP's JSON form. */
final class ResponseJson {
    private static final JsonFactory FACTORY = new JsonFactory();

    private ResponseJson() {}

    private interface Body {
        void write(JsonGenerator json) throws IOException;
    }

    private static String object(Body body) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(text)) {
            json.writeStartObject();
            body.write(json);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    static String taken(OtlpSignal signal, Answer answer) {
        return object(json -> {
            if (answer.rejectedItems() == 0 && answer.message().isEmpty()) {
                return;
            }
            json.writeObjectFieldStart("partialSuccess");
            json.writeStringField(
                    switch (signal) {
                        case TRACES -> "rejectedSpans";
                        case METRICS -> "rejectedDataPoints";
                        case LOGS -> "rejectedLogRecords";
                    },
                    String.valueOf(answer.rejectedItems()));
            json.writeStringField("errorMessage", answer.message());
            json.writeEndObject();
        });
    }

    static String status(Answer answer) {
        return object(json -> {
            json.writeNumberField("code", answer.kind().grpcStatus());
            json.writeStringField("message", answer.message());
        });
    }
}
