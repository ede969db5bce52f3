package io.tokenstair.gateway;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.tokenstair.event.Finish;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What one JSON object of an answer says: a chunk of a stream, or a whole answer. Understands the OpenAI-compatible forms (completions,
 * chat, responses), vLLM's generate, SGLang's generate, llama.cpp's completion, TGI's and Triton's generate, Anthropic's messages. Of
 * texts it only looks whether they are empty.
 */
final class AnswerPart {
    private static final JsonFactory JSON = new JsonFactory();
    private static final int MAX_NAME_CHARACTERS = 256;
    private static final int MAX_CHOICES = 1_024;
    private static final int MAX_NUMBER_CHARACTERS = 40;
    /** A month. */
    private static final double MAX_MILLIS = 31 * 86_400_000.0;

    /** What a choice says. Counts are -1 where not said. */
    static final class Choice {
        int index;
        int tokenIds = -1;
        int logprobs = -1;
        /** Its probabilities are those of the prompt too: the prompt's first token has none. */
        boolean echo;

        boolean text;
        boolean role;
        Finish finish = Finish.NONE;
    }

    /** What to do with a field of an object; its value is at its end then. One for all chunks: it gets what it tells it to. */
    private interface FieldReader<T> {
        void read(T into, JsonParser json, String name, JsonToken value) throws IOException;
    }

    final List<Choice> choices = new ArrayList<>(1);

    @Nullable
    String id;

    boolean error;

    @Nullable
    String errorType;

    boolean promptProgress;
    /** Output tokens of the sequence so far as the engine counts, -1 where not said. */
    long producedTokens = -1;

    long usageOutputTokens = -1;
    long usagePromptTokens = -1;
    long usageCachedTokens = -1;

    /** Prompt tokens that llama.cpp computed for it, -1 where not said. */
    long computedPromptTokens = -1;
    /** How long that took it, in ms; below 0 where not said. */
    double promptMillis = -1;
    /** How long its output tokens took it so far, in ms; below 0 where not said. */
    double outputMillis = -1;

    private @Nullable Choice only;
    /** What an event of the responses or messages form says it is. */
    private @Nullable String type;
    /** An event's own code: of an error, its type. */
    private @Nullable String code;
    /** Log probabilities of an event that has no list of choices. */
    private int eventLogprobs;

    /** Of a usage's prompt tokens, which Anthropic's form counts apart, those that were found cached. */
    private long apartReadTokens;
    /** And those that were put into the cache. */
    private long apartWrittenTokens;

    /** What the bytes say; null where they are no JSON object. */
    static @Nullable AnswerPart read(byte[] bytes) {
        AnswerPart part = new AnswerPart();
        try (JsonParser json = JSON.createParser(bytes)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            fields(json, part, AnswerPart::top);
            part.typed();
            return json.currentToken() == JsonToken.END_OBJECT ? part : null;
        } catch (IOException noJson) {
            return null;
        }
    }

    /** An event that is an error by its name, whatever it holds. */
    static AnswerPart error(@Nullable AnswerPart read) {
        AnswerPart part = read == null ? new AnswerPart() : read;
        part.error = true;
        // The type of an event that is wrapped says no more than its name; the code of one that is not names the error.
        String named = "error".equals(part.type) ? null : part.type;
        part.errorType = part.errorType != null ? part.errorType : named;
        return part;
    }

    /** What its type makes of an event, wherever in it the type stands: the text of one that ends a part is that of its deltas again. */
    private void typed() {
        if (type == null) {
            return;
        }
        if (type.equals("error")) {
            error = true;
            errorType = errorType == null ? code : errorType;
        } else if (type.endsWith("delta")) {
            if (eventLogprobs > 0) {
                only().logprobs = eventLogprobs;
            }
        } else if (type.startsWith("response.") && only != null) {
            only.text = false;
        }
    }

    /** The one choice of a form that has no list of choices. */
    private Choice only() {
        if (only == null) {
            only = new Choice();
            choices.add(only);
        }
        return only;
    }

    /** Reads the fields of an object that has begun, as far as it goes. */
    private static <T> void fields(JsonParser json, T into, FieldReader<T> reader) throws IOException {
        for (JsonToken next = json.nextToken(); next != JsonToken.END_OBJECT; next = json.nextToken()) {
            if (next == null) {
                return;
            }
            String name = json.currentName();
            reader.read(into, json, name, json.nextToken());
        }
    }

