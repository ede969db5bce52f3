package io.tokenstair.job.step;

import io.tokenstair.job.type.OwnSerializerTypeInfo;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The Flink type of an {@link EngineRecord} on its way; saved in an {@link EngineBuffer} it is a POJO. */
public final class EngineRecordTypeInfo extends OwnSerializerTypeInfo<EngineRecord> {
    /** The one there is. */
    public static final EngineRecordTypeInfo INSTANCE = new EngineRecordTypeInfo();

    private static final long serialVersionUID = 1L;

    private EngineRecordTypeInfo() {
        super(EngineRecord.class);
    }

    @Override
    protected TypeSerializer<EngineRecord> newSerializer() {
        return new EngineRecordSerializer();
    }
}
