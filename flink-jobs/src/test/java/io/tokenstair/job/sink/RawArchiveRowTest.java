package io.tokenstair.job.sink;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.source.Records;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class RawArchiveRowTest {
    private final RawArchiveRowSerializer serializer = new RawArchiveRowSerializer();

    @Test
    void anEventGoesToTheTableOfItsKindAndAStepToThoseItHasRowsFor() {
        assertThat(tables(0, false)).containsExactly("id_aliased");
        assertThat(tables(3, true)).containsExactly("step_completed");
        assertThat(tables(4, true)).containsExactly("step_completed", "step_sequence");
        assertThat(tables(15, true)).containsExactly("step_completed", "handle_announced");
        assertThat(tables(5, true)).containsExactly("step_completed", "step_sequence", "handle_announced");
    }

    @Test
    void aRowComesThroughWhereTheSinkIsNotChained() throws IOException {
        RawArchiveRow row = new RawArchiveRow("step_sequence", Records.step("engine-0", 5), true);
        DataOutputSerializer written = new DataOutputSerializer(16);
        serializer.serialize(row, written);
        byte[] bytes = written.getCopyOfBuffer();
        assertThat(serializer.deserialize(new DataInputDeserializer(bytes))).isEqualTo(row);
        DataOutputSerializer copied = new DataOutputSerializer(bytes.length);
        serializer.copy(new DataInputDeserializer(bytes), copied);
        assertThat(copied.getCopyOfBuffer()).isEqualTo(bytes);
    }

    @Test
    void flinkFindsTheTypeByItself() {
        assertThat(TypeInformation.of(RawArchiveRow.class)).isSameAs(RawArchiveRowTypeInfo.INSTANCE);
        assertThat(serializer.snapshotConfiguration().restoreSerializer()).isEqualTo(serializer);
    }

    private static List<String> tables(long sequence, boolean step) {
        List<String> tables = new ArrayList<>();
        RawArchiveRow.forEach(
                step ? Records.step("engine-0", sequence) : Records.event("engine-0", sequence),
                false,
                row -> tables.add(row.table()));
        return tables;
    }
}
