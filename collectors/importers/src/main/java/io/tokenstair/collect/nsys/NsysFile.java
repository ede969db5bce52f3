package io.tokenstair.collect.nsys;

import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.input.RejectedRecordException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;

/**
 * An export, opened for reading only: no journal is made beside it, and only plain tables are read, no views and no generated columns,
 * so that a file cannot make its reader compute. A table gives at most as many rows as its file has room for.
 */
final class NsysFile implements Closeable {
    private static final byte[] MAGIC = "SQLite format 3\0".getBytes(StandardCharsets.US_ASCII);
    private static final int MOST_TEXT_BYTES = 1 << 20;
    private static final int MOST_TABLES = 10_000;
    private static final int MOST_STRINGS = 1 << 14;
    private static final int MOST_HELD_CHARACTERS = 2_048;

    /** The header of a database, and what it says of itself there. */
    private static final int HEADER_BYTES = 100;

    private static final int PAGE_SIZE_AT = 16;
    private static final int CHANGES_AT = 24;
    private static final int PAGES_AT = 28;
    private static final int PAGES_VALID_FOR_AT = 92;

    /** No row takes less room in a file. */
    private static final int LEAST_ROW_BYTES = 8;

    private final Path file;
    private final Connection connection;
    private final long mostRows;
    private final Map<String, Set<String>> tables = new TreeMap<>();
    private final Map<Long, String> strings = new HashMap<>();
    private @Nullable PreparedStatement stringById;

    /** Takes a row in. */
    interface RowReader {
        void row(Row row) throws RejectedRecordException, SQLException, IOException;
    }

    /** Hears how a table went. */
    interface RowCounter {
        /** A row was taken. */
        void accepted() throws IOException;

        /** A row was refused. */
        void rejected(String table, long rowNumber, String reason) throws IOException;
    }

    private NsysFile(Path file, Connection connection, long size) throws SQLException, ImportException {
        this.file = file;
        this.connection = connection;
        this.mostRows = size / LEAST_ROW_BYTES + 1;
        listTables();
    }