    /** Reads the fields of a value that is an object, and passes over any other. */
    private static <T> void fieldsOf(JsonParser json, JsonToken value, T into, FieldReader<T> reader)
            throws IOException {
        if (value == JsonToken.START_OBJECT) {
            fields(json, into, reader);
        } else {
            json.skipChildren();
        }
    }

    private void top(JsonParser json, String name, JsonToken value) throws IOException {
        switch (name) {
            case "id", "request_id" -> id = id == null ? name(json, value) : skip(json, id);
            case "choices" -> choices(json, value);
            case "usage" -> usage(json, value);
            case "error" -> error(json, value);
            case "object" -> {
                // An older vLLM tells an error so.
                error |= "error".equals(name(json, value));
            }
            case "timings" -> fieldsOf(json, value, this, AnswerPart::timingsField);
            case "prompt_progress" -> {
                promptProgress = value == JsonToken.START_OBJECT;
                json.skipChildren();
            }
            case "content", "text", "text_output" -> {
                if (value == JsonToken.VALUE_STRING) {
                    only().text |= notEmpty(json);
                } else {
                    json.skipChildren();
                }
            }
            case "tokens", "output_ids", "token_ids" -> {
                if (value == JsonToken.START_ARRAY) {
                    only().tokenIds = elements(json);
                } else {
                    json.skipChildren();
                }
            }
            case "tokens_predicted" -> producedTokens = count(json, value, producedTokens);
            case "tokens_evaluated" -> usagePromptTokens = count(json, value, usagePromptTokens);
            case "stop_type", "finish_reason", "stop_reason" -> finish(json, value);
            case "meta_info" -> fieldsOf(json, value, this, AnswerPart::metaInfoField);
            case "token" -> {
                if (value == JsonToken.START_OBJECT) {
                    only().tokenIds = 1;
                    only().text = true;
                }
                json.skipChildren();
            }
            case "details" -> fieldsOf(json, value, this, AnswerPart::detailsField);
            case "delta" -> delta(json, value);
            case "type" -> type = name(json, value);
            case "incomplete_details" -> fieldsOf(json, value, this, AnswerPart::incompleteField);
            case "output" -> {
                // A whole response: what it holds is counted by its usage.
                if (value == JsonToken.START_ARRAY) {
                    only();
                }
                json.skipChildren();
            }
            case "code" -> code = name(json, value);
            case "logprobs" -> {
                if (value == JsonToken.START_ARRAY) {
                    eventLogprobs = elements(json);
                } else {
                    json.skipChildren();
                }
            }
            case "response", "message" -> fieldsOf(json, value, this, AnswerPart::nested);
            default -> json.skipChildren();
        }
    }

    /** Fields of the object that the events of the responses and messages forms wrap. */
    private void nested(JsonParser json, String name, JsonToken value) throws IOException {
        switch (name) {
            case "id" -> id = id == null ? name(json, value) : skip(json, id);
            case "usage" -> usage(json, value);
            case "error" -> error(json, value);
            case "incomplete_details" -> fieldsOf(json, value, this, AnswerPart::incompleteField);
            default -> json.skipChildren();
        }
    }

    private void incompleteField(JsonParser json, String name, JsonToken field) throws IOException {
        if (name.equals("reason")) {
            finish(json, field);
        } else {
            json.skipChildren();
        }
    }

