package io.tokenstair.event.wire;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.tokenstair.event.Field;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Maps a record to a protobuf message by field number. An absent component is an unset field, and the other way round. */
final class RecordMapping {
    private final RecordComponent[] components;
    private final FieldDescriptor[] fields;
    private final Constructor<?> constructor;

    private RecordMapping(RecordComponent[] components, FieldDescriptor[] fields, Constructor<?> constructor) {
        this.components = components;
        this.fields = fields;
        this.constructor = constructor;
    }

    static RecordMapping of(Class<?> type, Descriptor message) {
        RecordComponent[] components = type.getRecordComponents();
        FieldDescriptor[] fields = new FieldDescriptor[components.length];
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            Field number = components[i].getAnnotation(Field.class);
            if (number == null) {
                throw new IllegalStateException("Cannot map " + type.getSimpleName() + "." + components[i].getName()
                        + ": it has no field number");
            }
            fields[i] = message.findFieldByNumber(number.value());
            if (fields[i] == null) {
                throw new IllegalStateException("Cannot map " + type.getSimpleName() + "." + components[i].getName()
                        + ": the wire form has no field " + number.value());
            }
            types[i] = components[i].getType();
        }
        try {
            return new RecordMapping(components, fields, type.getDeclaredConstructor(types));
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("Cannot find the constructor of " + type, e);
        }
    }

    void write(Object event, Message.Builder message) {
        for (int i = 0; i < fields.length; i++) {
            Object value = read(components[i], event);
            if (value instanceof List<?> values) {
                for (Object element : values) {
                    message.addRepeatedField(fields[i], element);
                }
            } else if (value != null) {
                message.setField(fields[i], value);
            }
        }
    }

    private static boolean isId(String name) {
        return name.endsWith("Id") || name.equals("alias");
    }

    private static @Nullable Object read(RecordComponent component, Object event) {
        try {
            return component.getAccessor().invoke(event);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Cannot read " + component, e);
        }
    }

    Object read(Message message) {
        @Nullable Object[] values = new @Nullable Object[fields.length];
        for (int i = 0; i < fields.length; i++) {
            boolean absent = fields[i].hasPresence() && !message.hasField(fields[i]);
            values[i] = absent ? null : message.getField(fields[i]);
            if (values[i] instanceof String id && isId(components[i].getName())) {
                EventCodec.checkId(components[i].getName(), id);
            }
        }
        try {
            return constructor.newInstance(values);
        } catch (java.lang.reflect.InvocationTargetException e) {
            if (e.getCause() instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new IllegalStateException("Cannot make " + constructor, e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Cannot make " + constructor, e);
        }
    }
}
