package io.tokenstair.job.source;

import io.tokenstair.job.type.OwnSerializer;
import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Carries raw records between operators: fixed fields, two short strings, then the bytes in one piece. */
public final class RawRecordSerializer extends OwnSerializer<RawRecord> {
    @Override
    public boolean isImmutableType() {
        return false;
    }

    @Override
    protected OwnSerializer<RawRecord> another() {
        return new RawRecordSerializer();
    }

    @Override
    public RawRecord createInstance() {
        return new RawRecord();
    }

    @Override
    public RawRecord copy(RawRecord from) {
        return from.copy();
    }

    @Override
    public void serialize(RawRecord record, DataOutputView target) throws IOException {
        target.writeBoolean(record.late);
        target.writeLong(record.ordinal);
        target.writeInt(record.kindTag);
        target.writeLong(record.coarseEpochMillis);
        target.writeLong(record.collectorEpoch);
        target.writeLong(record.sequence);
        target.writeUTF(record.origin);
        target.writeUTF(record.collectorId);
        target.writeInt(record.bytes.length);
        target.write(record.bytes);
    }

    @Override
    public RawRecord deserialize(DataInputView source) throws IOException {
        RawRecord record = new RawRecord();
        record.late = source.readBoolean();
        record.ordinal = source.readLong();
        record.kindTag = source.readInt();
        record.coarseEpochMillis = source.readLong();
        record.collectorEpoch = source.readLong();
        record.sequence = source.readLong();
        record.origin = source.readUTF();
        record.collectorId = source.readUTF();
        record.bytes = PackedBytes.read(source);
        return record;
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        target.writeBoolean(source.readBoolean());
        target.writeLong(source.readLong());
        target.writeInt(source.readInt());
        target.writeLong(source.readLong());
        target.writeLong(source.readLong());
        target.writeLong(source.readLong());
        target.writeUTF(source.readUTF());
        target.writeUTF(source.readUTF());
        PackedBytes.copy(source, target);
    }

    @Override
    public TypeSerializerSnapshot<RawRecord> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Version 1 of the form above. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<RawRecord> {
        /** For Flink, which makes one when it restores. */
        public Snapshot() {
            super(RawRecordSerializer::new);
        }
    }
}
