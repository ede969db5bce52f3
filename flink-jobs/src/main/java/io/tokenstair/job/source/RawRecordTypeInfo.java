package io.tokenstair.job.source;

import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link RawRecord}. */
public final class RawRecordTypeInfo extends TypeInformation<RawRecord> {
    /** The one there is. */
    public static final RawRecordTypeInfo INSTANCE = new RawRecordTypeInfo();

    private RawRecordTypeInfo() {}

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
    public Class<RawRecord> getTypeClass() {
        return RawRecord.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<RawRecord> createSerializer(SerializerConfig config) {
        return new RawRecordSerializer();
    }

    @Override
    public String toString() {
        return "RawRecord";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RawRecordTypeInfo;
    }

    @Override
    public int hashCode() {
        return RawRecordTypeInfo.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof RawRecordTypeInfo;
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
