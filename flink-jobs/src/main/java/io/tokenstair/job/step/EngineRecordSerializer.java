package io.tokenstair.job.step;

import io.tokenstair.job.type.KnownTexts;
import io.tokenstair.job.type.OwnSerializer;
import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Carries events to their engine, field by field: Flink's own way asks reflection for each of them. Records are not changed once sent,
 * so a copy is the same object. For the exchange alone: an {@link EngineBuffer} is saved as before.
 */
final class EngineRecordSerializer extends OwnSerializer<EngineRecord> {
    private static final long serialVersionUID = 1L;

    private transient PackedBytes scratch = new PackedBytes();
    private transient KnownTexts known = new KnownTexts();

    @Override
    protected OwnSerializer<EngineRecord> another() {
        return new EngineRecordSerializer();
    }

    @Override
    public EngineRecord createInstance() {
        return new EngineRecord();
    }

    @Override
    public void serialize(EngineRecord record, DataOutputView target) throws IOException {
        PackedBytes out = scratch;
        out.clear();
        out.putText(record.engineId);
        out.putLong(record.coarseEpochMillis);
        out.putText(record.collectorId);
        out.putLong(record.collectorEpoch);
        out.putLong(record.sequence);
        out.putBytes(record.bytes);
        out.writeTo(target);
    }

    @Override
    public EngineRecord deserialize(DataInputView source) throws IOException {
        PackedBytes in = scratch;
        in.readFrom(source);
        EngineRecord record = new EngineRecord();
        record.engineId = in.takeText(known);
        record.coarseEpochMillis = in.takeLong();
        record.collectorId = in.takeText(known);
        record.collectorEpoch = in.takeLong();
        record.sequence = in.takeLong();
        record.bytes = in.takeBytes();
        return record;
    }

    @Override
    public TypeSerializerSnapshot<EngineRecord> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Version 1 of the form above. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<EngineRecord> {
        /** For Flink, which makes one when it restores. */
        public Snapshot() {
            super(EngineRecordSerializer::new);
        }
    }
}
