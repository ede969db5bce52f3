package io.tokenstair.gateway;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Messages of gRPC calls as engines write them, by their published schemas. */
final class GrpcMessages {
    static final List<String> ROUTES = List.of(
            "/inference.GRPCInferenceService/ModelStreamInfer",
            "/inference.GRPCInferenceService/ModelInfer",
            "/vllm.grpc.engine.VllmEngine/Generate");

    private GrpcMessages() {}

    static List<byte[]> ofEverySchema() {
        return List.of(
                generated(true, false, 3),
                generated(false, false, 2),
                generated(true, true, 2),
                generated(false, true, 4),
                inferred("a", 3, "some text"),
                inferred("b", null, "text"),
                ids("c", 1, 5),
                ids("c", 2, 2));
    }

    /** A message with its flag and length before it. */
    static byte[] framed(byte[] message) {
        return ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .array();
    }

    static byte[] bytes(PartWriter writer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            writer.write(out);
            out.flush();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /** Writes a message. */
    interface PartWriter {
        void write(CodedOutputStream out) throws IOException;
    }

    static byte[] packed(int count) {
        return bytes(out -> {
            for (int i = 0; i < count; i++) {
                out.writeUInt32NoTag(100 + i * 1_000);
            }
        });
    }

    /** vLLM's GenerateResponse, in its first form with the request's id, or its second without. */
    static byte[] generated(boolean withId, boolean end, int tokens) {
        byte[] inner = bytes(out -> {
            out.writeByteArray(1, packed(tokens));
            if (end) {
                out.writeString(2, "length");
                out.writeUInt32(3, 7);
                out.writeUInt32(4, tokens);
                out.writeUInt32(5, 3);
            } else {
                out.writeUInt32(2, 7);
                out.writeUInt32(3, tokens);
                out.writeUInt32(4, 3);
            }
        });
        return bytes(out -> {
            if (withId) {
                out.writeString(1, "engine-1");
            }
            out.writeByteArray((withId ? 2 : 1) + (end ? 1 : 0), inner);
        });
    }

    static byte[] tensor(String name, String type, int... shape) {
        return bytes(out -> {
            out.writeString(1, name);
            out.writeString(2, type);
            out.writeByteArray(3, bytes(dimensions -> {
                for (int dimension : shape) {
                    dimensions.writeInt64NoTag(dimension);
                }
            }));
        });
    }

    static byte[] rawText(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(4 + utf8.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(utf8.length)
                .put(utf8)
                .array();
    }

    /** KServe's answer as Triton's vLLM backend writes it, with a text and, where asked for, how many tokens it is. */
    static byte[] inferred(String id, @Nullable Integer tokens, String text) {
        byte[] response = bytes(out -> {
            out.writeString(1, "model");
            out.writeString(3, id);
            if (tokens == null && text.isEmpty()) {
                return;
            }
            out.writeByteArray(5, tensor("text_output", "BYTES", 1));
            if (tokens != null) {
                out.writeByteArray(5, tensor("num_output_tokens", "UINT32", 1));
            }
            out.writeByteArray(6, rawText(text));
            if (tokens != null) {
                out.writeByteArray(
                        6,
                        ByteBuffer.allocate(4)
                                .order(ByteOrder.LITTLE_ENDIAN)
                                .putInt(tokens)
                                .array());
            }
        });
        return bytes(out -> out.writeByteArray(2, response));
    }

    /** The same as TensorRT-LLM's backend writes it: the new tokens' ids. */
    static byte[] ids(String id, int beams, int tokens) {
        byte[] response = bytes(out -> {
            out.writeString(3, id);
            out.writeByteArray(5, tensor("output_ids", "INT32", 1, beams, tokens));
            out.writeByteArray(6, new byte[4 * beams * tokens]);
        });
        return bytes(out -> out.writeByteArray(2, response));
    }
}
