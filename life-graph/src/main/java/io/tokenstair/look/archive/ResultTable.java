package io.tokenstair.look.archive;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.Quantile;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.milestone.Milestone;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A result table of an archive: its name, its columns and how a row becomes the record of the table. Columns are named after the
 * record components in snake case. The order of columns in a row is that of the components.
 *
 * @param <R> the record of a row
 */
public final class ResultTable<R extends Record> {
    /** One row per output token. */
    public static final ResultTable<TokenAnalysis> TOKENS = new ResultTable<>(ResultTables.TOKEN_ANALYSIS);
    /** One row per sequence of a request. */
    public static final ResultTable<RequestAnalysis> REQUESTS = new ResultTable<>(ResultTables.REQUEST_ANALYSIS);
    /** One row per conclusion of a rule or detector. */
    public static final ResultTable<Finding> FINDINGS = new ResultTable<>(ResultTables.FINDING);
    /** One row per engine step. */
    public static final ResultTable<StepAnalysis> STEPS = new ResultTable<>(ResultTables.STEP_ANALYSIS);
    /** One row per layer that could report. */
    public static final ResultTable<LayerReport> LAYERS = new ResultTable<>(ResultTables.LAYER_REPORT);

    /** One row per remark. */
    public static final ResultTable<Remark> REMARKS = new ResultTable<>(ResultTables.REMARK);

    /** The tables that the commands and the page read. */
    public static final List<ResultTable<?>> ALL = List.of(TOKENS, REQUESTS, FINDINGS, STEPS, LAYERS, REMARKS);

    /**
     * A column.
     *
     * @param name its name in the files
     * @param sqlType the type it is read as
     */
    record Column(String name, String sqlType) {}

    /** One row per milestone. */
    public static final ResultTable<Milestone> MILESTONES = new ResultTable<>(ResultTables.MILESTONE);

    /** One row per revision of a rule and minute. */
    public static final ResultTable<RuleMinute> RULE_MINUTES = new ResultTable<>(ResultTables.RULE_ACTIVITY);

    /** One row per revision of a rule that a job took. A raw table, read without the headers of its events. */
    public static final ResultTable<RuleRevised> RULES =
            new ResultTable<>(TableSchema.of(EventKind.RULE_REVISED.wireName(), RuleRevised.class));

    /** One row per record that was refused. A raw table: its files alone are no results. */
    public static final ResultTable<RefusedRevision> REFUSED =
            new ResultTable<>(TableSchema.of(EventKind.REJECTED.wireName(), RefusedRevision.class));

    /** The tables that the commands about rules read beside the others. */
    public static final List<ResultTable<?>> OF_RULES = List.of(MILESTONES, RULE_MINUTES, RULES, REFUSED);

    /** One row per quantiles of a window. */
    public static final ResultTable<Quantile> QUANTILES = new ResultTable<>(ResultTables.QUANTILE);

    /** One row per arrival of a request at an observer. A raw table, read as the few columns that tell its trace. */
    public static final ResultTable<RequestArrival> ARRIVALS =
            new ResultTable<>(TableSchema.of(EventKind.REQUEST_RECEIVED.wireName(), RequestArrival.class));

    /** One row per recorded span. A raw table, read without the headers of its events. */
    public static final ResultTable<SpanRecorded> SPANS =
            new ResultTable<>(TableSchema.of(EventKind.SPAN_RECORDED.wireName(), SpanRecorded.class));

    private final String name;
    private final Constructor<R> constructor;
    private final List<Column> columns;
    private final List<Class<?>> types;

    private ResultTable(TableSchema<R> schema) {
        this.name = schema.table();
        Class<R> rowType = schema.recordType();
        RecordComponent[] components = rowType.getRecordComponents();
        Class<?>[] componentTypes =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        this.types = List.of(componentTypes);
        this.columns = Arrays.stream(components)
                .map(component -> new Column(snakeCase(component.getName()), sqlType(component)))
                .toList();
        try {
            this.constructor = rowType.getDeclaredConstructor(componentTypes);
        } catch (NoSuchMethodException absent) {
            throw new IllegalStateException("Cannot find the constructor of " + rowType, absent);
        }
    }

    /** A table of a schema. */
    static <R extends Record> ResultTable<R> of(TableSchema<R> schema) {
        return new ResultTable<>(schema);
    }

    /** The name of the table, as in its folder. */
    public String name() {
        return name;
    }

    List<Column> columns() {
        return columns;
    }

    /** The columns for a select, in component order, each with the prefix: {@code t.request_id, t.lifetime}. */
    String selectList(String prefix) {
        return columns.stream().map(column -> prefix + "." + column.name()).collect(Collectors.joining(", "));
    }

    /** The record of the current row of a result whose columns begin with {@link #selectList}. */
    R row(ResultSet result) throws SQLException {
        return row(result, 0);
    }

    /** The same, of columns that begin after so many others. */
    R row(ResultSet result, int after) throws SQLException {
        @Nullable Object[] values = new @Nullable Object[columns.size()];
        for (int position = 0; position < values.length; position++) {
            Object value = result.getObject(after + position + 1);
            values[position] = value instanceof java.sql.Array array ? listOf(array) : value;
            if (value instanceof String text && types.get(position).isEnum()) {
                values[position] = constant(types.get(position), text);
            }
            if (value == null && columns.get(position).sqlType().endsWith("[]")) {
                values[position] = List.of();
            }
        }
        try {
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException | IllegalArgumentException refused) {
            throw new UnusableInputException(
                    "Cannot read a row of table " + name + ": a column that must be present is empty. Write the results"
                            + " again with: tokenstair replay",
                    refused);
        }
    }

    private Object constant(Class<?> type, String text) {
        for (Object constant : type.getEnumConstants()) {
            if (((Enum<?>) constant).name().equals(text)) {
                return constant;
            }
        }
        throw new UnusableInputException("Cannot read a row of table " + name + ": it says " + text
                + ", which this version does not know. Read it with the version that wrote it, or a newer one");
    }

    private static List<Object> listOf(java.sql.Array array) throws SQLException {
        Object[] elements = (Object[]) array.getArray();
        List<Object> list = new ArrayList<>(elements.length);
        for (Object element : elements) {
            if (element != null) {
                list.add(element);
            }
        }
        return list;
    }

    private static String snakeCase(String componentName) {
        return componentName.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    private static String sqlType(RecordComponent component) {
        Class<?> type = component.getType();
        if (type == String.class || type.isEnum()) {
            return "VARCHAR";
        }
        if (type == int.class || type == Integer.class) {
            return "INTEGER";
        }
        if (type == long.class || type == Long.class) {
            return "BIGINT";
        }
        if (type == boolean.class || type == Boolean.class) {
            return "BOOLEAN";
        }
        if (type == List.class && component.getGenericType() instanceof ParameterizedType listType) {
            return listType.getActualTypeArguments()[0] == String.class ? "VARCHAR[]" : "BIGINT[]";
        }
        throw new IllegalStateException("Cannot map the type of component " + component);
    }
}
