package io.tokenstair.archive;

import io.tokenstair.event.Field;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.io.api.Binary;
import org.jspecify.annotations.Nullable;

/** The components of a record as columns: read off the record once, written without reflection. */
final class RecordColumns<T> {
    private final Class<T> type;
    private final List<Column> columns;
    private final List<Function<Object, Object>> enumReaders;
    private final List<Accessor<T>> accessors;
    private final Constructor<T> constructor;
    private final @Nullable Object[] constants;
    private final int[] positions;

    private RecordColumns(
            Class<T> type,
            List<Column> columns,
            List<Function<Object, Object>> enumReaders,
            List<Accessor<T>> accessors,
            Constructor<T> constructor,
            @Nullable Object[] constants,
            int[] positions) {
        this.type = type;
        this.columns = columns;
        this.enumReaders = enumReaders;
        this.accessors = accessors;
        this.constructor = constructor;
        this.constants = constants;
        this.positions = positions;
    }

    /**
     * The columns of a record.
     *
     * @param constants values of the components that are no columns, by name
     */
    static <T> RecordColumns<T> of(Class<T> type, Map<String, Object> constants) {
        RecordComponent[] components = type.getRecordComponents();
        List<Column> columns = new ArrayList<>();
        List<Function<Object, Object>> enumReaders = new ArrayList<>();
        List<Accessor<T>> accessors = new ArrayList<>();
        @Nullable Object[] values = new @Nullable Object[components.length];
        int[] positions = new int[components.length];
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            RecordComponent component = components[i];
            types[i] = component.getType();
            Object constant = constants.get(component.getName());
            if (constant != null) {
                values[i] = constant;
                continue;
            }
            Column column = column(type, component);
            if (columns.stream().anyMatch(other -> other.id() == column.id())) {
                throw new IllegalStateException(
                        "Cannot archive " + type.getSimpleName() + ": it has field id " + column.id() + " twice");
            }
            positions[columns.size()] = i;
            columns.add(column);
            enumReaders.add(component.getType().isEnum() ? enumReader(component.getType()) : Function.identity());
            accessors.add(accessor(type, component, column));
        }
        try {
            Constructor<T> constructor = type.getDeclaredConstructor(types);
            return new RecordColumns<>(
                    type, List.copyOf(columns), enumReaders, accessors, constructor, values, positions);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("Cannot find the constructor of " + type, e);
        }
    }

    List<Column> columns() {
        return columns;
    }

    /** Writes the first {@code count} rows, a column after the other; the caller ends the rows. */
    void write(ParquetOutput out, int firstColumn, Object[] rows, int count) {
        for (int i = 0; i < accessors.size(); i++) {
            accessors.get(i).write(out.column(firstColumn + i), rows, count);
        }
    }

    /** The record of the input's row. */
    T read(ParquetInput in, int firstColumn) {
        @Nullable Object[] values = constants.clone();
        for (int i = 0; i < columns.size(); i++) {
            Object value = in.column(firstColumn + i).take();
            values[positions[i]] = value == null ? null : enumReaders.get(i).apply(value);
        }
        try {
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException refused) {
                throw refused;
            }
            throw new IllegalStateException("Cannot make " + type.getSimpleName(), e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Cannot make " + type.getSimpleName(), e);
        }
    }

    private static Column column(Class<?> type, RecordComponent component) {
        String where = type.getSimpleName() + "." + component.getName();
        Field field = component.getAnnotation(Field.class);
        if (field == null) {
            throw new IllegalStateException("Cannot archive " + where + ": it has no field id");
        }
        boolean optional = component.getAnnotatedType().isAnnotationPresent(Nullable.class);
        ColumnType columnType = columnType(where, component);
        if (optional && (columnType.isList() || component.getType().isPrimitive())) {
            throw new IllegalStateException("Cannot archive " + where + ": this type cannot be absent");
        }
        return new Column(Column.nameOf(component.getName()), field.value(), columnType, optional);
    }

    private static ColumnType columnType(String where, RecordComponent component) {
        Class<?> type = component.getType();
        if (type == long.class || type == Long.class) {
            return ColumnType.INT64;
        }
        if (type == int.class || type == Integer.class) {
            return ColumnType.INT32;
        }
        if (type == double.class || type == Double.class) {
            return ColumnType.DOUBLE;
        }
        if (type == boolean.class || type == Boolean.class) {
            return ColumnType.BOOLEAN;
        }
        if (type == String.class || type.isEnum()) {
            return ColumnType.STRING;
        }
        if (type == List.class && component.getGenericType() instanceof ParameterizedType list) {
            Type element = list.getActualTypeArguments()[0];
            if (element == String.class) {
                return ColumnType.STRING_LIST;
            }
            if (element == Long.class) {
                return ColumnType.INT64_LIST;
            }
        }
        throw new IllegalStateException("Cannot archive " + where + ": no column holds " + component.getGenericType());
    }

    private static Function<Object, Object> enumReader(Class<?> type) {
        Map<String, Object> byName = new HashMap<>();
        for (Object constant : type.getEnumConstants()) {
            byName.put(((Enum<?>) constant).name(), constant);
        }
        return value -> {
            Object constant = byName.get((String) value);
            if (constant == null) {
                throw new IllegalArgumentException("Cannot read " + type.getSimpleName() + ": " + value);
            }
            return constant;
        };
    }

    @SuppressWarnings("unchecked")
    private static <T> Accessor<T> accessor(Class<T> type, RecordComponent component, Column column) {
        Class<?> valueType = component.getType();
        if (valueType == long.class) {
            return new LongAccessor<>((ToLongFunction<T>) getter(type, component, ToLongFunction.class, "applyAsLong"));
        }
        if (valueType == int.class) {
            return new IntAccessor<>((ToIntFunction<T>) getter(type, component, ToIntFunction.class, "applyAsInt"));
        }
        if (valueType == double.class) {
            return new DoubleAccessor<>(
                    (ToDoubleFunction<T>) getter(type, component, ToDoubleFunction.class, "applyAsDouble"));
        }
        if (valueType == boolean.class) {
            return new BooleanAccessor<>((Predicate<T>) getter(type, component, Predicate.class, "test"));
        }
        Function<T, @Nullable Object> getter =
                (Function<T, @Nullable Object>) getter(type, component, Function.class, "apply");
        return column.type().isList() ? new ListAccessor<>(column, getter) : new ObjectAccessor<>(column, getter);
    }

    /** An accessor as a lambda, so that writing a row costs a plain call per column. */
    private static Object getter(Class<?> type, RecordComponent component, Class<?> shape, String method) {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle accessor = lookup.unreflect(component.getAccessor());
            Class<?> result = component.getType();
            return LambdaMetafactory.metafactory(
                            lookup,
                            method,
                            MethodType.methodType(shape),
                            MethodType.methodType(result.isPrimitive() ? result : Object.class, Object.class),
                            accessor,
                            MethodType.methodType(result, type))
                    .getTarget()
                    .invoke();
        } catch (Throwable e) {
            throw new IllegalStateException(
                    "Cannot read " + type.getSimpleName() + "." + component.getName() + ": is the record public?", e);
        }
    }

    /** Writes one component of many rows into its column. */
    private interface Accessor<T> {
        void write(ColumnWriter column, Object[] rows, int count);
    }

    private record LongAccessor<T>(ToLongFunction<T> getter) implements Accessor<T> {
        @Override
        @SuppressWarnings("unchecked")
        public void write(ColumnWriter column, Object[] rows, int count) {
            for (int i = 0; i < count; i++) {
                column.write(getter.applyAsLong((T) rows[i]), 0, 0);
            }
        }
    }

    private record IntAccessor<T>(ToIntFunction<T> getter) implements Accessor<T> {
        @Override
        @SuppressWarnings("unchecked")
        public void write(ColumnWriter column, Object[] rows, int count) {
            for (int i = 0; i < count; i++) {
                column.write(getter.applyAsInt((T) rows[i]), 0, 0);
            }
        }
    }

    private record DoubleAccessor<T>(ToDoubleFunction<T> getter) implements Accessor<T> {
        @Override
        @SuppressWarnings("unchecked")
        public void write(ColumnWriter column, Object[] rows, int count) {
            for (int i = 0; i < count; i++) {
                column.write(getter.applyAsDouble((T) rows[i]), 0, 0);
            }
        }
    }

    private record BooleanAccessor<T>(Predicate<T> getter) implements Accessor<T> {
        @Override
        @SuppressWarnings("unchecked")
        public void write(ColumnWriter column, Object[] rows, int count) {
            for (int i = 0; i < count; i++) {
                column.write(getter.test((T) rows[i]), 0, 0);
            }
        }
    }

    private record ObjectAccessor<T>(Column column, Function<T, @Nullable Object> getter) implements Accessor<T> {
        @Override
        @SuppressWarnings("unchecked")
        public void write(ColumnWriter writer, Object[] rows, int count) {
            int level = column.optional() ? 1 : 0;
            Object lastText = null;
            Binary lastBinary = Binary.EMPTY;
            for (int i = 0; i < count; i++) {
                Object value = getter.apply((T) rows[i]);
                if (value == null) {
                    if (level == 0) {
                        throw new IllegalArgumentException(
                                "Cannot write a row without " + column.name() + ": " + rows[i]);
                    }
                    writer.writeNull(0, 0);
                    continue;
                }
                switch (column.type()) {
                    case INT64 -> writer.write((long) (Long) value, 0, level);
                    case INT32 -> writer.write((int) (Integer) value, 0, level);
                    case DOUBLE -> writer.write((double) (Double) value, 0, level);
                    case BOOLEAN -> writer.write((boolean) (Boolean) value, 0, level);
                    default -> {
                        // Neighbouring rows mostly share their ids: encoded once.
                        if (!value.equals(lastText)) {
                            lastText = value;
                            lastBinary = binary(value instanceof Enum<?> constant ? constant.name() : (String) value);
                        }
                        writer.write(lastBinary, 0, level);
                    }
                }
            }
        }
    }

    private record ListAccessor<T>(Column column, Function<T, @Nullable Object> getter) implements Accessor<T> {
        @Override
        @SuppressWarnings("unchecked")
        public void write(ColumnWriter writer, Object[] rows, int count) {
            for (int i = 0; i < count; i++) {
                Object list = getter.apply((T) rows[i]);
                if (list == null) {
                    throw new IllegalArgumentException("Cannot write a row without " + column.name() + ": " + rows[i]);
                }
                int repetition = 0;
                for (Object element : (List<?>) list) {
                    if (element instanceof Long number) {
                        writer.write((long) number, repetition, 1);
                    } else {
                        writer.write(binary((String) element), repetition, 1);
                    }
                    repetition = 1;
                }
                if (repetition == 0) {
                    writer.writeNull(0, 0);
                }
            }
        }
    }

    /** Text as Parquet holds it. */
    static Binary binary(String text) {
        return Binary.fromConstantByteArray(text.getBytes(StandardCharsets.UTF_8));
    }
}
