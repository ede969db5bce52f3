package io.tokenstair.job.staircase;

import static io.tokenstair.job.staircase.Readings.levels;
import static io.tokenstair.job.staircase.Readings.near;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StaircaseStateTest {
    private static final Readings SERIES =
            Readings.of(900, levels(0.15, 150, 300, 500, 700)).withKvEvents(near(150, 300, 500, 700));

    @ParameterizedTest
    @CsvSource({"COMPACT, 700", "FULL, 1600"})
    void flinkKeepsItAsAPojoOfBoundedSize(String size, int largestBytes) throws IOException {
        assertThat(TypeInformation.of(StaircaseState.class)).isInstanceOf(PojoTypeInfo.class);
        StaircaseDetector detector = detector(size);
        StaircaseState state = detector.start();
        int empty = bytes(state).length;
        SERIES.feed(detector, state, 0, SERIES.count());

        assertThat(bytes(state).length).isEqualTo(empty).isLessThanOrEqualTo(largestBytes);
    }

    @ParameterizedTest
    @CsvSource({"COMPACT, 333", "FULL, 333", "COMPACT, 1", "FULL, 2", "COMPACT, 318", "FULL, 318"})
    void judgingGoesOnAfterARestore(String size, int stop) throws IOException {
        StaircaseDetector detector = detector(size);
        StaircaseState uninterrupted = detector.start();
        SERIES.feed(detector, uninterrupted, 0, SERIES.count());
        StaircaseState state = detector.start();
        SERIES.feed(detector, state, 0, stop);
        StaircaseState restored = serializer().deserialize(new DataInputDeserializer(bytes(state)));
        SERIES.feed(detector, restored, stop, SERIES.count());

        assertThat(bytes(restored)).isEqualTo(bytes(uninterrupted));
        assertThat(detector.verdict(restored)).isEqualTo(detector.verdict(uninterrupted));
        assertThat(detector.verdict(restored).kvDriven()).isTrue();
    }

    @Test
    void aCopyIsEqualAndItsOwn() throws IOException {
        for (StaircaseDetector detector : List.of(StaircaseDetector.COMPACT, StaircaseDetector.FULL)) {
            StaircaseState state = detector.start();
            SERIES.feed(detector, state, 0, 600);
            StaircaseState copy = state.copy();
            assertThat(bytes(copy)).isEqualTo(bytes(state));

            SERIES.feed(detector, copy, 600, SERIES.count());
            StaircaseState again = detector.start();
            SERIES.feed(detector, again, 0, 600);
            assertThat(bytes(state)).isEqualTo(bytes(again));
        }
    }

    private static StaircaseDetector detector(String size) {
        return size.equals("FULL") ? StaircaseDetector.FULL : StaircaseDetector.COMPACT;
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
