package io.tokenstair.collect.kv;

import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.foreign.KvPayload;

/** Payloads of KV event messages, refused as records of an import are. */
public final class KvFrames {
    private KvFrames() {}

    /** Reads a payload. */
    public static KvPayload payload(byte[] bytes) throws RejectedRecordException {
        try {
            return KvPayload.parse(bytes);
        } catch (ForeignFormatException e) {
            throw new RejectedRecordException("field frames: " + e.getMessage());
        }
    }
}
