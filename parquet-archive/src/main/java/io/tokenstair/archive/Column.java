package io.tokenstair.archive;

import org.apache.parquet.schema.Type;

/**
 * A column of a table of the archive.
 *
 * @param name name in SQL, in snake case, ending in its unit
 * @param id permanent Parquet field id, never reused
 * @param type type of its values
 * @param optional true when a value can be unknown: NULL, never 0
 */
public record Column(String name, int id, ColumnType type, boolean optional) {

    Type field() {
        return type.field(name, id, optional);
    }

    /** True for whole numbers that rise or scatter: a dictionary is tried in vain there, differences say them shorter. */
    boolean risesOrScatters() {
        return switch (type) {
            case INT64, INT64_LIST -> true;
            case INT32 -> name.endsWith("_handle") || name.endsWith("_index") || name.equals("context_tokens");
            default -> false;
        };
    }

    /** True for ids that people look up. */
    boolean isLookedUp() {
        return type == ColumnType.STRING && name.endsWith("request_id");
    }

    /** The column name of a record component: {@code gapNanos} gives {@code gap_nanos}. */
    static String nameOf(String component) {
        StringBuilder name = new StringBuilder(component.length() + 8);
        for (int i = 0; i < component.length(); i++) {
            char c = component.charAt(i);
            if (Character.isUpperCase(c)) {
                name.append('_').append(Character.toLowerCase(c));
            } else {
                name.append(c);
            }
        }
        return name.toString();
    }
}
