package io.tokenstair.job.type;

import java.util.Objects;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.jspecify.annotations.Nullable;

/**
 * The Flink type of a class that brings its own serializer and is no key.
 *
 * @param <T> the class
 */
public abstract class OwnSerializerTypeInfo<T> extends TypeInformation<T> {
    private static final long serialVersionUID = 1L;

    private final Class<T> type;

    /** The type of this class. */
    protected OwnSerializerTypeInfo(Class<T> type) {
        this.type = type;
    }

    /** A new serializer. */
    protected abstract TypeSerializer<T> newSerializer();

    @Override
    public final TypeSerializer<T> createSerializer(SerializerConfig config) {
        return newSerializer();
    }

    @Override
    public final boolean isBasicType() {
        return false;
    }

    @Override
    public final boolean isTupleType() {
        return false;
    }

    @Override
    public final int getArity() {
        return 1;
    }

    @Override
    public final int getTotalFields() {
        return 1;
    }

    @Override
    public final Class<T> getTypeClass() {
        return type;
    }

    @Override
    public final boolean isKeyType() {
        return false;
    }

    @Override
    public final String toString() {
        return type.getSimpleName();
    }

    @Override
    public final boolean equals(@Nullable Object other) {
        return other instanceof OwnSerializerTypeInfo<?> that && type.equals(that.type);
    }

    @Override
    public final int hashCode() {
        return Objects.hash(OwnSerializerTypeInfo.class, type);
    }

    @Override
    public final boolean canEqual(Object other) {
        return other instanceof OwnSerializerTypeInfo;
    }
}
