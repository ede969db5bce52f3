package io.tokenstair.job.request;

import io.tokenstair.job.type.OwnSerializerTypeInfo;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link RequestInput}. */
public final class RequestInputTypeInfo extends OwnSerializerTypeInfo<RequestInput> {
    /** The one there is. */
    public static final RequestInputTypeInfo INSTANCE = new RequestInputTypeInfo();

    private static final long serialVersionUID = 1L;

    private RequestInputTypeInfo() {
        super(RequestInput.class);
    }

    @Override
    protected TypeSerializer<RequestInput> newSerializer() {
        return new RequestInputSerializer();
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
