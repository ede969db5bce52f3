package io.tokenstair.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** docs/archive.md tells of every table and column what is there. */
class ArchiveDocTest {
    private static List<String> lines = List.of();

    @BeforeAll
    static void read() throws IOException {
        lines = Files.readAllLines(Path.of("..", "docs", "archive.md"));
    }

    @Test
    void everyColumnOfEveryResultTableIsDescribed() {
        for (TableSchema<?> schema : ResultTables.all()) {
            assertThat(described("### " + schema.table()))
                    .as(schema.table())
                    .containsExactlyElementsOf(expected(schema.columns()));
        }
    }

    @Test
    void everyColumnOfTheTablesWithSeveralRowsPerEventIsDescribed() {
        for (String table : List.of("step_sequence", "handle_announced", "chunk_delivered")) {
            List<Column> columns = RawTables.columnsOf(table);
            assertThat(described("### " + table))
                    .as(table)
                    .containsExactlyElementsOf(expected(columns.subList(HeaderColumns.COUNT, columns.size())));
        }
    }

    @Test
    void theHeaderIsDescribed() {
        assertThat(described("## Raw tables")).containsExactlyElementsOf(expected(HeaderColumns.COLUMNS));
    }

    @Test
    void everyRawTableIsNamed() {
        String text = String.join("\n", lines);
        assertThat(RawTables.all()).allSatisfy(table -> assertThat(text).contains("`" + table + "`"));
    }

    @Test
    void everyViewIsNamed() {
        List<String> views = ArchiveViews.sharedViews()
                .lines()
                .filter(line -> line.startsWith("CREATE OR REPLACE VIEW "))
                .map(line -> line.split(" ")[4])
                .toList();
        assertThat(views).isNotEmpty();
        assertThat(views).allSatisfy(view -> assertThat(lines).anyMatch(line -> line.startsWith("| " + view + " | ")));
    }

    /** The rows of the first table under a heading: id, column, type, whether it may be absent. */
    private static List<String> described(String heading) {
        int start = lines.indexOf(heading);
        assertThat(start).as("docs/archive.md has the heading " + heading).isNotNegative();
        List<String> rows = new ArrayList<>();
        for (String line : lines.subList(start + 1, lines.size())) {
            if (line.startsWith("#")) {
                break;
            }
            String[] cells = line.split(" *\\| *");
            if (cells.length == 7 && cells[1].matches("\\d+")) {
                assertThat(cells[6]).as(line).isNotBlank();
                rows.add(
                        cells[1] + " " + cells[2] + " " + cells[3] + (cells[5].startsWith("never") ? " NOT NULL" : ""));
            }
        }
        return rows;
    }

    private static List<String> expected(List<Column> columns) {
        return columns.stream()
                .map(column -> column.id() + " " + column.name() + " "
                        + column.type().sqlName() + (column.optional() ? "" : " NOT NULL"))
                .toList();
    }
}
