package io.tokenstair.archive;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * An archive as SQL views for DuckDB: a view per table under the table's name, and the views of {@code views.sql}, which join
 * request handles to names and turn parts into rows.
 */
public final class ArchiveViews {
    private ArchiveViews() {}

    /** Statements that make the views of an archive, in order; tables without a file become empty views. */
    public static String sql(Path archive) {
        StringBuilder sql = new StringBuilder();
        for (String table : ArchiveLayout.tables(archive)) {
            if (!ArchiveLayout.files(archive, table).isEmpty()) {
                sql.append("CREATE OR REPLACE VIEW ")
                        .append(identifier(table))
                        .append(" AS SELECT * FROM ")
                        .append(source(archive, table))
                        .append(";\n");
            }
        }
        return sql.append(sharedViews()).toString();
    }

    /** A table of an archive as DuckDB reads it: an expression for FROM. The partition columns {@code date} and {@code hour} are text,
     * because rows without event time have {@code undated} there. */
    public static String source(Path archive, String table) {
        String files = ArchiveLayout.folder(archive, table) + "/**/*.parquet";
        return "read_parquet('" + files.replace("'", "''")
                + "', hive_partitioning = true, hive_types_autocast = false, union_by_name = true)";
    }

    /** The text of {@code views.sql}. */
    static String sharedViews() {
        try (InputStream in = Objects.requireNonNull(ArchiveViews.class.getResourceAsStream("views.sql"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the archive's own views.sql", e);
        }
    }

    /** The statement that makes an empty view of a table, so that views over it exist before it has a file. */
    static String emptyView(String table, List<Column> columns) {
        StringBuilder sql = new StringBuilder("CREATE VIEW IF NOT EXISTS " + table + " AS SELECT ");
        for (Column column : columns) {
            sql.append("NULL::")
                    .append(column.type().sqlName())
                    .append(" AS ")
                    .append(column.name())
                    .append(", ");
        }
        sql.append("NULL::VARCHAR AS date, NULL::VARCHAR AS hour WHERE false;");
        return sql.toString();
    }

    private static String identifier(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }
}
