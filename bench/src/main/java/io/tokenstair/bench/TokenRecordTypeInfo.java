package io.tokenstair.bench;

import io.tokenstair.job.type.OwnSerializerTypeInfo;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link TokenRecord}. */
public final class TokenRecordTypeInfo extends OwnSerializerTypeInfo<TokenRecord> {
    /** The one there is. */
    public static final TokenRecordTypeInfo INSTANCE = new TokenRecordTypeInfo();

    private static final long serialVersionUID = 1L;

    private TokenRecordTypeInfo() {
        super(TokenRecord.class);
    }

    @Override
    protected TypeSerializer<TokenRecord> newSerializer() {
        return new TokenRecordSerializer();
    }

    /** Finds the type wherever Flink meets the class. */
    public static final class Factory extends TypeInfoFactory<TokenRecord> {
        /** For Flink. */
        public Factory() {}

        @Override
        public TypeInformation<TokenRecord> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> genericParameters) {
            return INSTANCE;
        }
    }
}
