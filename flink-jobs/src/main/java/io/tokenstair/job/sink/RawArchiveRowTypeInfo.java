package io.tokenstair.job.sink;

import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link RawArchiveRow}. */
public final class RawArchiveRowTypeInfo extends TypeInformation<RawArchiveRow> {
    /** The one there is. */
    public static final RawArchiveRowTypeInfo INSTANCE = new RawArchiveRowTypeInfo();

    private RawArchiveRowTypeInfo() {}

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
    public Class<RawArchiveRow> getTypeClass() {
        return RawArchiveRow.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<RawArchiveRow> createSerializer(SerializerConfig config) {
        return new RawArchiveRowSerializer();
    }

    @Override
    public String toString() {
        return "RawArchiveRow";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RawArchiveRowTypeInfo;
    }

    @Override
    public int hashCode() {
        return RawArchiveRowTypeInfo.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof RawArchiveRowTypeInfo;
    }

    /** Finds the type wherever Flink meets the class. */
    public static final class Factory extends TypeInfoFactory<RawArchiveRow> {
        /** For Flink. */
        public Factory() {}

        @Override
        public TypeInformation<RawArchiveRow> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> genericParameters) {
            return INSTANCE;
        }
    }
}
