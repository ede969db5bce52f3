package io.tokenstair.collect.input;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigInteger;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/** A msgpack value as a tree of bounded size, so that what reads JSON records reads msgpack ones too. */
public final class MsgpackTrees {
    private static final int MAX_VALUES = 1 << 16;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final MessageUnpacker in;
    private final int totalBytes;
    private int values;

    private MsgpackTrees(MessageUnpacker in, int totalBytes) {
        this.in = in;
        this.totalBytes = totalBytes;
    }

    /** The record that these bytes hold: one map with texts as keys, and nothing after it. */
    public static Fields fields(byte[] bytes) throws RejectedRecordException {
        try (MessageUnpacker in = MessagePack.newDefaultUnpacker(bytes)) {
            JsonNode node = new MsgpackTrees(in, bytes.length).value(0);
            if (in.hasNext()) {
                throw new RejectedRecordException("bytes after the end of the record");
            }
            return Fields.of(node);
        } catch (MessagePackException | IOException e) {
            throw new RejectedRecordException("not valid msgpack (cut?)");
        }
    }

    private JsonNode value(int depth) throws IOException, RejectedRecordException {
        if (++values > MAX_VALUES || depth > Fields.MAX_DEPTH) {
            throw new RejectedRecordException(
                    "msgpack of more than " + MAX_VALUES + " values, or nested deeper than " + Fields.MAX_DEPTH);
        }
        return switch (in.getNextFormat().getValueType()) {
            case NIL -> {
                in.unpackNil();
                yield NullNode.getInstance();
            }
            case BOOLEAN -> NODES.booleanNode(in.unpackBoolean());
            case INTEGER -> {
                BigInteger number = in.unpackBigInteger();
                yield number.bitLength() < Long.SIZE ? NODES.numberNode(number.longValue()) : NODES.numberNode(number);
            }
            case FLOAT -> NODES.numberNode(in.unpackDouble());
            case STRING -> NODES.textNode(in.unpackString());
            case BINARY -> {
                int length = in.unpackBinaryHeader();
                if (length > totalBytes - in.getTotalReadBytes()) {
                    throw new RejectedRecordException("not valid msgpack (cut?)");
                }
                yield NODES.binaryNode(in.readPayload(length));
            }
            case ARRAY -> {
                ArrayNode array = NODES.arrayNode();
                int count = in.unpackArrayHeader();
                for (int i = 0; i < count; i++) {
                    array.add(value(depth + 1));
                }
                yield array;
            }
            case MAP -> {
                ObjectNode object = NODES.objectNode();
                int count = in.unpackMapHeader();
                for (int i = 0; i < count; i++) {
                    String name = in.unpackString();
                    if (object.has(name)) {
                        throw new RejectedRecordException("a msgpack map with one key twice");
                    }
                    object.set(name, value(depth + 1));
                }
                yield object;
            }
            case EXTENSION -> {
                in.skipValue();
                yield NullNode.getInstance();
            }
        };
    }
}
