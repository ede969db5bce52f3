package io.tokenstair.job.type;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * A serializer without settings, of values of any length. They are not changed once sent, so that a copy is the same object; one whose values
 * are overrides {@link #isImmutableType} and {@link #copy(Object)}. A value that is read is always a new one: operators keep those they were given.
 *
 * @param <T> the values
 */
public abstract class OwnSerializer<T> extends TypeSerializer<T> {
    private static final long serialVersionUID = 1L;

    /** What Flink sends to tasks and gives to another thread: one that shares no scratch with this. */
    protected abstract OwnSerializer<T> another();

    @Override
    public final TypeSerializer<T> duplicate() {
        return another();
    }

    /** Scratch does not travel. */
    protected final Object readResolve() {
        return another();
    }

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public T copy(T from) {
        return from;
    }

    @Override
    public final T copy(T from, T reuse) {
        return copy(from);
    }

    @Override
    public final T deserialize(T reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    /** What {@link PackedBytes} wrote in one piece. */
    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        PackedBytes.copy(source, target);
    }

    @Override
    public final int getLength() {
        return -1;
    }

    @Override
    public final boolean equals(@Nullable Object other) {
        return other != null && getClass() == other.getClass();
    }

    @Override
    public final int hashCode() {
        return getClass().hashCode();
    }
}
