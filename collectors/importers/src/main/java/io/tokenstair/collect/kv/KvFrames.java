package io.tokenstair.collect.kv;

import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.foreign.KvPayload;
import java.util.HexFormat;

/** Payloads of KV event messages, refused as records of an import are. */
public final class KvFrames {
    private KvFrames() {}

    /**
     * The bytes of a frame.
     *
     * @param field name of the field that holds the frames
     */
    public static byte[] bytes(Fields line, String field, String hex, int frame) throws RejectedRecordException {
        try {
            return HexFormat.of().parseHex(hex);
        } catch (IllegalArgumentException e) {
            throw line.refuse(field + '[' + frame + ']', "not hex");
        }
    }

    /** Reads a payload. */
    public static KvPayload payload(byte[] bytes) throws RejectedRecordException {
        try {
            return KvPayload.parse(bytes);
        } catch (ForeignFormatException e) {
            throw new RejectedRecordException("field frames: " + e.getMessage());
        }
    }
}
