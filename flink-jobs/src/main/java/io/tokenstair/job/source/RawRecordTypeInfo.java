package io.tokenstair.job.source;

import io.tokenstair.job.type.OwnSerializerTypeInfo;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link RawRecord}. */
public final class RawRecordTypeInfo extends OwnSerializerTypeInfo<RawRecord> {
    /** The one there is. */
    public static final RawRecordTypeInfo INSTANCE = new RawRecordTypeInfo();

    private static final long serialVersionUID = 1L;

    private RawRecordTypeInfo() {
        super(RawRecord.class);
    }

    @Override
    protected TypeSerializer<RawRecord> newSerializer() {
        return new RawRecordSerializer();
    }

    /** Finds the type wherever Flink meets the class. */
    public static final class Factory extends TypeInfoFactory<RawRecord> {
        /** For Flink. */
        public Factory() {}

        @Override
        public TypeInformation<RawRecord> createTypeInfo(Type type, Map<String, TypeInformation<?>> genericParameters) {
            return INSTANCE;
        }
    }
}
