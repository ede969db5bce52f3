package io.tokenstair.job.source;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * What the enumerator of a folder log remembers over a restart.
 *
 * @param known names of the partitions that have been found so far
 * @param unassigned the splits of those that no reader holds
 */
record FolderLogProgress(Set<String> known, List<FolderLogSplit> unassigned) {
    FolderLogProgress(Collection<String> known, Collection<FolderLogSplit> unassigned) {
        this(new TreeSet<>(known), List.copyOf(unassigned));
    }

    /** The form of the progress in checkpoints. */
    static final class Serializer implements SimpleVersionedSerializer<FolderLogProgress> {
        private static final int VERSION = 1;

        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(FolderLogProgress progress) throws IOException {
            DataOutputSerializer out = new DataOutputSerializer(256);
            out.writeInt(progress.known.size());
            for (String partition : progress.known) {
                out.writeUTF(partition);
            }
            out.writeInt(progress.unassigned.size());
            for (FolderLogSplit split : progress.unassigned) {
                out.writeUTF(split.partition());
                out.writeLong(split.position());
            }
            return out.getCopyOfBuffer();
        }

        @Override
        public FolderLogProgress deserialize(int version, byte[] bytes) throws IOException {
            if (version != VERSION) {
                throw new IOException("Cannot read the progress over a folder log of version " + version
                        + ": this version reads " + VERSION);
            }
            DataInputDeserializer in = new DataInputDeserializer(bytes);
            Set<String> known = new TreeSet<>();
            for (int left = in.readInt(); left > 0; left--) {
                known.add(in.readUTF());
            }
            List<FolderLogSplit> unassigned = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                unassigned.add(new FolderLogSplit(in.readUTF(), in.readLong()));
            }
            return new FolderLogProgress(known, unassigned);
        }
    }
}
