package io.tokenstair.job.request;

import io.tokenstair.job.type.OwnSerializerTypeInfo;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link TokenRun}. */
public final class TokenRunTypeInfo extends OwnSerializerTypeInfo<TokenRun> {
    /** The one there is. */
    public static final TokenRunTypeInfo INSTANCE = new TokenRunTypeInfo();

    private static final long serialVersionUID = 1L;

    private TokenRunTypeInfo() {
        super(TokenRun.class);
    }

    @Override
    protected TypeSerializer<TokenRun> newSerializer() {
        return new TokenRunSerializer();
    }

    /** Finds the type wherever Flink meets the class. */
    public static final class Factory extends TypeInfoFactory<TokenRun> {
        /** For Flink. */
        public Factory() {}

        @Override
        public TypeInformation<TokenRun> createTypeInfo(Type type, Map<String, TypeInformation<?>> genericParameters) {
            return INSTANCE;
        }
    }
}
