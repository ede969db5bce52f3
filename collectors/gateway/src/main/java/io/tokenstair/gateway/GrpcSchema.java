package io.tokenstair.gateway;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.tokenstair.event.Finish;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the messages of one gRPC call say of its tokens, for the schemas that are published: KServe v2 ({@code ModelInfer},
 * {@code ModelStreamInfer}, with the outputs of Triton's vLLM and TensorRT-LLM backends) and the {@code Generate} of vLLM's and SGLang's
 * schedulers. Texts are looked at for whether they are empty. Holds at most {@value #MAX_IDS} ids of a stream.
 */
final class GrpcSchema {
    private static final int MAX_IDS = 1_024;
    private static final int MAX_NAME_BYTES = 256;
    private static final int MAX_TENSORS = 256;

    private final boolean kserve;
    private final boolean streams;
    private final Map<String, Integer> ids = new HashMap<>();
    private boolean chunkSeen;

    private GrpcSchema(boolean kserve, boolean streams) {
        this.kserve = kserve;
        this.streams = streams;
    }

    /** The schema of a call; null where it is not known. */
    static @Nullable GrpcSchema of(String route) {
        return switch (route) {
            case "/inference.GRPCInferenceService/ModelStreamInfer" -> new GrpcSchema(true, true);
            case "/inference.GRPCInferenceService/ModelInfer" -> new GrpcSchema(true, false);
            case "/vllm.grpc.engine.VllmEngine/Generate",
                    "/vllm.grpc.scheduler.VllmScheduler/Generate",
                    "/sglang.grpc.scheduler.SglangScheduler/Generate" -> new GrpcSchema(false, true);
            default -> null;
        };
    }

    /** False for a call that has one answer: what it says is said of all tokens at once. */
    boolean isStream() {
        return streams;
    }

    /** A field of a message: a number, or the bytes of a text or of a message in it. */
    private record Field(int number, boolean isBytes, long value, ByteString bytes) {}

    private static List<Field> fields(ByteString message) throws IOException {
        List<Field> fields = new ArrayList<>();
        CodedInputStream in = message.newCodedInput();
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            int number = WireFormat.getTagFieldNumber(tag);
            switch (WireFormat.getTagWireType(tag)) {
                case WireFormat.WIRETYPE_VARINT ->
                    fields.add(new Field(number, false, in.readRawVarint64(), ByteString.EMPTY));
                case WireFormat.WIRETYPE_LENGTH_DELIMITED -> fields.add(new Field(number, true, 0, in.readBytes()));
                case WireFormat.WIRETYPE_FIXED32 -> in.skipRawBytes(4);
                case WireFormat.WIRETYPE_FIXED64 -> in.skipRawBytes(8);
                default -> throw new IOException("a group");
            }
        }
        return fields;
    }

    private static @Nullable String name(Field field) {
        return field.isBytes()
                        && field.bytes().size() <= MAX_NAME_BYTES
                        && field.bytes().isValidUtf8()
                ? field.bytes().toStringUtf8()
                : null;
    }

    /** Values of a repeated field of whole numbers, packed or not. */
    private static int count(List<Field> fields, int number) throws IOException {
        int count = 0;
        for (Field field : fields) {
            if (field.number() == number) {
                count += field.isBytes() ? varints(field.bytes()).size() : 1;
            }
        }
        return count;
    }

    private static List<Long> varints(ByteString packed) throws IOException {
        List<Long> values = new ArrayList<>();
        CodedInputStream in = packed.newCodedInput();
        while (!in.isAtEnd()) {
            values.add(in.readRawVarint64());
        }
        return values;
    }

    private static long number(List<Field> fields, int number, long otherwise) {
        long value = otherwise;
        for (Field field : fields) {
            if (field.number() == number && !field.isBytes()) {
                value = field.value();
            }
        }
        return value;
    }

    private static @Nullable Field last(List<Field> fields, int number) {
        Field found = null;
        for (Field field : fields) {
            if (field.number() == number && field.isBytes()) {
                found = field;
            }
        }
        return found;
    }

    /** What a message of the answer says; null where it is not as the schema has it, or holds nothing that tells of tokens. */
    @Nullable
    AnswerPart read(byte[] message) {
        try {
            List<Field> fields = fields(ByteString.copyFrom(message));
            return kserve ? inferred(fields) : generated(fields);
        } catch (IOException noSuchMessage) {
            return null;
        }
    }

    // Generate: { request_id = 1, chunk = 2 | complete = 3 | error = 4 }, and later { chunk = 1 | complete = 2 }.

    private @Nullable AnswerPart generated(List<Field> fields) throws IOException {
        Field first = last(fields, 1);
        Field second = last(fields, 2);
        Field complete = last(fields, 3);
        Field error = last(fields, 4);
        AnswerPart part = new AnswerPart();
        if (error != null) {
            part.error = true;
            return part;
        }
        if (complete != null || (first != null && second != null)) {
            part.id = first == null ? null : name(first);
            return complete != null ? complete(part, fields(complete.bytes())) : chunk(part, second);
        }
        if (first != null && second == null) {
            return chunk(part, first);
        }
        if (second == null) {
            return null;
        }
        // Alone it is a chunk of the first form without an id, or the end of the second: only the end has a text in it.
        List<Field> inner = fields(second.bytes());
        return last(inner, 2) != null ? complete(part, inner) : chunk(part, second);
    }

    private @Nullable AnswerPart chunk(AnswerPart part, @Nullable Field field) throws IOException {
        if (field == null) {
            return null;
        }
        List<Field> fields = fields(field.bytes());
        chunkSeen = true;
        AnswerPart.Choice choice = new AnswerPart.Choice();
        choice.tokenIds = count(fields, 1);
        choice.index = index(number(fields, 8, 0));
        part.choices.add(choice);
        part.usagePromptTokens = number(fields, 2, -1);
        part.usageCachedTokens = number(fields, 4, -1);
        return part;
    }

    /** The end. Behind chunks its tokens are those of the last of them again, or of all. */
    private AnswerPart complete(AnswerPart part, List<Field> fields) throws IOException {
        AnswerPart.Choice choice = new AnswerPart.Choice();
        choice.tokenIds = chunkSeen ? 0 : count(fields, 1);
        choice.index = index(number(fields, 11, 0));
        Field reason = last(fields, 2);
        String finish = reason == null ? null : name(reason);
        choice.finish = finish == null || finish.isEmpty() ? Finish.NONE : AnswerPart.finish(finish);
        part.choices.add(choice);
        part.usagePromptTokens = number(fields, 3, -1);
        part.usageCachedTokens = number(fields, 5, -1);
        return part;
    }

    private static int index(long index) {
        return (int) Math.min(1 << 20, Math.max(0, index));
    }

    // KServe v2: ModelStreamInferResponse { error_message = 1, infer_response = 2 }, ModelInferResponse { id = 3,
    // outputs = 5,
    // raw_output_contents = 6 }, InferOutputTensor { name = 1, datatype = 2, shape = 3, contents = 5 }.

    private @Nullable AnswerPart inferred(List<Field> message) throws IOException {
        List<Field> response = message;
        AnswerPart part = new AnswerPart();
        if (streams) {
            Field error = last(message, 1);
            if (error != null && !error.bytes().isEmpty()) {
                part.error = true;
                return part;
            }
            Field inner = last(message, 2);
            if (inner == null) {
                return null;
            }
            response = fields(inner.bytes());
        }
        Field id = last(response, 3);
        part.id = id == null || id.bytes().isEmpty() ? null : name(id);
        List<ByteString> raw = new ArrayList<>();
        List<ByteString> outputs = new ArrayList<>();
        for (Field field : response) {
            if (field.number() == 5 && field.isBytes()) {
                outputs.add(field.bytes());
            } else if (field.number() == 6 && field.isBytes()) {
                raw.add(field.bytes());
            }
        }
        if (outputs.size() > MAX_TENSORS) {
            return null;
        }
        AnswerPart.Choice choice = new AnswerPart.Choice();
        choice.index = sequence(part.id);
        boolean told = outputs.isEmpty();
        if (told) {
            // Triton ends a stream of answers with an empty one.
            choice.tokenIds = 0;
        }
        for (int i = 0; i < outputs.size(); i++) {
            told |= tensor(fields(outputs.get(i)), i < raw.size() ? raw.get(i) : null, choice);
        }
        part.choices.add(choice);
        return told ? part : null;
    }

    /** Streams of several requests in one call are told apart by their ids. */
    private int sequence(@Nullable String id) {
        if (id == null) {
            return 0;
        }
        Integer known = ids.get(id);
        if (known != null) {
            return known;
        }
        int next = ids.size();
        if (next < MAX_IDS) {
            ids.put(id, next);
        }
        return next;
    }

    /** Takes what a tensor says of tokens; false where it says nothing. */
    private boolean tensor(List<Field> tensor, @Nullable ByteString raw, AnswerPart.Choice choice) throws IOException {
        Field nameField = last(tensor, 1);
        String name = nameField == null ? null : name(nameField);
        if (name == null) {
            return false;
        }
        Field contents = last(tensor, 5);
        switch (name) {
            case "num_output_tokens" -> {
                long tokens = firstNumber(tensor, raw, contents);
                if (tokens >= 0 && tokens <= 1 << 24) {
                    choice.tokenIds = (int) tokens;
                }
                return tokens >= 0;
            }
            case "output_ids", "token_ids", "output_token_ids" -> {
                // One answer to one request may have the prompt's tokens in it; those of a stream are new ones.
                int tokens = streams ? elements(tensor) : -1;
                if (tokens >= 0 && choice.tokenIds < 0) {
                    choice.tokenIds = tokens;
                }
                return tokens >= 0;
            }
            case "text_output" -> {
                choice.text |= raw != null ? raw.size() > 4 : contents != null && hasText(fields(contents.bytes()));
                return true;
            }
            case "finish_reason" -> {
                String reason = firstText(raw, contents);
                if (reason != null && !reason.isEmpty() && !reason.equalsIgnoreCase("none")) {
                    choice.finish = AnswerPart.finish(reason);
                }
                return false;
            }
            default -> {
                return false;
            }
        }
    }

    /** How many values a tensor has of one sequence; -1 where it has several sequences, or does not say. */
    private static int elements(List<Field> tensor) throws IOException {
        List<Long> shape = new ArrayList<>();
        for (Field field : tensor) {
            if (field.number() == 3) {
                shape.addAll(field.isBytes() ? varints(field.bytes()) : List.of(field.value()));
            }
        }
        if (shape.isEmpty()) {
            return -1;
        }
        for (long dimension : shape.subList(0, shape.size() - 1)) {
            if (dimension != 1) {
                return -1;
            }
        }
        long last = shape.get(shape.size() - 1);
        return last < 0 || last > 1 << 24 ? -1 : (int) last;
    }

    /** The first value of a tensor of whole numbers; -1 where there is none. */
    private static long firstNumber(List<Field> tensor, @Nullable ByteString raw, @Nullable Field contents)
            throws IOException {
        Field type = last(tensor, 2);
        if (raw != null) {
            int bytes = type != null && String.valueOf(name(type)).endsWith("64") ? 8 : 4;
            if (raw.size() < bytes) {
                return -1;
            }
            long value = 0;
            for (int i = bytes - 1; i >= 0; i--) {
                value = value << 8 | (raw.byteAt(i) & 0xFFL);
            }
            return value;
        }
        if (contents != null) {
            for (Field field : fields(contents.bytes())) {
                if (field.number() >= 2 && field.number() <= 5) {
                    List<Long> values = field.isBytes() ? varints(field.bytes()) : List.of(field.value());
                    return values.isEmpty() ? -1 : values.get(0);
                }
            }
        }
        return -1;
    }

    private static boolean hasText(List<Field> contents) {
        return contents.stream()
                .anyMatch(field -> field.number() == 8 && !field.bytes().isEmpty());
    }

    private static @Nullable String firstText(@Nullable ByteString raw, @Nullable Field contents) throws IOException {
        if (raw != null) {
            return raw.size() < 4 || raw.size() > MAX_NAME_BYTES
                    ? null
                    : raw.substring(4).toStringUtf8();
        }
        Field text = contents == null ? null : last(fields(contents.bytes()), 8);
        return text == null ? null : name(text);
    }

    /**
     * What a request asks for.
     *
     * @param shape as far as it says
     * @param id the engine's id of the request; absent where the client gave none
     */
    record Asked(RequestShape shape, @Nullable String id) {}

    /** What the first message of a request's body asks for. */
    Asked asked(byte[] body) {
        if (body.length < 5 || body[0] != 0) {
            return new Asked(RequestShape.UNKNOWN, null);
        }
        long length = (body[1] & 0xFFL) << 24 | (body[2] & 0xFFL) << 16 | (body[3] & 0xFFL) << 8 | (body[4] & 0xFFL);
        if (length > body.length - 5) {
            return new Asked(RequestShape.UNKNOWN, null);
        }
        try {
            List<Field> request = fields(ByteString.copyFrom(body, 5, (int) length));
            if (kserve) {
                Field model = last(request, 1);
                Field id = last(request, 3);
                return new Asked(
                        new RequestShape(model == null ? null : name(model), null, null, null, null),
                        id == null || id.bytes().isEmpty() ? null : name(id));
            }
            Field id = last(request, 1);
            Field tokenized = last(request, 2);
            Field sampling = last(request, 4);
            long promptTokens = tokenized == null ? 0 : count(fields(tokenized.bytes()), 2);
            List<Field> wanted = sampling == null ? List.of() : fields(sampling.bytes());
            long maxTokens = number(wanted, 8, 0);
            long choices = number(wanted, 15, 0);
            return new Asked(
                    new RequestShape(
                            null,
                            promptTokens == 0 ? null : Long.valueOf(promptTokens),
                            maxTokens <= 0 || maxTokens > Integer.MAX_VALUE ? null : Long.valueOf(maxTokens),
                            choices <= 0 || choices > 1_000_000 ? null : Integer.valueOf((int) choices),
                            null),
                    id == null || id.bytes().isEmpty() ? null : name(id));
        } catch (IOException noSuchMessage) {
            return new Asked(RequestShape.UNKNOWN, null);
        }
    }
}
