package io.tokenstair.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Field ids are permanent: the golden file lists every column ever archived. A new column adds a line; no line is ever changed or
 * removed, because files with it exist. One thing may go: NOT NULL, for a column that always had a value is read as one that may have none.
 */
class FieldIdsTest {

    @Test
    void everyColumnOfTheGoldenFileIsStillThereUnchanged() throws IOException {
        assertThat(current()).containsAll(golden());
    }

    @Test
    void everyColumnIsInTheGoldenFile() throws IOException {
        assertThat(golden()).as("add the missing lines to field-ids-v1.txt").containsAll(current());
    }

    @Test
    void idsAndNamesAreUniqueInTheirTable() {
        for (String table : tables()) {
            Set<Integer> ids = new HashSet<>();
            Set<String> names = new HashSet<>();
            for (Column column : columns(table)) {
                assertThat(ids.add(column.id()))
                        .as(table + " field id " + column.id())
                        .isTrue();
                assertThat(names.add(column.name()))
                        .as(table + "." + column.name())
                        .isTrue();
            }
        }
    }

    private static List<String> tables() {
        List<String> tables = new ArrayList<>(RawTables.all());
        ResultTables.all().forEach(schema -> tables.add(schema.table()));
        return tables;
    }

    private static List<Column> columns(String table) {
        return ResultTables.all().stream()
                .filter(schema -> schema.table().equals(table))
                .findFirst()
                .map(TableSchema::columns)
                .orElseGet(() -> RawTables.columnsOf(table));
    }

    private static List<String> current() {
        List<String> lines = new ArrayList<>();
        for (String table : tables()) {
            for (Column column : columns(table)) {
                lines.add(table + " " + column.id() + " " + column.name() + " "
                        + column.type().sqlName() + (column.optional() ? "" : " NOT NULL"));
            }
        }
        return lines;
    }

    private static List<String> golden() throws IOException {
        try (InputStream in = Objects.requireNonNull(FieldIdsTest.class.getResourceAsStream("field-ids-v1.txt"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
        }
    }
}
