package io.tokenstair.job.staircase;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.staircase.SyntheticSeries.Kind;
import java.io.IOException;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class StaircaseStateTest {
    private static final int LARGEST_BYTES = 768;

    @Test
    void flinkKeepsItAsAPojoOfBoundedSize() throws IOException {
        assertThat(TypeInformation.of(StaircaseState.class)).isInstanceOf(PojoTypeInfo.class);
        StaircaseState state = new StaircaseState();
        int empty = bytes(state).length;
        feed(state, 0, Integer.MAX_VALUE);

        assertThat(bytes(state).length).isEqualTo(empty).isLessThanOrEqualTo(LARGEST_BYTES);
    }

    @Test
    void judgingGoesOnAfterARestore() throws IOException {
        StaircaseState uninterrupted = new StaircaseState();
        feed(uninterrupted, 0, Integer.MAX_VALUE);
        StaircaseState state = new StaircaseState();
        feed(state, 0, 333);
        StaircaseState restored = serializer().deserialize(new DataInputDeserializer(bytes(state)));
        feed(restored, 333, Integer.MAX_VALUE);

        assertThat(bytes(restored)).isEqualTo(bytes(uninterrupted));
        assertThat(StaircaseDetector.verdict(restored)).isEqualTo(StaircaseDetector.verdict(uninterrupted));
    }

    private static void feed(StaircaseState state, int from, int to) {
        SyntheticSeries series = SyntheticSeries.of(Kind.STAIRS, 3);
        for (int i = from; i < Math.min(to, series.gapNanos.length); i++) {
            StaircaseDetector.accept(state, i, series.gapNanos[i], series.expectedNanos[i], series.kvEvents[i]);
        }
    }

    private static TypeSerializer<StaircaseState> serializer() {
        SerializerConfigImpl config = new SerializerConfigImpl();
        config.setGenericTypes(false);
        return TypeInformation.of(StaircaseState.class).createSerializer(config);
    }

    private static byte[] bytes(StaircaseState state) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(1024);
        serializer().serialize(state, out);
        return out.getCopyOfBuffer();
    }
}
