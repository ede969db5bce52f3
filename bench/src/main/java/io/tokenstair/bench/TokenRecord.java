package io.tokenstair.bench;

import org.apache.flink.api.common.typeinfo.TypeInfo;

/** What a job that only ships tokens ships: 44 bytes of one token. */
@TypeInfo(TokenRecordTypeInfo.Factory.class)
public final class TokenRecord {
    /** Bytes of a record on its way. */
    public static final int BYTES = 44;

    public int engine;
    public int requestHandle;
    public int tokenIndex;
    public int contextTokens;
    public int batchSequences;
    public long stepId;
    public long beginNanos;
    public long endNanos;

    /** An empty record, to be filled. */
    public TokenRecord() {}

    /** What it is sent by: engine and handle in one number. */
    public long key() {
        return (long) engine << 32 | requestHandle;
    }
}
