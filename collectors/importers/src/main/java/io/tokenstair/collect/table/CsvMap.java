package io.tokenstair.collect.table;

import io.tokenstair.collect.importer.ImportException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which column says what, in which unit.
 *
 * @param columns the column of each field that is taken
 * @param whereColumn column that a row must have a value in; null where all rows are taken
 * @param whereValue that value
 * @param engineId what the engine is called
 */
public record CsvMap(
        Map<CsvField, Source> columns,
        @Nullable String whereColumn,
        @Nullable String whereValue,
        String engineId) {
    private static final Map<String, Long> TIMES =
            Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L);

    /** The column of a field, and what its numbers are multiplied with to get ns or a share of 1. */
    record Source(String column, long nanosPerUnit, boolean percent) {}

    /** Reads what {@code --map}, {@code --where} and {@code --engine} say. */
    public static CsvMap parse(List<String> map, @Nullable String where, String engineId) throws ImportException {
        Map<CsvField, Source> columns = new EnumMap<>(CsvField.class);
        for (String entry : map) {
            int equals = entry.indexOf('=');
            if (equals <= 0 || equals == entry.length() - 1) {
                throw new ImportException("--map " + entry + ": must be FIELD=COLUMN or FIELD=COLUMN:UNIT");
            }
            CsvField field = field(entry.substring(0, equals));
            String column = entry.substring(equals + 1);
            String unit = "";
            int colon = column.lastIndexOf(':');
            if (colon > 0 && field.kind() != CsvField.Kind.TEXT) {
                unit = column.substring(colon + 1);
                column = column.substring(0, colon);
            }
            if (columns.put(field, source(entry, field, column, unit)) != null) {
                throw new ImportException("--map " + entry + ": the field is mapped twice");
            }
        }
        boolean steps = columns.containsKey(CsvField.STEP_NANOS) || columns.containsKey(CsvField.END_NANOS);
        if (!steps && !columns.containsKey(CsvField.TIME)) {
            throw new ImportException(
                    "--map: name the column of stepNanos or endNanos for steps, or of time for readings of the engine");
        }
        if (where == null) {
            return new CsvMap(columns, null, null, engineId);
        }
        int equals = where.indexOf('=');
        if (equals <= 0) {
            throw new ImportException("--where " + where + ": must be COLUMN=VALUE");
        }
        return new CsvMap(columns, where.substring(0, equals), where.substring(equals + 1), engineId);
    }

    private static CsvField field(String name) throws ImportException {
        for (CsvField field : CsvField.values()) {
            if (field.fieldName().equals(name)) {
                return field;
            }
        }
        throw new ImportException("--map " + name + ": no such field; fields are "
                + Stream.of(CsvField.values()).map(CsvField::fieldName).collect(Collectors.joining(", ")));
    }

    private static Source source(String entry, CsvField field, String column, String unit) throws ImportException {
        switch (field.kind()) {
            case TIME:
                Long nanos = TIMES.get(unit);
                if (nanos == null) {
                    throw new ImportException("--map " + entry + ": a time needs its unit: ns, us, ms or s, as in "
                            + field.fieldName() + "=" + column + ":ms");
                }
                return new Source(column, nanos, false);
            case SHARE:
                if (!unit.equals("percent") && !unit.equals("fraction")) {
                    throw new ImportException("--map " + entry + ": a share needs its unit: fraction or percent, as in "
                            + field.fieldName() + "=" + column + ":percent");
                }
                return new Source(column, 1, unit.equals("percent"));
            default:
                if (!unit.isEmpty()) {
                    throw new ImportException("--map " + entry + ": the field has no unit");
                }
                return new Source(column, 1, false);
        }
    }

    /** True when a row is an engine step, false when it is a reading. */
    boolean steps() {
        return columns.containsKey(CsvField.STEP_NANOS) || columns.containsKey(CsvField.END_NANOS);
    }
}
