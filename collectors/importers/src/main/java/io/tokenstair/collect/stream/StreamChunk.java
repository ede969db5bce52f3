package io.tokenstair.collect.stream;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.event.Finish;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The data of one server-sent event of an answer: OpenAI's chat and completion chunks with the additions of vLLM, SGLang, TensorRT-LLM,
 * Dynamo and llama.cpp, the native chunks of llama.cpp and SGLang, and those of TGI. Texts are looked at for being there, never kept.
 *
 * @param id the answer's id; absent where the chunk carries none
 * @param parts what it holds of each choice, in order; empty for usage, progress and error chunks
 * @param usage what it says of the whole answer so far
 * @param error the error it reports; absent without one
 */
public record StreamChunk(
        @Nullable String id,
        List<Part> parts,
        Usage usage,
        @Nullable Failure error) {
    private static final int MAX_CHOICES = 4_096;

    /** What is known of the tokens of a part. */
    public enum Tokens {
        /** The chunk says how many. */
        COUNTED,
        /** It holds text; how many tokens that is, it does not say. */
        TEXT,
        /** It could hold a token whose text is held back. */
        EMPTY,
        /** It holds none: the role, the end, progress. */
        NONE
    }

    /**
     * What a chunk holds of one choice.
     *
     * @param choice which one, from 0
     * @param tokens what is known of its tokens
     * @param count how many, where it says; else 0
     * @param finish why the choice ended, or NONE
     */
    public record Part(int choice, Tokens tokens, int count, Finish finish) {}

    /**
     * What a chunk says of the whole answer so far.
     *
     * @param promptTokens prompt length
     * @param cachedTokens of those, found in the prefix cache
     * @param outputTokens output tokens so far, of all choices
     * @param promptMillis time the engine took over the prompt (llama.cpp)
     * @param predictedMillis the engine's time since the first token (llama.cpp)
     * @param draftTokens draft tokens made so far
     * @param draftAcceptedTokens of those, accepted
     * @param truncated true when the engine had to drop a part of the context
     * @param closing whether it is the answer's last word: the counts of the whole answer
     */
    public record Usage(
            @Nullable Integer promptTokens,
            @Nullable Integer cachedTokens,
            @Nullable Integer outputTokens,
            @Nullable Double promptMillis,
            @Nullable Double predictedMillis,
            @Nullable Integer draftTokens,
            @Nullable Integer draftAcceptedTokens,
            boolean truncated,
            boolean closing) {
        public static final Usage NONE = new Usage(null, null, null, null, null, null, null, false, false);
    }

    /**
     * An error that the server reported.
     *
     * @param type its type as the server names it; absent where it has none
     * @param promptTokens prompt length of a refused request; absent where it is not stated
     * @param contextFull whether it says that the context is full
     */
    public record Failure(@Nullable String type, @Nullable Integer promptTokens, boolean contextFull) {}

    /** Reads the data of an event, without its {@code data:}. */
    public static StreamChunk parse(String data) throws RejectedRecordException {
        byte[] bytes = data.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        return of(Fields.parse(bytes, bytes.length));
    }

    /**
     * Reads a whole answer that was not streamed: a part for each choice whose tokens are known, all of them at once. Absent where it is no
     * answer in a form that is known.
     */
    public static @Nullable StreamChunk whole(Fields body) throws RejectedRecordException {
        if (body.has("meta_info") || body.has("tokens_predicted")) {
            return wholeOfOne(of(body), counted(body));
        }
        if (body.has("choices")) {
            return wholeOfChoices(body);
        }
        JsonNode type = body.raw("type");
        JsonNode object = body.raw("object");
        boolean response = object != null && object.asText("").equals("response");
        if (!response && (type == null || !type.asText("").equals("message"))) {
            // Vectors and ranks hold no tokens, and say of how many they were made.
            return body.has("usage") ? new StreamChunk(id(body), List.of(), usage(body, true), null) : null;
        }
        Usage usage = usage(body, true);
        return wholeOfOne(
                new StreamChunk(
                        id(body),
                        List.of(new Part(0, Tokens.NONE, 0, response ? ended(body) : stop(body))),
                        usage,
                        null),
                null);
    }

    private static StreamChunk wholeOfOne(StreamChunk said, @Nullable Integer counted) {
        if (said.error != null || said.parts.size() != 1) {
            return said;
        }
        Part part = said.parts.get(0);
        Integer tokens = counted != null ? counted : said.usage.outputTokens();
        if (tokens == null) {
            return new StreamChunk(said.id, List.of(), said.usage, null);
        }
        return new StreamChunk(said.id, List.of(counted(part.choice, tokens, part.finish)), said.usage, null);
    }

    private static StreamChunk wholeOfChoices(Fields body) throws RejectedRecordException {
        Usage usage = usage(body, true);
        List<Fields> choices = body.objects("choices");
        List<Part> parts = new ArrayList<>(choices.size());
        for (Fields choice : choices) {
            Integer index = choice.optionalCount("index");
            Integer tokens = counted(choice);
            if (tokens == null && choices.size() == 1) {
                tokens = usage.outputTokens();
            }
            if (tokens != null && (index == null || index < MAX_CHOICES) && parts.size() < MAX_CHOICES) {
                parts.add(counted(index == null ? 0 : index, tokens, finish(choice.raw("finish_reason"))));
            }
        }
        return new StreamChunk(id(body), parts, usage, null);
    }

    private static Part counted(int choice, int tokens, Finish finish) {
        return new Part(choice, tokens == 0 ? Tokens.NONE : Tokens.COUNTED, tokens, finish);
    }

    /** Reads a chunk. */
    public static StreamChunk of(Fields chunk) throws RejectedRecordException {
        JsonNode error = chunk.raw("error");
        if (error != null) {
            return new StreamChunk(id(chunk), List.of(), Usage.NONE, failure(error));
        }
        if (chunk.has("choices")) {
            return openAi(chunk);
        }
        if (chunk.has("tokens_predicted") || chunk.has("prompt_progress")) {
            return llamaCpp(chunk);
        }
        if (chunk.has("meta_info")) {
            return sgLang(chunk);
        }
        if (chunk.has("token")) {
            return tgi(chunk);
        }
        JsonNode type = chunk.raw("type");
        if (type != null && type.isTextual()) {
            return typed(chunk, type.textValue());
        }
        if (chunk.has("usage") || chunk.has("timings")) {
            return new StreamChunk(id(chunk), List.of(), usage(chunk, true), null);
        }
        throw new RejectedRecordException("an event that is no chunk of an answer");
    }

    private static @Nullable String id(Fields chunk) throws RejectedRecordException {
        JsonNode id = chunk.raw("id");
        if (id == null || !id.isTextual()) {
            return null;
        }
        String text = chunk.optionalText("id");
        return text == null || text.isEmpty() ? null : text;
    }

    /** The error that a body or a chunk reports; a message is looked at for what it says of the context, never kept. */
    public static Failure failure(JsonNode error) throws RejectedRecordException {
        if (!error.isObject()) {
            return new Failure(null, null, false);
        }
        JsonNode type = error.get("type");
        JsonNode message = error.get("message");
        JsonNode prompt = error.get("n_prompt_tokens");
        String text = message == null ? "" : message.asText("").toLowerCase(Locale.ROOT);
        return new Failure(
                type == null || !type.isTextual() ? null : Fields.bounded(type.textValue(), "error.type"),
                prompt == null || !prompt.isInt() || prompt.intValue() < 0 ? null : Integer.valueOf(prompt.intValue()),
                text.contains("context size has been exceeded"));
    }

    // ---- dialects

    private static StreamChunk openAi(Fields chunk) throws RejectedRecordException {
        List<Fields> choices = chunk.objects("choices");
        if (choices.size() > MAX_CHOICES) {
            throw new RejectedRecordException("field choices: " + choices.size() + " entries, at most " + MAX_CHOICES);
        }
        List<Part> parts = new ArrayList<>(choices.size());
        for (Fields choice : choices) {
            parts.add(part(choice));
        }
        return new StreamChunk(id(chunk), parts, usage(chunk, choices.isEmpty()), null);
    }

    private static Part part(Fields choice) throws RejectedRecordException {
        Integer index = choice.optionalCount("index");
        if (index != null && index >= MAX_CHOICES) {
            throw choice.refuse("index", "at most " + (MAX_CHOICES - 1) + ", not " + index);
        }
        Finish finish = finish(choice.raw("finish_reason"));
        int at = index == null ? 0 : index;
        Integer counted = counted(choice);
        if (counted != null) {
            return new Part(at, counted == 0 ? Tokens.NONE : Tokens.COUNTED, counted, finish);
        }
        Fields delta = choice.optionalObject("delta");
        boolean text = delta == null ? filled(choice.raw("text")) : filled(delta);
        if (text) {
            return new Part(at, Tokens.TEXT, 0, finish);
        }
        boolean role = delta != null && delta.has("role");
        boolean none = role || finish != Finish.NONE || (delta != null && !delta.has("content"));
        return new Part(at, none ? Tokens.NONE : Tokens.EMPTY, 0, finish);
    }

    /** How many tokens a choice says it holds: by their ids, else by their probabilities; null where it does not say. */
    private static @Nullable Integer counted(Fields choice) throws RejectedRecordException {
        JsonNode ids = choice.raw("token_ids");
        if (ids != null && ids.isArray()) {
            return ids.size();
        }
        JsonNode probabilities = choice.raw("logprobs");
        if (probabilities != null && probabilities.isObject() && !echoes(probabilities)) {
            JsonNode tokens = probabilities.get("tokens");
            JsonNode content = probabilities.get("content");
            JsonNode list = tokens != null && tokens.isArray() ? tokens : content;
            if (list != null && list.isArray() && !list.isEmpty()) {
                return list.size();
            }
        }
        return null;
    }

    /** Whether probabilities begin with the prompt's: its first token has none. */
    private static boolean echoes(JsonNode probabilities) {
        return probabilities.path("token_logprobs").path(0).isNull();
    }

    /** Whether a delta carries anything the model made: text, reasoning, a call of a tool. */
    private static boolean filled(Fields delta) {
        return filled(delta.raw("content"))
                || filled(delta.raw("reasoning_content"))
                || filled(delta.raw("reasoning"))
                || filled(delta.raw("refusal"))
                || filled(delta.raw("tool_calls"))
                || filled(delta.raw("function_call"));
    }

    private static boolean filled(@Nullable JsonNode value) {
        if (value == null) {
            return false;
        }
        return value.isTextual() ? !value.textValue().isEmpty() : value.isContainerNode() && !value.isEmpty();
    }

    private static StreamChunk llamaCpp(Fields chunk) throws RejectedRecordException {
        Integer index = chunk.optionalCount("index");
        if (index != null && index >= MAX_CHOICES) {
            throw chunk.refuse("index", "at most " + (MAX_CHOICES - 1) + ", not " + index);
        }
        int at = index == null ? 0 : index;
        boolean stop = Boolean.TRUE.equals(chunk.optionalBoolean("stop"));
        Integer predicted = chunk.optionalCount("tokens_predicted");
        Usage usage = usage(chunk, stop);
        Integer evaluated = chunk.optionalCount("tokens_evaluated");
        usage = new Usage(
                evaluated == null ? usage.promptTokens() : evaluated,
                usage.cachedTokens(),
                predicted == null ? usage.outputTokens() : predicted,
                usage.promptMillis(),
                usage.predictedMillis(),
                usage.draftTokens(),
                usage.draftAcceptedTokens(),
                Boolean.TRUE.equals(chunk.optionalBoolean("truncated")),
                stop);
        if (chunk.has("prompt_progress") || (predicted != null && predicted == 0)) {
            // It has a token id of 0 and looks like a token; nothing was predicted yet.
            return new StreamChunk(id(chunk), List.of(new Part(at, Tokens.NONE, 0, Finish.NONE)), usage, null);
        }
        JsonNode ids = chunk.raw("tokens");
        Finish finish = stop ? stopped(chunk.optionalText("stop_type")) : Finish.NONE;
        Part part;
        if (ids != null && ids.isArray() && (!stop || !ids.isEmpty())) {
            part = new Part(at, ids.isEmpty() ? Tokens.EMPTY : Tokens.COUNTED, ids.size(), finish);
        } else {
            boolean text = filled(chunk.raw("content"));
            part = new Part(at, text ? Tokens.TEXT : stop ? Tokens.NONE : Tokens.EMPTY, 0, finish);
        }
        return new StreamChunk(id(chunk), List.of(part), usage, null);
    }

    private static Finish stopped(@Nullable String type) {
        if (type == null) {
            return Finish.OTHER;
        }
        return switch (type) {
            case "eos", "word" -> Finish.STOP;
            // What was asked for was made, or the context was full.
            case "limit" -> Finish.LENGTH;
            default -> Finish.OTHER;
        };
    }

    private static StreamChunk sgLang(Fields chunk) throws RejectedRecordException {
        Fields meta = chunk.optionalObject("meta_info");
        if (meta == null) {
            throw chunk.refuse("meta_info", "missing");
        }
        Integer index = chunk.optionalCount("index");
        JsonNode reason = meta.raw("finish_reason");
        Finish finish = finish(reason != null && reason.isObject() ? reason.get("type") : reason);
        Usage usage = new Usage(
                meta.optionalCount("prompt_tokens"),
                meta.optionalCount("cached_tokens"),
                meta.optionalCount("completion_tokens"),
                null,
                null,
                null,
                null,
                false,
                finish != Finish.NONE);
        boolean text = filled(chunk.raw("text")) || filled(chunk.raw("output_ids"));
        Part part = new Part(
                index == null ? 0 : Math.min(index, MAX_CHOICES - 1), text ? Tokens.TEXT : Tokens.EMPTY, 0, finish);
        return new StreamChunk(id(meta), List.of(part), usage, null);
    }

    private static StreamChunk tgi(Fields chunk) throws RejectedRecordException {
        Fields details = chunk.optionalObject("details");
        Finish finish = details == null ? Finish.NONE : finish(details.raw("finish_reason"));
        Integer generated = details == null ? null : details.optionalCount("generated_tokens");
        Usage usage = new Usage(null, null, generated, null, null, null, null, false, details != null);
        return new StreamChunk(id(chunk), List.of(new Part(0, Tokens.COUNTED, 1, finish)), usage, null);
    }

    /** Events that say what they are: OpenAI's responses, Anthropic's messages. */
    private static StreamChunk typed(Fields chunk, String type) throws RejectedRecordException {
        if (type.equals("error")) {
            JsonNode code = chunk.raw("code");
            return new StreamChunk(
                    null,
                    List.of(),
                    Usage.NONE,
                    new Failure(
                            code == null || !code.isTextual() ? null : Fields.bounded(code.textValue(), "code"),
                            null,
                            false));
        }
        Fields whole = object(chunk, type.startsWith("response.") ? "response" : "message");
        JsonNode failed = whole == null ? null : whole.raw("error");
        if (failed != null) {
            return new StreamChunk(whole == null ? null : id(whole), List.of(), Usage.NONE, failure(failed));
        }
        boolean last = type.equals("response.completed") || type.equals("response.incomplete");
        Usage usage = whole != null ? usage(whole, last) : usage(chunk, type.equals("message_delta"));
        if (type.equals("response.created") || type.equals("response.in_progress") || type.equals("message_start")) {
            // It repeats what was asked for: nothing was made yet.
            usage = new Usage(usage.promptTokens(), usage.cachedTokens(), null, null, null, null, null, false, false);
        }
        String id = whole == null ? null : id(whole);
        List<Part> parts;
        if (type.endsWith("delta")) {
            JsonNode delta = chunk.raw("delta");
            boolean object = delta != null && delta.isObject();
            Fields fields = object ? chunk.optionalObject("delta") : null;
            JsonNode probabilities = chunk.raw("logprobs");
            boolean text = fields == null
                    ? filled(delta)
                    : filled(fields.raw("text"))
                            || filled(fields.raw("thinking"))
                            || filled(fields.raw("partial_json"));
            Finish finish = fields == null ? Finish.NONE : stop(fields);
            int counted = probabilities != null && probabilities.isArray() ? probabilities.size() : 0;
            parts = List.of(
                    text
                            ? new Part(0, counted > 0 ? Tokens.COUNTED : Tokens.TEXT, counted, finish)
                            : new Part(0, Tokens.NONE, 0, finish));
        } else if (last && whole != null) {
            parts = List.of(new Part(0, Tokens.NONE, 0, ended(whole)));
        } else {
            parts = List.of(new Part(0, Tokens.NONE, 0, Finish.NONE));
        }
        return new StreamChunk(id, parts, usage, null);
    }

    private static @Nullable Fields object(Fields chunk, String name) throws RejectedRecordException {
        JsonNode value = chunk.raw(name);
        return value == null || !value.isObject() ? null : chunk.optionalObject(name);
    }

    private static Finish stop(Fields delta) {
        return finish(delta.raw("stop_reason"));
    }

    /** Why a response ended. That it is completed is said of one that was cut at its limit as well, and says nothing. */
    private static Finish ended(Fields response) throws RejectedRecordException {
        Fields details = object(response, "incomplete_details");
        JsonNode reason = details == null ? null : details.raw("reason");
        if (reason == null || !reason.isTextual()) {
            return Finish.NONE;
        }
        return reason.textValue().equals("max_output_tokens") ? Finish.LENGTH : Finish.OTHER;
    }

    // ---- usage

    private static Usage usage(Fields chunk, boolean closing) throws RejectedRecordException {
        Fields usage = chunk.optionalObject("usage");
        Fields timings = chunk.optionalObject("timings");
        if (usage == null && timings == null) {
            return Usage.NONE;
        }
        Integer prompt = null;
        Integer cached = null;
        Integer output = null;
        if (usage != null) {
            boolean openAi = usage.has("prompt_tokens") || usage.has("completion_tokens");
            prompt = usage.optionalCount(openAi ? "prompt_tokens" : "input_tokens");
            output = usage.optionalCount(openAi ? "completion_tokens" : "output_tokens");
            Fields details = usage.optionalObject(openAi ? "prompt_tokens_details" : "input_tokens_details");
            cached = details == null ? null : details.optionalCount("cached_tokens");
            Integer read = openAi ? null : usage.optionalCount("cache_read_input_tokens");
            Integer written = openAi ? null : usage.optionalCount("cache_creation_input_tokens");
            cached = cached == null ? read : cached;
            if (prompt != null) {
                // Anthropic's form counts apart what was found cached, and what was put there.
                long all = (long) prompt + (read == null ? 0 : read) + (written == null ? 0 : written);
                prompt = (int) Math.min(Integer.MAX_VALUE, all);
            }
        }
        Double promptMillis = null;
        Double predictedMillis = null;
        Integer drafted = null;
        Integer accepted = null;
        if (timings != null) {
            Integer cacheCount = timings.optionalCount("cache_n");
            Integer promptCount = timings.optionalCount("prompt_n");
            cached = cached == null ? cacheCount : cached;
            prompt = prompt == null && cacheCount != null && promptCount != null
                    ? Integer.valueOf((int) Math.min(Integer.MAX_VALUE, (long) cacheCount + promptCount))
                    : prompt;
            output = output == null ? timings.optionalCount("predicted_n") : output;
            promptMillis = millis(timings, "prompt_ms");
            predictedMillis = millis(timings, "predicted_ms");
            drafted = timings.optionalCount("draft_n");
            accepted = timings.optionalCount("draft_n_accepted");
        }
        if (cached != null && prompt != null && cached > prompt) {
            throw new RejectedRecordException("field usage: more prompt tokens found cached than there are");
        }
        return new Usage(prompt, cached, output, promptMillis, predictedMillis, drafted, accepted, false, closing);
    }

    private static @Nullable Double millis(Fields timings, String name) throws RejectedRecordException {
        JsonNode value = timings.raw(name);
        if (value == null) {
            return null;
        }
        double millis = value.isNumber() ? value.doubleValue() : Double.NaN;
        if (!(millis >= 0 && millis < 1e12)) {
            throw timings.refuse(name, "not a time");
        }
        return millis;
    }

    private static Finish finish(@Nullable JsonNode reason) {
        if (reason == null || !reason.isTextual() || reason.textValue().isEmpty()) {
            return Finish.NONE;
        }
        return switch (reason.textValue().toLowerCase(Locale.ROOT)) {
            case "stop", "eos_token", "stop_sequence", "end_turn", "tool_calls", "tool_use", "function_call" ->
                Finish.STOP;
            case "length", "max_tokens" -> Finish.LENGTH;
            case "abort", "aborted", "cancelled" -> Finish.ABORTED;
            case "error" -> Finish.ERROR;
            default -> Finish.OTHER;
        };
    }
}
