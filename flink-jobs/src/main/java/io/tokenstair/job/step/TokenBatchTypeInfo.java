package io.tokenstair.job.step;

import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link TokenBatch}. */
public final class TokenBatchTypeInfo extends TypeInformation<TokenBatch> {
    /** The one there is. */
    public static final TokenBatchTypeInfo INSTANCE = new TokenBatchTypeInfo();

    private TokenBatchTypeInfo() {}

    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public Class<TokenBatch> getTypeClass() {
        return TokenBatch.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<TokenBatch> createSerializer(SerializerConfig config) {
        return new TokenBatchSerializer();
    }

    @Override
    public String toString() {
        return "TokenBatch";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TokenBatchTypeInfo;
    }

    @Override
    public int hashCode() {
        return TokenBatchTypeInfo.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof TokenBatchTypeInfo;
    }

    /** Finds the type wherever Flink meets the class. */
    public static final class Factory extends TypeInfoFactory<TokenBatch> {
        /** For Flink. */
        public Factory() {}

        @Override
        public TypeInformation<TokenBatch> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> genericParameters) {
            return INSTANCE;
        }
    }
}