    private void choices(JsonParser json, JsonToken value) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            json.skipChildren();
            return;
        }
        for (JsonToken element = json.nextToken(); element != JsonToken.END_ARRAY; element = json.nextToken()) {
            if (element == null) {
                return;
            }
            if (element != JsonToken.START_OBJECT || choices.size() >= MAX_CHOICES) {
                json.skipChildren();
                continue;
            }
            Choice choice = new Choice();
            choices.add(choice);
            fields(json, choice, AnswerPart::choice);
        }
    }

    private static void choice(Choice choice, JsonParser json, String name, JsonToken value) throws IOException {
        switch (name) {
            case "index" -> choice.index = (int) Math.min(1 << 20, Math.max(0, count(json, value, 0)));
            case "text" -> {
                choice.text |= value == JsonToken.VALUE_STRING && notEmpty(json);
                json.skipChildren();
            }
            case "delta", "message" -> fieldsOf(json, value, choice, AnswerPart::text);
            case "token_ids" -> {
                if (value == JsonToken.START_ARRAY) {
                    choice.tokenIds = elements(json);
                } else {
                    json.skipChildren();
                }
            }
            case "logprobs" -> {
                fieldsOf(json, value, choice, AnswerPart::logprobs);
                if (choice.echo) {
                    choice.logprobs = -1;
                }
            }
            case "finish_reason" -> {
                if (value == JsonToken.VALUE_STRING) {
                    choice.finish = finish(json.getText());
                }
                json.skipChildren();
            }
            default -> json.skipChildren();
        }
    }

    /** A field of a delta or message: any text in it, of whatever kind, came from tokens. */
    private static void text(Choice choice, JsonParser json, String name, JsonToken field) throws IOException {
        switch (name) {
            case "role" -> choice.role |= field == JsonToken.VALUE_STRING;
            case "content", "reasoning_content", "reasoning", "refusal" ->
                choice.text |= field == JsonToken.VALUE_STRING && notEmpty(json);
            case "tool_calls", "function_call" ->
                choice.text |=
                        field == JsonToken.START_OBJECT || (field == JsonToken.START_ARRAY && elements(json) > 0);
            default -> {
                // Nothing that tokens say.
            }
        }
        json.skipChildren();
    }

    private static void logprobs(Choice choice, JsonParser json, String name, JsonToken field) throws IOException {
        if (field == JsonToken.START_ARRAY && (name.equals("content") || name.equals("tokens"))) {
            choice.logprobs = elements(json);
        } else if (field == JsonToken.START_ARRAY && name.equals("token_logprobs")) {
            choice.echo = beginsWithNull(json);
        } else {
            json.skipChildren();
        }
    }

    private static boolean beginsWithNull(JsonParser json) throws IOException {
        JsonToken element = json.nextToken();
        boolean isNull = element == JsonToken.VALUE_NULL;
        while (element != null && element != JsonToken.END_ARRAY) {
            json.skipChildren();
            element = json.nextToken();
        }
        return isNull;
    }

    private void usage(JsonParser json, JsonToken value) throws IOException {
        long before = usagePromptTokens;
        usagePromptTokens = -1;
        apartReadTokens = 0;
        apartWrittenTokens = 0;
        fieldsOf(json, value, this, AnswerPart::usageField);
        usagePromptTokens = usagePromptTokens < 0
                ? before
                : Math.min(Integer.MAX_VALUE, usagePromptTokens) + apartReadTokens + apartWrittenTokens;
    }

    private void usageField(JsonParser json, String name, JsonToken field) throws IOException {
        switch (name) {
            case "completion_tokens", "output_tokens" -> usageOutputTokens = count(json, field, usageOutputTokens);
            case "prompt_tokens", "input_tokens" -> usagePromptTokens = count(json, field, usagePromptTokens);
            case "cache_read_input_tokens" -> {
                usageCachedTokens = count(json, field, usageCachedTokens);
                apartReadTokens = Math.min(Integer.MAX_VALUE, Math.max(0, usageCachedTokens));
            }
            case "cache_creation_input_tokens" ->
                apartWrittenTokens = Math.min(Integer.MAX_VALUE, count(json, field, 0));
            case "prompt_tokens_details", "input_tokens_details" ->
                fieldsOf(json, field, this, AnswerPart::cachedField);
            default -> json.skipChildren();
        }
    }

    private void cachedField(JsonParser json, String name, JsonToken field) throws IOException {
        if (name.equals("cached_tokens")) {
            usageCachedTokens = count(json, field, usageCachedTokens);
        } else {
            json.skipChildren();
        }
    }

    private void error(JsonParser json, JsonToken value) throws IOException {
        error = value != JsonToken.VALUE_NULL && value != JsonToken.VALUE_FALSE;
        fieldsOf(json, value, this, AnswerPart::errorField);
    }

    private void errorField(JsonParser json, String name, JsonToken field) throws IOException {
        if (name.equals("type")) {
            errorType = name(json, field);
        } else {
            json.skipChildren();
        }
    }

    private void timingsField(JsonParser json, String name, JsonToken field) throws IOException {
        switch (name) {
            case "predicted_n" -> producedTokens = count(json, field, producedTokens);
            case "prompt_n" -> computedPromptTokens = count(json, field, computedPromptTokens);
            case "prompt_ms" -> promptMillis = millis(json, field);
            case "predicted_ms" -> outputMillis = millis(json, field);
            case "cache_n" -> usageCachedTokens = count(json, field, usageCachedTokens);
            default -> json.skipChildren();
        }
    }

    /** A time in ms; -1 where it is none that can be. */
    private static double millis(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NUMBER_FLOAT || value == JsonToken.VALUE_NUMBER_INT) {
            double millis = json.getTextLength() <= MAX_NUMBER_CHARACTERS ? json.getDoubleValue() : -1;
            return millis >= 0 && millis <= MAX_MILLIS ? millis : -1;
        }
        json.skipChildren();
        return -1;
    }

    private void metaInfoField(JsonParser json, String name, JsonToken field) throws IOException {
        switch (name) {
            case "id" -> id = name(json, field);
            case "completion_tokens" -> {
                producedTokens = count(json, field, producedTokens);
                usageOutputTokens = producedTokens;
            }
            case "prompt_tokens" -> usagePromptTokens = count(json, field, usagePromptTokens);
            case "cached_tokens" -> usageCachedTokens = count(json, field, usageCachedTokens);
            case "finish_reason" -> {
                if (field == JsonToken.START_OBJECT) {
                    fieldsOf(json, field, this, AnswerPart::finishField);
                } else {
                    finish(json, field);
                }
            }
            default -> json.skipChildren();
        }
    }

    /** A field of the object that SGLang tells a finish by. */
    private void finishField(JsonParser json, String name, JsonToken field) throws IOException {
        detailsField(json, name.equals("type"), name, field);
    }

    /** A field of the details that TGI tells at the end. */
    private void detailsField(JsonParser json, String name, JsonToken field) throws IOException {
        detailsField(json, name.equals("finish_reason"), name, field);
    }

    private void detailsField(JsonParser json, boolean tellsFinish, String name, JsonToken field) throws IOException {
        if (tellsFinish) {
            finish(json, field);
        } else if (name.equals("generated_tokens")) {
            usageOutputTokens = count(json, field, usageOutputTokens);
        } else {
            json.skipChildren();
        }
    }

    private void finish(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING && !json.getText().equals("none")) {
            only().finish = finish(json.getText());
        }
        json.skipChildren();
    }

    private void delta(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING) {
            only().text |= notEmpty(json);
            return;
        }
        fieldsOf(json, value, this, AnswerPart::deltaField);
    }

    private void deltaField(JsonParser json, String name, JsonToken field) throws IOException {
        switch (name) {
            case "text", "thinking", "partial_json" -> only().text |= field == JsonToken.VALUE_STRING && notEmpty(json);
            case "stop_reason" -> finish(json, field);
            default -> json.skipChildren();
        }
    }

    /** The finish that an engine's word stands for. */
    static Finish finish(String reason) {
        return switch (reason.toLowerCase(Locale.ROOT)) {
            case "stop",
                    "eos",
                    "eos_token",
                    "word",
                    "stop_sequence",
                    "end_turn",
                    "tool_calls",
                    "tool_use",
                    "function_call" -> Finish.STOP;
            case "length", "limit", "max_tokens", "max_output_tokens" -> Finish.LENGTH;
            case "abort", "aborted" -> Finish.ABORTED;
            case "error" -> Finish.ERROR;
            default -> Finish.OTHER;
        };
    }

    private static boolean notEmpty(JsonParser json) throws IOException {
        return json.getTextLength() > 0;
    }

    private static int elements(JsonParser json) throws IOException {
        int count = 0;
        for (JsonToken element = json.nextToken();
                element != null && element != JsonToken.END_ARRAY;
                element = json.nextToken()) {
            count++;
            json.skipChildren();
        }
        return count;
    }

    private static long count(JsonParser json, JsonToken value, long otherwise) throws IOException {
        if (value == JsonToken.VALUE_NUMBER_INT
                && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER
                && json.getLongValue() >= 0) {
            return json.getLongValue();
        }
        json.skipChildren();
        return otherwise;
    }

    private static @Nullable String name(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING && json.getTextLength() <= MAX_NAME_CHARACTERS) {
            return json.getText();
        }
        json.skipChildren();
        return null;
    }

    private static @Nullable String skip(JsonParser json, @Nullable String kept) throws IOException {
        json.skipChildren();
        return kept;
    }
}
