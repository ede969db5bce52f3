package io.tokenstair.gateway;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What a request asks for, as far as its JSON body says. Text is skipped, never kept.
 *
 * @param model name of the model; absent when not said
 * @param promptTokens length of a prompt that was sent as token ids, in tokens; absent when it was sent as text
 * @param maxTokens most output tokens, per sequence, in tokens; absent when no limit was sent
 * @param choicesCount sequences per prompt; absent when not said
 * @param priority smaller is more urgent; absent when not said
 */
record RequestShape(
        @Nullable String model,
        @Nullable Long promptTokens,
        @Nullable Long maxTokens,
        @Nullable Integer choicesCount,
        @Nullable Integer priority) {
    static final RequestShape UNKNOWN = new RequestShape(null, null, null, null, null);

    private static final JsonFactory JSON = new JsonFactory();
    private static final int MAX_NAME_CHARACTERS = 256;

    /** What a body asks for; what it does not say, or says in a way that cannot be, stays unknown. */
    static RequestShape read(byte[] body) {
        String model = null;
        Long promptTokens = null;
        Long maxTokens = null;
        Integer choices = null;
        Integer priority = null;
        try (JsonParser json = JSON.createParser(body)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return UNKNOWN;
            }
            int depth = 1;
            while (depth > 0) {
                JsonToken token = json.nextToken();
                if (token == null) {
                    break;
                }
                if (token == JsonToken.END_OBJECT) {
                    depth--;
                    continue;
                }
                String name = json.currentName();
                token = json.nextToken();
                switch (name) {
                    case "sampling_params", "parameters" -> {
                        // vLLM's and SGLang's own, and TGI's generate keep the numbers one level down.
                        if (token == JsonToken.START_OBJECT && depth == 1) {
                            depth++;
                        } else {
                            json.skipChildren();
                        }
                    }
                    case "model" -> {
                        if (token == JsonToken.VALUE_STRING
                                && depth == 1
                                && json.getTextLength() <= MAX_NAME_CHARACTERS) {
                            model = json.getText();
                        }
                        json.skipChildren();
                    }
                    case "max_tokens", "max_completion_tokens", "max_new_tokens", "n_predict", "max_output_tokens" ->
                        maxTokens = count(json, token, maxTokens);
                    case "n" -> {
                        Long n = count(json, token, null);
                        choices = n == null || n < 1 || n > 1_000_000 ? null : Integer.valueOf(n.intValue());
                    }
                    case "priority" -> {
                        priority =
                                token == JsonToken.VALUE_NUMBER_INT && json.getNumberType() == JsonParser.NumberType.INT
                                        ? Integer.valueOf(json.getIntValue())
                                        : priority;
                        json.skipChildren();
                    }
                    case "prompt", "token_ids", "input_ids" -> promptTokens = tokens(json, token);
                    default -> json.skipChildren();
                }
            }
        } catch (IOException notJson) {
            // What came before the fault was said all the same.
            return new RequestShape(model, promptTokens, maxTokens, choices, priority);
        }
        return new RequestShape(model, promptTokens, maxTokens, choices, priority);
    }

    private static @Nullable Long count(JsonParser json, JsonToken token, @Nullable Long otherwise) throws IOException {
        if (token == JsonToken.VALUE_NUMBER_INT
                && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER
                && json.getLongValue() >= 0) {
            return json.getLongValue();
        }
        json.skipChildren();
        return otherwise;
    }

    /** The length of a list of whole numbers; null for anything else, several prompts among them. */
    private static @Nullable Long tokens(JsonParser json, JsonToken token) throws IOException {
        if (token != JsonToken.START_ARRAY) {
            json.skipChildren();
            return null;
        }
        long count = 0;
        boolean ids = true;
        for (JsonToken element = json.nextToken();
                element != null && element != JsonToken.END_ARRAY;
                element = json.nextToken()) {
            ids &= element == JsonToken.VALUE_NUMBER_INT;
            count++;
            json.skipChildren();
        }
        return ids && count > 0 ? Long.valueOf(count) : null;
    }
}