    /** Opens an export. */
    static NsysFile open(Path file) throws ImportException, IOException {
        if (!Files.isRegularFile(file)) {
            throw new ImportException(file + ": no regular file; name an export of nsys");
        }
        byte[] head = new byte[HEADER_BYTES];
        try (InputStream in = Files.newInputStream(file)) {
            int read = in.readNBytes(head, 0, head.length);
            if (read < MAGIC.length || !Arrays.equals(head, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
                throw new ImportException(
                        file + ": no SQLite database; make one with: nsys export --type sqlite REPORT.nsys-rep");
            }
        }
        SQLiteConfig config = new SQLiteConfig();
        config.setReadOnly(true);
        config.setPragma(SQLiteConfig.Pragma.LIMIT_LENGTH, String.valueOf(MOST_TEXT_BYTES));
        // Percent signs and question marks of a name are not to be read as parts of the address.
        String address = "jdbc:sqlite:"
                + file.toAbsolutePath().toUri().toString().replace("file:///", "file:/") + "?immutable=1";
        Connection connection = null;
        try {
            connection = config.createConnection(address);
            try (Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA trusted_schema = OFF");
                statement.execute("PRAGMA cell_size_check = ON");
                statement.execute("PRAGMA query_only = ON");
            }
            return new NsysFile(file, connection, Files.size(file));
        } catch (SQLException e) {
            close(connection);
            throw damaged(file, head, e);
        } catch (ImportException e) {
            close(connection);
            throw e;
        }
    }

    private static void close(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                // Nothing was written.
                return;
            }
        }
    }

    private static ImportException damaged(Path file, byte[] head, SQLException e) throws IOException {
        long size = Files.size(file);
        long whole = wholeBytes(head);
        if (size < whole) {
            return new ImportException(file + ": the file is cut: " + size + " of its " + whole
                    + " bytes are there, and SQLite reads nothing of that; copy it again, or export it again with:"
                    + " nsys export --type sqlite");
        }
        String problem = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
        return new ImportException(file + ": SQLite cannot read it: " + problem + "; export it again");
    }

    /** How large a database is by its own header; 0 where it does not say. */
    private static long wholeBytes(byte[] head) {
        ByteBuffer header = ByteBuffer.wrap(head);
        int page = header.getShort(PAGE_SIZE_AT) & 0xFFFF;
        long pages = header.getInt(PAGES_AT) & 0xFFFF_FFFFL;
        boolean valid = header.getInt(CHANGES_AT) == header.getInt(PAGES_VALID_FOR_AT);
        return valid ? pages * (page == 1 ? 1 << 16 : page) : 0;
    }

    private void listTables() throws SQLException {
        List<String> names = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT name, sql FROM sqlite_master WHERE type = 'table' LIMIT " + MOST_TABLES)) {
            while (rows.next()) {
                String name = rows.getString(1);
                String sql = rows.getString(2);
                if (name != null
                        && name.matches("\\w{1,100}")
                        && sql != null
                        && sql.matches("(?is)\\s*CREATE\\s+TABLE\\b.*")) {
                    names.add(name);
                }
            }
        }
        for (String name : names) {
            Set<String> columns = new LinkedHashSet<>();
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("PRAGMA table_xinfo(\"" + name + "\")")) {
                while (rows.next()) {
                    if (rows.getInt("hidden") == 0) {
                        columns.add(rows.getString("name"));
                    }
                }
            }
            tables.put(name, columns);
        }
    }

    /** True when the export has a table. */
    boolean has(String table) {
        return tables.containsKey(table);
    }

    /** True when a table of the export has a column. */
    boolean has(String table, String column) {
        return tables.getOrDefault(table, Set.of()).contains(column);
    }

    /** One row, by the names of its columns. A column that the table has not is absent. */
    static final class Row {
        private final ResultSet result;
        private final Map<String, Integer> places;

        private Row(ResultSet result, Map<String, Integer> places) {
            this.result = result;
            this.places = places;
        }

        /** A whole number; null when absent. */
        @Nullable
        Long optional(String column) throws SQLException, RejectedRecordException {
            Integer place = places.get(column);
            Object value = place == null ? null : result.getObject(place);
            if (value == null) {
                return null;
            }
            if (value instanceof Integer || value instanceof Long) {
                return ((Number) value).longValue();
            }
            throw new RejectedRecordException("column " + column + ": not a whole number");
        }

        /** A whole number. */
        long number(String column) throws SQLException, RejectedRecordException {
            Long value = optional(column);
            if (value == null) {
                throw new RejectedRecordException("column " + column + ": missing");
            }
            return value;
        }

        /** A number of 32 bits; null when absent. */
        @Nullable
        Integer optionalInt(String column) throws SQLException, RejectedRecordException {
            Long value = optional(column);
            if (value == null) {
                return null;
            }
            if (value.intValue() != value) {
                throw new RejectedRecordException("column " + column + ": not a number of 32 bits");
            }
            return value.intValue();
        }

        /** Text; null when absent. */
        @Nullable
        String text(String column) throws SQLException, RejectedRecordException {
            Integer place = places.get(column);
            Object value = place == null ? null : result.getObject(place);
            if (value == null) {
                return null;
            }
            if (value instanceof String text) {
                return text;
            }
            throw new RejectedRecordException("column " + column + ": not text");
        }
    }

    /**
     * Reads the rows of a table, none where the export has no such table; those that are refused are counted as such.
     *
     * @throws ImportException when a column is missing that the table cannot do without
     */
    void read(String table, List<String> required, List<String> optional, RowReader reader, RowCounter counter)
            throws ImportException, IOException {
        if (!has(table)) {
            return;
        }
        for (String column : required) {
            if (!has(table, column)) {
                throw new ImportException(file + ": table " + table + " has no column " + column
                        + "; export the report again with: nsys export --type sqlite");
            }
        }
        List<String> columns = new ArrayList<>(required);
        optional.stream().filter(column -> has(table, column)).forEach(columns::add);
        Map<String, Integer> places = new HashMap<>();
        for (String column : columns) {
            places.put(column, places.size() + 1);
        }
        String sql = "SELECT \"" + String.join("\", \"", columns) + "\" FROM \"" + table + "\"";
        long count = 0;
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            Row row = new Row(result, places);
            while (result.next()) {
                count++;
                if (count > mostRows) {
                    counter.rejected(table, count, "the table is damaged: it has more rows than its file has room for");
                    return;
                }
                try {
                    reader.row(row);
                    counter.accepted();
                } catch (RejectedRecordException e) {
                    counter.rejected(table, count, e.reason());
                }
            }
        } catch (SQLException e) {
            counter.rejected(
                    table,
                    count + 1,
                    "SQLite cannot read on: " + String.valueOf(e.getMessage()).replaceAll("\\s+", " "));
        }
    }

    /** The string that an id stands for; null when the export has none of it. */
    @Nullable
    String string(long id) throws SQLException {
        String known = strings.get(id);
        if (known != null) {
            return known;
        }
        if (!has("StringIds", "id") || !has("StringIds", "value")) {
            return null;
        }
        if (stringById == null) {
            stringById = connection.prepareStatement("SELECT value FROM StringIds WHERE id = ?");
        }
        stringById.setLong(1, id);
        try (ResultSet result = stringById.executeQuery()) {
            String value = result.next() ? result.getString(1) : null;
            if (value != null && strings.size() < MOST_STRINGS && value.length() <= MOST_HELD_CHARACTERS) {
                strings.put(id, value);
            }
            return value;
        }
    }

    @Override
    public void close() throws IOException {
        try {
            if (stringById != null) {
                stringById.close();
            }
            connection.close();
        } catch (SQLException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
