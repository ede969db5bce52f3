package io.tokenstair.archive;

import io.tokenstair.archive.result.Covariance;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.archive.result.Quantile;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.lang.reflect.RecordComponent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows of every result table. */
final class ResultExamples {
    private ResultExamples() {}

    /**
     * A row whose values are made from its component numbers.
     *
     * @param known false leaves out whatever may be absent
     */
    static <R extends Record> R row(Class<R> type, boolean known) {
        RecordComponent[] components = type.getRecordComponents();
        @Nullable Object[] values = new @Nullable Object[components.length];
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            boolean optional = components[i].getAnnotatedType().isAnnotationPresent(Nullable.class);
            values[i] = optional && !known ? null : value(components[i], known ? i : 0);
        }
        try {
            return type.getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static Object value(RecordComponent component, int seed) {
        Class<?> type = component.getType();
        if (type == long.class || type == Long.class) {
            return seed * 1_000_000_007L;
        }
        if (type == double.class || type == Double.class) {
            return seed / 3.0;
        }
        if (type == int.class || type == Integer.class) {
            return seed;
        }
        if (type == boolean.class) {
            return seed % 2 == 1;
        }
        if (type == String.class) {
            return seed == 0 ? "" : "text " + seed;
        }
        if (type == MilestoneKind.class) {
            return MilestoneKind.values()[seed % MilestoneKind.values().length];
        }
        if (type == Cause.class) {
            return Cause.values()[seed % Cause.values().length];
        }
        if (type == List.class) {
            boolean numbers = component.getGenericType().getTypeName().contains("Long");
            if (seed == 0) {
                return List.of();
            }
            return numbers ? List.of(1L, -5L, 0L) : List.of("a", "", "c " + seed);
        }
        throw new AssertionError("no example for " + type);
    }

    /** The record types of all result tables. */
    static List<Class<? extends Record>> types() {
        return List.of(
                TokenAnalysis.class,
                RequestAnalysis.class,
                Finding.class,
                StepAnalysis.class,
                Milestone.class,
                LayerReport.class,
                ModelSnapshot.class,
                Quantile.class,
                Covariance.class,
                PriorityDisplacement.class,
                Remark.class,
                RuleMinute.class);
    }
}
