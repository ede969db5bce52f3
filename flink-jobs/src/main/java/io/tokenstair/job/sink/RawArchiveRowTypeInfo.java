package io.tokenstair.job.sink;

import io.tokenstair.job.type.OwnSerializerTypeInfo;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of {@link RawArchiveRow}. */
public final class RawArchiveRowTypeInfo extends OwnSerializerTypeInfo<RawArchiveRow> {
    /** The one there is. */
    public static final RawArchiveRowTypeInfo INSTANCE = new RawArchiveRowTypeInfo();

    private static final long serialVersionUID = 1L;

    private RawArchiveRowTypeInfo() {
        super(RawArchiveRow.class);
    }

    @Override
    protected TypeSerializer<RawArchiveRow> newSerializer() {
        return new RawArchiveRowSerializer();
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
