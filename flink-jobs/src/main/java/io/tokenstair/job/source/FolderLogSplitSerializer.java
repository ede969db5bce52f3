package io.tokenstair.job.source;

import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** The form of a split in checkpoints: its partition and its position. */
final class FolderLogSplitSerializer implements SimpleVersionedSerializer<FolderLogSplit> {
    static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(FolderLogSplit split) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        out.writeUTF(split.partition());
        out.writeLong(split.position());
        return out.getCopyOfBuffer();
    }

    @Override
    public FolderLogSplit deserialize(int version, byte[] bytes) throws IOException {
        if (version != VERSION) {
            throw new IOException(
                    "Cannot read a folder log split of version " + version + ": this version reads " + VERSION);
        }
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        return new FolderLogSplit(in.readUTF(), in.readLong());
    }
}
