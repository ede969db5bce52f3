package io.tokenstair.job.request;

import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link RequestInput}. */
public final class RequestInputTypeInfo extends TypeInformation<RequestInput> {
    /** The one there is. */
    public static final RequestInputTypeInfo INSTANCE = new RequestInputTypeInfo();

    private RequestInputTypeInfo() {}

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
    public Class<RequestInput> getTypeClass() {
        return RequestInput.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<RequestInput> createSerializer(SerializerConfig config) {
        return new RequestInputSerializer();
    }

    @Override
    public String toString() {
        return "RequestInput";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RequestInputTypeInfo;
    }

    @Override
    public int hashCode() {
        return RequestInputTypeInfo.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof RequestInputTypeInfo;
    }

    /** Finds the type wherever Flink meets the class. */
    public static final class Factory extends TypeInfoFactory<RequestInput> {
        /** For Flink. */
        public Factory() {}

        @Override
        public TypeInformation<RequestInput> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> genericParameters) {
            return INSTANCE;
        }
    }
}
