package io.tokenstair.job.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.job.request.RequestState;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZeroPackedSerializerTest {
    private static ZeroPackedSerializer<RequestState> serializer() {
        return new ZeroPackedSerializer<>(
                TypeInformation.of(RequestState.class).createSerializer(new SerializerConfigImpl()));
    }

    private static RequestState state() {
        RequestState state = new RequestState();
        state.lifetimesSoFar = 3;
        state.lastCloseMillis = 1_780_000_000_000L;
        state.aliases = List.of("chatcmpl-a", "chatcmpl-b");
        return state;
    }

    private static byte[] written(ZeroPackedSerializer<RequestState> serializer, RequestState state)
            throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(state, out);
        return out.getCopyOfBuffer();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 9, 63, 64, 65, 4_096})
    void anyBytesComeBack(int length) throws IOException {
        Random random = new Random(length);
        for (int zerosOfHundred : new int[] {0, 50, 95, 100}) {
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                bytes[i] = random.nextInt(100) < zerosOfHundred ? 0 : (byte) random.nextInt();
            }
            byte[] packed = ZeroPackedSerializer.packed(bytes, length);

            assertThat(ZeroPackedSerializer.unpacked(packed, length)).isEqualTo(bytes);
            assertThat(packed.length).isLessThanOrEqualTo(length + (length + 7) / 8);
        }
    }

    @Test
    void aStateComesBackFromAnotherSerializerOfTheSameForm() throws IOException {
        byte[] bytes = written(serializer(), state());
        DataOutputSerializer copied = new DataOutputSerializer(64);
        serializer().copy(new DataInputDeserializer(bytes), copied);
        RequestState read = serializer().deserialize(new DataInputDeserializer(copied.getCopyOfBuffer()));

        assertThat(read).usingRecursiveComparison().isEqualTo(state());
    }

    @Test
    void whatAnEarlierBuildSavedIsReadAsItIs() throws IOException {
        DataOutputSerializer saved = new DataOutputSerializer(64);
        TypeSerializerSnapshot.writeVersionedSnapshot(saved, serializer().snapshotConfiguration());
        TypeSerializerSnapshot<RequestState> restored = TypeSerializerSnapshot.readVersionedSnapshot(
                new DataInputDeserializer(saved.getCopyOfBuffer()), getClass().getClassLoader());

        assertThat(serializer()
                        .snapshotConfiguration()
                        .resolveSchemaCompatibility(restored)
                        .isCompatibleAsIs())
                .isTrue();
        RequestState read =
                restored.restoreSerializer().deserialize(new DataInputDeserializer(written(serializer(), state())));
        assertThat(read).usingRecursiveComparison().isEqualTo(state());
    }

    @Test
    void whatIsBrokenIsRefused() throws IOException {
        byte[] packed = ZeroPackedSerializer.packed(new byte[] {1, 2, 3, 0, 0, 0, 0, 0, 9}, 9);

        assertThatThrownBy(() -> ZeroPackedSerializer.unpacked(Arrays.copyOf(packed, packed.length - 1), 9))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> ZeroPackedSerializer.unpacked(packed, 2)).isInstanceOf(IOException.class);
        byte[] bytes = written(serializer(), state());
        bytes[0] = -1;
        assertThatThrownBy(() -> serializer().deserialize(new DataInputDeserializer(bytes)))
                .isInstanceOf(IOException.class);
    }
}
