package io.tokenstair.look.otlp;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The attributes of a span or event; what is unknown is left out. */
final class SpanAttributes {
    private final List<KeyValue> attributes = new ArrayList<>();

    SpanAttributes text(String key, @Nullable String value) {
        return value == null || value.isEmpty()
                ? this
                : add(key, AnyValue.newBuilder().setStringValue(value));
    }

    SpanAttributes whole(String key, @Nullable Long value) {
        return value == null ? this : add(key, AnyValue.newBuilder().setIntValue(value));
    }

    SpanAttributes whole(String key, @Nullable Integer value) {
        return value == null ? this : whole(key, Long.valueOf(value));
    }

    SpanAttributes flag(String key, boolean value) {
        return add(key, AnyValue.newBuilder().setBoolValue(value));
    }

    /** A duration as the conventions have it, in seconds. */
    SpanAttributes seconds(String key, @Nullable Long nanos) {
        return nanos == null ? this : add(key, AnyValue.newBuilder().setDoubleValue(nanos / 1e9));
    }

    SpanAttributes texts(String key, List<String> values) {
        if (values.isEmpty()) {
            return this;
        }
        ArrayValue.Builder array = ArrayValue.newBuilder();
        values.forEach(value -> array.addValues(AnyValue.newBuilder().setStringValue(value)));
        return add(key, AnyValue.newBuilder().setArrayValue(array));
    }

    SpanAttributes manySeconds(String key, List<Long> nanos) {
        if (nanos.isEmpty()) {
            return this;
        }
        ArrayValue.Builder array = ArrayValue.newBuilder();
        nanos.forEach(value -> array.addValues(AnyValue.newBuilder().setDoubleValue(value / 1e9)));
        return add(key, AnyValue.newBuilder().setArrayValue(array));
    }

    private SpanAttributes add(String key, AnyValue.Builder value) {
        attributes.add(KeyValue.newBuilder().setKey(key).setValue(value).build());
        return this;
    }

    List<KeyValue> list() {
        return attributes;
    }
}
