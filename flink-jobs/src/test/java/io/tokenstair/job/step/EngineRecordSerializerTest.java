package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class EngineRecordSerializerTest {
    private final TypeSerializer<EngineRecord> serializer =
            EngineRecordTypeInfo.INSTANCE.createSerializer(new SerializerConfigImpl());

    @Test
    void everyFieldComesThroughAndTheNextRecordDoesNotOverwriteIt() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(record("engine-0", 1), out);
        serializer.serialize(record("Motor-\u00fc", 2), out);
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
        EngineRecord first = serializer.deserialize(in);
        EngineRecord second = serializer.deserialize(first, in);

        assertThat(first).usingRecursiveComparison().isEqualTo(record("engine-0", 1));
        assertThat(second).usingRecursiveComparison().isEqualTo(record("Motor-\u00fc", 2));
    }

    @Test
    void copyingTheSerializedFormKeepsIt() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(record("engine-0", 1), out);
        DataOutputSerializer copied = new DataOutputSerializer(64);
        serializer.copy(new DataInputDeserializer(out.getCopyOfBuffer()), copied);

        assertThat(copied.getCopyOfBuffer()).isEqualTo(out.getCopyOfBuffer());
    }

    @Test
    void itIsForTheExchangeAlone() {
        assertThat(TypeInformation.of(EngineRecord.class)).isInstanceOf(PojoTypeInfo.class);
        assertThat(serializer.snapshotConfiguration().restoreSerializer()).isEqualTo(serializer);
        assertThat(serializer.duplicate()).isEqualTo(serializer).isNotSameAs(serializer);
    }

    private static EngineRecord record(String engineId, int sequence) {
        EngineRecord record = new EngineRecord();
        record.engineId = engineId;
        record.coarseEpochMillis = 1_700_000_000_000L + sequence;
        record.collectorId = "collector-" + sequence;
        record.collectorEpoch = 3;
        record.sequence = sequence;
        record.bytes = new byte[] {1, 2, (byte) sequence};
        return record;
    }
}
