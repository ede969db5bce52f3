package io.tokenstair.bench;

import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link TokenRecord}. */
public final class TokenRecordTypeInfo extends TypeInformation<TokenRecord> {
    /** The one there is. */
    public static final TokenRecordTypeInfo INSTANCE = new TokenRecordTypeInfo();

    private TokenRecordTypeInfo() {}

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
    public Class<TokenRecord> getTypeClass() {
        return TokenRecord.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<TokenRecord> createSerializer(SerializerConfig config) {
        return new TokenRecordSerializer();
    }

    @Override
    public String toString() {
        return "TokenRecord";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TokenRecordTypeInfo;
    }

    @Override
    public int hashCode() {
        return TokenRecordTypeInfo.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof TokenRecordTypeInfo;
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
