package io.tokenstair.job.step;

import io.tokenstair.job.type.OwnSerializerTypeInfo;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link TokenBatch}. */
public final class TokenBatchTypeInfo extends OwnSerializerTypeInfo<TokenBatch> {
    /** The one there is. */
    public static final TokenBatchTypeInfo INSTANCE = new TokenBatchTypeInfo();

    private static final long serialVersionUID = 1L;

    private TokenBatchTypeInfo() {
        super(TokenBatch.class);
    }

    @Override
    protected TypeSerializer<TokenBatch> newSerializer() {
        return new TokenBatchSerializer();
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
