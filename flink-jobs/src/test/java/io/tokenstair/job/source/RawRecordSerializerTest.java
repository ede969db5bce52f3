package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class RawRecordSerializerTest {
    private final TypeSerializer<RawRecord> serializer = new RawRecordSerializer();

    @Test
    void everyFieldComesThrough() throws IOException {
        RawRecord record = RawRecord.of(Records.bytes("engine-0", 9), "partition-0001", 4);
        record.late = true;
        assertThat(read(written(record))).isEqualTo(record);
    }

    @Test
    void whatIsNoLogRecordComesThroughToo() throws IOException {
        RawRecord record = RawRecord.of(new byte[] {1, 2, 3}, "partition-0001", 4);
        assertThat(read(written(record))).isEqualTo(record);
    }

    @Test
    void copyingTheSerializedFormKeepsIt() throws IOException {
        byte[] bytes = written(RawRecord.of(Records.bytes("engine-0", 9), "partition-0001", 4));
        DataOutputSerializer out = new DataOutputSerializer(bytes.length);
        serializer.copy(new DataInputDeserializer(bytes), out);
        assertThat(out.getCopyOfBuffer()).isEqualTo(bytes);
    }

    @Test
    void aRecordThatWasReadIsNotOverwrittenByTheNext() throws IOException {
        byte[] bytes = written(RawRecord.of(Records.bytes("engine-0", 9), "partition-0001", 4));
        RawRecord first = read(bytes);
        RawRecord second = serializer.deserialize(first, new DataInputDeserializer(bytes));
        assertThat(second).isEqualTo(first).isNotSameAs(first);
    }

    @Test
    void anImpossibleLengthIsRefused() throws IOException {
        byte[] bytes = written(RawRecord.of(new byte[] {1}, "", 0));
        bytes[bytes.length - 5] = (byte) 0x80;
        assertThatThrownBy(() -> read(bytes)).isInstanceOf(IOException.class).hasMessageContaining("Cannot read");
    }

    @Test
    void flinkFindsTheTypeByItself() {
        assertThat(TypeInformation.of(RawRecord.class)).isSameAs(RawRecordTypeInfo.INSTANCE);
    }

    @Test
    void theSnapshotGivesTheSerializerBack() {
        assertThat(serializer.snapshotConfiguration().restoreSerializer()).isEqualTo(serializer);
        assertThat(serializer.duplicate()).isEqualTo(serializer).isNotSameAs(serializer);
    }

    private byte[] written(RawRecord record) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(16);
        serializer.serialize(record, out);
        return out.getCopyOfBuffer();
    }

    private RawRecord read(byte[] bytes) throws IOException {
        return serializer.deserialize(new DataInputDeserializer(bytes));
    }
}
