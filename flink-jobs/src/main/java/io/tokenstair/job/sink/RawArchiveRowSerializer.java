package io.tokenstair.job.sink;

import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.type.OwnSerializer;
import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Carries archive rows where the sink is not chained: the table, the flag, and the event in its wire form. */
public final class RawArchiveRowSerializer extends OwnSerializer<RawArchiveRow> {
    @Override
    protected OwnSerializer<RawArchiveRow> another() {
        return new RawArchiveRowSerializer();
    }

    @Override
    @SuppressWarnings("NullAway") // Flink wants null where there is no empty instance.
    public RawArchiveRow createInstance() {
        return null;
    }

    @Override
    public void serialize(RawArchiveRow row, DataOutputView target) throws IOException {
        byte[] event = EventCodec.encode(row.event());
        target.writeUTF(row.table());
        target.writeBoolean(row.late());
        target.writeInt(event.length);
        target.write(event);
    }

    @Override
    public RawArchiveRow deserialize(DataInputView source) throws IOException {
        String table = source.readUTF();
        boolean late = source.readBoolean();
        byte[] event = PackedBytes.read(source);
        try {
            return new RawArchiveRow(table, EventCodec.decode(event), late);
        } catch (WireException e) {
            throw new IOException("Cannot read an archive row of table " + table + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        target.writeUTF(source.readUTF());
        target.writeBoolean(source.readBoolean());
        PackedBytes.copy(source, target);
    }

    @Override
    public TypeSerializerSnapshot<RawArchiveRow> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Version 1 of the form above. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<RawArchiveRow> {
        /** For Flink, which makes one when it restores. */
        public Snapshot() {
            super(RawArchiveRowSerializer::new);
        }
    }
}
