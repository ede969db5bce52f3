package io.tokenstair.collect.otlp;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.WireFormat;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * An export request, read within limits. Its messages are counted before any is made.
 *
 * @param signal what it carries
 * @param message the request
 */
public record OtlpRequest(OtlpSignal signal, Message message) {
    private static final int PIECE_BYTES = 1 << 16;
    private static final int MAX_NESTING = 100;

    /** Reads the protobuf form. */
    public static OtlpRequest protobuf(OtlpSignal signal, byte[] bytes, OtlpLimits limits) throws OtlpException {
        demandSize(bytes.length, limits);
        try {
            CodedInputStream in = CodedInputStream.newInstance(bytes);
            count(in, signal.prototype().getDescriptorForType(), limits.messages(), 0);
            return new OtlpRequest(signal, signal.prototype().getParserForType().parseFrom(bytes));
        } catch (IOException e) {
            throw wrongProtobuf(signal);
        }
    }

    private static OtlpException wrongProtobuf(OtlpSignal signal) {
        return new OtlpException(
                "not an " + signal.prototype().getDescriptorForType().getName() + ": wrong or cut protobuf");
    }

    /** Reads the JSON form. */
    public static OtlpRequest json(OtlpSignal signal, byte[] json, int length, OtlpLimits limits) throws OtlpException {
        demandSize(length, limits);
        return new OtlpRequest(signal, OtlpJson.read(json, 0, length, signal.prototype(), limits.messages()));
    }

    /** Reads the JSON form of whatever signal it is, or a JSON object that holds it as {@code body}. */
    public static OtlpRequest json(byte[] json, int length, OtlpLimits limits) throws OtlpException {
        demandSize(length, limits);
        return OtlpJson.readAny(json, 0, length, limits.messages());
    }

    /** Reads the protobuf form of whatever signal it is: the forms differ in what is inside, and the one is taken that most items fit. */
    public static OtlpRequest protobuf(byte[] bytes, OtlpLimits limits) throws OtlpException {
        OtlpRequest best = null;
        long most = -1;
        for (OtlpSignal signal : OtlpSignal.values()) {
            try {
                OtlpRequest request = protobuf(signal, bytes, limits);
                OtlpBatch batch = new OtlpDecoder().decode(request);
                long fit = 2 * batch.events().size() + batch.accepted() - batch.rejected();
                if (batch.accepted() + batch.rejected() > 0 && fit > most) {
                    best = request;
                    most = fit;
                }
            } catch (OtlpException e) {
                // It is another signal, or none.
                continue;
            }
        }
        return best != null ? best : protobuf(OtlpSignal.TRACES, bytes, limits);
    }

    /** Unzips a gzipped request, never more of it than the limit. */
    public static byte[] unzipped(byte[] zipped, OtlpLimits limits) throws OtlpException {
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(zipped))) {
            // In pieces, so that no more room is ever taken than comes out.
            List<byte[]> pieces = new ArrayList<>();
            long total = 0;
            for (byte[] piece = in.readNBytes(PIECE_BYTES); piece.length > 0; piece = in.readNBytes(PIECE_BYTES)) {
                total += piece.length;
                if (total > limits.requestBytes()) {
                    throw OtlpException.tooLarge("more than " + limits.requestBytes() + " bytes come out of the gzip");
                }
                pieces.add(piece);
            }
            byte[] whole = new byte[(int) total];
            int at = 0;
            for (byte[] piece : pieces) {
                System.arraycopy(piece, 0, whole, at, piece.length);
                at += piece.length;
            }
            return whole;
        } catch (IOException e) {
            throw new OtlpException("not gzip, or cut");
        }
    }

    private static void demandSize(int length, OtlpLimits limits) throws OtlpException {
        if (length > limits.requestBytes()) {
            throw OtlpException.tooLarge("a request of more than " + limits.requestBytes() + " bytes");
        }
    }

    /** Counts the messages inside a message by its wire form alone; what is left of the limit. */
    private static int count(CodedInputStream in, Descriptor type, int left, int depth)
            throws IOException, OtlpException {
        int rest = left;
        if (depth > MAX_NESTING) {
            throw new OtlpException("messages more than " + MAX_NESTING + " deep");
        }
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
            if (field != null
                    && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                    && WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                if (--rest < 0) {
                    throw OtlpException.tooLarge("too many messages in one request");
                }
                int outer = in.pushLimit(in.readRawVarint32());
                rest = count(in, field.getMessageType(), rest, depth + 1);
                in.popLimit(outer);
            } else if (!in.skipField(tag)) {
                break;
            }
        }
        return rest;
    }
}
